"""Reads `pond.toml`: a table and the line of each key, or a refusal that says where it stops being TOML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pond.config.lines import key_lines
from pond.config.locations import NAMED_FILE, config_file
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.span import Span

MOST_BYTES = 1 << 16  # far beyond any configuration; a larger file was named by mistake
_POSITION = re.compile(r" ?\(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)")


@dataclass(frozen=True, slots=True)
class Document:
    """A configuration file that is valid TOML; its keys are not checked yet."""

    file: Path
    table: dict[str, Any]
    lines: dict[tuple[str, ...], int]

    def span(self, path: tuple[str, ...]) -> Span:
        """Return the place of a key."""
        return Span(str(self.file), self.lines[path])


def read_document(environ: Mapping[str, str]) -> Document | None:
    """Return the configuration file, or None if there is none; only a file that was named must exist."""
    file = config_file(environ)
    if file is None:
        return None
    try:
        with open(file, "rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        if environ.get(NAMED_FILE):
            message = f"`{NAMED_FILE}` names `{file}`, which does not exist"
            raise UsageError(Diagnostic("config-missing", message)) from None
        return None
    except OSError as error:
        reason = (error.strerror or "unknown error").lower()
        raise UsageError(Diagnostic("config-unreadable", f"cannot read `{file}`: {reason}")) from None
    return parse(content, file)


def parse(content: bytes, file: Path) -> Document:
    """Return the document in `content`, or raise UsageError with the place where it is not TOML."""
    if len(content) > MOST_BYTES:
        raise _refusal(file, f"expected at most {MOST_BYTES} bytes, found more")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refusal(file, "expected UTF-8 text", *_end(content[: error.start].decode("utf-8"))) from None
    try:
        return Document(file, tomllib.loads(text), key_lines(text))
    except tomllib.TOMLDecodeError as error:
        raise _refusal(file, *_explained(str(error), text)) from None
    except ValueError:
        raise _refusal(file, "a number has too many digits") from None
    except RecursionError:
        raise _refusal(file, "values are nested too deeply") from None


def _explained(error: str, text: str) -> tuple[str, int, int]:
    """Return the parser's message in our style, with its line and column."""
    position = _POSITION.search(error)
    message = _POSITION.sub("", error)
    message = f"expected TOML: {message[:1].lower()}{message[1:]}"
    if position is None or position["line"] is None:
        return (message, *_end(text))
    return message, int(position["line"]), int(position["column"])


def _end(text: str) -> tuple[int, int]:
    """Return the line and column after the last character."""
    return text.count("\n") + 1, len(text) - text.rfind("\n")


def _refusal(file: Path, message: str, line: int = 1, column: int = 1) -> UsageError:
    return UsageError(Diagnostic("config-syntax", message, Span(str(file), line, column)))
