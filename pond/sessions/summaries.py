"""Messages in short: their conversational text, and each part's kind and size, read without its payload."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from pond.model._tables import SUMMARY
from pond.model.json_text import Json, JsonObject, decode_stored, encode
from pond.model.marks import says_again
from pond.sessions import base64_text
from pond.sessions.load import fill_time, stored_id, with_micros
from pond.sessions.rows import LAST, OWN, SLOT
from pond.sessions.stored_text import from_stored
from pond.sessions.tables import MESSAGES, PARTS
from pond.substrate import predicate, read
from pond.substrate.store import Store

CONVERSATION = "search_text IS NOT NULL"  # a message in which a person or a model said something
TOLD = f"(position < {LAST} AND position % {SLOT} >= {OWN})"  # a message in which pond tells the model something
_MESSAGE = ("id", "position", "timestamp", "timestamp_text", "role", "content", "search_text")
_PART = ("message_id", "id", "ordinal", "type", "provenance", "variant_data", "payloads")


def summaries(store: Store, session_id: str, wanted: pa.Table, *, injected: bool = True) -> list[JsonObject]:
    """Return messages at some of a session's `positions` in short, in order; without `injected`, only conversation."""
    ids = wanted["id"].to_pylist()
    if not ids:
        return []
    # By position first: nothing of the session's other rows is read.
    ends = pc.min_max(wanted["position"]).as_py()
    here = predicate.all_of(
        predicate.equals("session_id", stored_id(session_id)),
        f"position >= {ends['min']} AND position <= {ends['max']}",
    )
    rows = with_micros(
        read.rows(store, MESSAGES, _MESSAGE, predicate.all_of(here, predicate.one_of("id", ids))), "timestamp"
    )
    shown = None if injected else predicate.equals("provenance", "conversational")
    parts = _parts(store, predicate.all_of(here, predicate.one_of("message_id", ids), shown))
    rows.sort(key=lambda row: (row["position"], row["id"]))
    again = _said_again(store, here, [row["id"] for row in rows if _may_say_again(row, parts.get(row["id"], []))])
    return [_summary(row, parts.get(row["id"], []), row["id"] in again) for row in rows]


def parts_of(store: Store, messages: Sequence[tuple[str, str]]) -> dict[tuple[str, str], list[JsonObject]]:
    """Return the parts of some messages in short, by the stored ids of their sessions and themselves."""
    if not messages:
        return {}
    sessions, ids = (sorted(set(names)) for names in zip(*messages, strict=True))
    where = predicate.all_of(predicate.one_of("session_id", sessions), predicate.one_of("message_id", ids))
    rows: list[JsonObject] = read.rows(store, PARTS, ("session_id", *_PART), where).to_pylist()
    parts: dict[tuple[str, str], list[JsonObject]] = {}
    for row in sorted(rows, key=lambda row: (row["ordinal"], row["id"])):
        parts.setdefault((row["session_id"], row["message_id"]), []).append(_part_summary(row))
    return parts


def _may_say_again(row: JsonObject, parts: list[JsonObject]) -> bool:
    return row["search_text"] is None and any(part["provenance"] == "conversational" for part in parts)


def _said_again(store: Store, here: str | None, ids: list[str]) -> set[str]:
    """Return which of some messages only repeat a prompt of an earlier one."""
    if not ids:
        return set()
    where = predicate.all_of(here, predicate.equals("role", "user"), predicate.one_of("id", ids))
    rows = read.rows(store, MESSAGES, ("id", "options"), where).to_pylist()
    return {row["id"] for row in rows if says_again(decode_stored(row["options"]))}


def _parts(store: Store, where: str | None) -> dict[str, list[JsonObject]]:
    rows: list[JsonObject] = read.rows(store, PARTS, _PART, where).to_pylist()
    parts: dict[str, list[JsonObject]] = {}
    for row in sorted(rows, key=lambda row: (row["ordinal"], row["id"])):
        parts.setdefault(row["message_id"], []).append(_part_summary(row))
    return parts


def _summary(row: JsonObject, parts: list[JsonObject], again: bool) -> JsonObject:
    summary: JsonObject = {"id": from_stored(row["id"]), "role": row["role"]}
    fill_time(summary, "timestamp", row)
    said = row["search_text"] if row["content"] is None else from_stored(row["content"])
    summary |= {"text": said or "", "parts_summary": parts}
    return summary | {"again": True} if again else summary


def _part_summary(row: JsonObject) -> JsonObject:
    variant: JsonObject = decode_stored(row["variant_data"])
    summary: JsonObject = {"id": from_stored(row["id"]), "type": row["type"], "provenance": row["provenance"]}
    size = sum(length for _, length, _ in decode_stored(row["payloads"])) if row["payloads"] else 0
    for name, what in SUMMARY.get(row["type"], {}).items():
        if name in variant and what in _SIZES:
            size += _SIZES[what](variant[name])
        elif name in variant:
            summary[what] = variant[name]
    return {**summary, "size_bytes": size}


def _bytes(value: Json) -> int:
    return len(value.encode("utf-8", "surrogatepass")) if type(value) is str else len(encode(value))


def _file_bytes(data: Json) -> int:
    encoded = base64_text.read(data) if type(data) is str else None  # canonical text may hold anything
    return _bytes(data) if encoded is None else len(encoded[0])


# How content in the row itself is measured: a text's bytes, those of a value's JSON, or a file's.
_SIZES: dict[str, Callable[[Json], int]] = {"size": _bytes, "bytes": _file_bytes}
