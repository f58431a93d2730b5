"""What waits for its family has no final place yet: it gets its name, or nothing is left of it."""

from pathlib import Path

import pytest

from pond.codec.batch import run_jobs
from pond.codec.finding import expand
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from tests.cli.sessions import CODEX, dumps, session_id


def _store(folder: Path, *family: tuple[str, str | None]) -> Path:
    """Write sessions, each with the one that spawned it."""
    for seed, parent in family:
        first, *rest = CODEX.records(session_id(seed), 2)
        if parent is not None:
            spawn = {"thread_spawn": {"parent_thread_id": session_id(parent), "depth": 1}}
            first["payload"] |= {"parent_thread_id": session_id(parent), "source": {"subagent": spawn}}
        CODEX.file(folder, session_id(seed), dumps([first, *rest]))
    return folder


DEEP = (("old", None), ("middle", "old"), ("young", "middle"))


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.rule("adapter-lineage-complete-restore")
def test_a_family_that_is_refused_leaves_nothing_behind(processes: int, tmp_path: Path) -> None:
    jobs = expand([str(_store(tmp_path / "in", *DEEP, ("other", None)))], Report())
    found = Report()
    for _, report in run_jobs(jobs, ConversionRequest("claude-code"), tmp_path / "out", tmp_path, processes):
        found.add(report)
    assert [fault.code for fault in found.diagnostics] == ["foreign-too-deep"] * 3
    assert (found.files, found.sessions, len(found.losses), len(found.resumes)) == (4, 4, 1, 1)
    (written,) = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert session_id("other") in written.read_text(encoding="utf-8")  # where it comes from
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["projects"]


def test_whoever_stops_asking_leaves_nothing_behind(tmp_path: Path) -> None:
    jobs = expand([str(_store(tmp_path / "in", ("one", None), ("two", None)))], Report())
    running = run_jobs(jobs, ConversionRequest("claude-code"), tmp_path / "out", tmp_path, 1)
    next(running)
    running.close()
    assert len([path for path in (tmp_path / "out").rglob("*") if path.is_file()]) == 1
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["projects"]


def test_a_file_in_the_way_stays_and_is_named(tmp_path: Path) -> None:
    jobs = expand([str(_store(tmp_path / "in", ("one", None)))], Report())
    for _ in run_jobs(jobs, ConversionRequest("claude-code"), tmp_path / "out", tmp_path, 1):
        pass
    (made,) = (tmp_path / "out").rglob("*.jsonl")
    made.write_text("mine\n")
    ((_, report),) = run_jobs(jobs, ConversionRequest("claude-code"), tmp_path / "out", tmp_path, 1)
    assert [fault.code for fault in report.diagnostics] == ["output-exists"]
    assert made.read_text() == "mine\n"
