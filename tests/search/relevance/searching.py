"""How the labelled queries are searched for: the one place that knows which search is measured."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import pond
from tests.search.relevance.reference import Reference


def ranked(lake: pond.Lake, query: str, filters: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return session and message of each hit, best first."""
    return reference(lake).ranked(query, filters)


def best_match(lake: pond.Lake, query: str, filters: Mapping[str, str]) -> float:
    """Return how well the best hit matches, from 0 to 1; 0 where there is none."""
    return reference(lake).match(query, filters)


@lru_cache(maxsize=1)
def reference(lake: pond.Lake) -> Reference:
    """Return plain BM25 over the same lake."""
    return Reference(lake)
