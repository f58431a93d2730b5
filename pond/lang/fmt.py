"""The one layout of mapping files. The writer chooses where lines break; everything else is decided here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import groupby

from lark import Lark, Token

from pond.lang.parse import parse

_INDENT = 2
_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|#[^\n]*')

_RULES = {"claim", "implied", "lookup", "fact", "own", "parts"}
_HEADS = {"map_number", "files", "ignores", "detect", "records", "rest", "document", "beside", "facts"}
_SPANS = {
    "span_between", "span_wrap", "span_tail", "span_frame", "span_prefix", "span_exact", "span_when", "span_given",
    "span_labelled", "span_typed",
}  # fmt: skip
_OTHERS = {
    "generic", "executed", "keeps", "rest_of", "left", "block", "part", "session", "spans", "span_include",
    "carries", "otherwise", "kind",
}  # fmt: skip
STARTERS = _RULES | _HEADS | _SPANS | _OTHERS | {"client"}
_OPERATORS = {"<->", "<-", "implied"}
_PROVENANCE = {"conversational", "injected", "by"}


def format_map(text: str) -> str:
    """Return `text` in the one layout, with the same meaning; raise MappingError if it does not parse."""
    parse(text, "")  # for its diagnostics
    lines = list(_lines(text))
    for run in _runs(lines):
        _line_up(run)
    return "".join(f"{line}\n" for line in _printed(lines))


@dataclass(slots=True)
class _Word:
    """One token and its place in its line."""

    text: str
    name: bool  # the writer's own name or quoted text, not a word of the language
    starts: str  # the construct that begins here
    blanks: int  # before it


@dataclass(slots=True)
class _Line:
    """A line as the writer broke it; without words it is a comment."""

    depth: int
    words: list[_Word]
    comment: str
    after_blank: bool
    continues: bool = field(init=False)

    def __post_init__(self) -> None:
        self.continues = bool(self.words) and not self.words[0].starts and self.words[0].text != "}"

    def columns(self) -> list[int]:
        """Return which words are aligned with those of neighbouring lines of the same `kind`."""
        first = self.words[0].starts if self.words else ""
        if first in _HEADS:
            return [1][: len(self.words) - 1]
        if first in _SPANS:
            wanted = [1, 2] if first in ("span_prefix", "span_exact") else [1]
            return wanted[: len(self.words) - 1]
        if first == "parts" or (first in _RULES and self._closed()):
            return self._first(_OPERATORS)
        if first == "block" and self._closed():
            return self._first({"=>"}) + self._first(_PROVENANCE) + self._first({"{"})
        return []

    def kind(self) -> str:
        """Return what the line can be aligned with."""
        first = self.words[0].starts if self.words else ""
        families = {"head": _HEADS, "span": _SPANS, "rule": _RULES}
        return next((name for name, members in families.items() if first in members), first)

    def hang(self) -> int:
        """Return the column at which continuation lines begin."""
        first = self.words[0].starts
        index = (self._first(_OPERATORS) or [1])[0] if first in _RULES else 0 if first in ("kind", "block") else 1
        return self.depth * _INDENT + self.column(min(index, len(self.words) - 1))

    def column(self, index: int) -> int:
        """Return the column of a word, counted from the line's first."""
        before = sum(len(word.text) + word.blanks for word in self.words[:index])
        return before + (self.words[index].blanks if index else 0)

    def _closed(self) -> bool:
        return sum((word.text == "{") - (word.text == "}") for word in self.words if not word.name) == 0

    def _first(self, texts: set[str]) -> list[int]:
        return [i for i, word in enumerate(self.words) if word.text in texts and not word.name][:1]


@cache
def _grammar() -> Lark:
    text = files("pond.lang").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", propagate_positions=True, keep_all_tokens=True)


def _lines(text: str) -> Iterator[_Line]:
    words = _words(text)
    comments = {text.count("\n", 0, m.start()): m.group() for m in _STRING_OR_COMMENT.finditer(text) if m[0][0] == "#"}
    depth, blank = 0, False
    for number in range(text.count("\n") + 1):
        here, comment = words.get(number, []), comments.get(number, "").rstrip()
        if not here and not comment:
            blank = True
            continue
        yield _Line(depth - (bool(here) and here[0].text == "}"), here, comment, blank)
        blank = False
        depth += sum((word.text == "{") - (word.text == "}") for word in here if not word.name)


def _words(text: str) -> dict[int, list[_Word]]:
    """Return the words of each line, one space between them, two if a construct begins inside a line."""
    tree = _grammar().parse(text)
    starts: dict[int, str] = {}
    tokens: list[tuple[Token, str]] = []
    # From the leaves upwards, so that the widest construct that begins at a place wins.
    for node in tree.iter_subtrees():
        if node.data in STARTERS:
            starts[node.meta.start_pos] = str(node.data)
        tokens += [(child, str(node.data)) for child in node.children if isinstance(child, Token)]
    out: dict[int, list[_Word]] = {}
    for token, parent in sorted(tokens, key=lambda pair: pair[0].start_pos or 0):
        line = out.setdefault((token.line or 1) - 1, [])
        before = line[-1].text if line else ""
        word = _Word(str(token), token.type in ("NAME", "STRING"), starts.get(token.start_pos or 0, ""), 1)
        called = word.text == "(" and parent in ("conversion", "lookup_call")
        if not line or called or word.text in (".", ",", "?", ")") or before in (".", "("):
            word.blanks = 0
        elif word.starts and before != "{":
            word.blanks = 2
        line.append(word)
    return out


def _runs(lines: list[_Line]) -> Iterator[list[_Line]]:
    """Yield neighbouring lines that are aligned with each other; continuation lines do not separate them."""
    run: list[_Line] = []
    for line in lines:
        if line.continues and not line.after_blank:
            continue
        fits = run and line.columns() and (line.kind(), line.depth) == (run[0].kind(), run[0].depth)
        if not fits or line.after_blank:
            yield run
            run = []
        if line.columns():
            run.append(line)
    yield run


def _line_up(run: list[_Line], level: int = 0) -> None:
    """Align the words of column `level`, then those further right among neighbours that have them."""
    having = [line for line in run if len(line.columns()) > level]
    if not having:
        return
    widest = max(line.column(line.columns()[level]) for line in having)
    for line in having:
        index = line.columns()[level]
        line.words[index].blanks += widest - line.column(index)
    for further, neighbours in groupby(run, key=lambda line: len(line.columns()) > level + 1):
        if further:
            _line_up(list(neighbours), level + 1)


def _printed(lines: list[_Line]) -> Iterator[str]:
    hang, opened = 0, True
    for line in lines:
        closes = bool(line.words) and line.words[0].text == "}"
        if line.after_blank and not opened and not closes:
            yield ""
        if line.words and not line.continues and not closes:
            hang = line.hang()
        indent = hang if line.continues else line.depth * _INDENT
        text = "".join(" " * word.blanks + word.text for word in line.words)
        yield " " * indent + (f"{text}  {line.comment}" if text and line.comment else text or line.comment)
        opened = bool(line.words) and line.words[-1].text == "{"
