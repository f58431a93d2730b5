"""`pond golden` at the prompt: what it compares, when it fails, what it refuses, and its step in `make test`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import POND, Done, environment, obey_permissions, pond
from tests.cli.sessions import CODEX
from tests.golden.repository import TOUR, Repository, canonical, entry, message, part, session
from tests.house.tree import ROOT

GOLDEN = "parley/tour.canonical.json"
FILE = "acknowledged.toml"
REKEYED = canonical(TOUR[0], message("n1"), TOUR[2])
SHORTER = canonical(*TOUR[:2])

additive = pytest.mark.rule("adapter-integrity-additive-sync")


def _golden(repository: Repository, *words: str) -> tuple[int, dict[str, Any]]:
    """Run `pond golden --json` and return exit code and answer."""
    done = pond("golden", "--json", *words, cwd=repository.path)
    assert (done.code in (0, 1), done.err) == (True, "")
    return done.code, json.loads(done.out)


def _refused(done: Done) -> tuple[int, bytes, list[str]]:
    return done.code, done.out, [fault.code for fault in done.faults]


# --- rules --------------------------------------------------------------------------------------------------------


def test_no_change_breaks_no_rule(repository: Repository) -> None:
    repository.commit({GOLDEN: canonical(*TOUR)})
    done = pond("golden", cwd=repository.path)
    assert (done.code, done.out.decode()) == (0, "Goldens: none of 1 case changed since HEAD\n")


@additive
def test_an_added_row_breaks_no_rule(repository: Repository) -> None:
    repository.commit({GOLDEN: SHORTER})
    repository.write({GOLDEN: canonical(*TOUR)})
    code, found = _golden(repository)
    assert (code, found["broken"]) == (0, [])
    assert [row["id"] for row in found["changed"][0]["rows"]["added"]] == ["m1:0"]


@additive
def test_a_removed_row_breaks_the_rule(repository: Repository) -> None:
    repository.commit({GOLDEN: canonical(*TOUR)})
    repository.write({GOLDEN: SHORTER})
    code, found = _golden(repository)
    assert code == 1
    (broken,) = found["broken"]
    assert (broken["code"], broken["case"], broken["row"]["id"]) == ("golden-removed-row", "parley/tour", "m1:0")


@additive
def test_a_changed_id_breaks_the_rule(repository: Repository) -> None:
    repository.commit({GOLDEN: canonical(*TOUR)})
    repository.write({GOLDEN: REKEYED})
    code, found = _golden(repository)
    assert code == 1
    (broken,) = found["broken"]
    assert (broken["code"], broken["row"]["id"], broken["new"]["id"]) == ("golden-changed-id", "m1", "n1")


@additive
@pytest.mark.parametrize("view", ["parley/tour.native.txt", "parley/other.native.txt"])
def test_a_golden_that_is_gone_counts_as_its_rows(repository: Repository, view: str) -> None:
    """Whether the whole case went or only its canonical view."""
    repository.commit({GOLDEN: canonical(*TOUR), view: "x\n"})
    (repository.path / "golden" / GOLDEN).unlink()
    code, found = _golden(repository)
    assert code == 1
    assert [broken["row"]["id"] for broken in found["broken"]] == ["s", "m1", "m1:0"]
    assert [change["state"] for change in found["changed"]] == ["changed" if "tour" in view else "removed"]


@pytest.mark.parametrize(
    "after",
    [
        pytest.param({GOLDEN: canonical(*TOUR[:2], part("m1:0", "Which?", "injected"))}, id="fields and provenance"),
        pytest.param({"parley/new.canonical.json": canonical(session("t"))}, id="a new case"),
        pytest.param({"parley/tour.to-codex.loss.txt": "dropped m1\n"}, id="a new loss"),
        pytest.param({"parley/tour.native.txt": "other\n"}, id="an output"),
        pytest.param({"README": "hello\n"}, id="another file"),
    ],
)
def test_what_no_rule_forbids_is_told_and_passes(repository: Repository, after: dict[str, bytes | str]) -> None:
    repository.commit({GOLDEN: canonical(*TOUR), "parley/tour.native.txt": "one\n"})
    repository.write(after)
    code, found = _golden(repository)
    assert (code, found["broken"]) == (0, [])
    assert found["changed"] or found["other_files"]


# --- acknowledgements ---------------------------------------------------------------------------------------------


@additive
@pytest.mark.parametrize("row", ["m1:0", "*"])
def test_an_acknowledged_row_may_go(repository: Repository, row: str) -> None:
    repository.commit({GOLDEN: canonical(*TOUR)})
    repository.write({GOLDEN: SHORTER, FILE: entry(row=row)})
    code, found = _golden(repository)
    assert (code, found["broken"], found["stale"], found["other_files"]) == (0, [], [], [])
    assert [(each["row"]["id"], each["because"]) for each in found["acknowledged"]] == [("m1:0", "a reason")]


@additive
def test_an_acknowledged_id_may_change(repository: Repository) -> None:
    repository.commit({GOLDEN: canonical(*TOUR)})
    repository.write({GOLDEN: REKEYED, FILE: entry(change="changed-id", row="m1")})
    code, found = _golden(repository)
    assert (code, found["broken"], len(found["acknowledged"])) == (0, [], 1)


@additive
@pytest.mark.parametrize("other", [{"case": "parley/two"}, {"change": "changed-id"}, {"row": "m1"}])
def test_an_entry_covers_what_it_names_and_nothing_else(repository: Repository, other: dict[str, str]) -> None:
    repository.commit({GOLDEN: canonical(*TOUR)})
    repository.write({GOLDEN: SHORTER, FILE: entry(**other)})
    code, found = _golden(repository)
    assert (code, len(found["broken"]), found["acknowledged"]) == (1, 1, [])
    assert len(found["stale"]) == 1


def test_an_entry_that_matches_nothing_is_stale_where_it_is_new(repository: Repository) -> None:
    repository.commit({GOLDEN: canonical(*TOUR), FILE: entry(row="old")})
    repository.write({FILE: entry(row="old") + entry(row="new")})
    code, found = _golden(repository)
    assert (code, [each["row"] for each in found["stale"]]) == (0, ["new"])


@additive
@pytest.mark.parametrize(("row", "code"), [("m1:0", 0), ("*", 1)])
def test_an_entry_for_all_rows_excuses_only_the_change_that_adds_it(
    repository: Repository, row: str, code: int
) -> None:
    repository.commit({GOLDEN: canonical(*TOUR), FILE: entry(row=row)})
    repository.write({GOLDEN: SHORTER})
    assert _golden(repository)[0] == code
    text = pond("golden", cwd=repository.path).out.decode()
    assert ("counts only in the change that adds it" in text) == (code == 1)


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (entry() + entry(because=""), 6, "entry 2: expected text in `because`, found none"),
        (entry(because=" "), 1, "entry 1: expected text in `because`, found ' '"),
        ("[[acknowledged]]\nrow = 7\n", 1, "entry 1: expected text in `case`, found none"),
        (entry() + "row2 = 'x'\n", 1, "entry 1: expected case, change, row, because, found `row2`"),
        (entry(change="moved"), 1, "entry 1: expected `change` to be removed-row or changed-id, found 'moved'"),
        ("acknowledged = [7]\n", None, "entry 1: expected a table"),
        ("[acknowledged]\n", None, "`golden/acknowledged.toml`: expected entries `[[acknowledged]]` and nothing else"),
        ("[[acknowledge]]\n", None, "`golden/acknowledged.toml`: expected entries `[[acknowledged]]` and nothing else"),
        (b"\xff", None, "`golden/acknowledged.toml`: expected UTF-8 text"),
    ],
)
def test_a_broken_entry_is_refused(repository: Repository, content: bytes | str, line: int | None, reason: str) -> None:
    repository.commit({GOLDEN: canonical(*TOUR)})
    repository.write({FILE: content})
    done = pond("golden", cwd=repository.path)
    assert _refused(done) == (2, b"", ["golden-acknowledgement"])
    (fault,) = done.faults
    assert (fault.line, fault.reason) == (line, reason)


def test_a_file_that_is_not_toml_is_refused(repository: Repository) -> None:
    repository.commit({GOLDEN: canonical(*TOUR)})
    repository.write({FILE: "case = \n"})
    done = pond("golden", cwd=repository.path)
    assert _refused(done) == (2, b"", ["golden-acknowledgement"])
    assert "line 1" in done.err


def test_every_broken_entry_is_named(repository: Repository) -> None:
    repository.commit({GOLDEN: canonical(*TOUR)})
    repository.write({FILE: entry(case="") + entry(row="")})
    assert len(pond("golden", cwd=repository.path).faults) == 2


def test_a_broken_file_at_the_base_can_be_mended(repository: Repository) -> None:
    repository.commit({GOLDEN: canonical(*TOUR), FILE: "case = \n"})
    repository.write({FILE: ""})
    assert _golden(repository)[0] == 0


# --- base ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["HEAD^", "start", "HEAD~2", "HEAD^^{tree}"])
def test_any_revision_can_be_the_base(repository: Repository, base: str) -> None:
    repository.commit({GOLDEN: canonical(TOUR[0])})
    repository.commit({GOLDEN: canonical(*TOUR)})
    repository.git("tag", "-a", "-m", "x", "start", "HEAD^")
    if base == "HEAD~2":
        repository.commit({GOLDEN: canonical(*TOUR)})
    _, found = _golden(repository, "--base", base)
    assert (found["base"], len(found["changed"][0]["rows"]["added"])) == (base, 2)
    assert _golden(repository)[1]["changed"] == []


def test_a_base_without_goldens_makes_everything_added(repository: Repository) -> None:
    repository.commit({})
    repository.write({GOLDEN: canonical(*TOUR)})
    code, found = _golden(repository)
    assert (code, [change["state"] for change in found["changed"]]) == (0, ["added"])
    assert len(found["changed"][0]["rows"]["added"]) == len(TOUR)


def test_the_goldens_are_found_from_below_and_in_a_folder_of_a_bigger_repository(repository: Repository) -> None:
    inner = Repository(repository.path / "tools" / "pond")
    repository.commit({GOLDEN: SHORTER})
    inner.commit({GOLDEN: canonical(*TOUR)})
    inner.write({GOLDEN: SHORTER})
    below = inner.path / "deep" / "down"
    below.mkdir(parents=True)
    assert [_golden(Repository(path))[0] for path in (inner.path, below, repository.path)] == [1, 1, 0]


def test_names_and_contents_git_would_quote_come_through(repository: Repository) -> None:
    odd = 'parley/tour "é"\n.native.txt'
    repository.commit({odd: b"\xff\n\n", "parley/empty.native.txt": b"", GOLDEN: canonical(*TOUR)})
    assert _golden(repository)[1]["changed"] == []


def test_line_ends_are_not_content(repository: Repository) -> None:
    repository.commit({"parley/tour.native.txt": "one\ntwo\n", GOLDEN: canonical(*TOUR)})
    repository.write({"parley/tour.native.txt": "one\r\ntwo\r\n", GOLDEN: canonical(*TOUR).replace(b"\n", b"\r\n")})
    assert _golden(repository)[1]["changed"] == []


@pytest.mark.parametrize("base", ["abacus", "HEAD^", "--help", "--since=1", "HEAD..HEAD", "", "0" * 40])
def test_an_unknown_revision_is_refused(repository: Repository, base: str) -> None:
    repository.commit({GOLDEN: canonical(*TOUR)})
    done = pond("golden", "--base", base, cwd=repository.path)
    assert _refused(done) == (2, b"", ["git-unknown-revision"])
    assert f"git does not know the revision `{base}`" in done.err


def test_a_repository_without_a_commit_is_refused(repository: Repository) -> None:
    repository.write({GOLDEN: canonical(*TOUR)})
    assert _refused(pond("golden", cwd=repository.path)) == (2, b"", ["git-unknown-revision"])


def test_contents_git_does_not_have_are_refused(repository: Repository) -> None:
    repository.commit({GOLDEN: canonical(*TOUR)})
    blob = repository.git("rev-parse", f"HEAD:golden/{GOLDEN}")
    (repository.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert _refused(pond("golden", cwd=repository.path)) == (2, b"", ["git-unknown-revision"])


def test_outside_a_checkout_it_is_refused(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "golden").mkdir()
    done = pond("golden", cwd=tmp_path)
    assert _refused(done) == (2, b"", ["git-no-checkout"])
    assert "not a git repository" in done.err


def test_without_git_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = pond("golden", cwd=tmp_path)
    assert _refused(done) == (2, b"", ["git-no-checkout"])
    assert "git cannot be started" in done.err


def test_without_goldens_it_is_refused(repository: Repository, tmp_path: Path) -> None:
    repository.commit({})
    (tmp_path / "golden").mkdir()  # above the checkout: somebody else's
    assert _refused(pond("golden", cwd=repository.path)) == (2, b"", ["golden-absent"])


# --- goldens that cannot be read ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("when", "code", "fault"), [(1, 1, "golden-unreadable"), (0, 0, "golden-base-unreadable")])
def test_an_unreadable_golden_is_named_and_the_rest_compared(
    repository: Repository, when: int, code: int, fault: str
) -> None:
    """Only what is there now makes the run fail: a golden broken at the base must be mendable."""
    other = "parley/other.canonical.json"
    sides: list[dict[str, bytes | str]] = [{GOLDEN: canonical(*TOUR), other: canonical(session("t"))} for _ in range(2)]
    sides[1][other] = canonical(session("t"), message("x", "t"))
    sides[when][GOLDEN] = b"[{\n<<<<<<< HEAD\n"
    repository.commit(sides[0])
    repository.write(sides[1])
    exit_code, found = _golden(repository)
    assert (exit_code, found["broken"]) == (code, [])
    assert [each["code"] for each in found["faults"]] == [fault]
    assert f"golden/{GOLDEN}" in found["faults"][0]["message"]
    assert [change["case"] for change in found["changed"]] == ["parley/other"]


def test_a_golden_that_was_unreadable_and_still_is_fails(repository: Repository) -> None:
    repository.commit({GOLDEN: b"["})
    code, found = _golden(repository)
    assert code == 1
    assert [each["code"] for each in found["faults"]] == ["golden-base-unreadable", "golden-unreadable"]


def test_a_golden_without_permission_is_refused(repository: Repository) -> None:
    repository.commit({GOLDEN: canonical(*TOUR)})
    (repository.path / "golden" / GOLDEN).chmod(0)
    done = pond("golden", cwd=repository.path, before=obey_permissions)
    assert _refused(done) == (2, b"", ["golden-unreadable"])
    assert GOLDEN in done.err


# --- the command itself -------------------------------------------------------------------------------------------


def test_one_form_of_output_at_a_time(repository: Repository) -> None:
    repository.commit({GOLDEN: canonical(*TOUR)})
    done = pond("golden", "--json", "--markdown", cwd=repository.path)
    assert (done.code, done.out, [each["code"] for each in json.loads(done.err)["errors"]]) == (2, b"", ["usage"])


def test_a_terminal_without_the_characters_gets_escapes(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({GOLDEN: canonical(*TOUR)})
    repository.write({GOLDEN: canonical(*TOUR[:2], part("m1:0", "Kräuter " * 20))})
    command = [*POND, "golden"]
    variables = environment(PYTHONIOENCODING="ascii")
    done = subprocess.run(command, cwd=repository.path, env=variables, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Kr\\xe4uter" in done.stdout


@pytest.mark.parametrize("words", [["--help"], ["convert", "FILE", "--to", "canonical"]])
def test_other_commands_do_not_import_it(words: list[str], tmp_path: Path) -> None:
    file = CODEX.session(tmp_path, "small")
    words = [str(file) if word == "FILE" else word for word in words]
    watched = [sys.executable, "-X", "importtime", *POND[1:], *words]
    done = subprocess.run(watched, env=environment(), capture_output=True, text=True, check=True)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "pond" in imported
    assert [name for name in sorted(imported) if name.startswith("pond.golden")] == []


# --- the step of `make test` --------------------------------------------------------------------------------------


def _make(tree: Path) -> subprocess.CompletedProcess[str]:
    """Run the step in `tree` with this project's Makefile and code."""
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, tree)
    program = tree / ".venv" / "bin" / "pond"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pond.cli.main "$@"\n')
    program.chmod(0o755)
    (tree / ".venv" / ".ready").touch()
    kept = {name: value for name, value in environment().items() if not name.startswith("MAKE")}
    return subprocess.run(["make", "check-golden"], cwd=tree, env=kept, capture_output=True, text=True, check=False)


