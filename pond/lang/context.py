"""What reading and writing a record needs besides the record: the session, the position, and whom to notify."""

from __future__ import annotations

from collections.abc import Iterable

import xxhash

from pond.model.json_text import Json, JsonObject, encode

NO_PROJECT = object()  # equal to no value of a record: used as the project, it keeps every value


class Reading:
    """One session being read. The codec subclasses it for ids that need more than one record's memory."""

    def __init__(self, session_id: str, project: object, anchor: str | None) -> None:
        self.session_id = session_id
        self.project = project
        self.anchor = anchor  # the session's start: the only time to which the specification lets a record fall back
        self.seq = 0
        self.repeated = ""  # after `identify` returned None: the message id of the earlier record
        self.calls: dict[str, str] = {}
        self.facts: dict[str, Json] = {}
        self.place = 0  # the record's place in its source; the codec sets it
        self.seen: dict[int, int] = {}  # hash of a record id -> place of the first record that has it
        self._derived: set[bytes] = set()
        self._derived_again: dict[bytes, int] = {}

    def identify(self, own: str, record: JsonObject) -> str | None:
        """Return the message id for a record whose own id came before; None if it repeats that record exactly."""
        return own

    def text_of(self, record: JsonObject) -> bytes:
        """Return bytes that represent the record's content."""
        return encode(record)

    def derive(self, record: JsonObject) -> str:
        """Return an id made from the record's content and how often it came before (lance-deterministic-pk)."""
        digest = xxhash.xxh3_64_digest(self.text_of(record))
        if digest not in self._derived:
            self._derived.add(digest)  # there is one for every record: half the memory of its text
            return digest.hex()
        count = self._derived_again[digest] = self._derived_again.get(digest, 1) + 1
        return f"{digest.hex()}.{count}"

    def note(self, code: str, path: str, message: str) -> None:
        """Note a value that did not fit (adapter-integrity-no-silent-drops)."""

    def drift(self, code: str, kind: str, names: Iterable[str]) -> None:
        """Note kinds or fields that the mapping does not name."""


class Writing:
    """One session being written."""

    def __init__(self, session_id: str, project: str) -> None:
        self.session_id = session_id
        self.project = project
