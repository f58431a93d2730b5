"""The pages are true: names exist, values are what the code makes, commands run."""

import importlib
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from codegen import emit_cli
from pond.cli.commands import VERBS
from pond.codec.lines import LineSource
from pond.codec.openfile import OpenFile
from pond.codec.opening import open_input
from pond.codec.reader import SessionReader
from pond.codec.registry import Adapter, adapter, clients, compile_now
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.codec.writer import SessionWriter
from pond.codec.writing import write_native
from pond.config.listing import rows
from pond.config.load import load
from pond.diagnostics.codes import CODES
from tests.house.rules import LIST, listed
from tests.house.tree import ROOT, files

README, TOUR = Path("README.md"), Path("docs/tour.md")
FIXTURE = next((ROOT / "adapters/claude_code/fixtures/tour").rglob("*.jsonl"))
LINE = 10  # the line of the fixture that the tour follows
LEFT_OUT = "…"

PAGES = [name for name in files() if name.suffix == ".md" and (name.parts[0] in ("docs", "adapters") or name == README)]

_FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LINK = re.compile(r"\]\((?!https?:)(?P<file>[^)#\s]+)?(?:#(?P<anchor>[^)\s]+))?\)")
_PATH = re.compile(r"\.{0,2}/?[\w-]+(?:/[\w.-]+)+/?")
_PACKAGES = (*(path.name for path in (ROOT / "pond").iterdir() if path.is_dir()), "claude_code", "codex")
_NAME = re.compile(rf"(?:{'|'.join(_PACKAGES)})(?:\.\w+)+")
_DIAGNOSTIC = re.compile(r"(?:map|source|canonical|verify|output|usage|config|golden)(?:-[a-z]+)+")


def _text(page: Path) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def _blocks(page: Path, info: str) -> list[str]:
    """Return the fenced blocks whose opening line says `info`."""
    return [found["body"] for found in _FENCE.finditer(_text(page)) if found["info"] == info]


def _quoted(page: Path) -> list[str]:
    """Return what is in single backticks outside fenced blocks."""
    return _CODE.findall(_FENCE.sub("", _text(page)))


# --- the tour ---------------------------------------------------------------------------------------------------------


def _resolve(name: str) -> Any:
    """Return what a dotted name below `pond` or `pond.adapters` means."""
    words = name.split(".")
    head = f"pond.adapters.{words[0]}" if words[0].replace("_", "-") in clients() else f"pond.{words[0]}"
    value: Any = importlib.import_module(f"{head}.{words[1]}")
    for word in words[2:]:
        value = getattr(value, word)
    return value


@cache
def _other_names() -> set[str]:
    """Return names that look like those of modules: settings, a column, a file."""
    return {row.name for row in rows(load(environ={}))} | {"sessions.id", "client.toml"}


def _names(page: Path) -> list[str]:
    return [each for each in _quoted(page) if _NAME.fullmatch(each) and each not in _other_names()]


def test_the_tour_names_the_code() -> None:
    assert len(_names(TOUR)) > 25


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_code_named_on_a_page_exists(page: Path) -> None:
    for name in _names(page):
        _resolve(name)


@pytest.mark.parametrize("name", ["codec.convert.open_inputs", "codec.converts.open_input", "claude_code.compiled.red"])
def test_a_name_that_does_not_exist_is_noticed(name: str) -> None:
    assert _NAME.fullmatch(name)
    with pytest.raises((AttributeError, ImportError)):
        _resolve(name)


