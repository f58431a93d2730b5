"""Sessions made up for reading tests: small, exact, and as awkward as the model allows."""

from base64 import b64encode
from collections.abc import Sequence

import pyarrow as pa

from pond.model.json_text import JsonObject
from pond.sessions.rows import Rows, Titler, session_row
from pond.sessions.writing import write_rows, write_sessions
from pond.substrate.store import Store
from tests.lake.build import INGESTED_AT, tables

PAYLOAD = b64encode(bytes(range(256)) * 4).decode()
HIDDEN = "only the harness said this"
HOSTILE = [
    "it's", '"quoted"', "' OR 'a'='a", "x'; DROP TABLE messages; --", "a\nb", "nul\0nul", "\x1b[31mred", "back\\slash",
    "100%_", "\ud800half", "\U0001f340 leaf", "\x01stored", "e\u0301", "a/b/c", "…", "/", "--limit", " ",
]  # fmt: skip


def session(id: str, **facts: str) -> JsonObject:
    """Return the row of a session."""
    return {"kind": "session", "id": id, "source_agent": "codex", "project": "/srv/orchard", "options": {}} | facts


def message(session_id: str, id: str, role: str = "user", at: int | None = None) -> JsonObject:
    """Return a message; `at` is its minute on an invented day."""
    row: JsonObject = {"kind": "message", "role": role, "id": id, "session_id": session_id, "options": {}}
    if at is not None:
        row["timestamp"] = f"2026-05-04T{at // 60:02}:{at % 60:02}:00.000Z"
    return row | ({"content": ""} if role == "system" else {})


def part(owner: JsonObject, number: int, type: str, provenance: str = "conversational", **facts: object) -> JsonObject:
    """Return a part of a message."""
    names = {"session_id": owner["session_id"], "message_id": owner["id"], "id": f"{owner['id']}:{number}"}
    return {"kind": "part", **names, "type": type, **facts, "provenance": provenance, "options": {}}


def said(session_id: str, id: str, text: str, role: str = "user", at: int | None = None) -> list[JsonObject]:
    """Return a record in which one text was said."""
    head = message(session_id, id, role, at)
    return [head, part(head, 0, "text", text=text)]


def awkward(session_id: str) -> list[list[JsonObject]]:
    """Return records of every shape: carriers, injected text, repeated payloads, two messages in a record."""
    groups: list[list[JsonObject]] = []
    for number in range(6):
        prompt = message(session_id, f"p{number}", at=number)
        groups.append(
            [prompt, part(prompt, 0, "text", text=f"prompt {number}"), part(prompt, 1, "text", "injected", text=HIDDEN)]
        )
        call = message(session_id, f"c{number}", "assistant", at=number)
        groups.append(
            [
                call,
                part(call, 0, "reasoning", text="hm"),
                part(call, 1, "tool_call", name="Look", params={"n": number}, provider_executed=False),
            ]
        )
        # The second message of the record repeats a payload that is packed with a part of the first.
        result = message(session_id, f"r{number}", "tool", at=number)
        beside = message(session_id, f"b{number}", at=number)
        beside["options"] = {"pond": {"with": True}, "source": {"copy": PAYLOAD, "n": number}}
        value = {"data": PAYLOAD, "n": number}
        answer = part(result, 0, "tool_result", name="Look", is_failure=False, result=value)
        groups.append([result, answer, beside, part(beside, 0, "text", text="beside it")])
        picture = message(session_id, f"f{number}", at=number)
        name = f"{number}.png"
        groups.append([picture, part(picture, 0, "file", media_type="image/png", file_name=name, data=PAYLOAD)])
        groups.append([message(session_id, f"s{number}", "system", at=number)])
        only = message(session_id, f"i{number}", at=number)
        groups.append([only, part(only, 0, "text", "injected", text=HIDDEN)])
    return groups


def store(lake: Store, row: JsonObject, groups: list[list[JsonObject]], title_of: Titler | None = None) -> None:
    """Store a session and its records."""
    store_all(lake, [(row, groups)], title_of)


def store_all(
    lake: Store, sessions: Sequence[tuple[JsonObject, list[list[JsonObject]]]], title_of: Titler | None = None
) -> None:
    """Store sessions and their records, all at once."""
    made = []
    for row, groups in sessions:
        rows = Rows(row, title_of=title_of)
        for group in groups:
            rows.take(group)
        made.append(tables(rows))
    write_rows(lake, *map(pa.concat_tables, zip(*made, strict=True)))
    write_sessions(lake, [session_row(row, INGESTED_AT) for row, _ in sessions])
