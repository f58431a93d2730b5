"""Cut a text into authored and injected runs at the exact character boundary.

A block counts only when its opening marker stands at the start of the text or of a line, outside a Markdown code fence,
and its closing marker follows and ends the line: what a person quotes inside a sentence stays theirs
(model-part-provenance). Concatenating the runs gives the text back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

CONVERSATIONAL, INJECTED = "conversational", "injected"


@dataclass(frozen=True, slots=True)
class Markers:
    """A compiled span table. `wraps` are openings whose inside is the person's own words."""

    pairs: tuple[tuple[str, str], ...]
    wraps: frozenset[str]
    prefixes: tuple[str, ...]
    exact: frozenset[str]
    opening: re.Pattern[str] | None

    @classmethod
    def of(
        cls,
        between: tuple[tuple[str, str], ...],
        wraps: tuple[tuple[str, str], ...],
        prefixes: tuple[str, ...],
        exact: tuple[str, ...],
    ) -> Markers:
        """Compile a table from its markers."""
        pairs = tuple(between) + tuple(wraps)
        # Longest first, so that a marker never hides behind a shorter one with the same beginning.
        words = sorted((re.escape(o) for o, _ in pairs), key=len, reverse=True)
        opening = re.compile("|".join(words)) if words else None
        return cls(pairs, frozenset(o for o, _ in wraps), tuple(prefixes), frozenset(exact), opening)

    def split(self, text: str) -> list[tuple[str, str]]:
        """Return (provenance, run) pairs whose runs concatenate to `text`; at least one."""
        if text.strip() in self.exact or text.lstrip().startswith(self.prefixes):
            return [(INJECTED, text)]
        if self.opening is None or not self.opening.search(text):
            return [(CONVERSATIONAL, text)]
        return _merge(self._cut(text))

    def _cut(self, text: str) -> list[tuple[str, str]]:
        assert self.opening is not None
        runs: list[tuple[str, str]] = []
        closings = dict(self.pairs)
        unclosed: set[str] = set()  # once a closing marker is not ahead, it never is: keeps hostile texts linear
        done = at = fenced_to = fences = 0
        while found := self.opening.search(text, at):
            start, opening, at = found.start(), found.group(), found.end()
            fences += text.count("```", fenced_to, start)
            fenced_to = start
            if opening in unclosed or fences % 2 or not _first_on_line(text, start, done):
                continue
            end = _block_end(text, at, opening, closings[opening])
            if end <= 0:
                if end < 0:
                    unclosed.add(opening)
                continue
            runs.append((CONVERSATIONAL, text[done:start]))
            if opening in self.wraps:
                inner_end = end - len(closings[opening])
                runs += [(INJECTED, opening), (CONVERSATIONAL, text[at:inner_end]), (INJECTED, text[inner_end:end])]
            else:
                runs.append((INJECTED, text[start:end]))
            done = at = fenced_to = end
        runs.append((CONVERSATIONAL, text[done:]))
        return runs


def _first_on_line(text: str, start: int, done: int) -> bool:
    """Tell whether nothing but white space stands before `start` on its line (or since the block that ended at `done`)."""
    line = text.rfind("\n", max(0, start - 256), start) + 1
    return not text[max(line, done, start - 256) : start].strip()


def _block_end(text: str, start: int, opening: str, closing: str) -> int:
    """Return where the block ends, its closing marker included; 0 where a sentence goes on after it; -1 unclosed.

    Nested openings of the same kind are counted.
    """
    depth, at = 1, start
    while depth:
        end = text.find(closing, at)
        if end < 0:
            return -1
        depth += text.count(opening, at, end) - 1
        at = end + len(closing)
    if closing[-1] != ">":
        return at  # a heading-like marker: the person's words follow it
    line_end = text.find("\n", at)
    tail = text[at : line_end if line_end >= 0 else len(text)].lstrip()
    return at if not tail or tail[0] == "<" else 0


def _merge(runs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Join neighbours of one provenance; white space around injected runs belongs to them."""
    out: list[tuple[str, str]] = []
    for provenance, run in runs:
        if not run:
            continue
        if not run.strip():
            provenance = INJECTED
        if out and out[-1][0] == provenance:
            out[-1] = (provenance, out[-1][1] + run)
        else:
            out.append((provenance, run))
    return out
