"""What holds for every command: help, suggestions, colour, how much is said, and errors that programs read."""

import importlib
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pond.cli.arguments import read
from pond.cli.commands import EXAMPLES, VERBS
from pond.cli.declared import parameters
from tests.cli.command import command, environment, pond
from tests.cli.sessions import CLAUDE_CODE, session_id

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def _functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for verb, (module, _, _) in VERBS.items():
        home = importlib.import_module(module)
        if hasattr(home, "run"):
            yield verb, home.run
        else:
            yield from ((f"{verb} {name}", each) for name, each in home.commands.items())


FUNCTIONS = dict(_functions())


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("manners")
    CLAUDE_CODE.session(place / "in", "walnut")
    assert pond("ingest", place / "in", "--lake", place / "lake").code == 0
    return place / "lake"


# --- help ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", FUNCTIONS, ids=str)
def test_every_command_explains_itself_and_has_an_example(words: str) -> None:
    told = pond(*words.split(), "-h").out.decode()
    assert told == pond(*words.split(), "--help").out.decode()
    assert not re.search(r"<|\bstr\b|\blist\[|\bint\b|None", told), told
    for example, meaning in EXAMPLES[words]:
        assert example in told
        assert meaning[0].isupper()
        assert meaning.endswith(".")
    assert all(
        (each.help.endswith(".") and each.help[0].isupper()) or each.help == "" for each in parameters(FUNCTIONS[words])
    )


@pytest.mark.parametrize("words", FUNCTIONS, ids=str)
def test_examples_can_be_typed(words: str) -> None:
    for example, _ in EXAMPLES[words]:
        line = shlex.split(example.partition(" > ")[0])
        assert line[: 1 + len(words.split())] == ["pond", *words.split()]
        read(FUNCTIONS[words], f"pond {words}", line[1 + len(words.split()) :])


def test_the_overview_has_every_command_in_its_group() -> None:
    told = pond("-h").out.decode()
    assert told == pond().out.decode() == pond("help").out.decode()
    listed = re.findall(r"^  ([a-z]+)  +[A-Z]", told, re.MULTILINE)
    assert listed == list(VERBS)
    assert re.findall(r"^([A-Za-z].*):$", told, re.MULTILINE) == [
        *dict.fromkeys(verb.group for verb in VERBS.values()), "Options",
    ]  # fmt: skip
    assert pond("help", "list").out == pond("list", "-h").out
    assert "set-active" in pond("pod", "-h").out.decode()
    assert pond("pod").code == 2


