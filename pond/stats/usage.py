"""Where a client records models and tokens: declared in its folder, read here as SQL.

Every client's rows have the same form: the place of the record, its answer, the model, and the tokens. Nothing here
knows a client.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pond.codec.registry import adapter, clients

TOKENS = ("input", "output", "cache_read", "cache_write", "reasoning")
_COLUMNS = ("session_id", "id", "position", "answer", "model", *TOKENS)
_NOTHING = (
    "SELECT 0 AS rank, NULL::VARCHAR AS session_id, NULL::VARCHAR AS id, NULL::BIGINT AS position, "
    f"NULL::VARCHAR AS answer, NULL::VARCHAR AS model, {', '.join(f'NULL::BIGINT AS {name}' for name in TOKENS)} "
    "WHERE false"
)


def usage() -> str:
    """Return the query for usage: a row for each record that has some, including copies and repeats.

    If a client declares several tables, the first one with any rows for a session counts there.
    """
    every = " UNION ALL ".join([_NOTHING, *_declared()])
    return f"SELECT {', '.join(_COLUMNS)} FROM ({every}) QUALIFY rank = min(rank) OVER (PARTITION BY session_id)"


def _declared() -> Iterator[str]:
    for client in clients():
        for rank, declared in enumerate(adapter(client).declared().get("usage", ())):
            records = _records(client, declared)
            own = " - ".join(["input", *(f"coalesce({name}, 0)" for name in declared.get("includes", ()))])
            new = _differences(records) if declared["counts"] == "total" else records
            columns = ", ".join(_COLUMNS).replace("input", f"{own} AS input")
            yield f"SELECT {rank} AS rank, {columns} FROM ({new})"


def _records(client: str, declared: Mapping[str, Any]) -> str:
    """Return the records with usage; `newest` is that of the last answer, if they give totals."""
    only = " AND ".join(f"{_text(path)} = {_quoted(value)}" for path, value in declared.get("only", {}).items())
    answer = _text(declared["answer"]) if "answer" in declared else "NULL"
    tokens = ", ".join(f"{_number(declared['tokens'].get(name))} AS {name}" for name in TOKENS)
    newest = ", ".join(f"{_number(declared.get('newest', {}).get(name))} AS new_{name}" for name in TOKENS)
    no_model = ", ".join(map(_quoted, ("", *declared.get("no_model", ()))))
    return f"""
SELECT * FROM (
  SELECT session_id, id, position, coalesce({answer}, session_id || ' ' || id) AS answer, {_model(declared)} AS model,
         {tokens}, {newest}, coalesce({only or "true"}, false) AS counts
  FROM messages WHERE source_agent = {_quoted(client)} AND role = {_quoted(declared["role"])}
) WHERE counts AND output IS NOT NULL AND coalesce(model, 'unknown') NOT IN ({no_model})"""


def _model(declared: Mapping[str, Any]) -> str:
    if "model" in declared:
        return _text(declared["model"])
    before = _text(declared["model_before"])
    return f"last_value({before} IGNORE NULLS) OVER (PARTITION BY session_id ORDER BY position)"


def _differences(records: str) -> str:
    """Return what is new in each of the running totals.

    The first total of a session counts whole; for a fork or a subagent, the newest answer's usage counts instead,
    because its parent's total may be included. The same holds for a total smaller than the one before it.
    """
    began = "before_output IS NULL AND parent_session_id IS NOT NULL OR output < before_output OR input < before_input"
    before = ", ".join(f"lag({name}) OVER w AS before_{name}" for name in TOKENS)
    new = ", ".join(
        f"CASE WHEN {began} THEN coalesce(new_{name}, 0) ELSE {name} - coalesce(before_{name}, 0) END AS {name}"
        for name in TOKENS
    )
    return f"""
SELECT session_id, id, position, answer, model, {new} FROM (
  SELECT r.*, s.parent_session_id, {before} FROM ({records}) r JOIN sessions s ON s.id = r.session_id
  WINDOW w AS (PARTITION BY r.session_id ORDER BY r.position)
)"""


def _text(path: str) -> str:
    return f"json_extract_string(options, {_quoted(path)})"


def _number(path: str | None) -> str:
    return "0" if path is None else f"try_cast({_text(path)} AS BIGINT)"


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
