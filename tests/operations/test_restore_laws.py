"""What was stored comes out of the lake as it went in: every session file of every client, in every form."""

import io
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest

from pond.codec.batch import convert_job
from pond.codec.finding import FoundSource
from pond.codec.paths import beside
from pond.codec.placing import safe_beside
from pond.codec.registry import CANONICAL, adapter
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.model.equal import first_difference, same
from pond.model.json_text import Json, JsonObject
from pond.restore.restoring import OWN, stream
from tests.foreign.road import OTHER
from tests.laws.corpus import capture_files, fixture_files, quick, sample_files
from tests.laws.passage import strict_values, to_canonical
from tests.operations.stored import Stored, files_below, restored, stored
from tests.size import SOAK

Law = Callable[[Stored, Path], None]


def native_restore_is_lossless(one: Stored, folder: Path) -> None:
    """Restored for its own client, the file and those next to it are value-equal to their source."""
    out = restored(one.store, [one.row], ConversionRequest(OWN), folder)
    assert out.report.errors == 0, out.report.diagnostics
    place = out.paths[one.row["id"]]
    _equal(one.file.path.read_bytes(), place.read_bytes())
    for name, path in beside(one.file.path, adapter(one.file.client).module.BESIDE):
        data, back = path.read_bytes(), safe_beside(place, name).read_bytes()
        assert data == back or _equal(data, back), f"{name} came back changed"


def foreign_restore_is_what_convert_writes(one: Stored, folder: Path) -> None:
    """Restored as another client's, the session has the bytes that converting its file gives, and the same losses."""
    order = ConversionRequest(OTHER[one.file.client])
    report = convert_job(FoundSource(one.file.path, str(one.file.path)), order, folder / "converted", folder / "spool")
    out = restored(one.store, [one.row], order, folder / "restored")
    converted = files_below(folder / "converted")
    assert converted.items() <= out.files.items()
    assert _losses(report, one) == _losses(out.report, one)
    assert _said(report) <= _said(out.report)


def canonical_restore_is_what_convert_writes(one: Stored, folder: Path) -> None:
    """Restored as canonical text, the session has the events that converting its file gives."""
    out, report = io.BytesIO(), Report()
    stream(one.store, [one.row], ConversionRequest(CANONICAL), out, report)
    assert report.errors == 0, report.diagnostics
    wanted = strict_values(to_canonical(one.file.path, one.file.client))
    assert_same(wanted, strict_values(out.getvalue())[: len(wanted)])


def restoring_twice_is_once(one: Stored, folder: Path) -> None:
    """A second run finds every file as it would write it."""
    targets = (OWN, CANONICAL, OTHER[one.file.client])
    for to in targets if SOAK else [targets[crc32(one.row["id"].encode()) % len(targets)]]:
        first = restored(one.store, [one.row], ConversionRequest(to), folder / to)
        before = first.files
        again = restored(one.store, [one.row], ConversionRequest(to), folder / to)
        assert again.files == before
        assert _said(again.report) == _said(first.report)
        assert not {"output-exists", "output-failed"} & _said(again.report)


LAWS = [
    pytest.param(native_restore_is_lossless, marks=pytest.mark.rule("adapter-native-restore-lossless")),
    foreign_restore_is_what_convert_writes,
    canonical_restore_is_what_convert_writes,
    restoring_twice_is_once,
]


def _equal(source: bytes, restored: bytes) -> bool:
    assert_same(strict_values(source), strict_values(restored))
    return True


def assert_same(left: list[Json], right: list[Json]) -> None:
    """Fail where two lists of records are not value-equal."""
    assert len(left) == len(right), f"{len(left)} records became {len(right)}"
    for number, (one, other) in enumerate(zip(left, right, strict=True), 1):
        assert same(one, other), f"record {number}: {first_difference(one, other)}"


def _losses(report: Report, one: Stored) -> list[JsonObject]:
    """Return the session's losses; only a file has lines that they can name."""
    entries = [loss.as_json() for losses in report.losses if losses.session == one.row["id"] for loss in losses.all()]
    return [{name: value for name, value in entry.items() if name != "where"} for entry in entries]


def _said(report: Report) -> set[str]:
    return {diagnostic.code for diagnostic in report.diagnostics if diagnostic.severity == "error"}


# --- on what ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> list[Stored]:
    """Return every fixture, stored."""
    return stored(fixture_files(), tmp_path_factory.mktemp("fixtures"))


@pytest.mark.parametrize("law", LAWS)
def test_fixtures_keep_the_law(law: Law, fixtures: list[Stored], tmp_path: Path) -> None:
    _keep(law, fixtures, tmp_path)


@pytest.fixture(scope="module")
def samples(samples_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Stored]:
    """Return every sample session, stored."""
    return stored(quick(sample_files(samples_dir)), tmp_path_factory.mktemp("samples"))


@pytest.mark.parametrize("law", LAWS)
def test_samples_keep_the_law(law: Law, samples: list[Stored], tmp_path: Path) -> None:
    _keep(law, samples, tmp_path)


@pytest.fixture(scope="module")
def captures(captures_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Stored]:
    """Return every captured session, stored."""
    return stored(quick(capture_files(captures_dir)), tmp_path_factory.mktemp("captures"))


@pytest.mark.parametrize("law", LAWS)
def test_captures_keep_the_law(law: Law, captures: list[Stored], tmp_path: Path) -> None:
    _keep(law, captures, tmp_path)


def _keep(law: Law, sessions: list[Stored], folder: Path) -> None:
    assert sessions, "no session of a known client in this directory"
    for number, one in enumerate(sessions):
        try:
            law(one, folder / str(number))
        except AssertionError as broken:
            raise AssertionError(f"{one.file.path}: {broken}") from broken