# --- mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["lst"], "unknown command `lst` (did you mean `list`?"),
        (["pod", "lst"], "unknown command `pond pod lst` (did you mean `list`?"),
        (["--vesion"], "unknown option `--vesion` (did you mean `--version`?"),
        (["list", "--clent", "x"], "unknown option `--clent` (did you mean `--client`?"),
        (["list", "--limit", "ten"], "option `--limit` takes a whole number, found `ten`"),
        (["list", "--limit"], "option `--limit` needs a value: --limit N"),
        (["list", "--json=yes"], "option `--json` takes no value"),
        (["search", "x", "--min-score", "y"], "option `--min-score` takes a number, found `y`"),
        (["get"], "missing argument SESSION|MESSAGE"),
        (["get", "a", "b"], "unexpected argument `b`"),
        (["convert", "x"], "missing option `--to CLIENT`"),
        (["list", "--color", "red"], "`--color` takes auto, always, never; found `red`"),
        (["pod", "set-active", "a", "b"], "missing argument SEGMENT"),
    ],
)
def test_a_mistake_is_named_with_what_helps(words: list[str], says: str) -> None:
    done = pond(*words)
    assert (done.code, done.out) == (2, b"")
    assert done.err.startswith("pond: usage: ")
    assert says in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "known"),
    [
        (["list", "--client", "codx"], "did you mean `codex`?"),
        (["ingest", "x", "--client", "codx"], "did you mean `codex`?"),
        (["convert", "x", "--to", "codx"], "did you mean `codex`?"),
        (["convert", "x", "--to", "codex", "--from", "claud-code"], "did you mean `claude-code`?"),
        (["verify", "x", "--from", "codx"], "did you mean `codex`?"),
        (["restore", "--all", "--to", "codx", "-o", "out"], "did you mean `codex`?"),
        (["restore", "--all", "--client", "codx", "-o", "out"], "did you mean `codex`?"),
        (["export", "--client", "codx", "-o", "out.pond"], "did you mean `codex`?"),
        (["map", "explain", "codx"], "did you mean `codex`?"),
        (["search", "x", "--client", "codx"], "did you mean `codex`?"),
        (["stats", "--client", "codx"], "did you mean `codex`?"),
        (["sync", "--only", "embd"], "did you mean `embed`?"),
        (["completion", "fisch"], "did you mean `fish`?"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(
    words: list[str], known: str, lake: Path, tmp_path: Path
) -> None:  # fmt: skip
    (tmp_path / "x").write_text("{}\n")
    done = pond(*words, cwd=tmp_path, variables={"POND_LAKE": str(lake)})
    assert (done.code, done.out) == (2, b"")
    assert known in done.err


# --- programs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["get", "zzz"], "lake-not-found"),
        (["list", "--since", "soon"], "usage"),
        (["list", "--limt", "3"], "usage"),
        (["lst"], "usage"),
        (["search", "role:usr"], "usage"),
        (["sql", "selec 1"], "sql-syntax"),
        (["stats", "--limit", "0"], "usage"),
        (["restore", "zzz", "-o", "out"], "lake-not-found"),
        (["export", "zzz", "-o", "a.pond"], "lake-not-found"),
        (["import", "none.pond"], "source-unreadable"),
        (["erase", "zzz"], "lake-not-found"),
        (["optimize", "--keep", "soon"], "usage"),
        (["model", "remove", "none"], "model-unknown"),
        (["pod", "show", "none"], "pods-missing"),
        (["map", "explain", "none"], "usage"),
        (["sync", "--only", "none"], "usage"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_with_json_a_refusal_is_json(words: list[str], code: str, lake: Path, tmp_path: Path) -> None:
    done = pond(*words, "--json", cwd=tmp_path, variables={"POND_LAKE": str(lake), "HOME": str(tmp_path)})
    assert (done.code, done.out) == (2, b""), done.err
    (error,) = json.loads(done.err)["errors"]
    assert (error["code"], error["severity"]) == (code, "error")


# --- colour, and how much is said ------------------------------------------------------------------------------------


def test_colour_is_for_terminals_and_for_those_who_ask(lake: Path) -> None:
    def shown(*words: str, **variables: str) -> bool:
        done = pond("get", session_id("walnut"), "--lake", lake, *words, variables=variables)
        assert done.code == 0
        return bool(COLOUR.search(done.out.decode()))

    assert not shown()
    assert shown("--color", "always")
    assert shown("--color=always", NO_COLOR="1")
    assert not shown("--color", "never")
    assert not shown("--json", "--color", "always")


def test_quiet_leaves_out_what_is_no_result(lake: Path, tmp_path: Path) -> None:
    CLAUDE_CODE.session(tmp_path / "in", "oak")
    done = pond("ingest", tmp_path / "in", "--lake", tmp_path / "lake", "-q")
    assert (done.code, done.out, done.err) == (0, b"", "")
    assert pond("-q", "list", "--lake", lake).out == pond("list", "--lake", lake).out != b""
    assert "no session or message" in pond("get", "zzz", "-q", "--lake", lake).err


def test_verbose_shows_every_warning(tmp_path: Path) -> None:
    rows = [{"type": f"odd{n}", "uuid": str(n), "sessionId": "s", "cwd": "/srv"} for n in range(40)]
    file = CLAUDE_CODE.file(tmp_path, session_id("odd"), [json.dumps(row).encode() for row in rows])
    short, long = (pond("convert", file, "--to", "canonical", *more).err for more in ([], ["-v"]))
    assert "and 28 more" in short
    assert "more" not in long
    assert all(f"odd{n} " in long for n in range(40))


# --- start-up --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "without"),
    [(["--version"], ["typer", "dataclasses", "json"]), (["--help"], ["typer"])],
)
def test_nothing_is_imported_that_a_command_does_not_need(words: list[str], without: list[str]) -> None:
    line = [sys.executable, "-X", "importtime", *command(words)[1:]]
    done = subprocess.run(line, capture_output=True, text=True, env=environment(), timeout=60)
    imported = {row.rpartition("|")[2].strip() for row in done.stderr.splitlines()}
    assert done.returncode == 0
    assert imported.isdisjoint(without)


# --- exit codes ------------------------------------------------------------------------------------------------------


def test_a_verify_that_compared_nothing_is_no_success(tmp_path: Path) -> None:
    events = pond("convert", CLAUDE_CODE.session(tmp_path, "walnut"), "--to", "canonical").out
    (tmp_path / "canonical.jsonl").write_bytes(events)
    done = pond("verify", tmp_path / "canonical.jsonl")
    assert (done.code, "source-none: no session file was found" in done.out.decode()) == (2, True)
    assert json.loads(pond("verify", tmp_path / "canonical.jsonl", "--json").out)["faults"][0]["code"] == "source-none"
