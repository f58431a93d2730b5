"""A new field of a Part costs one edit of the schema and its rule in a mapping; nothing else lists fields."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.house.tree import ROOT

FIELD = {"description": "What the reasoning is about.", "type": "string", "x-summary": "name", "x-search": 1}
RULE = '      "thinking" => ReasoningPart conversational {\n'
AT = "2026-03-14T08:26:55.939Z"
BLOCKS = [
    {"type": "thinking", "thinking": "Rain first.", "heading": "Monday"},
    {"type": "thinking", "thinking": "Then sun."},
    {"type": "text", "text": "Wait."},
]
RECORD = {
    "type": "assistant", "uuid": "u1", "timestamp": AT, "sessionId": "s1", "cwd": "/garden", "parentUuid": None,
    "isSidechain": False, "message": {"role": "assistant", "content": BLOCKS},
}  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project in which `ReasoningPart` has one more field, and a mapping fills it."""
    tree = tmp_path_factory.mktemp("tree")
    for name in ("pond", "codegen", "adapters", "schema"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__", "fixtures"))
    schema = tree / "schema/canonical.schema.json"
    edited = json.loads(schema.read_text())
    edited["$defs"]["ReasoningPart"]["properties"]["heading"] = FIELD
    schema.write_text(json.dumps(edited))
    mapping = tree / "adapters/claude_code/claude_code.map"
    text = mapping.read_text()
    assert text.count(RULE) == 1
    mapping.write_text(text.replace(RULE, f"{RULE}        heading?   <-> heading\n"))
    done = _python(tree, "-m", "codegen")
    assert done.returncode == 0, done.stderr
    return tree


def _python(tree: Path, *arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    environment = os.environ | {"PYTHONPATH": str(tree), "POND_LAKE": str(tree / "lake")}
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, cwd=tree, env=environment)


def _pond(tree: Path, *arguments: str | Path) -> bytes:
    done = _python(tree, "-m", "pond.cli.main", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _lines(text: bytes) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def test_it_is_read_validated_stored_summarised_searched_and_written_back(tree: Path, tmp_path: Path) -> None:
    source = tmp_path / "s1.jsonl"
    source.write_text(json.dumps(RECORD) + "\n")
    canonical = tmp_path / "s1.canonical.jsonl"
    canonical.write_bytes(_pond(tree, "convert", source, "--to", "canonical"))
    parts = [event for event in _lines(canonical.read_bytes()) if event["kind"] == "part"]
    assert [part.get("heading") for part in parts] == ["Monday", None, None]
    assert "source" not in parts[0]["options"], "it stands in one place"
    assert _lines(_pond(tree, "convert", canonical, "--to", "claude-code")) == [RECORD]

    wrong = tmp_path / "wrong.jsonl"
    wrong.write_bytes(canonical.read_bytes().replace(b'"Monday"', b"7"))
    refused = _python(tree, "-m", "pond.cli.main", "convert", wrong, "--to", "claude-code")
    assert b"`heading`: expected text, found a number" in refused.stderr

    _pond(tree, "ingest", canonical)
    _pond(tree, "restore", "s1", "-o", tmp_path / "out")
    (restored,) = (tmp_path / "out").rglob("*.jsonl")
    assert _lines(restored.read_bytes()) == [RECORD]
    (shown,) = json.loads(_pond(tree, "get", "s1", "--json"))["messages"]
    assert shown["text"] == "Monday\nWait."
    assert [part.get("name") for part in shown["parts_summary"]] == ["Monday", None, None]


def test_the_types_and_the_reference_have_it(tree: Path) -> None:
    of = "from pond.model import _generated; print(_generated.ReasoningPart.model_fields['heading'].description)"
    assert _python(tree, "-c", of).stdout.decode().strip() == FIELD["description"]
    assert "`heading`" in (tree / "docs/reference/types.md").read_text()
