"""Which stored sessions to write as files."""

from __future__ import annotations

from collections.abc import Iterable

from pond.codec.registry import client_named
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.lake import find
from pond.model.json_text import JsonObject
from pond.sessions import load
from pond.substrate import predicate
from pond.substrate.store import Store


def named(store: Store, texts: Iterable[str]) -> list[JsonObject]:
    """Return the rows of the sessions meant, each once; raise UsageError if one does not exist."""
    rows = (load.session(store, find.session(store, text)) for text in texts)
    return list({row["id"]: row for row in rows if row is not None}.values())


def every(store: Store, project: str | None, client: str | None) -> list[JsonObject]:
    """Return the rows of all sessions of a project and a client, in the order of their ids; raise if there are none."""
    wanted = (("project", project), ("source_agent", client_named(client)))
    filters = (predicate.equals(name, load.stored_id(text)) for name, text in wanted if text is not None)
    rows = load.sessions(store, predicate.all_of(*filters))
    if not rows:
        raise UsageError(Diagnostic("lake-not-found", "no session matches"))
    return sorted(rows, key=lambda row: str(row["id"]))
