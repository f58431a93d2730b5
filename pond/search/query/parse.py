"""Typed text to `Query`. Prose never fails; a condition with an invalid value is refused with its place."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.span import Span
from pond.search.query import values
from pond.search.query.query import SPELLINGS, Condition, Query

if TYPE_CHECKING:  # slow to import, and most queries are only words
    from lark import Lark, Token

SOURCE = "query"  # the name of the text in diagnostics
# What a text must hold to be more than words. The grammar decides whether it is more.
_OPENING = re.compile(rf'(?<!\S)-?(?:"|(?:{"|".join(SPELLINGS)}):)')


def parse(text: str, now: datetime) -> Query:
    """Return what `text` asks for; raise UsageError for the first condition with an invalid value."""
    return _parsed(text, now) if _OPENING.search(text) else Query(text, " ".join(text.split()))


def _parsed(text: str, now: datetime) -> Query:
    words: list[str] = []
    phrases: list[str] = []
    without: list[str] = []
    conditions: list[Condition] = []
    for token in _grammar().parse(text).children:
        assert isinstance(token, str)
        match token.type, _unquoted(token):
            case "CONDITION", _:
                conditions.append(_condition(text, token, now))
                values.check_number(conditions)
            case "PHRASE", phrase if phrase:
                phrases.append(phrase)
                words.append(phrase)
            case "EXCLUDED_PHRASE", phrase if phrase:
                without.append(phrase)
            case _:
                words += token.split()
    return Query(text, " ".join(words), _each_once(phrases), _each_once(without), tuple(conditions))


@cache
def _grammar() -> Lark:
    from lark import Lark

    text = files("pond.search.query").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr")


def _condition(text: str, token: Token, now: datetime) -> Condition:
    head, _, typed = token.partition(":")
    key, negated = SPELLINGS[head.removeprefix("-")], head.startswith("-")
    # A missing value cannot be pointed at; its key can.
    begin = (token.start_pos or 0) + (len(token) - len(typed) if typed else 0)
    span = _span(text, begin, len(typed or token))
    given = _unquoted(typed) if typed.startswith('"') else typed
    if not given:
        help = f'to search for the word, quote it: "{head}:"'
        raise UsageError(Diagnostic("usage", f"expected a value right behind `{head}:`, found none", span, help=help))
    try:
        if negated:
            values.check_excluded(key)
        value = values.read(key, given, now)
    except UsageError as error:
        raise values.at(error, span=span) from None
    return Condition(key, value, negated, span)


def _unquoted(quoted: str) -> str:
    return quoted.removeprefix("-")[1:-1].strip()


def _span(text: str, begin: int, length: int) -> Span:
    lines = f"{text[:begin]}.".splitlines()  # the full stop is where the value begins, even after a line break
    return Span(SOURCE, len(lines), len(lines[-1]), length)


def _each_once(texts: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
