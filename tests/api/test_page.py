"""Every example of docs/python.md runs, in its order."""

import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.house.tree import ROOT

_BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
TOUR = next((ROOT / "adapters/claude_code/fixtures/tour").rglob("*.jsonl"))


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copyfile(TOUR, tmp_path / "session.jsonl")
    blocks = _BLOCK.findall((ROOT / "docs/python.md").read_text(encoding="utf-8"))
    assert len(blocks) > 8
    names: dict[str, object] = {}
    for block in blocks:
        if "to_pandas" in block and find_spec("pandas") is None:
            continue
        exec(compile(block, "docs/python.md", "exec"), names)
    changed = next(Path("changed").rglob("*.jsonl")).read_text(encoding="utf-8")
    assert "T. left a new tray" in changed
    assert len(list(Path("restored").rglob("*.jsonl"))) == 1
