"""docs/configuration.md shows a file that pond reads, and what pond says of it."""

import re
from pathlib import Path

import pytest

from pond.config.listing import rows
from tests.config.home import Home
from tests.house.tree import ROOT

PAGE = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
COMMAND = "$ POND_SYNC_INTERVAL=1 pond config show --lake lake"


def _block(info: str) -> str:
    (found,) = re.findall(rf"^```{info}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert isinstance(found, str)
    return found


def test_the_page_shows_what_the_command_prints(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.write(_block("toml"))
    (home.path / "herbarium").mkdir()
    monkeypatch.chdir(home.path / "herbarium")
    command, *shown = _block("console").splitlines()
    assert command == COMMAND
    made = [(row.name, row.text, row.source) for row in rows(home.load({"lake": "lake"}, POND_SYNC_INTERVAL="1"))]
    assert [tuple(re.split(" {2,}", line)) for line in shown] == [
        tuple(word.replace(str(home.path), "/home/ada") for word in row) for row in made
    ]


@pytest.mark.parametrize("name", ["README.md", "docs/reference/configuration.md"])
def test_the_page_is_found(name: str) -> None:
    assert "configuration.md)" in (ROOT / Path(name)).read_text(encoding="utf-8")
