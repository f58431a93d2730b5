"""The commands people are told to run exist, and the ones that exist are told."""

import re

from tests.house.tree import ROOT


def test_contributing_lists_the_make_targets() -> None:
    offered = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    told = set(re.findall(r"^\| `make ([a-z-]+)` \|", (ROOT / "docs/contributing.md").read_text(), re.MULTILINE))
    assert told == offered - {"help"}