@cache
def _made() -> dict[str, Any]:
    """Take the tour's fixture through the code; return the values the tour shows, by the word behind `json`."""
    lines = FIXTURE.read_bytes().splitlines()
    report = Report()
    with open(FIXTURE, "rb") as file:
        (session,) = open_input(OpenFile(file, FIXTURE.name, FIXTURE), ConversionRequest("canonical"), report).sessions
        groups = list(session.groups)
    message, part = json.loads(json.dumps(groups[LINE - 1]))  # a copy: writing uses the events up
    out = io.BytesIO()
    with open(FIXTURE, "rb") as file:
        (again,) = open_input(OpenFile(file, FIXTURE.name, FIXTURE), ConversionRequest("claude-code"), report).sessions
        write_native(again, out, report, FIXTURE.name)
    restored = json.loads(out.getvalue().splitlines()[LINE - 1])
    values = {"record": json.loads(lines[LINE - 1]), "session": session.row, "restored": restored}
    return {**values, "message": message, "part": part}


def _difference(shown: Any, made: Any, path: str = "$") -> str | None:
    """Return where a value shown is not the value made; members may be left out where the page says so."""
    if isinstance(shown, dict) and isinstance(made, dict):
        wanted = {key: value for key, value in shown.items() if key != LEFT_OUT}
        surplus = set(made) - set(wanted)
        if surplus and LEFT_OUT not in shown:
            return f"{path}: {sorted(surplus)} not shown"
        if LEFT_OUT in shown and not surplus:
            return f"{path}: nothing is left out"
        found = (_difference(value, made.get(key), f"{path}.{key}") for key, value in wanted.items())
        return next(filter(None, found), None)
    if isinstance(shown, list) and isinstance(made, list) and len(shown) == len(made):
        found = (_difference(a, b, f"{path}[{i}]") for i, (a, b) in enumerate(zip(shown, made, strict=True)))
        return next(filter(None, found), None)
    same = type(shown) is type(made) and shown == made
    return None if same else f"{path}: shown {shown!r}, made {made!r}"


@pytest.mark.parametrize("what", ["record", "session", "message", "part", "restored"])
def test_the_tour_shows_what_the_code_makes(what: str) -> None:
    (block,) = _blocks(TOUR, f"json {what}")
    assert _difference(json.loads(block), _made()[what]) is None


def test_what_the_tour_calls_restored_equals_the_record() -> None:
    assert _difference(_made()["record"], _made()["restored"]) is None


@pytest.mark.parametrize(
    ("shown", "made"),
    [({"a": 1}, {"a": 2}), ({"a": 1}, {"a": 1, "b": 2}), ({"a": 1, "…": "…"}, {"a": 1}), ([1], [1, 2]), (1, True)],
)
def test_a_wrong_value_is_noticed(shown: Any, made: Any) -> None:
    assert _difference(shown, made)


def _is_quoted(excerpt: str, source: str) -> bool:
    """Tell whether the lines of `excerpt` follow each other in `source`; `…` jumps ahead, alone or at a line's end."""
    return _follow([LEFT_OUT, *_squeezed(excerpt)], _squeezed(source))


def _squeezed(text: str) -> list[str]:
    """Return the lines of a text without what only lays them out."""
    return [" ".join(line.split()) for line in text.strip().splitlines()]


def _follow(wanted: list[str], lines: list[str], jump: bool = False) -> bool:
    if not wanted:
        return True
    line, *rest = wanted
    if line == LEFT_OUT:
        return _follow(rest, lines, jump=True)
    start, cut, _ = line.partition(LEFT_OUT)
    for index, found in enumerate(lines):
        fits = found == line or (cut != "" and found.startswith(start))
        if fits and _follow(rest, lines[index + 1 :], jump=cut != ""):
            return True
        if not jump:
            return False
    return False


@pytest.mark.parametrize(
    ("info", "source"),
    [("map", "adapters/claude_code/claude_code.map"), ("python", "adapters/claude_code/compiled.py")],
)
def test_the_tour_quotes_mapping_and_compiled_reader(info: str, source: str) -> None:
    blocks = _blocks(TOUR, info)
    assert blocks
    assert [block for block in blocks if not _is_quoted(block, _text(Path(source)))] == []


