"""Every dependency is pinned by hash and explained."""

import re
import tomllib

import pytest

from tests.house.tree import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
DECLARED = [
    *PROJECT["project"]["dependencies"],
    *PROJECT["dependency-groups"]["dev"],
    *PROJECT["build-system"]["requires"],
]
NAMES = sorted({re.split(r"[<>=!~ ;\[]", requirement, maxsplit=1)[0] for requirement in DECLARED})
LOCK = (ROOT / "requirements.lock").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_the_lock_pins_it_by_hash(name: str) -> None:
    assert re.search(rf"^{re.escape(name)}==\S+ .*\\\n +--hash=sha256:[0-9a-f]{{64}}", LOCK, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_a_decision_says_why_it_is_there(name: str) -> None:
    decisions = "\n".join(path.read_text() for path in sorted((ROOT / "docs/decisions").glob("*.md")))
    assert f"`{name}`" in decisions, f"say in docs/decisions/ what {name} is for"


def test_the_lock_names_no_place_to_download_from() -> None:
    pins = re.compile(r"#.*|\w[\w.-]*==\S+( ; [^\\]+)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?")
    assert [line for line in LOCK.splitlines() if not pins.fullmatch(line)] == []
