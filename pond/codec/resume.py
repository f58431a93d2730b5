"""Reads a session file from where it grew: the rows are those of a reading of the whole file, or it refuses.

A reading leaves a checkpoint: what it remembered and the lake does not store. The next one begins there. What only the
part before the checkpoint can decide is never guessed: `NeedsWhole` is raised, and the caller reads the file as if
there were no checkpoint. Events that were given before that are right, so nothing written needs to be withdrawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import xxhash

from pond.codec.reader import Calls, SessionReader, SessionReading
from pond.codec.registry import Adapter
from pond.codec.report import Report
from pond.codec.source import Cursor, LineBlock, NeedsWhole, Source
from pond.model.json_text import JsonObject

_FORM = 3  # of a checkpoint; one with another number is not used
_OFFSETS = 2  # the form before, when every source was a file of lines: its cursor was called an offset
_MOST_CALLS = 1_000
_LONGEST_CALL = 400  # characters of an id and a name
_EARLIER = -1  # the place of a record before the checkpoint
_DIGEST = 16  # letters
_DERIVED = re.compile(r"([0-9a-f]{16})\.([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where a reading ended, and what it must remember to continue there."""

    cursor: Cursor  # after what was read, for the source to continue from; a cut-off last line does not count as read
    lines: int  # complete lines before it
    records: int
    derived: int  # ids made from content
    basis: str  # digest of what else decides: the session's facts and the mapping's number
    calls: dict[str, str]  # tool calls without a result: id -> name
    observer: JsonObject | None  # what the client's pass remembers
    prompts: JsonObject | None  # those that wait in the client's queue

    def as_json(self) -> JsonObject:
        """Return the checkpoint as a JSON value."""
        return {"form": _FORM} | {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, value: JsonObject) -> Checkpoint:
        """Return the checkpoint from the value that `as_json` made; raise NeedsWhole for another form."""
        fields = {name: field for name, field in value.items() if name != "form"}
        if value.get("form") == _OFFSETS:
            fields["cursor"] = fields.pop("offset")
        elif value.get("form") != _FORM:
            raise NeedsWhole("the checkpoint has another form")
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class Continuation:
    """What is stored of a session whose file grew."""

    checkpoint: Checkpoint
    session_row: JsonObject
    known_ids: Iterable[str]  # of all messages stored for the session; more than the file gave do no harm


def checkpoint_of(reader: SessionReader) -> Checkpoint | None:
    """Return the checkpoint of a finished reading; a source that is rewritten as a whole has none."""
    context, observer = reader.context, reader.observer
    ended = reader.source.cursor(reader.fault, context.place)
    if ended is None:
        return None
    assert reader.ended, "a checkpoint is taken after the last record"
    assert isinstance(context.calls, Calls), "the reader was not told that a checkpoint is taken"
    cursor, lines = ended
    state = observer.state() if observer is not None else None
    prompts = reader.prompts.state() if reader.prompts is not None else None
    return Checkpoint(
        cursor, lines, reader.taken, context.derived(), reader.basis, _open(context.calls), state, prompts
    )


def _open(calls: Calls) -> dict[str, str]:
    """Return the last calls without a result, in their order."""
    waiting = (
        (call, name)
        for call, name in reversed(calls.items())
        if call not in calls.answered and len(call) + len(name) <= _LONGEST_CALL
    )
    return dict(reversed([*islice(waiting, _MOST_CALLS)]))


class ResumedReader(SessionReader):
    """The records of a session after a checkpoint, ready to be streamed; then, again, the files beside the session.

    The head of the file is looked at again: a young session may have learnt its project, its start or its parent only
    now. If that changes how records are read, the whole file is read again.
    """

    def __init__(
        self, adapter: Adapter, source: Source, report: Report, project: str | None, continuation: Continuation
    ) -> None:  # fmt: skip
        if source.cursor(0, 0) is None:
            raise NeedsWhole("a document, or what is compressed, is written anew as a whole")
        super().__init__(adapter, source, report, project, known=continuation.session_row)
        self._checkpoint = checkpoint = continuation.checkpoint
        self.checkpointed = True
        if self.basis != checkpoint.basis:
            raise NeedsWhole("the session's facts, or the mapping, are not those of the earlier reading")
        source.take_values()  # they are before the checkpoint
        self.context = ResumedReading(self._facts, source, report, continuation)
        self.taken = checkpoint.records
        for memory, state in ((self.observer, checkpoint.observer), (self.prompts, checkpoint.prompts)):
            try:
                if memory is not None:
                    memory.restore(state or {})
            except (KeyError, TypeError, ValueError):
                raise NeedsWhole("what is to be remembered is not what was, or it was too much") from None

    def _blocks(self) -> Iterator[LineBlock]:
        return self.source.after(self._checkpoint.cursor, self._checkpoint.lines)


class _OpenCalls(Calls):
    """The calls that waited for a result at the checkpoint, and those seen since."""

    def get(self, call: str, default: Any = None) -> Any:
        if call not in self:
            raise NeedsWhole("a tool result belongs to a call that came before the checkpoint")
        return super().get(call, default)


def _made_from(message_id: str) -> tuple[bytes, int] | None:
    """Return the digest of the content from which an id was made, and its number; None for other ids."""
    if len(message_id) == _DIGEST:
        try:
            digest = bytes.fromhex(message_id)
        except ValueError:
            return None
        return (digest, 1) if digest.hex() == message_id else None
    derived = _DERIVED.fullmatch(message_id)
    return (bytes.fromhex(derived[1]), int(derived[2])) if derived is not None else None


class ResumedReading(SessionReading):
    """A session that is read from a checkpoint on: knows which ids came before it, but not where."""

    def __init__(self, session: JsonObject, source: Source, report: Report, continuation: Continuation) -> None:
        super().__init__(session, source, report)
        self.calls = _OpenCalls(continuation.checkpoint.calls)
        self._before = continuation.checkpoint.derived
        self._undecided: set[bytes] = set()  # digests of ids that this file may have made, or another one
        self._know(continuation.known_ids)

    def _know(self, ids: Iterable[str]) -> None:
        known = [*ids]
        self.seen.update(dict.fromkeys(map(hash, known), _EARLIER))
        counts: dict[bytes, int] = {}
        found = 0
        for message_id in known:  # a long session has many: no pattern is tried on an id that is too short
            if len(message_id) >= _DIGEST and (made := _made_from(message_id)) is not None:
                digest, count = made
                counts[digest] = max(counts.get(digest, 0), count)
                found += 1
        if found != self._before:
            # Another file of the same session gave ids too: how often a content occurred in this one is not known.
            self._undecided.update(counts)
            return
        self._before = 0
        self._derived.update(counts)
        self._derived_again.update({digest: count for digest, count in counts.items() if count > 1})

    def identify(self, own: str, record: JsonObject) -> str | None:
        self.place_of(own)
        return super().identify(own, record)

    def place_of(self, message_id: str) -> int:
        place = super().place_of(message_id)
        if place == _EARLIER:
            raise NeedsWhole("the id of a record came before the checkpoint")
        return place

    def derive(self, record: JsonObject) -> str:
        if self._undecided and xxhash.xxh3_64_digest(self.text_of(record)) in self._undecided:
            raise NeedsWhole("the content of a record without an id came before the checkpoint")
        return super().derive(record)

    def derived(self) -> int:
        return self._before + super().derived()
