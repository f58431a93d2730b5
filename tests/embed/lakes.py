"""Lakes of many short messages to embed, and what must hold of their vectors."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pond.embed.model import Model
from pond.sessions import vectors
from pond.sessions.rows import Rows, session_row
from pond.sessions.stored_text import to_stored
from pond.sessions.tables import MESSAGES, VECTORS
from pond.sessions.writing import prepare, write_rows, write_sessions
from pond.substrate import read
from pond.substrate.catalog import Catalog
from pond.substrate.store import Store
from tests.embed.server import Endpoint, vector_of
from tests.lake.build import INGESTED_AT, tables

Text = Callable[[int], str]  # of a message, by its number
PROJECT = "/home/ada/herbarium"
_A_SESSION = 20  # messages


def store_at(place: Path) -> Store:
    return Store(Catalog(str(place)))


def filled(place: Path, messages: int, first: int = 0, text: Text | None = None) -> Store:
    """Return a lake with so many messages that have a text, and one that has none for every session."""
    store = store_at(place)
    prepare(store)
    add(store, messages, first, text)
    return store


def add(store: Store, messages: int, first: int = 0, text: Text | None = None) -> None:
    """Store further messages, in sessions of their own."""
    sessions = [_session(number) for number in range(first // _A_SESSION, (first + messages) // _A_SESSION)]
    made = []
    for session in sessions:
        rows = Rows(session)
        for group in _groups(session, text):
            rows.take(group)
        made.append(tables(rows))
    write_rows(store, *(pa.concat_tables(each) for each in zip(*made, strict=True)))
    write_sessions(store, [session_row(session, INGESTED_AT) for session in sessions])


def _session(number: int) -> dict[str, Any]:
    facts = {"id": f"session-{number:05}", "source_agent": "codex", "project": PROJECT, "options": {}}
    return {"kind": "session", "created_at": "2026-03-14T08:00:00.000Z", **facts}


def _groups(session: dict[str, Any], given: Text | None) -> Iterator[list[dict[str, Any]]]:
    own = {"session_id": session["id"], "options": {}}
    for number in range(_A_SESSION):
        id, role = f"{session['id']}-{number}", "user" if number % 2 == 0 else "assistant"
        text = f"message {id} says that tray {number} is dry" + " and so on" * (number % 5)
        if given is not None:
            text = given(int(session["id"].removeprefix("session-")) * _A_SESSION + number)
        part = {"kind": "part", "type": "text", "id": f"{id}:0", "message_id": id, "text": text, **own}
        message = {"kind": "message", "id": id, "role": role, "timestamp": "2026-03-14T08:00:00.000Z", **own}
        yield [message, {**part, "provenance": "conversational"}]
    yield [{"kind": "message", "id": f"{session['id']}-bare", "role": "system", "content": "", **own}]


def far(server: Endpoint, name: str = "far", **more: Any) -> Model:
    """Return the model of a test server."""
    return Model(name, "endpoint", endpoint=server.url, timeout=10, **more)


def unsound(store: Store, model: Model, dimensions: int) -> list[str]:
    """Say what is wrong with the vectors of a lake: each is that of its message's own text, under its model's name."""
    store.forget()
    name = vectors.column(model.label)
    wrong: list[str] = []
    if vectors.columns(store.handle(MESSAGES).schema).get(name) != dimensions:
        return [f"no column {name}"]
    table = vectors.with_vectors(store, MESSAGES)
    for row in read.rows(store, table, ["id", "search_text", name, vectors.MARK]).to_pylist():
        if row[vectors.MARK] != model.label:
            continue
        expected = np.array(vector_of(row["search_text"], dimensions))
        found = np.array(row[name], dtype=np.float32)
        if abs(float(found @ (expected / np.linalg.norm(expected))) - 1) > 0.01:
            wrong.append(f"{row['id']} has the vector of another text")
    return wrong


def embedded_ids(store: Store, model: Model) -> set[str]:
    """Return the messages that have a vector by this model."""
    store.forget()
    found = read.rows(store, MESSAGES, ["id"], f"{vectors.MARK} = '{to_stored(model.label)}'")["id"].to_pylist()
    assert len(found) == len(set(found))
    return set(found)


def staged(store: Store) -> int:
    """Return how many vectors are on their way."""
    return read.count(store, VECTORS)
