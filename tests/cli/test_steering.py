"""Nothing in a file controls a terminal or forges a line, whatever command shows it."""

import ast
import io
import json
import os
import pty
import re
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pond.cli.commands import VERBS
from pond.cli.dispatch import _dispatch
from tests.cli.command import finish, pond, shown, start
from tests.cli.sessions import CLAUDE_CODE, CODEX, Record, dump, session_id
from tests.house.tree import ROOT
from tests.size import size

# What a terminal obeys or a reader is deceived by; a line feed and a tab are the layout of our own text.
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
FORGED = "pond: forged"
EVIL = f"\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202egnp\u2066\x85\n{FORGED}\r\n{FORGED}"
steering = st.text(st.sampled_from("\x1b\x07\x9b\x90\x7f\x08\r\n\t\u202e\u2066\u2028\u200fa[31m]0;"), min_size=1)


def _hostile(records: list[Record], evil: str) -> list[bytes]:
    """Return the lines of a session with an evil text wherever a command shows one."""
    told: list[Record] = [
        {**records[-1], "type": evil},
        {**records[-1], f"field {evil}": 1},
        {**records[-1], "uuid": evil, "timestamp": evil},
    ]
    twice = dump({**records[-1], "@1": 1, "@2": 2}).replace(b'"@1"', json.dumps(evil).encode())
    lines = [dump({**record, "cwd": f"/home/{evil}"}) for record in [*records, *told]]
    lines += [twice.replace(b'"@2"', json.dumps(evil).encode()), b"{not json " + evil.replace("\n", "").encode()]
    lines += [dump({"type": "custom-title", "customTitle": evil, "sessionId": records[0]["sessionId"]})]
    return lines


def _store(folder: Path, evil: str) -> Path:
    """Write a store whose sessions, and whose file names, hold an evil text."""
    name = evil.replace("/", "_").replace("\0", "_")[:40]
    session = session_id("steering")
    file = folder / "projects" / name / f"{name}.jsonl"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"\n".join(_hostile(CLAUDE_CODE.records(session, 1), evil)))
    (file.parent / f"{name}.meta.json").write_text("{}")
    for lines, other in ((b'{"a":1}\n', "nobody"), (b"", "empty"), (b"\xff\n", "binary")):
        (file.parent / f"{name}{other}.jsonl").write_bytes(lines)
    CODEX.session(folder, "codex").with_name(f"rollout-{name}.jsonl").write_bytes(
        b"\n".join(
            dump({**row, "type": row["type"] if n < 3 else evil}) for n, row in enumerate(CODEX.records(evil, 1))
        )
    )
    return file


def _commands(folder: Path, file: Path, evil: str) -> Iterator[list[str | Path]]:
    """Yield a command line for every verb that shows what files and lakes hold, in an order that makes sense."""
    lake: list[str | Path] = ["--lake", folder / "lake"]
    yield ["verify", folder / "in"]
    yield ["verify", file]
    yield ["ingest", folder / "in", *lake]
    yield ["ingest", folder / "in", *lake]
    yield ["sync", "--lake", folder / "synced"]
    yield ["list", *lake, "--all"]
    yield ["search", evil, *lake]
    yield ["sql", "SELECT id, role, search_text, options FROM messages ORDER BY position", *lake]
    yield ["sql", "SELECT s.project, m.search_text FROM sessions s JOIN messages m ON true", "--output", "json", *lake]
    yield ["sql", f"SELECT {evil} FROM messages", *lake]
    yield ["stats", *lake]
    yield ["stats", "--project", evil, *lake]
    yield ["status", *lake]
    yield ["convert", file, "--to", "codex", "-o", folder / "one"]
    yield ["convert", folder / "in", "--to", "codex", "-o", f"{folder}/store/", "--map-path", f"/home=/{evil[:20]}"]
    yield ["convert", folder / "in", "--to", "claude-code", "-o", f"{folder}/own/"]
    yield ["restore", "--all", "-o", folder / f"out {evil[:20].replace('/', '')}", *lake]
    yield ["restore", "--all", "--to", "codex", "-o", folder / "foreign", *lake]
    yield ["get", session_id("steering"), *lake, "--mode", "complete"]
    yield ["get", evil, *lake]
    yield ["get", session_id("steering"), "--mode", evil, *lake]
    yield ["export", "-o", folder / f"{evil[:20].replace('/', '')}.pond", *lake]
    yield ["export", "-o", folder / "a.pond", *lake]
    yield ["import", folder / "a.pond", "--lake", folder / "other"]
    yield ["import", file, "--lake", folder / "other"]
    yield ["optimize", *lake]
    yield ["erase", session_id("steering"), "--yes", *lake]
    yield ["erase", evil, "--yes", *lake]
    yield ["import", folder / "a.pond", *lake]
    yield ["status", *lake]
    yield ["list", "--lake", folder / evil.replace("/", "")]
    yield ["config", "show", "--lake", folder / evil.replace("/", "")]
    yield ["model", "list"]
    yield ["model", "add", evil, "--from", folder / "nowhere"]
    yield ["model", "check", evil]
    yield ["model", "remove", evil]
    yield ["map", "check", file]
    yield ["map", "explain", evil]
    yield ["convert", "--to", evil, file]
    yield ["convert", f"--{evil}", file]
    yield ["golden", "--base", evil]
    yield ["schema", "show", evil]
    yield ["schema", "check", "--against", evil]
    yield ["namespace", "create", evil]
    yield ["namespace", "list"]
    yield ["serve", "--token-file", folder / f"nowhere {evil[:20].replace('/', '')}", *lake]
    pods: list[str | Path] = ["--root", folder / "pods"]
    yield ["pod", "set-active", "gardener", evil, evil, *pods]
    yield ["pod", "add-child", "gardener", "grafter", f"--write=/{evil}", f"--socket=/{evil}", *pods]
    yield ["pod", "reclaim", "gardener", evil, *pods]
    yield ["pod", "list", *pods]
    yield ["pod", "restore", "gardener", *pods, *lake]
    yield ["pod", "show", evil, *pods]
    yield [evil]