@pytest.mark.parametrize("excerpt", ["a\nc", "a\n…\nx", "b\na", "a t…\nz"])
def test_a_wrong_quotation_is_noticed(excerpt: str) -> None:
    source = "a\n  b\nc\na   tail\nd"
    assert _is_quoted("a\n…\nd", source)
    assert _is_quoted("c\na t…", source)
    assert not _is_quoted(excerpt, source)


# --- the client that docs/adding-a-client.md invents ------------------------------------------------------------------


def test_the_invented_client_works(tmp_path: Path) -> None:
    page = Path("docs/adding-a-client.md")
    (mapping,), (session,) = _blocks(page, "map"), _blocks(page, "jsonl")
    file = tmp_path / "rooms" / "fern.jsonl"
    file.parent.mkdir()
    file.write_text(session, encoding="utf-8")
    owner = Adapter("parley", tmp_path, compile_now(mapping, "parley.map"))
    report = Report()
    with open(file, "rb") as stream:
        reader = SessionReader(owner, LineSource(stream, file.name, file), report)
        groups = [json.loads(json.dumps(group)) for group in reader.records()]
    events = [event for group in groups for event in group]
    assert reader.session["project"] == "/home/ada/herbarium"
    assert [e["provenance"] for e in events if e.get("message_id") == "m1"] == ["injected", "conversational"]
    assert [e["options"]["pond"] for e in events if e.get("call_id") == "c1" and "params" in e] == [
        {"spelling": {"args": "spaced"}}
    ]
    assert (report.drift, report.diagnostics) == ({"say/model.mood": 1}, [])
    restored = list(SessionWriter(owner, reader.session, reader.recall, report, file.name).records(groups))
    assert restored == [json.loads(line) for line in session.splitlines()]
    assert tomllib.loads(*_blocks(page, "toml")).keys() == adapter("codex").declared().keys()


# --- the clients there are --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("client", clients())
def test_every_client_has_its_page_and_its_row(client: str) -> None:
    folder = adapter(client).folder
    page = _text(folder.relative_to(ROOT) / "README.md")
    assert [version for version in adapter(client).declared()["verified"] if version not in page] == []
    assert f"| [`{client}`](adapters/{folder.name}/README.md) |" in _text(README)


# --- every page -------------------------------------------------------------------------------------------------------


def _is_ours(path: str) -> bool:
    """Tell whether a path claims to be in this repository: it begins with a folder of it."""
    return path.split("/", 1)[0] in {name.parts[0] for name in files() if len(name.parts) > 1}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_paths_on_a_page_exist(page: Path) -> None:
    named = [each for each in _quoted(page) if _PATH.fullmatch(each) and _is_ours(each)]
    assert [each for each in named if not (ROOT / each).exists() and not _foretold(each)] == []


def _foretold(path: str) -> bool:
    """Tell whether a path is in a client folder that a page invents to explain something (`adapters/parley/…`)."""
    first, *rest = path.split("/")
    return first in ("adapters", "golden") and bool(rest) and rest[0] == "parley"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_on_a_page_lead_somewhere(page: Path) -> None:
    for found in _LINK.finditer(_FENCE.sub("", _text(page))):
        target = (ROOT / page).parent / found["file"] if found["file"] else ROOT / page
        assert target.exists(), f"{page}: {found[0]}"
        if found["anchor"] and target.suffix == ".md":
            assert found["anchor"] in _anchors(target), f"{page}: {found[0]}"


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_diagnostics_on_a_page_exist(page: Path) -> None:
    assert [each for each in _quoted(page) if _DIAGNOSTIC.fullmatch(each) and each not in CODES] == []


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_rules_cited_on_a_page_are_listed(page: Path) -> None:
    known = {rule for rules in listed(_text(LIST)).values() for rule in rules}
    cited = re.compile(r"(?:model|adapter|lance|session|search|wire)(?:-[a-z]+){2,}")
    assert [each for each in _quoted(page) if cited.fullmatch(each) and each not in known] == []


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_make_targets_on_a_page_exist(page: Path) -> None:
    offered = set(re.findall(r"^([a-z-]+):", _text(Path("Makefile")), re.MULTILINE))
    words = [word for text in _commands(page, "make") for word in shlex.split(text, comments=True)[1:]]
    told = [word for word in words if re.fullmatch(r"[a-z][a-z-]*", word)]
    assert [target for target in told if target not in offered] == []


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_pond_commands_on_a_page_have_a_verb(page: Path) -> None:
    told = [text.split()[1] for text in _commands(page, "pond") if len(text.split()) > 1]
    assert [verb for verb in told if verb not in VERBS and not verb.startswith("-") and not verb.isupper()] == []


