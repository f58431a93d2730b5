"""Messages of a small lake, and what conditions on them mean, said once more in Python."""

import posixpath
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from pond.search.filters import filter_of
from pond.search.query.query import Condition, Key
from pond.sessions.search_text import indexable
from pond.sessions.stored_text import from_stored, to_micros, to_stored
from pond.sessions.tables import SESSIONS
from pond.substrate import read, write
from pond.substrate.catalog import Catalog
from pond.substrate.store import Store
from pond.substrate.table import Table, key

NOW = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)
_INDEXES = {"role": "BITMAP", "source_agent": "BITMAP", "project": "BITMAP", "agent": "BITMAP", "session_id": "BTREE"}

# The columns that filters know of.
MESSAGES = Table(
    "messages",
    (
        key("session_id", 1),
        key("id", 2),
        pa.field("role", pa.string()),
        pa.field("source_agent", pa.string()),
        pa.field("project", pa.string()),
        pa.field("timestamp", pa.timestamp("us", "UTC")),
        pa.field("agent", pa.string()),
        pa.field("labels", pa.list_(pa.string())),
    ),
    version=1,
)


@dataclass(frozen=True)
class Message:
    """One message; what is None is null in its row."""

    id: str
    session_id: str = "5e55-a"
    role: str | None = "user"
    source_agent: str | None = "codex"
    project: str | None = "/home/ada/herbarium"
    timestamp: str | None = "2026-05-01T10:00:00.000Z"
    agent: str | None = None
    labels: tuple[str, ...] | None = ()

    def row(self) -> dict[str, object]:
        names = ("id", "session_id", "role", "source_agent", "project")
        stored = {name: None if (text := getattr(self, name)) is None else to_stored(text) for name in names}
        time = None if self.timestamp is None else to_micros(self.timestamp)
        agent = None if self.agent is None else indexable(self.agent)
        labels = None if self.labels is None else list(map(indexable, self.labels))
        return {**stored, "timestamp": time, "agent": agent, "labels": labels}


def lake(place: Path, messages: Iterable[Message], *, indexed: bool) -> Store:
    """Return a lake that holds these messages and their sessions."""
    held = list(messages)
    store = Store(Catalog(str(place)))
    sessions = {each.session_id: {"id": to_stored(each.session_id), **_facts(each)} for each in held}
    write.insert(store, SESSIONS, pa.Table.from_pylist(list(sessions.values()), schema=SESSIONS.schema))
    for project in {each.project for each in held if each.project is not None}:
        # Any project of a message is that of some session.
        row = {"id": to_stored(f"of {project}"), "source_agent": "codex", "project": to_stored(project)}
        write.insert(store, SESSIONS, pa.Table.from_pylist([row], schema=SESSIONS.schema))
    write.insert(store, MESSAGES, pa.Table.from_pylist([each.row() for each in held], schema=MESSAGES.schema))
    if indexed:
        handle = store.handle(MESSAGES)
        for column, family in _INDEXES.items():
            handle.create_scalar_index(column, family)
        handle.create_scalar_index("labels", "LABEL_LIST")
        store.forget()
    return store


def _facts(message: Message) -> dict[str, str | None]:
    project = None if message.project is None else to_stored(message.project)
    return {"source_agent": to_stored(message.source_agent or "codex"), "project": project}


def found(store: Store, *asked: Sequence[Condition]) -> list[str]:
    """Return the ids of the messages that Lance finds."""
    ids = read.rows(store, MESSAGES, ["id"], filter_of(store, *asked))["id"].to_pylist()
    return sorted(map(from_stored, ids))


def expected(messages: Iterable[Message], *asked: Sequence[Condition]) -> list[str]:
    """Return the ids of the messages that meet what was asked, as the documentation says."""
    return sorted(each.id for each in messages if _is_asked_for(each, asked))


def _is_asked_for(message: Message, asked: Sequence[Sequence[Condition]]) -> bool:
    opened = any(
        each.key in (Key.SUBAGENTS, Key.AGENT, Key.SESSION) and not each.negated for group in asked for each in group
    )
    return (opened or message.agent is None) and all(_meets(message, group) for group in asked)


def _meets(message: Message, conditions: Sequence[Condition]) -> bool:
    for name in {each.key for each in conditions}:
        wanted = [each for each in conditions if each.key is name and not each.negated]
        excluded = [each for each in conditions if each.key is name and each.negated]
        if wanted and not any(_holds(message, each) for each in wanted):
            return False
        if any(_holds(message, each) for each in excluded):
            return False
    return True


def _holds(message: Message, condition: Condition) -> bool:
    return _TESTS[condition.key](message, condition.value)


def _project(message: Message, value: str) -> bool:
    if message.project is None:
        return False
    project, wanted = (text.replace("\\", "/").lower() for text in (message.project, value))
    if "*" in wanted or "?" in wanted:
        return _like(project, wanted)
    if "/" in wanted:
        return f"{project}/".startswith(wanted.rstrip("/") + "/")
    return wanted in (project, posixpath.basename(project))


def _like(text: str, pattern: str) -> bool:
    spelled = "".join({"*": ".*", "?": "."}.get(char) or re.escape(char) for char in pattern)
    return re.fullmatch(spelled, text, re.DOTALL) is not None


def _labelled(name: str) -> Callable[[Message, str], bool]:
    return lambda message, value: any(_like(indexable(label), f"{name}={value}") for label in message.labels or ())


def _time(message: Message) -> int | None:
    return None if message.timestamp is None else to_micros(message.timestamp)


def _after(message: Message, value: str) -> bool:
    time, limit = _time(message), to_micros(value)
    return time is not None and limit is not None and time >= limit


def _before(message: Message, value: str) -> bool:
    time, limit = _time(message), to_micros(value)
    return time is not None and limit is not None and time < limit


_TESTS: dict[Key, Callable[[Message, str], bool]] = {
    Key.ROLE: lambda message, value: message.role == value,
    Key.CLIENT: lambda message, value: (message.source_agent or "").lower() == value.lower(),
    Key.PROJECT: _project,
    Key.SESSION: lambda message, value: message.session_id == value,
    Key.AFTER: _after,
    Key.BEFORE: _before,
    Key.AGENT: lambda message, value: message.agent is not None and indexable(message.agent) == value,
    Key.TOOL: _labelled("tool"),
    Key.FILE: _labelled("file"),
    Key.HAS: _labelled("has"),
    Key.FAILED: lambda message, value: ("failed" in (message.labels or ())) is (value == "true"),
    Key.SUBAGENTS: lambda message, value: value == "include" or (message.agent is not None) is (value == "only"),
}
