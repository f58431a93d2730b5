"""What is printed after `convert` and `restore` works when it is pasted into a shell, and costs nobody a file."""

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pond.codec.registry import client_named, clients
from tests.cli.command import Done, pond
from tests.cli.sessions import CLAUDE_CODE, CODEX, Client, session_id

HOMES = {"claude-code": (".claude", "CLAUDE_CONFIG_DIR"), "codex": (".codex", "CODEX_HOME")}
ROADS = [(CLAUDE_CODE, "codex"), (CODEX, "claude-code"), (CLAUDE_CODE, "claude-code"), (CODEX, "codex")]
both_ways = pytest.mark.parametrize(("source", "target"), ROADS, ids=lambda each: getattr(each, "name", each))


def _steps(done: Done) -> list[str]:
    """Return the lines to paste."""
    lines = done.err.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("pond: to continue:"))
    told = lines[start].removeprefix("pond: to continue:").strip()
    return [told] if told else [line.strip() for line in lines[start + 1 :] if line.startswith("  ")]


def _paste(steps: list[str], home: Path, **environ: str) -> list[str]:
    """Run the lines in a shell with clients that only say where and how they were started; return what they said."""
    bin = home / "bin"
    bin.mkdir(parents=True, exist_ok=True)
    for name in ("claude", "codex"):
        (bin / name).write_text('#!/bin/sh\necho "$(basename "$0") $* in $(pwd -P)"\n')
        (bin / name).chmod(0o755)
    own = {"HOME": str(home), "PATH": f"{bin}:/usr/bin:/bin", **environ}
    done = subprocess.run(["sh", "-e"], input="\n".join(steps), env=own, cwd="/", capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.splitlines()


def _session(client: Client, folder: Path, work: Path) -> Path:
    """Write a session that ran in a directory of this machine."""
    work.mkdir(parents=True, exist_ok=True)
    file = client.session(folder, "onward")
    file.write_bytes(file.read_bytes().replace(b"/home/mira/orrery", str(work).encode()))
    return file


def _expected(target: str, work: Path, home: Path) -> str:
    """Return what the client says that is started for the one session of its home, whatever that is called there."""
    program = "codex resume" if target == "codex" else "claude --resume"
    (file,) = [path for folder in ("projects", "sessions") for path in (home / folder).rglob("*.jsonl")]
    return f"{program} {file.stem[-36:]} in {work.resolve()}"


@both_ways
def test_the_lines_put_the_files_in_the_home_and_start_the_client_in_the_directory(
    source: Client, target: str, tmp_path: Path
) -> None:
    work, home = tmp_path / "my work", tmp_path / "home"
    file = _session(source, tmp_path / "in", work)
    done = pond("convert", file, "--to", target, "-o", f"{tmp_path}/new files/", variables={"HOME": str(home)})
    assert _paste(_steps(done), home) == [_expected(target, work, home / HOMES[target][0])]


@both_ways
def test_a_single_file_and_a_moved_home_work_too(source: Client, target: str, tmp_path: Path) -> None:
    work, home = tmp_path / "work", tmp_path / "the home"
    variable = HOMES[target][1]
    moved = {variable: str(tmp_path / "else where"), "HOME": str(home)}
    file = _session(source, tmp_path / "in", work)
    done = pond("convert", file, "--to", target, "-o", tmp_path / "it's one.jsonl", variables=moved)
    assert _paste(_steps(done), home, **moved) == [_expected(target, work, tmp_path / "else where")]
    (made,) = (tmp_path / "else where").rglob("*-*.jsonl")
    assert made.read_bytes() == (tmp_path / "it's one.jsonl").read_bytes()
    assert not (home / HOMES[target][0]).exists()


@both_ways
def test_written_into_the_home_there_is_nothing_left_to_copy(source: Client, target: str, tmp_path: Path) -> None:
    work, home = tmp_path / "work", tmp_path / "home"
    folder = home / HOMES[target][0]
    folder.mkdir(parents=True)
    file = _session(source, tmp_path / "in", work)
    done = pond("convert", file, "--to", target, "-o", folder, variables={"HOME": str(home)})
    command, _, _ = _expected(target, work, folder).rpartition(" in ")
    assert _steps(done) == [f"cd {shlex.quote(str(work))} && {command}"]


@both_ways
def test_pasting_again_or_over_an_original_changes_no_file(source: Client, target: str, tmp_path: Path) -> None:
    work, home = tmp_path / "work", tmp_path / "home"
    file = _session(source, tmp_path / "in", work)
    done = pond("convert", file, "--to", target, "-o", f"{tmp_path}/out/", variables={"HOME": str(home)})
    _paste(_steps(done), home)
    (there,) = (home / HOMES[target][0]).rglob("*.jsonl")
    there.write_text("what a person worked on since\n")
    copies = [step for step in _steps(done) if "resume" not in step]
    subprocess.run(["sh"], input="\n".join(copies), env={"HOME": str(home), "PATH": os.environ["PATH"]}, text=True)
    assert there.read_text() == "what a person worked on since\n"
    into = pond("convert", file, "--to", target, "-o", home / HOMES[target][0], variables={"HOME": str(home)})
    assert into.code == 1
    assert "output-exists" in into.err
    assert "to continue" not in into.err
    assert there.read_text() == "what a person worked on since\n"


def _titled(folder: Path, work: Path) -> Path:
    file = _session(CLAUDE_CODE, folder, work)
    row = {"type": "custom-title", "customTitle": 'Jars & "lids"', "sessionId": session_id("onward")}
    file.write_bytes(file.read_bytes() + json.dumps(row).encode() + b"\n")
    return file


def _names(index: Path) -> list[Any]:
    """Return the names that a list gives; each has to be that of a session in its home."""
    there = {file.stem[-36:] for file in (index.parent / "sessions").rglob("*.jsonl")}
    rows = [json.loads(line) for line in index.read_text().splitlines()]
    assert {row["id"] for row in rows} <= there
    return [row["thread_name"] for row in rows]


def test_a_title_goes_into_the_list_of_the_home_by_itself_or_by_the_lines(tmp_path: Path) -> None:
    home, named = tmp_path / "home", ['Jars & "lids"']
    file = _titled(tmp_path / "in", tmp_path / "work")
    (home / ".codex").mkdir(parents=True)
    pond("convert", file, "--to", "codex", "-o", home / ".codex", variables={"HOME": str(home)})
    assert _names(home / ".codex/session_index.jsonl") == named
    other = tmp_path / "other"
    done = pond("convert", file, "--to", "codex", "-o", f"{tmp_path}/out/", variables={"HOME": str(other)})
    for _ in range(2):
        _paste(_steps(done), other)
    assert _names(other / ".codex/session_index.jsonl") == named


def test_a_name_that_a_person_gave_since_stays(tmp_path: Path) -> None:
    home = tmp_path / "home"
    index = home / ".codex/session_index.jsonl"
    file = _titled(tmp_path / "in", tmp_path / "work")
    done = pond("convert", file, "--to", "codex", "-o", f"{tmp_path}/out/", variables={"HOME": str(home)})
    _paste(_steps(done), home)
    own = {**json.loads(index.read_text()), "thread_name": "My own name"}
    index.write_text(json.dumps(own) + "\n")
    _paste(_steps(done), home)
    assert _names(index) == ["My own name"]
    pond("convert", file, "--to", "codex", "-o", home / ".codex", variables={"HOME": str(home)})
    assert _names(index) == ["My own name"]


def test_a_directory_that_is_not_here_is_named_and_not_gone_to(tmp_path: Path) -> None:
    file = CODEX.session(tmp_path / "in", "onward")
    done = pond("convert", file, "--to", "claude", "-o", f"{tmp_path}/out/")
    assert _steps(done)[-1].startswith("claude --resume ")
    assert "/home/mira/orrery is not on this machine" in done.err


def test_a_subagent_is_not_continued_by_itself(tmp_path: Path) -> None:
    file = _session(CLAUDE_CODE, tmp_path / "in", tmp_path / "work")
    child = file.with_suffix("") / "subagents" / "agent-a1.jsonl"
    child.parent.mkdir(parents=True)
    child.write_bytes(file.read_bytes().replace(b'"isSidechain":false', b'"isSidechain":true'))
    for target in ("claude-code", "codex"):
        done = pond("convert", tmp_path / "in", "--to", target, "-o", f"{tmp_path}/{target}/", "--json")
        assert len(json.loads(done.out)["resume"]) == 1


def test_a_restored_session_says_how_to_continue(tmp_path: Path) -> None:
    work, home = tmp_path / "work", tmp_path / "home"
    _session(CODEX, tmp_path / "in", work)
    lake, own = f"{tmp_path}/lake", {"HOME": str(home)}
    assert pond("ingest", tmp_path / "in", "--lake", lake, variables=own).code == 0
    for target in ("codex", "claude"):
        asked = ("restore", session_id("onward"), "--to", target, "--lake", lake, "-o", f"{tmp_path}/{target}")
        done = pond(*asked, variables=own)
        said = _paste(_steps(done), home)
        assert said == [_expected(client_named(target), work, home / HOMES[client_named(target)][0])]


# --- names ---


def test_claude_means_claude_code_everywhere(tmp_path: Path) -> None:
    file = _session(CLAUDE_CODE, tmp_path / "in", tmp_path / "work")
    lake = ("--lake", f"{tmp_path}/lake")
    asked = [
        ("ingest", file, "--client", "claude", *lake),
        ("list", "--client", "claude", *lake),
        ("search", "orrery OR onward OR *", "--client", "claude", *lake),
        ("stats", "--client", "claude", *lake),
        ("restore", "--all", "--client", "claude", "--to", "claude", "-o", tmp_path / "out", *lake),
        ("export", "-o", tmp_path / "all.pond", "--client", "claude", *lake),
        ("convert", file, "--from", "claude", "--to", "canonical"),
        ("verify", file, "--from", "claude"),
        ("map", "explain", "claude"),
    ]
    for words in asked:
        done = pond(*words, variables={"HOME": str(tmp_path / "home")})
        assert "unknown client" not in done.err, (words, done.err)
        assert done.code == 0, (words, done.err)
    listed = json.loads(pond("list", "--client", "claude", "--json", *lake).out)
    assert [each["source_agent"] for each in listed["sessions"]] == ["claude-code"]


def test_a_name_means_one_client() -> None:
    assert client_named("claude") == "claude-code"
    assert [client_named(each) for each in clients()] == list(clients())
    assert (client_named("canonical"), client_named("nobody"), client_named(None)) == ("canonical", "nobody", None)
