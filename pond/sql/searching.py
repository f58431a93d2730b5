"""`search('words', n)` in a query: the messages that `pond search` finds, as a table of ids and scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from pond.diagnostics.diagnostic import UsageError
from pond.sql.gate import Search
from pond.substrate.store import Store

TABLE = "search results"
_SCHEMA = pa.schema([
    ("asked_words", pa.string()), ("asked_count", pa.int64()), ("rank", pa.int64()), ("session_id", pa.string()),
    ("message_id", pa.string()), ("score", pa.float64()), ("match", pa.float64()),
])  # fmt: skip
EMPTY = _SCHEMA.empty_table()


def found(store: Store, searches: Iterable[Search], version: int) -> pa.Table:
    """Return what the searches of a query find in one version of the messages, the best of each first."""
    rows = [row for each in searches for row in _rows(store, each, version)]
    return pa.Table.from_pylist(rows, _SCHEMA)


def _rows(store: Store, asked: Search, version: int) -> Iterator[dict[str, Any]]:
    from pond.search.candidates import Wanted
    from pond.search.engine import search
    from pond.search.filters import filter_of
    from pond.search.phrases import demanded
    from pond.search.query.parse import parse
    from pond.sessions import rarity
    from pond.sessions.tables import LEDGER
    from pond.substrate import read

    try:
        query = parse(asked.words, datetime.now(UTC))
        wanted = Wanted(filter_of(store, query.conditions), demanded(query), query.without)
    except UsageError as error:  # its place is in the words, not in the query
        raise UsageError(*(replace(each, span=None, path="search") for each in error.diagnostics)) from None
    common = rarity.of(store, read.Pinned(store, LEDGER))
    results = search(store, query.words, wanted, common, version).results[: asked.count]
    for rank, result in enumerate(results, 1):
        scored = result.scored
        yield {
            "asked_words": asked.words, "asked_count": asked.count, "rank": rank,
            "session_id": scored.candidate.session_id, "message_id": scored.candidate.id,
            "score": scored.score, "match": scored.match,
        }  # fmt: skip
