"""What a query sees: three tables, and those columns that mean something outside of pond."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import pyarrow as pa

from pond.sessions.tables import MESSAGES, PARTS, SESSIONS
from pond.substrate.table import Table

JSON = ("options", "variant_data")

_TYPES = {
    "string": "text", "int64": "bigint", "int32": "integer", "bool": "boolean", "list<item: string>": "text[]",
}  # fmt: skip

# What is not described here is not shown: embeddings, search terms and payloads are large and useless in a result,
# other columns are pond's own bookkeeping, and a new one waits until somebody describes it.
_MEANING = {
    ("sessions", "id"): "the session",
    ("sessions", "parent_session_id"): "the session it comes from",
    ("sessions", "parent_message_id"): "the message there",
    ("sessions", "lineage_kind"): "how: spawn (a subagent), fork or continuation",
    ("sessions", "source_agent"): "the client that recorded it",
    ("sessions", "created_at"): "when it began",
    ("sessions", "project"): "the directory it is about",
    ("sessions", "options"): "everything else the client wrote about it",
    ("sessions", "ingested_at"): "when pond stored it",
    ("messages", "session_id"): "its session",
    ("messages", "id"): "the message; unique within its session",
    ("messages", "position"): "its place in the session's log: order by this",
    ("messages", "timestamp"): "when it was written",
    ("messages", "role"): "user, assistant, system or tool",
    ("messages", "source_agent"): "as in its session",
    ("messages", "project"): "as in its session",
    ("messages", "content"): "the text of a system message",
    ("messages", "search_text"): "what a person typed or a model answered; null for everything else",
    ("messages", "title"): "a title that the client gave the session here",
    ("messages", "embedding_model"): "the model that embedded its text",
    ("messages", "options"): "everything else the client wrote about it, such as model and usage",
    ("messages", "labels"): "tool=…, file=…, failed of its turn; has=… of its own",
    ("messages", "agent"): "the kind of subagent that its session belongs to; null in all other sessions",
    ("messages", "copied_from"): "the session it was copied from, where a session continues another client's",
    ("messages", "copied_id"): "the message there",
    ("messages", "elsewhere"): "true for a copy that another row shows: leave it out to count each word once",
    ("parts", "session_id"): "its session",
    ("parts", "message_id"): "its message",
    ("parts", "id"): "the part; unique within its message",
    ("parts", "position"): "that of its message",
    ("parts", "ordinal"): "its place in the message",
    ("parts", "type"): "text, reasoning, tool_call, tool_result, file and others",
    ("parts", "provenance"): "conversational, or injected by the client",
    ("parts", "variant_data"): "the content: text; name, call_id, params; result, is_failure; media_type",
    ("parts", "options"): "everything else the client wrote about it",
    ("parts", "data_hash"): "SHA-256 of its payload",
    ("parts", "data_size"): "bytes of its payload",
}


@dataclass(frozen=True)
class Column:
    """A column as a query sees it."""

    name: str
    type: str
    indexed: bool
    meaning: str


@dataclass(frozen=True)
class View:
    """A table as a query sees it."""

    table: Table
    columns: tuple[Column, ...]

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def json(self) -> tuple[str, ...]:
        """The columns that hold JSON text."""
        return tuple(name for name in self.names if name in JSON)


@cache
def views() -> dict[str, View]:
    """Return the tables by name; sessions first, so that their messages and parts are there when they are read."""
    return {table.name: View(table, _columns(table)) for table in (SESSIONS, MESSAGES, PARTS)}


def _columns(table: Table) -> tuple[Column, ...]:
    indexed = {index.column for index in table.indexes}
    return tuple(
        Column(field.name, _type(field), field.name in indexed, _MEANING[table.name, field.name])
        for field in table.columns
        if (table.name, field.name) in _MEANING
    )


def _type(field: pa.Field) -> str:
    if field.name in JSON:
        return "json text"
    if pa.types.is_timestamp(field.type):
        return "timestamptz"
    return _TYPES[str(field.type)]
