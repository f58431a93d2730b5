"""Every example of docs/client.md runs against a real server, and satisfies a strict type checker."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT
from tests.operations import invented

serving = pytest.importorskip("tests.transports.server", reason="there is no HTTP server yet").serving

_BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
BLOCKS = _BLOCK.findall((ROOT / "docs/client.md").read_text(encoding="utf-8"))
URL = "http://127.0.0.1:8765"


def test_the_examples_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = [invented.session("oak"), *invented.said("oak", "m1", "a flaky test", at=1)]
    with serving(tmp_path / "lake") as server:
        server.ingest(events)
        for block in BLOCKS:
            assert URL in block
            exec(compile(block.replace(URL, server.place), "docs/client.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    agent, project = events[0]["source_agent"], events[0]["project"]
    assert printed == [f"{project} a flaky test", agent, "1", "1", "not_found no-such-id"]


@pytest.mark.parametrize("block", range(len(BLOCKS)))
def test_the_examples_have_types(tmp_path: Path, block: int) -> None:
    (tmp_path / "example.py").write_text(BLOCKS[block])
    wrong = BLOCKS[block].replace('"http', '1 + "http')
    (tmp_path / "wrong.py").write_text(wrong)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run([*command, str(tmp_path / "example.py")], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    done = subprocess.run([*command, str(tmp_path / "wrong.py")], cwd=tmp_path, capture_output=True, text=True)
    assert "Unsupported operand types" in done.stdout
