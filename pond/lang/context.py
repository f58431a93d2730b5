"""What reading and writing a record needs to know besides the record: the session, the position, and who to tell."""

from __future__ import annotations

from collections.abc import Iterable

import xxhash

from pond.model.json_text import Json, JsonObject, encode


class Reading:
    """One session being read. The codec subclasses it where identity needs more than one record's memory."""

    def __init__(self, session_id: str, project: str, anchor: str | None) -> None:
        self.session_id = session_id
        self.project = project
        self.anchor = anchor  # the session's start: the only timestamp the spec lets a record fall back to
        self.seq = 0
        self.repeated = ""  # after `identify` gave None: the message id of the record that came before
        self.calls: dict[str, str] = {}
        self.facts: dict[str, Json] = {}
        self._derived: dict[int, int] = {}

    def identify(self, own: str, record: JsonObject) -> str | None:
        """Return the message id for a record with an id of its own; None where it repeats an earlier record exactly."""
        return own

    def text_of(self, record: JsonObject) -> bytes:
        """Return bytes that stand for the record's content."""
        return encode(record)

    def derive(self, record: JsonObject) -> str:
        """Return an id made from the record's content and how often that content came before (lance-deterministic-pk)."""
        digest = xxhash.xxh3_64_intdigest(self.text_of(record))
        count = self._derived[digest] = self._derived.get(digest, 0) + 1
        return f"{digest:016x}" if count == 1 else f"{digest:016x}.{count}"

    def note(self, code: str, path: str, message: str) -> None:
        """Hear of a value that did not fit (adapter-integrity-no-silent-drops)."""

    def drift(self, code: str, kind: str, names: Iterable[str]) -> None:
        """Hear of kinds or fields the mapping does not name."""


class Writing:
    """One session being written."""

    def __init__(self, session_id: str, project: str) -> None:
        self.session_id = session_id
        self.project = project