def test_the_step_passes_where_there_is_no_history(repository: Repository) -> None:
    repository.write({GOLDEN: canonical(*TOUR)})
    shutil.rmtree(repository.path / ".git")
    done = _make(repository.path)
    assert (done.returncode, done.stdout) == (0, "golden      ok, nothing to compare: no git history\n")


def test_the_step_passes_where_there_is_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("make", "sh", "head"):
        found = shutil.which(tool)
        assert found is not None
        os.symlink(found, tools / tool)
    monkeypatch.setenv("PATH", str(tools))
    done = _make(tmp_path)
    assert (done.returncode, done.stdout) == (0, "golden      ok, nothing to compare: no git history\n")


def test_the_step_compares_with_head_where_nothing_is_older(repository: Repository) -> None:
    repository.commit({GOLDEN: canonical(*TOUR)})
    done = _make(repository.path)
    expected = "golden      ok, Goldens: none of 1 case changed since HEAD\n"
    assert (done.returncode, done.stdout) == (0, expected)


@additive
def test_the_step_compares_with_the_parent_commit(repository: Repository) -> None:
    repository.commit({GOLDEN: canonical(*TOUR)})
    repository.commit({GOLDEN: SHORTER})
    done = _make(repository.path)
    assert done.returncode != 0
    assert done.stdout.startswith("golden      FAILED\nGoldens: 1 of 1 case changed since HEAD^\n")
    assert "golden-removed-row" in done.stdout


def test_the_step_passes_in_an_archive_unpacked_inside_another_repository(repository: Repository) -> None:
    for _ in range(2):
        repository.commit({})
    archive = Repository(repository.path / "unpacked")
    archive.write({GOLDEN: canonical(*TOUR)})
    done = _make(archive.path)
    assert (done.returncode, done.stdout) == (0, "golden      ok, Goldens: 1 of 1 case changed since HEAD^\n")
