"""Every call into Lance goes through here: retried with growing, jittered pauses, then raised as a typed signal."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from typing import Literal, TypeVar

from lance.commit import CommitConflictError

from pond.diagnostics.diagnostic import PondError
from pond.substrate.signals import Conflict, Damaged, Exhausted, LakeError, Refused, Unavailable

Result = TypeVar("Result")
Meaning = Literal["race", "exhausted", "final", "refused", "damaged", "gone", "passing"]

ATTEMPTS = 6
_LONGEST = 60.0  # seconds after which no further attempt begins; one attempt at a dead server takes a while itself
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 4.0  # seconds

# The type of an exception says little: opening a table turns everything into a ValueError, a scan into an ArrowInvalid,
# the rest into an OSError. Its text says what it means; the first match counts.
_LOST_RACE = r"commit conflict|too many concurrent writers|incompatible transaction"
_FINAL = (
    r"no space left|os error 28\b|read-only file system|os error 30\b|permission denied|os error 13\b|"
    r"not a directory|os error 20\b|file too large|os error 27\b|quota|name too long|os error 36\b|"
    r"status code: (?:400|401|403)|<code>(?:accessdenied|invalidaccesskeyid|signaturedoesnotmatch|expiredtoken)|"
    r"nosuchbucket|no object store provider|builder error|generic config error|credential"
)
# Threads, memory, open files: a panic about them says nothing about what is stored, nor do its consequences.
_EXHAUSTED = (
    r"resource temporarily unavailable|os error 11\b|cannot allocate memory|os error 12\b|out of memory|"
    r"too many open files|os error 2[34]\b|failed to spawn|spawn thread|can't start new thread|"
    r"failed to (?:build|create|start) .{0,40}runtime|memory allocation of|previously been poisoned|poisonerror"
)
_PASSING = r"error sending request|response body error|error decoding response body|status code: (?:408|429|5\d\d)"
_DAMAGED = (
    r"corrupt|invalid magic|magic number|sufficient data|file size is too small|invalid range|fill whole buffer|"
    r"protobuf|does not appear to be a lance file|panicked"
)
_GONE = r"\bnot found: \S+\.(?:lance|manifest|blob|arrow|bin|txn)(?=[,\s]|$)"
_REFUSED = r"invalid user input|different schema|unknown \S+ index parameter"
_MEANINGS: tuple[tuple[Meaning, re.Pattern[str]], ...] = (
    ("race", re.compile(_LOST_RACE, re.I)),
    ("exhausted", re.compile(_EXHAUSTED, re.I)),
    ("final", re.compile(_FINAL, re.I)),
    ("passing", re.compile(_PASSING, re.I)),
    ("damaged", re.compile(_DAMAGED, re.I)),
    ("gone", re.compile(_GONE, re.I)),
    ("refused", re.compile(_REFUSED, re.I)),
)
_LASTING = ("exhausted", "final", "damaged", "refused")  # waiting cannot help


def with_retries(what: str, call: Callable[[], Result], renew: Callable[[], object] = lambda: None) -> Result:
    """Return the result of `call`; if it fails for a passing reason, `renew` and try again (lance-retry-jitter).

    Raises Conflict if other writers win every race, Unavailable if the storage does not respond, Damaged if its data
    cannot be read, Refused if Lance does not accept the request. `call` must be safe to repeat: everything that pond
    writes is, by its keys.
    """
    attempt, end = 0, time.monotonic() + _LONGEST
    while True:
        attempt += 1
        try:
            if attempt > 1:
                renew()
            return call()
        except PondError:
            raise
        except BaseException as error:
            if not _is_of_lance(error):
                raise
            meaning = meaning_of(error)
            if attempt == ATTEMPTS or meaning in _LASTING or time.monotonic() > end:
                raise _signal(meaning, what, brief(str(error)), attempt) from error
        time.sleep(_pause(attempt))


def _is_of_lance(error: BaseException) -> bool:
    """Tell whether Lance raised an error, not our own code; a panic inside it is not even an `Exception`."""
    return isinstance(error, OSError | RuntimeError | ValueError) or type(error).__name__ == "PanicException"


def _pause(attempt: int) -> float:
    """Return the seconds to wait: twice as many each time, and different for each process."""
    return min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** (attempt - 1)) * (0.5 + random.random() / 2)


def meaning_of(error: BaseException) -> Meaning:
    """Return what an exception of Lance says about trying again."""
    if isinstance(error, CommitConflictError):
        return "race"
    if isinstance(error, NotImplementedError):
        return "refused"
    text = str(error)
    otherwise: Meaning = "passing" if isinstance(error, Exception) else "damaged"
    return next((meaning for meaning, pattern in _MEANINGS if pattern.search(text)), otherwise)


def _signal(meaning: Meaning, what: str, reason: str, attempt: int) -> LakeError:
    if meaning == "race":
        return Conflict(what, attempt)
    if meaning == "exhausted":
        return Exhausted(what, reason)
    if meaning in ("damaged", "gone"):
        return Damaged(what, reason)
    return Refused(what, reason) if meaning == "refused" else Unavailable(what, reason, attempt)


# --- what a person gets to read --------------------------------------------------------------------------------------

_SOURCE = re.compile(r",(?: location:)? (?:/\S+?\.rs\b|rust/|src/)")
_LABELS = re.compile(
    r"(?:(?:External|Wrapped|HTTP) error|LanceError\(\w+\)|Invalid user input|Generic \S+ error|Unable to walk dir): "
    r"|IO error for operation on |\[Errno \d+\] |(?<=\)) at path .*"  # a temporary file of the attempt
)
_REQUEST = re.compile(r".*Error performing .*? - (?=\S)")  # request and attempts: the last reason counts
_TOLD = re.compile(r"<Code>(?P<code>[^<]*)</Code>\s*<Message>(?P<message>[^<]*)</Message>")
_STATUS = re.compile(r".*Server returned non-2xx status code: (?P<status>\d+ [^:]*).*")

_PLAINER = {
    "error sending request": "the storage does not answer",
    "request or response body error": "the storage's answer was cut off",
    "builder error": "the storage's address cannot be used; one without encryption needs the option `allow_http`",
}


def brief(text: str) -> str:
    """Return the message of Lance for a person: one line, without XML and places in its source."""
    if (told := _TOLD.search(text)) is not None:
        return _lowered(f"{told['message'].rstrip('.')} ({told['code']})")
    text = (_SOURCE.split(text.strip(), maxsplit=1)[0].splitlines() or [""])[0]
    text = _LABELS.sub("", _REQUEST.sub("", text))
    text = _STATUS.sub(r"the storage answered \g<status>", text).strip(" :")
    return _lowered(_PLAINER.get(text, text) or "no reason was given")


def _lowered(text: str) -> str:
    return (text[:1].lower() + text[1:])[:300]
