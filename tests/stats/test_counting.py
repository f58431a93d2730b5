"""Each thing once: copied history, queued prompts, records of one answer, running totals."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import pond
from pond.operations.envelope import PROTOCOL, stats_request
from pond.operations.failing import RequestError
from pond.operations.stats import stats
from tests.stats.logs import (
    Row,
    answered,
    call,
    meta,
    noted,
    queued,
    returned,
    spoken,
    text,
    total,
    turn,
    typed,
    write,
)

ONE, TWO = "0a1b2c3d-0000-4000-8000-000000000001", "0a1b2c3d-0000-4000-8000-000000000002"


def _claude(folder: Path, id: str, rows: Iterable[Row]) -> Path:
    return write(folder / "projects" / "-srv-fern" / f"{id}.jsonl", rows)


def _codex(folder: Path, id: str, rows: Iterable[Row]) -> Path:
    return write(folder / "sessions/2026/03/14" / f"rollout-2026-03-14T09-00-00-{id}.jsonl", rows)


def _counted(folder: Path, *files: Path, **filters: Any) -> dict[str, Any]:
    with pond.Lake(folder / "lake") as lake:
        assert not lake.ingest(*files).report.errors if files else True
        return dict(lake.stats(filters=filters or None)["activity"])  # type: ignore[arg-type]


def _first(session: str) -> list[Row]:
    return [
        typed(session, "u1", 1, "count the ferns"),
        answered(session, "a1", 2, "msg-1", 1, text("I look.")),
        answered(session, "a2", 2, "msg-1", 30, call("c1", "Bash")),
        returned(session, "r1", 3, "c1", failed=True),
        answered(session, "a3", 4, "msg-2", 7, text("Nine ferns.")),
    ]


def test_the_last_record_of_an_answer_counts(tmp_path: Path) -> None:
    found = _counted(tmp_path, _claude(tmp_path, ONE, _first(ONE)))
    totals = found["totals"]
    assert totals["tokens"] == {"input": 20, "output": 37, "cache_read": 200, "cache_write": 10, "reasoning": 0}
    assert (totals["prompts"], totals["messages"], totals["sessions"]) == (1, 3, 1)
    assert (totals["tool_calls"], totals["failed_calls"]) == (1, 1)
    assert found["tools"] == [{"name": "Bash", "calls": 1, "failed": 1}]
    assert [(each["name"], each["answers"]) for each in found["models"]] == [("fern-1", 2)]


def test_what_the_client_itself_says_is_no_answer(tmp_path: Path) -> None:
    row = answered(ONE, "a9", 5, "x", 99, text("API error"), model="<synthetic>")
    found = _counted(tmp_path, _claude(tmp_path, ONE, [*_first(ONE), row]))
    assert found["totals"]["tokens"]["output"] == 37


def test_copied_history_counts_once(tmp_path: Path) -> None:
    own = [typed(TWO, "u2", 5, "and the mosses"), answered(TWO, "a4", 6, "msg-3", 5, text("Two."))]
    files = [_claude(tmp_path, ONE, _first(ONE)), _claude(tmp_path, TWO, [*_first(TWO), *own])]
    found = _counted(tmp_path, *files)
    totals = found["totals"]
    assert (totals["sessions"], totals["prompts"], totals["messages"]) == (2, 2, 5)
    assert (totals["tokens"]["output"], totals["tool_calls"], totals["failed_calls"]) == (42, 1, 1)
    # Whatever is asked for, a copy belongs to the session that began first.
    fork = _counted(tmp_path, session_id=TWO)["totals"]
    assert (fork["prompts"], fork["tokens"]["output"], fork["tool_calls"]) == (1, 5, 0)


def test_a_queued_prompt_counts_once(tmp_path: Path) -> None:
    again = [queued(ONE, 5, "enqueue", "and the mosses"), queued(ONE, 6, "dequeue", "and the mosses")]
    found = _counted(tmp_path, _claude(tmp_path, ONE, [*_first(ONE), *again, typed(ONE, "u2", 6, "and the mosses")]))
    assert found["totals"]["prompts"] == 2


def test_a_queued_prompt_before_copied_history_counts_once(tmp_path: Path) -> None:
    queue = [queued(TWO, 5, "enqueue", "and the mosses"), {**queued(TWO, 5, "dequeue", ""), "content": None}]
    rows = [*queue, *_first(TWO), typed(TWO, "u2", 6, "and the mosses")]
    found = _counted(tmp_path, _claude(tmp_path, ONE, _first(ONE)), _claude(tmp_path, TWO, rows))
    assert found["totals"]["prompts"] == 2


def test_running_totals_count_by_difference(tmp_path: Path) -> None:
    rows = [
        meta(ONE, 0), turn(0, "moss-1"), spoken(1, "user", "count"), total(2, 20, 20), spoken(2, "assistant", "Two."),
        total(3, 20, 20), turn(4, "moss-2"), spoken(4, "user", "again"), total(5, 50, 30, reads=1700, cached=700),
        spoken(5, "assistant", "Three."), total(6, 8, 8, reads=500, cached=200),
    ]  # fmt: skip
    found = _counted(tmp_path, _codex(tmp_path, ONE, rows))
    assert found["totals"]["tokens"]["output"] == 20 + 30 + 8
    # What a cache had is in the number of input tokens, and is taken out of it.
    assert (found["totals"]["tokens"]["input"], found["totals"]["tokens"]["cache_read"]) == (600 + 400 + 300, 900)
    assert {each["name"]: each["tokens"]["output"] for each in found["models"]} == {"moss-1": 20, "moss-2": 38}


def test_the_first_total_of_a_fork_has_its_parents_in_it(tmp_path: Path) -> None:
    parent = [meta(ONE, 0), spoken(1, "user", "count"), total(2, 20, 20), spoken(2, "assistant", "Two.")]
    child = [meta(TWO, 3, parent=ONE), spoken(4, "user", "go on"), total(5, 45, 25), spoken(5, "assistant", "Yes.")]
    found = _counted(tmp_path, _codex(tmp_path, ONE, parent), _codex(tmp_path, TWO, child))
    assert found["totals"]["tokens"]["output"] == 45
    assert (found["totals"]["prompts"], found["totals"]["sessions"]) == (2, 2)


def test_a_fork_that_is_written_anew_counts_once(tmp_path: Path) -> None:
    parent = [meta(ONE, 0), spoken(1, "user", "count"), total(2, 20, 20), spoken(2, "assistant", "Two.")]
    copy = [meta(TWO, 9, parent=ONE), spoken(9, "user", "count"), total(9, 20, 20), spoken(9, "assistant", "Two.")]
    own = [spoken(10, "user", "go on"), total(11, 45, 25), spoken(11, "assistant", "Yes.")]
    found = _counted(tmp_path, _codex(tmp_path, ONE, parent), _codex(tmp_path, TWO, [*copy, *own]))
    assert (found["totals"]["prompts"], found["totals"]["messages"]) == (2, 4)
    assert found["totals"]["tokens"]["output"] == 45


def test_notes_of_each_answer_come_before_totals(tmp_path: Path) -> None:
    rows = [
        meta(ONE, 0), turn(0, "moss-1"), spoken(1, "user", "count"), noted(2, "r-1", 20), noted(2, "r-2", 20),
        total(3, 20, 20), spoken(3, "assistant", "Two."),
    ]  # fmt: skip
    found = _counted(tmp_path, _codex(tmp_path, ONE, rows))
    assert (found["totals"]["tokens"]["output"], found["models"][0]["name"]) == (40, "moss-1")


def test_filters_and_groups(tmp_path: Path) -> None:
    codex = [meta(TWO, 0), turn(0, "moss-1"), spoken(1, "user", "count"), noted(2, "r-1", 20)]
    files = [_claude(tmp_path, ONE, _first(ONE)), _codex(tmp_path, TWO, codex)]
    every = _counted(tmp_path, *files)
    assert {each["name"]: each["prompts"] for each in every["clients"]} == {"claude-code": 1, "codex": 1}
    assert {each["name"]: each["tokens"]["output"] for each in every["projects"]} == {"/srv/fern": 37, "/srv/moss": 20}
    assert [(each["name"], each["messages"], each["days"]) for each in every["months"]] == [("2026-03", 4, 1)]
    assert (every["totals"]["first"], every["totals"]["last"][:16]) == ("2026-03-14T09:01:00.000Z", "2026-03-14T09:04")
    codex_only = _counted(tmp_path, source_agent="codex")
    assert [each["name"] for each in codex_only["clients"]] == ["codex"]
    late = _counted(tmp_path, since="2026-03-14T09:03:30.000Z")["totals"]
    assert (late["prompts"], late["messages"], late["tokens"]["output"]) == (0, 1, 7)
    assert _counted(tmp_path, since="2026-03-14T10:03:30+01:00")["totals"] == late
    with pytest.raises(RequestError, match=r"filters\.sinc"):
        _counted(tmp_path, sinc="2026-03-14T10:03:30+01:00")


def test_the_cheap_part_of_stats_comes_without_activity(tmp_path: Path) -> None:
    with pond.Lake(tmp_path / "lake") as lake:
        lake.ingest(_claude(tmp_path, ONE, _first(ONE)))
        found = stats(lake._service, stats_request({"protocol_version": PROTOCOL}))
        assert "activity" not in found
        with pytest.raises(RequestError, match="min_score"):
            stats(lake._service, {"protocol_version": PROTOCOL, "activity": True, "filters": {"min_score": 1}})


def test_an_empty_answer_is_all_zeros(tmp_path: Path) -> None:
    found = _counted(tmp_path, _claude(tmp_path, ONE, _first(ONE)), until="2020-01-01T00:00:00.000Z")
    assert (found["totals"]["sessions"], found["clients"], found["totals"]["tokens"]["output"]) == (0, [], 0)
