"""One bad file costs only that file, whatever goes wrong in it and with every command."""

import os
import pickle
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import pond.cli.clients
import pond.codec.convert
import pond.codec.opening
import pond.codec.verify
import pond.intake.reading
from pond.cli.main import main
from pond.codec.batch import run_jobs
from pond.codec.finding import FoundSource
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.codec.surprise import contained, told
from pond.codec.verify import verify_job
from pond.codec.workers import DIED, spread
from pond.diagnostics.diagnostic import Diagnostic, PondError, SourceFault, UsageError
from pond.diagnostics.span import Span
from pond.model.json_text import NotJson
from pond.restore.restoring import OWN
from pond.sessions import load
from pond.substrate.signals import Conflict, Damaged, Exhausted, Missing, Newer, Refused, Unavailable
from tests.cli.sessions import CLAUDE_CODE, session_id
from tests.lake.taking import store, take_in
from tests.operations.stored import restored

SURPRISES = [ZeroDivisionError("division\nby zero"), KeyError("pond"), RecursionError(), AssertionError()]
surprises = pytest.mark.parametrize("surprise", [*SURPRISES, MemoryError()], ids=lambda error: type(error).__name__)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    return {seed: CLAUDE_CODE.session(tmp_path / "in", seed) for seed in ("first", "bad", "last")}


def _failing(whole: Callable[..., Any], bad: Path, error: Exception) -> Callable[..., Any]:
    """Return `open_input` with a mistake in it that one file brings to light."""

    def open_input(opened: Any, *more: Any, **how: Any) -> Any:
        if opened.name == str(bad):
            raise error
        return whole(opened, *more, **how)

    return open_input


def _code(error: Exception) -> str:
    return "source-too-large" if isinstance(error, MemoryError) else "internal"


@pytest.mark.rule("adapter-integrity-no-silent-drops")
@surprises
@pytest.mark.parametrize("processes", [1, 2])
def test_convert(
    surprise: Exception, processes: int, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = _failing(pond.codec.opening.open_input, files["bad"], surprise)
    monkeypatch.setattr(pond.codec.convert, "open_input", failing)
    jobs = [FoundSource(path, str(path), tmp_path / "in", number) for number, path in enumerate(files.values())]
    found = Report()
    for _, report in run_jobs(jobs, ConversionRequest("claude-code"), tmp_path / "out", tmp_path, processes):
        found.add(report)
    assert [(d.code, d.span) for d in found.diagnostics] == [(_code(surprise), Span(str(files["bad"]), 0))]
    assert len([*(tmp_path / "out").rglob("*.jsonl")]) == 2


@surprises
def test_verify(surprise: Exception, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    failing = _failing(pond.codec.opening.open_input, files["bad"], surprise)
    monkeypatch.setattr(pond.codec.verify, "open_input", failing)
    verdict = verify_job(FoundSource(files["bad"], str(files["bad"])))
    assert [d.code for d in verdict.report.diagnostics] == [_code(surprise)]


@surprises
@pytest.mark.parametrize("processes", [1, 2])
def test_ingest(
    surprise: Exception, processes: int, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = _failing(pond.codec.opening.open_input, files["bad"], surprise)
    monkeypatch.setattr(pond.intake.reading, "open_input", failing)
    summary = take_in(tmp_path / "lake", *files.values(), processes=processes)
    assert [d.code for d in summary.report.diagnostics] == [_code(surprise)]
    assert summary.new_sessions == 2


@surprises
def test_restore(surprise: Exception, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take_in(tmp_path / "lake", *files.values())
    whole = load.groups

    def groups(lake: Any, id: str) -> Iterator[Any]:
        records = whole(lake, id)
        yield next(records)
        if id == session_id("bad"):
            raise surprise
        yield from records

    monkeypatch.setattr(load, "groups", groups)
    lake = store(tmp_path / "lake")
    out = restored(lake, load.sessions(lake, None), ConversionRequest(OWN), tmp_path / "out")
    assert [d.code for d in out.report.diagnostics] == [_code(surprise)]
    assert {Path(name).stem for name in out.files} == {session_id("first"), session_id("last")}


def test_a_surprise_is_told_in_one_line_with_its_place_and_what_to_do() -> None:
    try:
        raise ValueError("a\x1b[31m\nred thing")
    except ValueError as error:
        (found,) = told(error, "f.jsonl")
    assert found.message.startswith("an unexpected error: ValueError: a [31m red thing (test_surprise.py:")
    assert "report it" in found.help


ERRORS = [
    PondError(),
    SourceFault(Diagnostic("source-empty", "the file has no records", Span("f", 1), help="look")),
    UsageError(Diagnostic("usage", "a"), Diagnostic("usage", "b")),
    Conflict("writing", 3), Unavailable("reading", "no answer", 2), Damaged("reading", "bad magic"),
    Exhausted("reading", "no threads"),
    Refused("writing", "no"), Newer("sessions", "9", 1), Missing("/nowhere"),
]  # fmt: skip


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_travel_between_processes(error: PondError) -> None:
    came = pickle.loads(pickle.dumps(error))
    assert type(came) is type(error)
    assert (came.diagnostics, str(came), vars(came)) == (error.diagnostics, str(error), vars(error))


def test_a_reason_that_is_no_json_keeps_its_code() -> None:
    (found,) = told(NotJson("source-too-deep", "nested deeper than 500 levels"), "f")
    assert found == Diagnostic("source-too-deep", "nested deeper than 500 levels", Span("f", 0))


def test_work_that_kills_its_process_costs_only_itself() -> None:
    """There are fewer processes than such work; the rest is still done."""

    def work(number: int) -> int:
        if number % 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    assert list(spread(work, range(10), 2)) == [DIED if number % 2 else number for number in range(10)]


def test_a_command_that_fails_in_a_way_nobody_expected_shows_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run() -> int:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(pond.cli.clients, "run", run)
    assert main(["clients"]) == 1
    assert "internal: an unexpected error: ZeroDivisionError: by zero" in capsys.readouterr().err


def test_an_interrupt_that_python_wrapped_is_no_fault_of_a_file() -> None:
    wrapped = RuntimeError("while a class was made")
    wrapped.__cause__ = KeyboardInterrupt(130)
    report = Report()
    with pytest.raises(KeyboardInterrupt), contained(report, "a.jsonl"):
        raise wrapped
    assert report.diagnostics == []
