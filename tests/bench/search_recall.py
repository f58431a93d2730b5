"""How many of the nearest vectors the index finds, against looking at all of them: on vectors of real texts.

The texts are paragraphs of the docstrings of what is installed here, and for the static model, which is fast, lines of
its code: by many hands, as messages are.
"""

import ast
import random
import re
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pond.embed import registry
from pond.embed.bulk import embedded
from pond.embed.embedder import opened
from pond.substrate import vectors
from pond.substrate.catalog import Catalog
from pond.substrate.read import Pinned
from pond.substrate.store import Store
from pond.substrate.table import Table, key
from pond.substrate.write import insert
from tests.bench.figures import Figure
from tests.embed.fetch import MODELS, MULTILINGUAL, NAME, fetch

FOUND = 100  # as many as a search takes
QUESTIONS = 200
LIMIT = 0.95
_LEAST, _MOST = 20, 200  # characters of a paragraph
_COLUMN = "vector"


def measure(full: bool) -> list[Figure]:
    """Return the recall of the index on what a small model makes of many texts, and a static one of very many."""
    return [
        _recall(NAME, _texts(_of_docstrings, 100_000 if full else 5_000)),
        _recall(MULTILINGUAL, _texts(_of_code, 1_000_000 if full else 50_000)),
    ]


def _recall(name: str, texts: list[str]) -> Figure:
    fetch(name)
    rows = _vectors(name, texts)
    with tempfile.TemporaryDirectory(prefix="pond-bench-") as place:
        pinned = _indexed(Path(place), rows[QUESTIONS:])
        shares = {probes: _shares(pinned, rows[:QUESTIONS], probes) for probes in (1, 4, 16)}
    detail = {f"nprobes {probes}": float(np.mean(found)) for probes, found in shares.items()}
    detail |= {"vectors": float(len(rows) - QUESTIONS), "worst": float(min(shares[16]))}
    return Figure(f"recall@{FOUND}, {name}", detail["nprobes 16"], "of all", LIMIT, at_least=True, detail=detail)


def _shares(pinned: Pinned, questions: NDArray[np.float32], probes: int) -> list[float]:
    how = vectors.Nearness(nprobes=probes)
    return [len(_nearest(pinned, each, how) & _nearest(pinned, each, how, exact=True)) / FOUND for each in questions]


def _nearest(pinned: Pinned, vector: NDArray[np.float32], how: vectors.Nearness, *, exact: bool = False) -> set[str]:
    asked = vectors.nearest(_COLUMN, vector, FOUND, how, exact=exact)
    return set(pinned.rows(["id", vectors.DISTANCE], None, nearest=asked)["id"].to_pylist())


def _indexed(place: Path, rows: NDArray[np.float32]) -> Pinned:
    """Return a table of vectors with the index that pond makes of so many."""
    table = Table("points", (key("id", 0), vectors.field(_COLUMN, rows.shape[1])), 1)
    store = Store(Catalog(str(place)))
    ids = pa.array([str(number) for number in range(len(rows))])
    insert(store, table, pa.table([ids, vectors.array(rows)], schema=table.schema))
    vectors.keep_index(store, table, _COLUMN, len(rows), least=1)
    return Pinned(store, table)


def _vectors(name: str, texts: list[str]) -> NDArray[np.float32]:
    model = opened(registry.find(MODELS, name))
    rows = np.empty((len(texts), model.dimensions), dtype=np.float32)
    for start in range(0, len(texts), 10_000):
        some = texts[start : start + 10_000]
        for batch in embedded(model, some, threads=2):
            assert batch.vectors is not None
            rows[[start + place for place in batch.places]] = batch.vectors
    return rows


def _texts(pieces: Callable[[Path], Iterator[str]], count: int) -> list[str]:
    """Return so many texts, each once, in no order, and those that are asked for beside them."""
    found = dict.fromkeys(islice((text for path in _sources() for text in pieces(path)), 2 * count))
    texts = list(found)[: count + QUESTIONS]
    random.Random(1).shuffle(texts)
    return texts


def _sources() -> Iterator[Path]:
    for name in ("purelib", "stdlib"):
        yield from sorted(Path(sysconfig.get_path(name)).rglob("*.py"))


def _of_docstrings(path: Path) -> Iterator[str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _cut(re.split(r"\n\s*\n", ast.get_docstring(node) or ""))


def _of_code(path: Path) -> Iterator[str]:
    lines = path.read_text("utf-8", "replace").split("\n")
    yield from _cut("\n".join(lines[at : at + 3]) for at in range(0, len(lines), 3))


def _cut(pieces: Iterator[str] | list[str]) -> Iterator[str]:
    for piece in pieces:
        text = " ".join(piece.split())[:_MOST]
        if len(text) >= _LEAST and sum(map(str.isalpha, text)) > len(text) / 2:
            yield text
