"""Cuts a text into authored and injected runs at the exact character.

A block counts only if it is closed, is outside a Markdown code fence and is separate from the person's words (see
`_stands_apart`): what a person quotes inside a sentence stays theirs (model-part-provenance). Concatenating the runs
gives the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import itemgetter

CONVERSATIONAL, INJECTED = "conversational", "injected"
_PREFIX_WINDOW = 400  # white space and the longest prefix; with more white space before it, no prefix matches


@dataclass(frozen=True, slots=True)
class Markers:
    """A compiled span table.

    `wraps` are openings whose inside is the person's own words, `tails` beginnings of lines that belong to the block
    before them, `frames` lines that end a frame around what a person asks: everything before is the harness's.
    """

    pairs: tuple[tuple[str, str], ...]
    wraps: frozenset[str]
    prefixes: tuple[str, ...]
    exact: frozenset[str]
    opening: re.Pattern[str] | None
    tails: re.Pattern[str] | None
    frames: re.Pattern[str] | None
    firsts: tuple[str, ...]
    longest_exact: int

    @classmethod
    def of(
        cls,
        between: tuple[tuple[str, str], ...],
        wraps: tuple[tuple[str, str], ...],
        prefixes: tuple[str, ...],
        exact: tuple[str, ...],
        tails: tuple[str, ...] = (),
        frames: tuple[str, ...] = (),
    ) -> Markers:
        """Compile a table from its markers."""
        pairs = tuple(between) + tuple(wraps)
        opening = _words(tuple(o for o, _ in pairs)) if pairs else None
        lines = re.compile(rf"(?:\s*(?:{_words(tails).pattern})[^\n]*)+") if tails else None
        ends = re.compile(rf"^(?:{_words(frames).pattern})", re.MULTILINE) if frames else None
        firsts = tuple(dict.fromkeys([o[0] for o, _ in pairs] + [frame[0] for frame in frames]))
        longest = max(map(len, exact), default=0) + 64  # white space around it does not count
        inside = frozenset(o for o, _ in wraps)
        return cls(pairs, inside, tuple(prefixes), frozenset(exact), opening, lines, ends, firsts, longest)

    def plain(self, text: str) -> bool:
        """Tell cheaply that `split` would leave the text whole and conversational; if False, call `split`."""
        for first in self.firsts:
            if first in text:
                return False
        if len(text) <= self.longest_exact and text.strip() in self.exact:
            return False
        return not text[:_PREFIX_WINDOW].lstrip().startswith(self.prefixes)

    def split(self, text: str, typed: bool = False) -> list[tuple[str, str]]:
        """Return (provenance, run) pairs whose runs concatenate to `text`; at least one.

        If the client says that a text was `typed`, only blocks are cut out: no prefix makes it the harness's.
        """
        if not typed and self._is_injected(text):
            return [(INJECTED, text)]
        if not any(found is not None and found.search(text) for found in (self.opening, self.frames)):
            return [(CONVERSATIONAL, text)]
        return _merge(self._cut(text))

    def _is_injected(self, text: str) -> bool:
        if len(text) <= self.longest_exact and text.strip() in self.exact:
            return True
        return text[:_PREFIX_WINDOW].lstrip().startswith(self.prefixes)

    def _cut(self, text: str) -> list[tuple[str, str]]:
        fences = _Fences(text)
        done = at = self._framed(text)
        fences.skip(done)
        runs: list[tuple[str, str]] = [(INJECTED, text[:done])]
        closings = dict(self.pairs)
        ends: dict[str, dict[int, int]] = {}
        leads = True  # nobody has spoken yet: there are only blocks before this place
        while self.opening is not None and (found := self.opening.search(text, at)):
            start, opening, at = found.start(), found.group(), found.end()
            if opening not in ends:
                ends[opening] = self._ends(text, opening, closings[opening])
            end = ends[opening].get(start)
            if end is None:
                continue
            leads = leads and not text[done:start].strip()
            tailed = self.tails.match(text, end) if self.tails is not None and opening not in self.wraps else None
            apart = _stands_apart(text, start, end, done, (opening, closings[opening]), leads, tailed is not None)
            if not apart or fences.around(start, end):
                leads = False
                continue
            if tailed is not None:
                end = tailed.end()
            runs.append((CONVERSATIONAL, text[done:start]))
            if opening in self.wraps:
                inner_end = end - len(closings[opening])
                runs += [(INJECTED, opening), (CONVERSATIONAL, text[at:inner_end]), (INJECTED, text[inner_end:end])]
            else:
                runs.append((INJECTED, text[start:end]))
            done = at = end
            fences.skip(end)
        runs.append((CONVERSATIONAL, text[done:]))
        return runs

    def _framed(self, text: str) -> int:
        """Return where the frame around what a person asks ends; 0 if there is none, or somebody quotes one."""
        found = self.frames.search(text) if self.frames is not None else None
        if found is None or _Fences(text).around(found.start(), found.end()):
            return 0
        return found.end() if self._leading(text, found.start()) <= found.start() else 0

    def _leading(self, text: str, until: int) -> int:
        """Return where the blocks at the start of a text end, as far as they begin before a place."""
        ends: dict[str, dict[int, int]] = {}
        closings, done, at = dict(self.pairs), 0, _after_blanks(text, 0)
        while self.opening is not None and at < until and (found := self.opening.match(text, at)):
            opening = found.group()
            if opening not in ends:
                ends[opening] = self._ends(text, opening, closings[opening])
            if at not in ends[opening]:
                break
            done = ends[opening][at]
            at = _after_blanks(text, done)
        return done

    def _ends(self, text: str, opening: str, closing: str) -> dict[int, int]:
        """Return, for each closed opening, where its block ends; the innermost opening takes a closing.

        One pass over the text for each kind of marker in it, however many of them there are.
        """
        ends: dict[int, int] = {}
        unclosed: list[int] = []
        longer = tuple(o for o, _ in self.pairs if o.startswith(opening))  # including the opening itself
        for found in _words((closing, *longer)).finditer(text):
            if found.group() == closing:
                if unclosed:
                    ends[unclosed.pop()] = found.end()
            elif found.group() == opening:
                unclosed.append(found.start())
        return ends


class _Fences:
    """The Markdown code fences of a text, visited from the start on."""

    def __init__(self, text: str) -> None:
        some = "```" in text or "~~~" in text
        self._lines = [(m.start(), m[1], not m[2].strip()) for m in _FENCE.finditer(text)] if some else []
        self._next = 0
        self._open = ""

    def around(self, start: int, end: int) -> bool:
        """Tell whether a fence is open at `start` and a later one can close it; `start` never goes back."""
        while self._next < len(self._lines) and self._lines[self._next][0] < start:
            _, fence, bare = self._lines[self._next]
            if not self._open:
                self._open = fence
            elif bare and fence[0] == self._open[0] and len(fence) >= len(self._open):
                self._open = ""
            self._next += 1
        return bool(self._open) and self._lines[-1][0] >= end

    def skip(self, end: int) -> None:
        """Skip the fences of a block: they are not the person's."""
        while self._next < len(self._lines) and self._lines[self._next][0] < end:
            self._next += 1


