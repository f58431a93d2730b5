"""The tables for sessions: the three canonical types, and a ledger of what pond notes about its sources.

Columns hold each canonical field once. In addition: `position`, the place in the session's log; `payloads`, where the
bytes of `data` belong; a time's own text if microseconds would be printed differently; and what search filters by. JSON
is stored as text, because Lance's own JSON type changes values (decision 0013). Embeddings are columns too, one for
each model; they come and go with the models, so `vectors.py` makes them, and they are not declared here.
"""

from __future__ import annotations

import pyarrow as pa

from pond.substrate.table import Index, Table, blob, key, labels, packed

VERSION = 2  # of all tables: nothing is released, so a lake of an earlier one is refused and must be made again
_LONG, _SHORT = 1 << 18, 1 << 16  # read a session at a time, and read in single rows
_TIME = pa.timestamp("us", "UTC")


def _text(name: str) -> pa.Field:
    return pa.field(name, pa.string())


SESSIONS = Table(
    "sessions",
    (
        key("id", 1),
        _text("parent_session_id"),
        _text("parent_message_id"),
        _text("lineage_kind"),
        _text("source_agent"),
        pa.field("created_at", _TIME),
        _text("created_at_text"),
        _text("project"),
        packed("options", _SHORT),
        pa.field("ingested_at", _TIME),
    ),
    version=VERSION,
    indexes=(
        Index("id", "BTREE"),
        Index("parent_session_id", "BTREE"),
        Index("source_agent", "BITMAP"),
        Index("project", "BITMAP"),
    ),
    derived=frozenset(("lineage_kind",)),  # in a lake of an earlier pond, what the records tell
)

# The terms are made by us, for every language alike (search-language-neutral-index): the index takes them unchanged.
_WORDS = {
    "base_tokenizer": "whitespace", "lower_case": False, "stem": False, "remove_stop_words": False,
    "ascii_folding": False, "max_token_length": None, "with_position": True,
}  # fmt: skip

_DERIVED = (
    "search_text", "title", "embedding_model", "terms", "labels", "agent", "rules", "searched", "copied_from",
    "copied_id", "elsewhere",
)  # fmt: skip

MESSAGES = Table(
    "messages",
    (
        # A source's ids are unique only within a session (lance-table-creation-session-scoped-pk).
        key("session_id", 1),
        key("id", 2),
        pa.field("position", pa.int64()),
        pa.field("timestamp", _TIME),
        _text("timestamp_text"),
        _text("role"),
        _text("source_agent"),
        _text("project"),
        packed("content", _SHORT),
        packed("search_text", _SHORT),
        _text("title"),
        _text("embedding_model"),  # which model's vector of `search_text` the row has, in that model's column
        packed("options", _LONG),
        _text("payloads"),
        packed("terms", _SHORT),
        labels("labels"),
        _text("agent"),
        pa.field("rules", pa.int32()),
        pa.field("searched", pa.bool_()),  # whether it has terms: the terms themselves are far too large to count by
        _text("copied_from"),  # the session that the row originally comes from, if pond copied it for another client
        _text("copied_id"),  # the message there
        pa.field("elsewhere", pa.bool_()),  # another row of the lake shows the same: this one is kept, but not counted
    ),
    version=VERSION,
    # No index on time: at a million rows a wide range is answered faster without one.
    indexes=(
        Index("session_id", "BTREE"),
        Index("role", "BITMAP"),
        Index("source_agent", "BITMAP"),
        Index("project", "BITMAP"),
        Index("agent", "BITMAP"),
        Index("searched", "BITMAP"),
        Index("copied_from", "BITMAP"),
        Index("labels", "LABEL_LIST"),
        Index("terms", "INVERTED", _WORDS),
    ),
    retired=("search_text_inverted",),
    derived=frozenset(_DERIVED),
)

PARTS = Table(
    "parts",
    (
        key("session_id", 1),
        key("message_id", 2),
        key("id", 3),
        pa.field("position", pa.int64()),
        pa.field("ordinal", pa.int32()),
        _text("type"),
        _text("provenance"),
        packed("variant_data", _LONG),
        packed("options", _LONG),
        _text("payloads"),
        _text("data_hash"),
        pa.field("data_size", pa.int64()),
        blob("data"),
    ),
    version=VERSION,
    indexes=(Index("session_id", "BTREE"), Index("type", "BITMAP")),
)

LEDGER = Table("ledger", (key("kind", 1), key("id", 2), packed("value", _SHORT)), version=VERSION)

# Vectors on their way into `messages` (decision 0028): created when something is embedded, and mostly empty.
VECTORS = Table(
    "vectors",
    (key("session_id", 1), key("id", 2), key("model", 3), pa.field("vector", pa.list_(pa.float16()))),
    version=VERSION,
)

TABLES = (SESSIONS, MESSAGES, PARTS, LEDGER)
EVERY_TABLE = (*TABLES, VECTORS)
