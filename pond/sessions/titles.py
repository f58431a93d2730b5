"""The title of a session: the client's own, otherwise the beginning of its first prompt."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from pond.sessions.stored_text import from_stored
from pond.sessions.summaries import parts_of
from pond.sessions.tables import MESSAGES
from pond.substrate import predicate, read
from pond.substrate.store import Store

_LONGEST = 100  # characters
_MEDIA = re.compile(r"^[a-z]+/[\w.+-]+$", re.MULTILINE | re.ASCII)  # how a text names an attachment's kind


def titles(store: Store, session_ids: Iterable[str]) -> dict[str, str]:
    """Return the titles of sessions, ids as stored; a session in which nobody said anything has none."""
    ids = list(session_ids)
    own = _shown(_newest_titles(store, ids))
    return own | _shown(_first_prompts(store, [id for id in ids if id not in own]))


def _shown(texts: dict[str, str]) -> dict[str, str]:
    """Return the first line of each text that says anything, shortened if it is long."""
    lines = {id: next((line.strip() for line in text.splitlines() if line.strip()), "") for id, text in texts.items()}
    return {
        id: line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…" for id, line in lines.items() if line
    }


def _newest_titles(store: Store, ids: list[str]) -> dict[str, str]:
    if not ids:
        return {}
    where = predicate.all_of(
        predicate.one_of("session_id", ids), predicate.equals("role", "system"), "title IS NOT NULL"
    )
    rows = read.rows(store, MESSAGES, ["session_id", "title", "position", "id"], where)
    newest = _of_last_row(rows.sort_by([("position", "ascending"), ("id", "ascending")]), "title")
    return {id: from_stored(title) for id, title in newest.items()}


def _first_prompts(store: Store, ids: list[str]) -> dict[str, str]:
    """Return the first text of the person in each session; only that one is read."""
    if not ids:
        return {}
    said = predicate.all_of(predicate.one_of("session_id", ids), predicate.equals("role", "user"), "searched")
    rows = read.rows(store, MESSAGES, ["session_id", "position", "id"], said, row_ids=True)
    first = _of_last_row(rows.sort_by([("position", "descending"), ("id", "descending")]), read.ROW)
    if not first:
        return {}
    texts = read.rows(store, MESSAGES, ["session_id", "id", "search_text"], read.taking(first.values()))
    return _without_files(store, texts)


def _without_files(store: Store, texts: pa.Table) -> dict[str, str]:
    """Return the texts without the lines that say what is attached; where nothing else was said, those remain."""
    rows = texts.to_pylist()
    attached = parts_of(store, [(row["session_id"], row["id"]) for row in rows if _MEDIA.search(row["search_text"])])
    found: dict[str, str] = {}
    for row in rows:
        files = [part for part in attached.get((row["session_id"], row["id"]), ()) if part["type"] == "file"]
        names = {line for part in files for line in (part.get("name"), part["media_type"])}
        said = [line for line in row["search_text"].splitlines() if line.strip() and line not in names]
        alone = [f"[{part.get('name') or part['media_type']}]" for part in files]
        found[row["session_id"]] = "\n".join(said or alone) or row["search_text"]
    return found


def _of_last_row(rows: pa.Table, column: str) -> dict[str, Any]:
    """Return a value for each session: that of its last row."""
    return dict(zip(rows["session_id"].to_pylist(), rows[column].to_pylist(), strict=True))
