"""Vectors are found by nearness: all of them below a threshold, by an index above it, within a filter in both cases."""

import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pond.embed.embedder import opened
from pond.embed.model import Model
from pond.lake.embedding import embed
from pond.lake.erase import erase, family
from pond.lake.optimize import optimize
from pond.sessions import vectors
from pond.sessions.tables import MESSAGES
from pond.substrate import read
from pond.substrate.read import Pinned
from pond.substrate.store import Store
from pond.substrate.vectors import DISTANCE, Nearness, index_name, nearest
from tests.embed.lakes import add, filled, store_at

LEAST = 256
COUNT = 20


@pytest.fixture(scope="module")
def lake(minilm: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("lakes") / "real"
    embed(filled(place, 400), minilm, threads=2)
    return place


@pytest.fixture
def there(lake: Path, tmp_path: Path) -> Store:
    return store_at(Path(shutil.copytree(lake, tmp_path / "lake")))


def _indexes(there: Store) -> dict[str, int]:
    handle = there.renewed(MESSAGES)
    names = [each.name for each in handle.describe_indices() if each.name.startswith("vector_")]
    return {name: handle.stats.index_stats(name)["num_indices"] for name in names}


def _nearest(there: Store, model: Model, vector: NDArray[np.float32], **more: Any) -> dict[str, float]:
    how = nearest(vectors.column(model.label), vector, COUNT, Nearness(), exact=more.pop("exact", False))
    rows = Pinned(there, MESSAGES).rows(["id", DISTANCE], more.get("where"), nearest=how)
    return dict(zip(rows["id"].to_pylist(), rows[DISTANCE].to_pylist(), strict=True))


def test_below_the_threshold_there_is_no_index(there: Store) -> None:
    assert vectors.keep_indexes(there, 401) == []
    assert _indexes(there) == {}


def test_above_it_there_is_one_that_finds_what_a_scan_finds(there: Store, minilm: Model) -> None:
    name = index_name(vectors.column(minilm.label))
    assert vectors.keep_indexes(there, LEAST) == [name]
    assert _indexes(there) == {name: 1}
    assert vectors.keep_indexes(there, LEAST) == []
    made, recalls = opened(minilm), []
    for number in range(10):
        query = made.query(f"is tray {number} dry, and what does message session-{number:05} say")
        exact, found = _nearest(there, minilm, query, exact=True), _nearest(there, minilm, query)
        recalls.append(len(exact.keys() & found.keys()) / COUNT)
        # The distances of the index are those of the vectors themselves.
        assert all(abs(found[id] - exact[id]) < 1e-3 for id in exact.keys() & found.keys())
    assert np.mean(recalls) > 0.95


def test_the_filter_comes_before_nearness(there: Store, minilm: Model) -> None:
    query = opened(minilm).query("tray 3 is dry")
    for least in (401, LEAST):
        vectors.keep_indexes(there, least)
        found = _nearest(there, minilm, query, where="session_id = 'session-00007'")
        assert len(found) == COUNT  # all that the session has, however far
        assert all(id.startswith("session-00007") for id in found)


def test_what_comes_later_is_found_before_and_after_the_index_knows_it(there: Store, minilm: Model) -> None:
    vectors.keep_indexes(there, LEAST)
    column = vectors.column(minilm.label)
    add(there, 20, first=400)
    embed(there, minilm, threads=1)
    own = read.rows(there, vectors.with_vectors(there, MESSAGES), [column], "id = 'session-00020-4'")
    query = np.array(own[column][0].as_py(), dtype=np.float32)
    assert min(_nearest(there, minilm, query).items(), key=lambda item: item[1])[0] == "session-00020-4"
    assert vectors.keep_indexes(there, LEAST) != []
    assert min(_nearest(there, minilm, query).items(), key=lambda item: item[1])[0] == "session-00020-4"


def test_an_index_goes_with_the_vectors_that_made_it_worth_while(there: Store) -> None:
    vectors.keep_indexes(there, LEAST)
    assert vectors.keep_indexes(there, 401) != []
    assert _indexes(there) == {}


def test_optimizing_and_erasing_leave_the_index_right(there: Store, minilm: Model) -> None:
    query = opened(minilm).query("tray 3 is dry")
    optimize(there, timedelta(0), index_from=LEAST)
    assert len(_indexes(there)) == 1
    erase(there, [family(there, "session-00003")])
    optimize(there, timedelta(0), index_from=LEAST)
    found = _nearest(there, minilm, query)
    assert len(_indexes(there)) == 1
    assert found.keys() == _nearest(there, minilm, query, exact=True).keys()
    assert not any(id.startswith("session-00003") for id in found)


def test_another_model_has_another_index(there: Store, minilm: Model) -> None:
    vectors.keep_indexes(there, LEAST)
    cut = replace(minilm, dimensions=64)
    embed(there, cut, threads=2)
    assert _indexes(there) == {}  # it went with its column
    vectors.keep_indexes(there, LEAST)
    assert list(_indexes(there)) == [index_name(vectors.column(cut.label))]
    assert len(_nearest(there, cut, opened(cut).query("tray"))) == COUNT
