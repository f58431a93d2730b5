"""Reads `golden/acknowledged.toml`: intended changes to stored rows, and why."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, TypeAlias, get_args

from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.span import Span

FILE: Final = "acknowledged.toml"
ALL_ROWS: Final = "*"
Change: TypeAlias = Literal["removed-row", "changed-id"]

_TABLE = "acknowledged"
_HEADING = re.compile(rf"\s*\[\[\s*{_TABLE}\s*\]\]")


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """One entry: this change of this row (by its old id) in this case is intended."""

    case: str
    change: str
    row: str
    because: str


_FIELDS = tuple(field.name for field in fields(Acknowledgement))


def read_acknowledged(content: bytes, file: str) -> list[Acknowledgement]:
    """Return the entries of the file, or raise UsageError with everything that is wrong in it."""
    try:
        text = content.decode("utf-8")
        document = tomllib.loads(text)
    except UnicodeDecodeError:
        raise UsageError(Diagnostic("golden-acknowledgement", f"`{file}`: expected UTF-8 text")) from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(Diagnostic("golden-acknowledgement", f"`{file}`: expected TOML: {error}")) from None
    entries = document.get(_TABLE, [])
    if document.keys() - {_TABLE} or type(entries) is not list:
        message = f"`{file}`: expected entries `[[{_TABLE}]]` and nothing else"
        raise UsageError(Diagnostic("golden-acknowledgement", message))
    faults = [_fault(number, why, text, file) for number, entry in enumerate(entries) if (why := _wrong(entry))]
    if faults:
        raise UsageError(*faults)
    return [Acknowledgement(**entry) for entry in entries]


def _wrong(entry: Any) -> str:
    """Return what is wrong with an entry, or nothing."""
    if type(entry) is not dict:
        return "expected a table"
    for name in _FIELDS:
        value = entry.get(name)
        if type(value) is not str or not value.strip():
            return f"expected text in `{name}`, found {'none' if value is None or value == '' else repr(value)}"
    if surplus := sorted(entry.keys() - set(_FIELDS)):
        return f"expected {', '.join(_FIELDS)}, found `{surplus[0]}`"
    if entry["change"] not in get_args(Change):
        return f"expected `change` to be {' or '.join(get_args(Change))}, found {entry['change']!r}"
    return ""


def _fault(number: int, why: str, text: str, file: str) -> Diagnostic:
    headings = [line for line, content in enumerate(text.splitlines(), start=1) if _HEADING.match(content)]
    span = Span(file, headings[number]) if number < len(headings) else None
    return Diagnostic("golden-acknowledgement", f"entry {number + 1}: {why}", span)
