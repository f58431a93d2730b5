"""The labelled sets: invented developer sessions, and queries that say which messages answer them.

A set is a file of `sets/`. All sets, and a crowd of sessions about nothing that is asked for, make one lake: each query
has to find its answer among all of them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from tests.search.relevance.made import crowd, surrounded

SETS = Path(__file__).parent / "sets"
NEGATIVES = "negatives"  # the set of queries that nothing answers


class Within(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text that stands deep in a long one: of which kind, how long, and after which share of it."""

    kind: str
    characters: int
    at: float


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One message; `again` is a queued prompt that the log has a second time."""

    id: str
    role: str
    at: str
    text: str
    again: bool = False
    within: Within | None = None

    @property
    def said(self) -> str:
        """Return the whole text."""
        if self.within is None:
            return self.text
        return surrounded(self.id, self.text, self.within.kind, self.within.characters, self.within.at)


class Session(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One session; a fork names its `parent` and begins with the parent's messages."""

    id: str
    client: str
    project: str
    messages: tuple[Message, ...]
    parent: str | None = None


class Query(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked, what kind of question it is, and the messages of which any one answers it."""

    query: str
    kind: str
    answers: frozenset[str]
    filters: dict[str, str] = {}
    set: str = ""

    @property
    def key(self) -> str:
        """Return the name that its rank is recorded under."""
        narrowed = ", ".join(f"{name}={value}" for name, value in self.filters.items())
        return f"{self.query} [{narrowed}]" if narrowed else self.query


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sessions: tuple[Session, ...]
    queries: tuple[Query, ...]


@cache
def _files() -> dict[str, _File]:
    return {file.stem: msgspec.json.decode(file.read_bytes(), type=_File) for file in sorted(SETS.glob("*.json"))}


@cache
def sessions() -> tuple[Session, ...]:
    """Return the sessions of all sets, and the crowd."""
    own = [session for file in _files().values() for session in file.sessions]
    return (*own, *msgspec.convert(crowd(), list[Session]))


@cache
def queries() -> tuple[Query, ...]:
    """Return the queries of all sets that something answers."""
    return tuple(query for name in _files() if name != NEGATIVES for query in _queries(name))


@cache
def negatives() -> tuple[Query, ...]:
    """Return the queries that nothing answers."""
    return tuple(_queries(NEGATIVES))


def _queries(name: str) -> list[Query]:
    return [msgspec.structs.replace(query, set=name) for query in _files()[name].queries]
