"""Where tables lie follows from lake, namespace and name, and no name leads elsewhere."""

from pathlib import Path, PurePosixPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pond.substrate import write
from pond.substrate.catalog import Catalog, prefix
from pond.substrate.store import Store
from tests.lake.plain import THINGS, keys, store, things

pytestmark = pytest.mark.rule("lance-chokepoints-catalog")

NAMES = st.text(max_size=30) | st.text("./\\%~:=A a\0é\ud800-_", max_size=12)


@given(NAMES, NAMES)
@example("%2e", ".")
@example("%25", "%")
@example("A", "a")
def test_no_two_namespaces_share_a_folder(one: str, other: str) -> None:
    # Not even on a file system that does not tell upper from lower case.
    assert (prefix(one).casefold() == prefix(other).casefold()) == (one == other)


@given(NAMES)
def test_a_namespace_is_one_harmless_segment(name: str) -> None:
    segment = prefix(name)
    assert PurePosixPath(segment).parts == (segment,)
    assert segment.startswith("tenant=")
    assert segment.isascii()
    assert segment.isprintable()
    assert not set(segment) & set("./\\:~*?\"<>|")  # fmt: skip


@pytest.mark.parametrize("name", ["..", "../..", "/etc", "a/../../b", ".", "~", ""])
@pytest.mark.parametrize("root", ["/lake", "s3://bucket/lake"])
def test_a_namespace_stays_below_its_lake(root: str, name: str) -> None:
    place = Catalog(root, namespace=name).location("things")
    assert place.startswith(f"{root}/tenant=")
    assert ".." not in PurePosixPath(place).parts


@pytest.mark.parametrize(
    ("root", "place", "local"),
    [
        ("/lake", "/lake/things.lance", True),
        ("/lake/", "/lake/things.lance", True),
        ("file:///lake", "/lake/things.lance", True),
        ("s3://bucket/lake", "s3://bucket/lake/things.lance", False),
        ("s3://bucket/lake/", "s3://bucket/lake/things.lance", False),
        ("gs://bucket", "gs://bucket/things.lance", False),
        ("az://container/x", "az://container/x/things.lance", False),
    ],
)
def test_a_lake_is_a_directory_or_an_address(root: str, place: str, local: bool) -> None:
    assert Catalog(root).location("things") == place
    assert Catalog(root).is_local is local


def test_a_relative_lake_is_where_the_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert Catalog("lake").location("t") == str(tmp_path / "lake" / "t.lance")
    assert Catalog("~/lake").location("t") == str(tmp_path / "home" / "lake" / "t.lance")


def test_tenants_do_not_see_each_other(tmp_path: Path) -> None:
    stores = {name: Store(Catalog(str(tmp_path), namespace=name)) for name in ("ada", "Ada", "..", "")}
    for name, there in stores.items():
        write.insert(there, THINGS, things(name, [1]))
    assert {name: keys(there) for name, there in stores.items()} == {name: [(name, "1")] for name in stores}
    assert store(tmp_path).existing(THINGS) is None