def _commands(page: Path, program: str) -> Iterator[str]:
    """Find the command lines of one program: in backticks, after a prompt, and as lines of their own."""
    shown = [line.removeprefix("$ ").strip() for line in _text(page).splitlines() if line.startswith(("$ ", "    "))]
    for text in [*_quoted(page), *shown]:
        if text.split()[:1] == [program]:
            yield text


# --- the reference on the command line --------------------------------------------------------------------------------


def test_the_reference_has_every_command_whatever_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"COLUMNS": "40", "FORCE_COLOR": "1", "TERM": "xterm-256color", "LC_ALL": "C"}.items():
        monkeypatch.setenv(name, value)
    page = emit_cli.targets()[emit_cli.PAGE]
    assert page == _text(emit_cli.PAGE), "run `python -m codegen`"
    headings = re.findall(r"^## (pond.*)$", page, re.MULTILINE)
    modules = {verb: importlib.import_module(each.module) for verb, each in VERBS.items()}
    commands = {verb: getattr(module, "commands", {}) for verb, module in modules.items()}
    assert headings == ["pond", *(" ".join(("pond", verb, *part)) for verb in VERBS for part in _parts(commands[verb]))]


def _parts(commands: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return what follows a verb: nothing, then each of its own commands."""
    return [(), *((command,) for command in commands)]


# --- the README -------------------------------------------------------------------------------------------------------


def _session() -> list[tuple[str, list[str]]]:
    """Return the README's terminal session: each command with the output shown under it."""
    runs: list[tuple[str, list[str]]] = []
    for line in "".join(_blocks(README, "console")).splitlines():
        if line.startswith("$ "):
            runs.append((line.removeprefix("$ "), []))
        elif line:
            runs[-1][1].append(line)
    return runs


def test_the_readme_is_short() -> None:
    assert len(_text(README).splitlines()) <= 150


def test_the_terminal_session_of_the_readme_is_real(tmp_path: Path) -> None:
    """Run the session's commands one after the other; every line shown must be printed, up to where it is cut.

    The home directory holds the fixtures as the clients would have written them, so `pond sync` finds them there.
    """
    for client, case in (
        ("claude", "claude_code/fixtures/tour"),
        ("claude", "claude_code/fixtures/subagents"),
        ("codex", "codex/fixtures/tour"),
    ):
        shutil.copytree(ROOT / "adapters" / case, tmp_path / f".{client}", dirs_exist_ok=True)
    runs = _session()
    assert len(runs) >= 5
    for command, shown in runs:
        done = _run(command, tmp_path)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        printed = iter((done.stdout + done.stderr).splitlines())
        for line in shown:
            start, cut, _ = line.partition(LEFT_OUT)
            assert any(each == line or (cut and each.startswith(start)) for each in printed), f"{command}: {line}"


def _run(command: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of the session in `directory`, with `pond` being the one of this tree."""
    pond = f'pond() {{ {shlex.quote(sys.executable)} -m pond.cli.main "$@"; }}; set -o pipefail; '
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(directory)}
    return subprocess.run(
        ["bash", "-c", pond + command], cwd=directory, env=environment, capture_output=True, text=True, timeout=120
    )
