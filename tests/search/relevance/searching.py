"""How the labelled queries are searched for: the one place that knows which search is measured."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import pond
from tests.search.relevance.reference import Reference

if TYPE_CHECKING:
    from pond.types import SearchFilters

_TIMES = ("since", "until")
_NAMES = {"client": "source_agent", "session": "session_id"}


def ranked(lake: pond.Lake, query: str, filters: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return session and message of each hit, best first."""
    found = lake.search(query, filters=_filters(filters))
    return [(hit["session_id"], hit["message_id"]) for hit in found["hits"]]


def best_match(lake: pond.Lake, query: str, filters: Mapping[str, str]) -> float:
    """Return how well the best hit matches, from 0 to 1; 0 where there is none."""
    found = lake.search(query, filters=_filters(filters))
    return max((hit["match"] for hit in found["hits"]), default=0.0)


def _filters(given: Mapping[str, str]) -> SearchFilters:
    times = {name: f"{day}T00:00:00.000Z" for name, day in given.items() if name in _TIMES}
    return cast("SearchFilters", {_NAMES.get(name, name): value for name, value in {**given, **times}.items()})


@lru_cache(maxsize=1)
def reference(lake: pond.Lake) -> Reference:
    """Return plain BM25 over the same lake."""
    return Reference(lake)
