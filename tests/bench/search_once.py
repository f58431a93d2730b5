"""Search from a shell: its time, start included, and its memory. As a program it searches, and tells the latter."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pond
from pond.search.candidates import CANDIDATE, POOL
from tests.bench import search_vectors
from tests.bench.figures import Figure
from tests.bench.lakes import NO_FILE
from tests.bench.search_lake import Built
from tests.bench.watch import POND, watched

LIMIT = 1.6
_BARE = """
import json, sys, lance
from lance.query import MatchQuery
terms, columns, limit = json.loads(sys.argv[2])
lance.dataset(sys.argv[1]).scanner(
    columns=columns, full_text_query=MatchQuery(terms, "terms"), filter="agent IS NULL", prefilter=True, limit=limit
).to_table()
"""


def one_shot(built: Built, queries: list[str]) -> list[Figure]:
    """Measure `pond search` against a process that imports Lance, opens the table and asks the query inside.

    Beside it stands a search by meaning, too, where the messages have vectors.
    """
    vectors = search_vectors.settings() if search_vectors.are_there(built) else None
    best: dict[str, float] = {}
    peak = 0.0
    lake = pond.Lake(built.place)
    for query in queries:
        terms = lake.search(query, explain=True)["explanation"]["terms"]
        asked = json.dumps([" ".join(terms), [*CANDIDATE, "_score"], POOL])
        runs = {
            "pond search": [*POND, "search", query, "--lake", built.place],
            "query": [sys.executable, "-c", _BARE, f"{built.place}/messages.lance", asked],
            "import lance": [sys.executable, "-c", "import lance"],
        }
        for name, words in runs.items():
            best[name] = min(best.get(name, float("inf")), watched(words, NO_FILE).cpu)
        if vectors is not None:
            taken = watched(runs["pond search"], {**NO_FILE, **vectors})
            best["with vectors"] = min(best.get("with vectors", float("inf")), taken.cpu)
            peak = max(peak, taken.largest)
    detail = {f"{name} CPU s": seconds for name, seconds in best.items()}
    detail |= {"with vectors, MB": peak} if peak else {}
    ratio = best["pond search"] / best["query"]
    return [Figure("search from a shell", ratio, "x import lance and query", LIMIT, at_least=False, detail=detail)]


def memory(
    built: Built, queries: list[str], variables: Mapping[str, str] = NO_FILE, named: str = "memory of searches"
) -> Figure:
    """Tell how much memory a process holds after it opened the lake, and after searches."""
    taken = watched([sys.executable, "-m", "tests.bench.search_once", built.place, json.dumps(queries)], variables)
    detail: dict[str, float] = json.loads(taken.output)
    return Figure(named, taken.largest, "MB", None, at_least=False, detail=detail)


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


if __name__ == "__main__":
    lake = pond.Lake(sys.argv[1])
    lake.stats()  # opens every table
    found = {"MB open": _resident()}
    for number, query in enumerate(json.loads(sys.argv[2])):
        lake.search(query)
        if not number:
            found["MB after one"] = _resident()
    found["MB after all"] = _resident()
    print(json.dumps(found))
