"""How fast search is on a lake of very many messages: against the bare query of Lance inside, and what filters cost."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import pond
from pond.search.candidates import CANDIDATE
from pond.substrate import read
from pond.substrate.vectors import DISTANCE
from pond.types import SearchFilters
from tests.bench import search_ingest, search_lake, search_once
from tests.bench.figures import Figure
from tests.bench.search_lake import PER_SESSION, Built
from tests.bench.search_queries import CLASSES, HOSTILE, Queries
from tests.bench.talk import Talk

LIMIT, HOSTILE_LIMIT, FILTER_LIMIT = 3.0, 10.0, 1.2
QUERIES = 30  # of each class
_EVERY_DAY, _FULL = 100_000, 1_000_000


@dataclass
class Scans:
    """The queries by words and by vectors that were asked, to ask them again by themselves."""

    made: list[tuple[read.Pinned, str | None, dict[str, Any]]] = field(default_factory=list)

    def again(self, columns: Sequence[str] = ()) -> None:
        for pinned, where, limits in self.made:
            pinned.rows([*columns, DISTANCE if "nearest" in limits else "_score"], where, **limits)


def size(full: bool) -> int:
    """Return how many messages the lake has that is searched."""
    return _FULL if full else _EVERY_DAY


def measure(messages: int | None, full: bool, folder: Path | None, rounds: int) -> list[Figure]:
    """Return all figures of speed and size."""
    built = search_lake.kept(messages or size(full), folder)
    queries = Queries(built.messages // PER_SESSION)
    with pond.Lake(built.place) as lake:
        figures = [against_bare(lake, kind, queries.of(kind, QUERIES), rounds) for kind in (*CLASSES, *HOSTILE)]
        figures += _filtered(lake, queries.of("words", QUERIES), queries, rounds)
    figures += search_once.one_shot(built, queries.of("words", rounds))
    figures += [search_once.memory(built, queries.of("words", QUERIES)), _index(built)]
    with tempfile.TemporaryDirectory(prefix="pond-bench-") as temporary:
        return figures + search_ingest.ingest(Path(temporary), rounds)


# --- against the query inside ----------------------------------------------------------------------------------------


def against_bare(
    lake: pond.Lake, kind: str, queries: Iterable[str], rounds: int, named: str = "search", limit: float = LIMIT
) -> Figure:
    """Compare whole searches with the queries for candidates in them: the same terms, limit, filter and columns."""
    times: dict[str, list[float]] = {"whole": [], "bare": [], "ids": []}
    for query in queries:
        with _listening() as scans:
            lake.search(query)
        work: dict[str, Callable[[], object]] = {"whole": partial(lake.search, query)}
        work |= {"bare": partial(scans.again, CANDIDATE), "ids": scans.again}
        for name, seconds in least(work, rounds).items():
            times[name].append(seconds)
    whole, bare, ids = (times[name] for name in ("whole", "bare", "ids"))
    detail = {"p95": _p95(whole) / _p95(bare), "CPU ms p50": 1e3 * median(whole), "CPU ms p95": 1e3 * _p95(whole)}
    detail |= {"bare p50": 1e3 * median(bare), "bare p95": 1e3 * _p95(bare), "bare without texts": 1e3 * median(ids)}
    limit = HOSTILE_LIMIT if kind in HOSTILE else limit
    ratio = median(whole) / median(bare)
    return Figure(f"{named}, {kind}", ratio, "x bare query", limit, at_least=False, detail=detail)


@contextmanager
def _listening() -> Iterator[Scans]:
    """Note the queries for candidates that are made meanwhile."""
    scans, ask = Scans(), read.Pinned.rows

    def rows(self: read.Pinned, columns: Sequence[str], where: str | None = None, **limits: Any) -> Any:
        if "full_text_query" in limits or "nearest" in limits:
            scans.made.append((self, where, limits))
        return ask(self, columns, where, **limits)

    read.Pinned.rows = rows  # type: ignore[method-assign]
    try:
        yield scans
    finally:
        read.Pinned.rows = ask  # type: ignore[method-assign]


def least(work: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the least CPU time of each kind of work, done in turn."""
    best = dict.fromkeys(work, float("inf"))
    for _ in range(rounds):
        for name, do in work.items():
            start = process_time()
            do()
            best[name] = min(best[name], process_time() - start)
    return best


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[int(0.95 * len(values))]


# --- filters ---------------------------------------------------------------------------------------------------------


def _filtered(lake: pond.Lake, words: Sequence[str], queries: Queries, rounds: int) -> list[Figure]:
    some = Talk(7)
    filters: dict[str, SearchFilters] = {
        "role": {"role": ["user"]},
        "client": {"source_agent": ["codex"]},
        "project": {"project": [some.project]},
        "session": {"session_id": [some.id]},
        "all but a tenth of the time": {"since": queries.time(0.1)},
        "the last tenth of the time": {"since": queries.time(0.9)},
    }
    times: dict[str, list[float]] = {name: [] for name in ("none", *filters)}
    for query in words:
        work = {"none": partial(lake.search, query)}
        work |= {name: partial(lake.search, query, filters=given) for name, given in filters.items()}
        for name, seconds in least(work, rounds).items():
            times[name].append(seconds)
    base = median(times.pop("none"))
    return [
        Figure(
            f"filter, {name}", median(found) / base, "x unfiltered", None if "time" in name else FILTER_LIMIT,
            at_least=False, detail={"CPU ms p50": 1e3 * median(found), "unfiltered": 1e3 * base},
        )
        for name, found in times.items()
    ]  # fmt: skip


# --- size ------------------------------------------------------------------------------------------------------------


def _index(built: Built) -> Figure:
    detail = {"index MB": built.index_bytes / 1e6, "messages MB": built.row_bytes / 1e6}
    detail |= {"of terms, CPU s": built.index_seconds, "rows, CPU s": built.row_seconds, "messages": built.messages}
    return Figure(
        "indexes of messages", built.index_bytes / built.row_bytes, "x messages", None, at_least=False, detail=detail
    )
