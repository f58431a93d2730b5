"""What reading and writing a record needs to know besides the record: the session, the position, and who to tell."""

from __future__ import annotations

from collections.abc import Iterable

import xxhash

from pond.model.json_text import Json, JsonObject, encode

NO_PROJECT = object()  # equal to no value of a record: where it stands for the project, every value is kept


class Reading:
    """One session being read. The codec subclasses it where identity needs more than one record's memory."""

    def __init__(self, session_id: str, project: object, anchor: str | None) -> None:
        self.session_id = session_id
        self.project = project
        self.anchor = anchor  # the session's start: the only timestamp the spec lets a record fall back to
        self.seq = 0
        self.repeated = ""  # after `identify` gave None: the message id of the record that came before
        self.calls: dict[str, str] = {}
        self.facts: dict[str, Json] = {}
        self.place = 0  # where the record stands in its source; the codec keeps it
        self.seen: dict[int, int] = {}  # hash of a record id -> place of the first record that has it
        self._derived: set[bytes] = set()
        self._derived_again: dict[bytes, int] = {}

    def identify(self, own: str, record: JsonObject) -> str | None:
        """Return the message id for a record whose own id came before; None where it repeats that record exactly."""
        return own

    def text_of(self, record: JsonObject) -> bytes:
        """Return bytes that stand for the record's content."""
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
        """Hear of a value that did not fit (adapter-integrity-no-silent-drops)."""

    def drift(self, code: str, kind: str, names: Iterable[str]) -> None:
        """Hear of kinds or fields the mapping does not name."""


class Writing:
    """One session being written."""

    def __init__(self, session_id: str, project: str) -> None:
        self.session_id = session_id
        self.project = project
