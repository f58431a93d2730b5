"""Clients and schemas are found under the same names in a checkout and in an installed wheel."""

import json
import subprocess
import sys
import tarfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from pond._locate import adapters_dir, schema_dir
from pond._version import __version__
from tests.house.tree import ROOT

# Runs inside the environment that holds the wheel and nothing else, so it may not import a dependency.
PROBE = """
import importlib.util as util, json, sys
from pond._locate import adapters_dir, schema_dir
clients = sorted(path.parent.name for path in adapters_dir().glob("*/*.map"))
print(json.dumps({
    "inside": [str(path.relative_to(sys.prefix)) for path in (adapters_dir(), schema_dir())],
    "clients": clients,
    "importable": [name for name in clients if util.find_spec(f"pond.adapters.{name}")],
    "schemas": sorted(path.name for path in schema_dir().glob("*.json")),
    "claimed": [name for name in ("adapters", "schema", "codegen", "tests", "golden") if util.find_spec(name)],
}))
"""


def _clients() -> list[str]:
    return sorted(path.parent.name for path in (ROOT / "adapters").glob("*/*.map"))


def _run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _build(target: str, tree: Path, into: Path) -> Path:
    """Build `target` from `tree` with the pinned backend: no isolation, so no network."""
    _run(sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", into, cwd=tree)
    (built,) = into.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


def test_a_checkout_uses_the_folders_at_the_top() -> None:
    assert (adapters_dir(), schema_dir()) == (ROOT / "adapters", ROOT / "schema")


def test_a_checkout_imports_clients_by_their_installed_name() -> None:
    assert _clients()
    for client in _clients():
        spec = find_spec(f"pond.adapters.{client}")
        assert spec is not None
        assert list(spec.submodule_search_locations or []) == [str(ROOT / "adapters" / client)]


def test_a_wheel_finds_the_same_and_claims_one_name(wheel: Path, tmp_path: Path) -> None:
    python = tmp_path / "venv/bin/python"
    _run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv", cwd=tmp_path)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    _run(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    seen = json.loads(_run(python, "-I", "-c", PROBE, cwd=tmp_path))
    library = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages/pond"
    assert seen == {
        "inside": [f"{library}/adapters", f"{library}/schema"],
        "clients": _clients(),
        "importable": _clients(),
        "schemas": sorted(path.name for path in (ROOT / "schema").glob("*.json")),
        "claimed": [],
    }


def test_a_wheel_carries_the_package_and_nothing_else(wheel: Path) -> None:
    assert wheel.name == f"pond-{__version__}-py3-none-any.whl"
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"pond", f"pond-{__version__}.dist-info"}
    assert not [name for name in names if "/fixtures/" in name]


def test_a_wheel_carries_what_is_published_now_and_not_what_was(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    folder = ROOT / "schema/bundle"
    bundle = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {f"pond/schema/bundle/{name}" for name in bundle} <= set(names)
    assert not [name for name in names if "/published/" in name]


def test_a_source_archive_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    archive = _build("sdist", ROOT, tmp_path / "sdist")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path / "tree", filter="data")
    again = _build("wheel", tmp_path / "tree" / f"pond-{__version__}", tmp_path / "again")
    assert zipfile.ZipFile(again).namelist() == zipfile.ZipFile(wheel).namelist()
