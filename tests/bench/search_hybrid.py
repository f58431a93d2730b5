"""How fast search by words and meaning is, against the two bare queries of Lance inside; and from a shell."""

from functools import partial
from pathlib import Path
from statistics import median

import pond
from pond.config.load import load
from pond.embed.embedder import opened
from pond.lake.models import configured
from tests.bench import search_lake, search_once, search_speed, search_vectors
from tests.bench.figures import Figure
from tests.bench.lakes import NO_FILE
from tests.bench.search_lake import PER_SESSION, Built
from tests.bench.search_queries import CLASSES, Queries

LIMIT = 2.0


def measure(messages: int | None, full: bool, folder: Path | None, rounds: int) -> list[Figure]:
    """Return the figures of a lake whose messages have vectors, invented ones."""
    built = search_lake.kept(messages or search_speed.size(full), folder)
    indexing = search_vectors.ready(built)
    queries = Queries(built.messages // PER_SESSION)
    with search_vectors.configured():
        figures = _searches(built, queries, rounds)
        figures.append(_question(queries.of("question", search_speed.QUERIES), rounds))
    words = queries.of("words", search_speed.QUERIES)
    figures += search_once.one_shot(built, words[:rounds])
    variables = {**NO_FILE, **search_vectors.settings()}
    figures.append(search_once.memory(built, words, variables, "memory of searches by both"))
    return [*figures, Figure("index of vectors", indexing, "CPU s", None, at_least=False)]


def _searches(built: Built, queries: Queries, rounds: int) -> list[Figure]:
    with pond.Lake(built.place) as lake:
        assert "meaning" in lake.search("warm")["searched_by"]
        return [
            search_speed.against_bare(lake, kind, queries.of(kind, search_speed.QUERIES), rounds, "both arms", LIMIT)
            for kind in CLASSES
        ]


def _question(queries: list[str], rounds: int) -> Figure:
    """Return what embedding a question takes, which is in every search above."""
    model = configured(load({}))
    assert model is not None
    embedder, times = opened(model), []
    for query in queries:
        times.append(search_speed.least({"": partial(embedder.query, query)}, rounds)[""])
    return Figure("embedding a question", 1e3 * median(times), "CPU ms", None, at_least=False)
