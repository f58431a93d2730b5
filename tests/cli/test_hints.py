"""What a command advises is what it can do, and a command that finds nothing says so."""

import ast
import json
import re
from pathlib import Path

import pytest

from tests.cli.command import pond
from tests.cli.sessions import CLAUDE_CODE, CODEX
from tests.house.tree import ROOT

BELOW = (
    "codec",
    "embed",
    "intake",
    "lake",
    "operations",
    "restore",
    "lang",
    "model",
    "portable",
    "sessions",
    "substrate",
)
OPTION = re.compile(r"(?<![\w-])--[a-z]")


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """A home without any client."""
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home"), "POND_LAKE": str(tmp_path / "lake")}


@pytest.mark.parametrize("package", BELOW)
def test_no_text_below_the_command_line_names_an_option(package: str) -> None:
    for file in sorted((ROOT / "pond" / package).rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        docs = {
            node.body[0].value
            for node in ast.walk(tree)
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in docs)
        assert [text for text in texts if type(text) is str and OPTION.search(text)] == [], file


def stray(tmp_path: Path) -> Path:
    """Return a file of no client, where a client keeps its sessions."""
    file = tmp_path / "home/.claude/projects/-x/stray.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text('{"planet": "Saturn"}\n')
    return file


def test_a_file_of_nobody_is_named_with_an_option_that_there_is(home: dict[str, str], tmp_path: Path) -> None:
    file = stray(tmp_path)
    assert "(name the client with --from; known are" in pond("convert", file, "--to", "canonical").err
    told = pond("ingest", file, variables=home).err
    assert "(name the client with --client; known are" in told
    assert "--from" not in told
    told = pond("sync", variables={**home, "POND_LAKE": str(tmp_path / "other")}).err
    assert "(`pond ingest --client CLIENT FILE` stores it as that client's; known are" in told
    faults = json.loads(pond("ingest", file, "--json", variables={**home, "POND_LAKE": str(tmp_path / "third")}).out)
    assert faults["faults"][0]["help"].startswith("name the client with --client")


def test_an_archive_is_for_import(home: dict[str, str], tmp_path: Path) -> None:
    CODEX.session(tmp_path / "in", "one")
    pond("ingest", tmp_path / "in", variables=home)
    assert pond("export", "-o", tmp_path / "all.pond", variables=home).code == 0
    done = pond("ingest", tmp_path / "all.pond", variables=home)
    assert (done.code, "`pond import` stores it" in done.err) == (1, True), done.err


def test_a_session_without_a_project(tmp_path: Path) -> None:
    text = b'{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"hi"}}\n'
    assert "(name it with --project DIR)" in pond("convert", "-", "--to", "canonical", stdin=text).err


@pytest.mark.parametrize("words", [["list"], ["get", "x"], ["status"], ["optimize"]])
def test_a_lake_that_is_not_there_is_made_by_sync(words: list[str], home: dict[str, str]) -> None:
    done = pond(*words, variables=home)
    assert (done.code, "`pond sync` creates one from the sessions on this machine" in done.err) == (2, True)


def test_a_list_of_nothing_says_why(home: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert pond("sync", variables=home).code == 0
    assert pond("list", variables=home).out.decode().startswith("The lake holds no sessions yet: `pond sync`")
    CLAUDE_CODE.session(tmp_path / "in", "one")
    assert pond("ingest", tmp_path / "in", variables=home).code == 0
    assert (
        pond("list", "--client", "codex", variables=home).out.decode().startswith("The lake holds no sessions of codex")
    )
    done = pond("list", "--since", "2030-01-01", variables=home)
    assert done.out.decode() == "None of the 1 sessions in the lake matches; `pond list` shows the latest.\n"
    assert json.loads(pond("list", "--client", "codex", "--json", variables=home).out)["sessions"] == []


def test_a_list_of_a_client_that_is_none(home: dict[str, str], tmp_path: Path) -> None:
    CLAUDE_CODE.session(tmp_path / "in", "one")
    pond("ingest", tmp_path / "in", variables=home)
    done = pond("list", "--client", "foo", variables=home)
    assert (done.code, done.out) == (2, b"")
    assert "unknown client `foo` (known: claude-code, codex)" in done.err


def test_sync_says_that_there_is_nothing_to_do(home: dict[str, str]) -> None:
    told = pond("sync", "--only", "embed", variables=home)
    assert (told.code, told.out.decode().startswith("embed     nothing to do")) == (0, True)
    assert "source    none: no client keeps sessions here" in pond("sync", variables=home).out.decode()


def test_no_client_is_called_nothing(tmp_path: Path) -> None:
    done = pond("convert", CLAUDE_CODE.session(tmp_path, "named"), "--from", "", "--to", "canonical")
    assert (done.code, done.out) == (2, b"")
    assert "unknown client `` (known: claude-code, codex, canonical)" in done.err