@contextmanager
def _heard() -> Iterator[io.BytesIO]:
    """Give what a command says on both streams, byte by byte."""
    heard = io.BytesIO()
    stream = io.TextIOWrapper(heard, encoding="utf-8", write_through=True)
    with redirect_stdout(stream), redirect_stderr(stream):
        yield heard
        stream.flush()
    stream.detach()


def _usable(command: list[str | Path]) -> bool:
    return all("\0" not in str(word) for word in command)


def _said(command: list[str | Path]) -> str:
    with _heard() as heard:
        _dispatch([str(word) for word in command])
    return heard.getvalue().decode("utf-8")


@settings(max_examples=size(10, 2))
@given(steering)
def test_no_command_lets_a_text_steer(evil: str) -> None:
    with TemporaryDirectory() as place:
        _check(Path(place), evil)


def test_every_verb_that_shows_data_is_tried(tmp_path: Path) -> None:
    tried = {command[0] for command in _commands(tmp_path, tmp_path / "x", EVIL)}
    # `mcp` and `skill` show no stored data here: tests/mcp and tests/registration try what they print.
    assert tried - {EVIL} == VERBS.keys() - {"clients", "completion", "mcp", "skill"}


def test_no_command_lets_a_text_forge_a_line(tmp_path: Path) -> None:
    _check(tmp_path, EVIL)


def _check(folder: Path, evil: str) -> None:
    file = _store(folder / "in", evil)
    stores = {"CLAUDE_CONFIG_DIR": f"{folder}/in", "CODEX_HOME": f"{folder}/in", "HOME": str(folder)}
    with patch.dict(os.environ, stores):
        _check_commands(folder, file, evil)


def _check_commands(folder: Path, file: Path, evil: str) -> None:
    for command in filter(_usable, _commands(folder, file, evil)):
        said = _said(command)
        assert not STEERING.search(said), (command, said)
        assert command[0] != "sync" or re.search(r"files     [1-9]", said), said
        forged = [line for line in said.splitlines() if line.startswith(FORGED)]
        # Only a message's own text has lines of its own, and only where it is read.
        assert not forged or command[0] == "get", (command, said)


@pytest.mark.parametrize("verb", [["list", "--all"], ["status"], ["get", session_id("steering")]])
def test_json_keeps_every_character_and_steers_nothing(verb: list[str], tmp_path: Path) -> None:
    _said(["ingest", _store(tmp_path / "in", EVIL), "--lake", tmp_path / "lake"])
    said = _said([*verb, "--json", "--lake", tmp_path / "lake"])
    assert not STEERING.search(said), said
    assert verb[0] == "status" or f"/home/{EVIL}" in _texts(json.loads(said))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        for member in value:
            yield from _texts(member)
    elif isinstance(value, str):
        yield value


def test_canonical_text_is_exact_in_a_pipe_and_harmless_on_a_terminal(tmp_path: Path) -> None:
    file = _store(tmp_path / "in", EVIL)
    piped = pond("convert", file, "--to", "canonical").out
    assert "\x9b".encode() in piped
    controller, terminal = pty.openpty()
    process = start("convert", file, "--to", "canonical", stdout=terminal)
    os.close(terminal)
    seen = shown(controller).replace(b"\r\n", b"\n").decode()
    finish(process)
    assert not STEERING.search(seen)
    assert [json.loads(line) for line in seen.splitlines()] == [json.loads(line) for line in piped.splitlines()]


def test_there_is_one_place_that_prints() -> None:
    """Whatever is printed for people goes through `say`, which knows what a terminal obeys."""
    for path in sorted((ROOT / "pond").rglob("*.py")):
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        names = [node.func.id for node in calls if isinstance(node.func, ast.Name)]
        assert "print" not in names or path.relative_to(ROOT).as_posix() in (
            "pond/cli/terminal.py",
            "pond/sessions/archive/check.py",  # to its parent, through a pipe
        ), path
