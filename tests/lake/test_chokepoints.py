"""Each kind of contact with Lance has one place in the code, and this reads the code to see that it stays so."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.tree import ROOT, files

CODE = [path for path in files() if path.parts[0] in ("pond", "adapters", "codegen") and path.suffix == ".py"]
SUBSTRATE = Path("pond/substrate")
# The packages that may hold an opened table; `delete` and `sql` are other things elsewhere.
_FLOORS = {"substrate", "sessions", "intake", "restore", "lake", "search", "operations", "transports", "cli"}
ABOVE = [path for path in CODE if path.parts[1] in _FLOORS]


def called(source: str) -> Iterator[str]:
    """Yield the dotted name of every call, as far as it is one: `handle.delete`, `lance.dataset`, `open`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            yield _name(node.func)


def _name(node: ast.expr) -> str:
    match node:
        case ast.Attribute(value=value, attr=attribute):
            return f"{_name(value)}.{attribute}"
        case ast.Name(id=name):
            return name
        case _:
            return ""


def places(*names: str) -> set[str]:
    """Return the files in which a call ends with one of these names."""
    return {
        str(path)
        for path in ABOVE
        for name in called((ROOT / path).read_text())
        if name in names or any(name.endswith(f".{each}") for each in names)
    }


@pytest.mark.rule("lance-chokepoints")
def test_lance_is_imported_in_the_substrate_only() -> None:
    importing = set()
    for path in CODE:
        for node in ast.walk(ast.parse((ROOT / path).read_text())):
            match node:
                case ast.Import(names=names) if any(name.name.split(".")[0] == "lance" for name in names):
                    importing.add(path.parent)
                case ast.ImportFrom(module=str(module)) if module.split(".")[0] == "lance":
                    importing.add(path.parent)
    assert importing == {SUBSTRATE}


@pytest.mark.rule("lance-chokepoints-catalog")
def test_one_place_looks_up_where_a_table_lies() -> None:
    assert places("location") == {"pond/substrate/store.py"}
    assert places("lance.dataset", "LanceDataset", "LanceFileSession") == {"pond/substrate/store.py"}


@pytest.mark.rule("lance-chokepoints-read")
def test_one_place_builds_scans() -> None:
    # `exposed` is what DuckDB asks for rows, and hands the question on to `read`.
    scans = {"pond/substrate/read.py", "pond/substrate/exposed.py"}
    assert places("scanner", "take_blobs", "read_blobs", "to_scanner") == scans
    assert not {place for place in places("sql") if place.startswith("pond/substrate/")}  # Lance's own can write files


@pytest.mark.rule("lance-chokepoints-write")
def test_one_place_writes_rows() -> None:
    assert places("merge_insert", "delete") == {"pond/substrate/write.py"}
    assert places("write_dataset") == {"pond/substrate/store.py"}  # which makes tables, and completes them
    assert places("add_columns", "drop_columns") == {"pond/substrate/store.py", "pond/substrate/vectors.py"}
    assert places("commit", "LanceOperation", "truncate_table", "update_columns") == set()


@pytest.mark.rule("lance-chokepoints-write")
def test_no_merge_goes_by_an_index() -> None:
    """Such a merge does not see another writer's keys: both would be stored."""
    source = (ROOT / SUBSTRATE / "write.py").read_text()
    merges = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "use_index"
    ]
    assert source.count("merge_insert(") == len(merges) == 1
    assert [ast.unparse(argument) for argument in merges[0].args] == ["False"]


@pytest.mark.rule("lance-chokepoints-storage")
def test_bytes_are_reached_through_lance_only() -> None:
    reaching = ("open", "read_bytes", "write_bytes", "unlink", "rglob", "glob", "iterdir", "rmtree", "listdir", "walk")
    assert [path for path in places(*reaching, "stat", "remove") if path.startswith("pond/substrate/")] == []
    # A lake's folder is made before Lance makes tables in it; that is no byte of a table.
    assert [path for path in places("os.makedirs") if path.startswith("pond/substrate/")] == ["pond/substrate/store.py"]
