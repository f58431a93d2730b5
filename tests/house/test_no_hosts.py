"""The project speaks only of itself: no package registry, no directory of the machine it was written on."""

import re
from pathlib import Path

import pytest

from tests.house.tree import files, text_of

REGISTRY = re.compile(
    r"pypi\.org|pythonhosted\.|registry\.(?:npmjs|yarnpkg)|crates\.io|deb\.debian\.|archive\.ubuntu\."
)
MACHINE = re.compile(r"(?<![\w.~/-])/(?:work|farm|root|opt/pypi)/")
SCRATCH = re.compile(r"(?<![\w.~/-])/(?:tmp|var/folders)/")


def _is_session_data(name: Path) -> bool:
    return name.parts[0] == "golden" or "fixtures" in name.parts


def _found(pattern: re.Pattern[str], names: list[Path]) -> list[str]:
    """List `file:line` for each line of `names` that `pattern` matches."""
    found = []
    for name in names:
        for number, line in enumerate((text_of(name) or "").splitlines(), start=1):
            if pattern.search(line):
                found.append(f"{name}:{number}")
    return found


def test_no_registry_is_named() -> None:
    assert _found(REGISTRY, files()) == []


def test_no_path_of_this_machine_is_named() -> None:
    # Session files may speak of any directory; they are made up or scrubbed when they are added.
    assert _found(MACHINE, [name for name in files() if name.parts[0] != "golden"]) == []


def test_no_scratch_directory_is_named() -> None:
    written = [name for name in files() if not _is_session_data(name) and name.parts[0] != "tests"]
    assert _found(SCRATCH, written) == []


@pytest.mark.parametrize("line", ["cd /{}/main", "PATH=/{}/.venv", '"/{}/x"', "(/{}/x)"])
@pytest.mark.parametrize("directory", ["work", "root"])
def test_a_machine_path_is_recognised(line: str, directory: str) -> None:
    assert MACHINE.search(line.format(directory))


@pytest.mark.parametrize("line", ["src/{}/x", "../{}/x", "https://example.org/{}/", "~/{}/x", "/{}shop/x"])
def test_other_paths_are_left_alone(line: str) -> None:
    assert not MACHINE.search(line.format("work"))
