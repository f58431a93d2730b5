"""What each fixture becomes, in full, under golden/<client>/; read a diff there in the order of tests/README.md."""

from functools import cache
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

from pond.codec.registry import clients
from tests.golden.foreign_views import foreign_view, loss_view
from tests.golden.views import canonical_view, native_view
from tests.house.tree import ROOT
from tests.laws.corpus import fixture_folders

CASES = [(client, folder) for client in clients() for folder in fixture_folders(client)]
GOLDEN = ROOT / "golden"
ROADS = [((client, folder), target) for client, folder in CASES for target in clients() if target != client]
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


@cache
def foreign_golden(target: str, view: str) -> type[Golden]:
    """Return the kind of golden for one target and view: the ending alone must tell whose file it is."""
    return type("ForeignGolden", (Golden,), {"file_extension": f"to-{target}.{view}"})


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


@pytest.mark.rule("adapter-native-restore-lossless")
@pytest.mark.parametrize(("case", "target"), ROADS, ids=[f"{c}-{f.name}-{t}" for (c, f), t in ROADS])
def test_foreign(case: tuple[str, Path], target: str, snapshot: SnapshotAssertion) -> None:
    assert foreign_view(case[1], target) == snapshot.use_extension(foreign_golden(target, "txt"))


@pytest.mark.parametrize(("case", "target"), ROADS, ids=[f"{c}-{f.name}-{t}" for (c, f), t in ROADS])
def test_losses(case: tuple[str, Path], target: str, snapshot: SnapshotAssertion) -> None:
    assert loss_view(case[1], target) == snapshot.use_extension(foreign_golden(target, "loss.txt"))


def test_no_golden_is_left_over() -> None:
    """A golden whose case is gone must go too: nothing compares it any more."""
    views = (CanonicalGolden.file_extension, NativeGolden.file_extension)
    wanted = {f"{client}/{folder.name}.{view}" for client, folder in CASES for view in views}
    for (client, folder), target in ROADS:
        wanted |= {f"{client}/{folder.name}.to-{target}.{view}" for view in ("txt", "loss.txt")}
    there = {path.relative_to(GOLDEN).as_posix() for path in GOLDEN.glob("*/*")}
    assert there - wanted == set()