_BLANKS = re.compile(r"\s*")


def _after_blanks(text: str, start: int) -> int:
    found = _BLANKS.match(text, start)
    return found.end() if found is not None else start


_FENCE = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})([^\n]*)", re.MULTILINE)


@cache
def _words(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for any of `words`; longest first, so that none is hidden by a shorter one."""
    return re.compile("|".join(sorted(map(re.escape, words), key=len, reverse=True)))


def _stands_apart(
    text: str, start: int, end: int, done: int, markers: tuple[str, str], leads: bool, tailed: bool
) -> bool:  # fmt: skip
    """Tell whether a closed block was put beside a person's words, not quoted by them.

    It opens a line and ends one; or it has its own lines and ends one; or it opens the text and the person's words
    follow without a space, which nobody writes.
    """
    opening, closing = markers
    if not tailed and _goes_on(text, end, closing):
        return leads and not text[end].isspace()
    own_lines = text.startswith("\n", start + len(opening)) and text[end - len(closing) - 1] == "\n"
    return own_lines or _first_on_line(text, start, done)


def _first_on_line(text: str, start: int, done: int) -> bool:
    """Tell whether there is only white space before `start` on its line, or since the block that ended at `done`."""
    line = text.rfind("\n", max(0, start - 256), start) + 1
    return not text[max(line, done, start - 256) : start].strip()


def _goes_on(text: str, end: int, closing: str) -> bool:
    """Tell whether a sentence continues after a block: then somebody talks about the block, and it does not count."""
    if closing[-1] != ">":
        return False  # a heading-like marker: the person's words follow it
    following = _REST_OF_LINE.match(text, end)
    return following is not None and following[1] not in ("", "<")


_REST_OF_LINE = re.compile(r"[^\S\n]*([^\n]?)")


def _merge(runs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Join neighbours of one provenance; white space around injected runs belongs to them."""
    labelled = ((provenance if run.strip() else INJECTED, run) for provenance, run in runs if run)
    neighbours = groupby(labelled, key=itemgetter(0))
    return [(provenance, "".join(run for _, run in group)) for provenance, group in neighbours]
