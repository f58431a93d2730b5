"""Vectors for a lake of very many messages: invented ones, in clusters, as texts about one thing are.

Real ones would take hours. For speed only their number, their dimensions and their unevenness count.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from os import environ
from pathlib import Path
from time import process_time

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pond.lake.optimize import optimize
from pond.sessions import vectors
from pond.sessions.tables import MESSAGES
from pond.substrate import read, write
from pond.substrate.catalog import Catalog
from pond.substrate.store import Store
from pond.substrate.vectors import field
from tests.bench.search_lake import NO_AGE, Built
from tests.embed.fetch import GTE, MODELS, NAME, fetch

MODEL, DIMENSIONS = "synthetic", 384
_TOPICS, _SPREAD = 2_000, 1.0  # of clusters; how far a text lies from the middle of its cluster
_NOTES = "vectors.json"


def ready(built: Built) -> float:
    """Give the messages of a lake vectors and their index, once; return the CPU seconds of the index."""
    notes = Path(built.place).parent / _NOTES
    if not notes.exists():
        store = Store(Catalog(built.place))
        _fill(store)
        begin = process_time()
        vectors.keep_indexes(store, least=1)
        notes.write_text(json.dumps(process_time() - begin))
        optimize(store, NO_AGE, index_from=1)
    return float(json.loads(notes.read_text()))


def are_there(built: Built) -> bool:
    """Tell whether the messages of a lake have vectors."""
    return (Path(built.place).parent / _NOTES).exists()


def _fill(store: Store) -> None:
    vectors.prepare(store, MODEL, DIMENSIONS)
    keys = read.rows(store, MESSAGES, MESSAGES.keys, "search_text IS NOT NULL")
    column = field(vectors.column(MODEL), DIMENSIONS)
    numbers = pa.array(_invented(keys.num_rows).reshape(-1))
    made = pa.FixedSizeListArray.from_arrays(numbers, DIMENSIONS)
    own = [MESSAGES.schema.field(name) for name in (*MESSAGES.keys, vectors.MARK)]
    schema = pa.schema([*own[:-1], column, own[-1]])
    write.fill(store, MESSAGES, pa.table([*keys.columns, made, pa.array([MODEL] * len(made))], schema=schema))


def _invented(count: int) -> NDArray[np.float16]:
    """Return vectors of length one around topics, some of which are talked about much more than others."""
    dice = np.random.default_rng(1)
    topics = dice.normal(size=(_TOPICS, DIMENSIONS)).astype(np.float32)
    found = np.empty((count, DIMENSIONS), dtype=np.float16)
    for start in range(0, count, 1 << 16):
        size = min(1 << 16, count - start)
        which = np.minimum(dice.zipf(1.3, size=size) - 1, dice.integers(0, _TOPICS, size=size))
        rows = topics[which] + _SPREAD * dice.normal(size=(size, DIMENSIONS)).astype(np.float32)
        found[start : start + size] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return found


def settings() -> dict[str, str]:
    """Return the variables by which pond searches these vectors: questions are embedded by a real model."""
    name = GTE if (MODELS / GTE).is_dir() else NAME
    fetch(name)
    return {"POND_EMBED_MODEL": MODEL, "POND_EMBED_DIRECTORY": str(MODELS / name)}


@contextmanager
def configured() -> Iterator[None]:
    """Let this process search by meaning."""
    before = dict(environ)
    environ.update(settings())
    try:
        yield
    finally:
        environ.clear()
        environ.update(before)
