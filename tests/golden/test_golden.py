"""What each fixture becomes, in full, under golden/<client>/; read a diff there in the order of tests/README.md."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

from pond.codec.registry import clients
from tests.golden.views import canonical_view, native_view
from tests.house.tree import ROOT
from tests.laws.corpus import fixture_folders

CASES = [(client, folder) for client in clients() for folder in fixture_folders(client)]
GOLDEN = ROOT / "golden"
IDS = [f"{client}-{folder.name}" for client, folder in CASES]


class Golden(SingleFileSnapshotExtension):
    """One file for each case and view, under golden/ and not beside the tests."""

    _write_mode = WriteMode.TEXT

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(GOLDEN / _case(test_location)[0])

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        return _case(test_location)[1]


class CanonicalGolden(Golden):
    file_extension = "canonical.json"


class NativeGolden(Golden):
    file_extension = "native.txt"


def _case(location: PyTestLocation) -> tuple[str, str]:
    assert isinstance(location.item, pytest.Function)
    case = location.item.callspec.params["case"]
    assert isinstance(case, tuple)
    client, folder = case
    return str(client), Path(folder).name


@pytest.mark.rule("adapter-integrity-additive-sync")
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_canonical(case: tuple[str, Path], snapshot: SnapshotAssertion) -> None:
    client, folder = case
    assert canonical_view(folder, client) == snapshot.use_extension(CanonicalGolden)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_native(case: tuple[str, Path], snapshot: SnapshotAssertion) -> None:
    client, folder = case
    assert native_view(folder, client) == snapshot.use_extension(NativeGolden)


def test_no_golden_is_left_over() -> None:
    """A golden whose case is gone must go too: nothing compares it any more."""
    views = (CanonicalGolden.file_extension, NativeGolden.file_extension)
    wanted = {f"{client}/{folder.name}.{view}" for client, folder in CASES for view in views}
    there = {path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*") if path.is_file()}
    assert there - wanted == set()
