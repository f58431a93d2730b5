"""Commands of pond, run in this process or, now and then, as a person does."""

import contextlib
import io
import json
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pond.cli.main import main
from tests.cli.command import pond

Words = tuple[object, ...]


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    words: Words
    code: int
    out: bytes
    err: str
    crash: str = ""  # what reached no handler

    @property
    def summary(self) -> dict[str, Any]:
        """What it prints for programs; nothing where the request was refused."""
        try:
            value = json.loads(self.out)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    @property
    def faults(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.summary.get("faults", [])
        return found

    def wrong(self) -> Iterator[str]:
        """Say what no command may do, whatever it is given."""
        verb = self.words[0]
        if self.crash:
            yield f"{verb}: {self.crash}"
        elif self.code not in (0, 1, 2):
            yield f"{verb}: exit {self.code}"
        errors = [fault["code"] for fault in self.faults if fault["severity"] == "error"]
        if self.summary and bool(errors) != bool(self.code) and verb != "verify":
            yield f"{verb}: exit {self.code} with {len(errors)} errors {errors[:3]}"


Run = Callable[..., Ran]


def in_process(*words: object) -> Ran:
    """Run a command here: a start takes longer than most of the work."""
    out, err = _Text(), _Text()
    crash, code = "", -1
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(word) for word in words])
        except (Exception, SystemExit) as error:
            crash = crash_of(error)
        out.flush()
        err.flush()
    return Ran(words, code, out.held.getvalue(), err.held.getvalue().decode("utf-8", "replace"), crash)


def crash_of(error: BaseException) -> str:
    """Return what is wrong in one line: a traceback of a thousand levels helps nobody."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {place.name}: {str(error)[:200]}"


class _Text(io.TextIOWrapper):
    """Standard output that is kept."""

    def __init__(self) -> None:
        self.held = io.BytesIO()
        super().__init__(self.held, encoding="utf-8", errors="surrogateescape")


def as_process(*words: object) -> Ran:
    """Run a command in a process of its own, as a person does."""
    try:
        done = pond(*map(str, words))
    except AssertionError as error:
        return Ran(words, -1, b"", "", f"traceback: {str(error)[-300:]}")
    return Ran(words, done.code, done.out, done.err)
