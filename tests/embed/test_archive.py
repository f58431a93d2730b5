"""Vectors go into an archive and come out of it, also where another model is at home."""

import json
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pyarrow as pa
import pytest

from pond.diagnostics.diagnostic import PondError
from pond.embed.embedder import opened
from pond.lake.embedding import embed
from pond.lake.import_ import import_
from pond.sessions import vectors
from pond.sessions.archive.manifest import TABLES
from pond.sessions.tables import MESSAGES
from pond.sessions.writing import prepare
from pond.substrate import read
from pond.substrate.store import Store, write_apart
from pond.substrate.table import Table
from tests.embed.lakes import embedded_ids, far, filled, store_at, unsound
from tests.embed.server import Endpoint
from tests.lake.archives import Row, batch, exported, packed, rows_of

pytestmark = pytest.mark.usefixtures("warm_check")


@pytest.fixture
def archive(tmp_path: Path, server: Endpoint) -> Path:
    store = filled(tmp_path / "source", 40)
    embed(store, far(server), threads=1)
    return exported(store, tmp_path / "a.pond")


@pytest.fixture
def target(tmp_path: Path) -> Store:
    store = store_at(tmp_path / "target")
    prepare(store)
    return store


def test_vectors_come_along_into_a_lake_that_has_none(archive: Path, target: Store, server: Endpoint) -> None:
    import_(target, archive)
    assert len(embedded_ids(target, far(server))) == 40
    assert unsound(target, far(server), 16) == []
    server.requests.clear()
    assert embed(target, far(server), threads=1).embedded == 0
    assert server.requests == []


def test_a_lake_of_another_model_keeps_them_and_embeds_the_messages_again(
    archive: Path, tmp_path: Path, server: Endpoint
) -> None:
    here = far(server, "here", dimensions=24)
    target = filled(tmp_path / "target", 60, first=1000)
    embed(target, here, threads=1)
    import_(target, archive)
    assert (len(embedded_ids(target, here)), len(embedded_ids(target, far(server)))) == (60, 40)
    assert (unsound(target, here, 24), unsound(target, far(server), 16)) == ([], [])
    assert vectors.waiting(target, here.label) == 40
    assert embed(target, here, threads=1).embedded == 40
    assert (len(embedded_ids(target, here)), unsound(target, here, 24)) == (100, [])


def test_stored_messages_keep_their_own_vectors(archive: Path, tmp_path: Path, server: Endpoint) -> None:
    target = filled(tmp_path / "target", 40)
    embed(target, far(server, "here"), threads=1)
    import_(target, archive)
    assert len(embedded_ids(target, far(server, "here"))) == 40


def test_vectors_of_the_same_name_and_other_dimensions_are_left_behind(
    archive: Path, tmp_path: Path, server: Endpoint
) -> None:
    server.dimensions = 32
    opened.cache_clear()
    target = filled(tmp_path / "target", 60, first=1000)
    embed(target, far(server), threads=1)
    import_(target, archive)
    assert (len(embedded_ids(target, far(server))), vectors.waiting(target, "far")) == (60, 40)


def test_an_archive_without_vectors_is_as_before(tmp_path: Path, target: Store) -> None:
    import_(target, exported(filled(tmp_path / "plain", 20), tmp_path / "a.pond"))
    assert vectors.columns(target.handle(MESSAGES).schema) == {}
    assert read.count(target, MESSAGES) == 21


# --- archives that lie ------------------------------------------------------------------------------------------------


def _archive(path: Path, table: Table, rows: dict[str, list[Row]]) -> Path:
    folder = path.with_suffix(".tables")
    for each in TABLES:
        own = table if each is MESSAGES else each
        write_apart(str(folder / f"{each.name}.lance"), own, iter([batch(own, rows[each.name])]))
    return packed(folder, path, {})


def test_a_mark_without_a_vector_is_not_believed(tmp_path: Path, target: Store) -> None:
    rows = rows_of(filled(tmp_path / "source", 20))
    rows["messages"][0] |= {vectors.MARK: "far"}
    import_(target, _archive(tmp_path / "a.pond", MESSAGES, rows))
    assert vectors.by_model(target) == {}


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_vector_that_holds_no_numbers_is_refused(tmp_path: Path, target: Store, number: float) -> None:
    rows = rows_of(filled(tmp_path / "source", 20))
    name = vectors.column("far")
    table = MESSAGES.with_columns([pa.field(name, pa.list_(pa.float16(), 4))])
    rows["messages"][0] |= {vectors.MARK: "far", name: [np.float16(number)] * 4}
    with pytest.raises(PondError, match="a vector contains something other than numbers"):
        import_(target, _archive(tmp_path / "a.pond", table, rows))


@pytest.mark.parametrize(
    "column",
    [
        pa.field("vector_of_mine", pa.list_(pa.float16(), 4)),
        pa.field(vectors.column("far"), pa.list_(pa.float32(), 4)),
        pa.field(vectors.column("far"), pa.list_(pa.float16())),
        pa.field(vectors.column("far"), pa.string()),
    ],
)
def test_a_column_of_another_form_is_refused(tmp_path: Path, target: Store, column: pa.Field) -> None:
    rows = rows_of(filled(tmp_path / "source", 20))
    with pytest.raises(PondError, match="other columns than it should"):
        import_(target, _archive(tmp_path / "a.pond", MESSAGES.with_columns([column]), rows))


def test_vectors_count_as_bytes_that_an_archive_unpacks_to(archive: Path, tmp_path: Path) -> None:
    with ZipFile(archive) as file:
        claimed = json.loads(file.read("manifest.json"))["tables"]["messages"]["bytes"]
    plain = exported(filled(tmp_path / "plain", 40), tmp_path / "plain.pond")
    with ZipFile(plain) as file:
        without = json.loads(file.read("manifest.json"))["tables"]["messages"]["bytes"]
    assert claimed - without == 40 * (16 * 2 + len("far"))
