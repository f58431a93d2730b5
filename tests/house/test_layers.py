"""Imports follow the contracts in pyproject.toml, and each contract notices a breach."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT


def _lint_imports(tree: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache"]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy the importable part of the tree, to be broken."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in ("pond", "adapters", "codegen"):
        only_code = shutil.ignore_patterns("fixtures", "__pycache__")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=only_code)
    return tmp_path


def test_the_contracts_hold() -> None:
    done = _lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("pond/lang/stray.py", "import pond.codec", "Imports point downward"),
        ("pond/diagnostics/stray.py", "import pond.model", "Imports point downward"),
        ("pond/config/stray.py", "import pond.model", "Imports point downward"),
        ("pond/stray.py", "", "Imports point downward"),
        (
            "adapters/stray/passes.py",
            "import pond.codec",
            "Adapters see the language, the model and the portable conversation only",
        ),
        (
            "adapters/stray/passes.py",
            "import pond._locate",
            "Adapters see the language, the model and the portable conversation only",
        ),
        ("codegen/stray.py", "import pond.cli", "Codegen sees the language, the codes, the settings and nothing else"),
        ("pond/cli/stray.py", "import codegen", "The engine knows neither its generator nor a client"),
        ("pond/codec/stray.py", "import adapters.stray", "The engine knows neither its generator nor a client"),
        ("pond/sessions/stray.py", "from lance.file import LanceFileReader", "Only the substrate knows Lance"),
        ("pond/pods/stray.py", "import pond.sessions.load", "Pods know the ids of sessions and nothing else of them"),
        ("pond/pods/stray.py", "import pond.codec.report", "Pods know the ids of sessions and nothing else of them"),
        (
            "pond/pods/stray.py",
            "def late():\n    import pyarrow",
            "Pods know the ids of sessions and nothing else of them",
        ),
        ("pond/pods/stray.py", "import pond.search", "Imports point downward"),
        ("pond/pods/stray.py", "import pond.lake", "Imports point downward"),
        ("pond/cli/stray.py", "import pond.pods.files", "Only operations open the pods"),
        ("pond/lake/stray.py", "from pond.pods.store import PodStore", "Only operations open the pods"),
        ("pond/operations/stray.py", "def late():\n    import lance", "Only the substrate knows Lance"),
    ],
)
@pytest.mark.rule("lance-chokepoints")
def test_a_breach_is_noticed(copy: Path, module: str, line: str, contract: str) -> None:
    client = copy / "adapters/stray/__init__.py"
    for path, text in ((client, ""), (copy / module, f"{line}\n")):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    done = _lint_imports(copy)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{contract} BROKEN" in " ".join(done.stdout.split())


def test_an_adapter_may_use_the_language_and_the_model(copy: Path) -> None:
    client = copy / "adapters/stray"
    client.mkdir()
    (client / "passes.py").write_text("import pond.lang\nimport pond.model\nfrom . import compiled\n")
    (client / "compiled.py").write_text("")
    done = _lint_imports(copy)
    assert done.returncode == 0, done.stdout + done.stderr
