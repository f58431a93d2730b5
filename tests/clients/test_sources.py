"""What is expected of a session file, without any client: the cases come back from the rows they were written as."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.clients import claude_rows, claude_source, codex_rows, codex_source
from tests.clients.cases import CASES
from tests.clients.expected import Item, NotASession
from tests.clients.script import Case, Command, Compact, Helper, Prompt, Rewind, Say, Think, Together, Use


def _spoken(case: Case, keeps_prompts: bool) -> list[str]:
    """Return the words of a script that are left at its end; a compaction may keep the prompts before it."""
    said: list[tuple[str, str]] = []
    for step in case.steps:
        match step:
            case Prompt() | Command():
                said.append(("human", step.text if isinstance(step, Prompt) else step.words))
            case Say() | Think():
                said.append(("model", step.text))
            case Use():
                said.append(("call", step.words))
            case Together():
                said += [("call", use.words) for use in step.uses]
            case Helper():
                said.append(("call", step.task))
            case Compact():
                prompts = [each for each in said if each[0] == "human"] if keeps_prompts else []
                answers = said[-1:] if step.keeps_answer else []
                summary = [("human", step.summary)]
                said = [*prompts, *answers, *summary] if keeps_prompts else [*summary, *answers]
            case Rewind():
                last = max(index for index, (kind, _) in enumerate(said) if kind == "human")
                said = said[:last]
    return [words for _, words in said]


def _words(item: Item) -> str:
    """Return what identifies an expected item in its script."""
    if item.kind != "call":
        return item.text
    arguments = item.arguments
    if isinstance(arguments, str):
        return arguments
    keys = ("new_string", "command", "cmd", "subject", "file_path", "path", "prompt", "message")
    return next((str(arguments[key]) for key in keys if key in arguments), "")


def _read_claude(case: Case, directory: Path) -> list[Item]:
    claude_rows.write_store(case, directory, "slug", directory)
    return claude_source.read(directory / "slug" / f"{claude_rows.session_id(case)}.jsonl")


def _read_codex(case: Case, directory: Path) -> list[Item]:
    codex_rows.write_store(case, directory, directory)
    (path,) = directory.rglob(f"*{codex_rows.session_id(case)}.jsonl")
    return codex_source.read(path)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_claude_session_says_what_its_script_says(case: Case, tmp_path: Path) -> None:
    found = [_words(item) for item in _read_claude(case, tmp_path) if item.kind != "image"]
    assert found == _spoken(case, keeps_prompts=False)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_codex_session_says_what_its_script_says(case: Case, tmp_path: Path) -> None:
    found = [_words(item) for item in _read_codex(case, tmp_path) if item.kind != "image" and item.name != "wait_agent"]
    wanted = _spoken(case, keeps_prompts=True)
    assert len(found) == len(wanted)
    assert all(each.endswith(words) for each, words in zip(found, wanted, strict=True))  # a summary has a preface


def _case(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def test_results_and_pictures_are_expected(tmp_path: Path) -> None:
    for read in (_read_claude, _read_codex):
        calls = [item for item in read(_case("parallel tools"), tmp_path / read.__name__) if item.kind == "call"]
        assert ["plum" in str(call.result) for call in calls] == [True, False]
        pictures = read(_case("picture in a result"), tmp_path / read.__name__)
        assert [item.kind for item in pictures] == ["human", "call", "image", "model"]
        open_call = read(_case("interrupted at the end"), tmp_path / read.__name__)[-1]
        assert (open_call.kind, open_call.result) == ("call", None)


def test_a_loss_report_can_name_every_item(tmp_path: Path) -> None:
    for read in (_read_claude, _read_codex):
        items = read(_case("tool call"), tmp_path / read.__name__)
        assert all(item.names for item in items)


@pytest.mark.parametrize(
    "content", ["", '{"type":"summary","summary":"x"}\n', '{"type":"user","isSidechain":true,"uuid":"u"}\n']
)
def test_no_conversation_is_no_session(content: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(content, encoding="utf-8")
    for read in (claude_source.read, codex_source.read):
        with pytest.raises(NotASession):
            read(path)


def _claude_row(uuid: str, parent: str | None, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content, "model": "m", **more.pop("message", {})}
    return {"type": kind, "uuid": uuid, "parentUuid": parent, "message": message, **more}


def _texts(read: Any, path: Path, records: list[dict[str, Any]]) -> list[str]:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return [_words(item) for item in read(path)]


def test_claude_notes_and_fillers_are_not_expected(tmp_path: Path) -> None:
    records = [
        _claude_row("1", None, "user", "typed"),
        _claude_row("2", "1", "user", "a note of the client", isMeta=True),
        _claude_row("3", "2", "assistant", "filler", message={"model": "<synthetic>"}),
        _claude_row("4", "3", "user", [{"type": "text", "text": "[Request interrupted by user]"}]),
        _claude_row("5", "4", "user", "typed again"),
    ]
    assert _texts(claude_source.read, tmp_path / "x.jsonl", records) == ["typed", "typed again"]


def test_a_later_last_prompt_chooses_the_branch(tmp_path: Path) -> None:
    records = [
        _claude_row("1", None, "user", "typed"),
        _claude_row("2", "1", "user", "kept"),
        _claude_row("3", "1", "user", "left"),
        {"type": "last-prompt", "leafUuid": "2"},
    ]
    assert _texts(claude_source.read, tmp_path / "x.jsonl", records) == ["typed", "kept"]
    assert _texts(claude_source.read, tmp_path / "x.jsonl", records[:3]) == ["typed", "left"]


def test_calls_of_one_answer_belong_together_whichever_result_goes_on(tmp_path: Path) -> None:
    calls = [{"type": "tool_use", "id": each, "name": "look", "input": {"path": each}} for each in ("a", "b")]
    results = [{"type": "tool_result", "tool_use_id": each, "content": each} for each in ("a", "b")]
    records = [
        _claude_row("1", None, "user", "typed"),
        _claude_row("2", "1", "assistant", [calls[0]], message={"id": "msg"}),
        _claude_row("3", "2", "assistant", [calls[1]], message={"id": "msg"}),
        _claude_row("4", "3", "user", [results[1]]),
        _claude_row("5", "2", "user", [results[0]]),
        _claude_row("6", "5", "assistant", "seen", message={"id": "next"}),
    ]
    assert _texts(claude_source.read, tmp_path / "x.jsonl", records) == ["typed", "a", "b", "seen"]


def _codex_row(ordinal: int, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "ordinal": ordinal, "payload": payload}


def _codex_says(ordinal: int, role: str, text: str) -> dict[str, Any]:
    part = {"type": "output_text" if role == "assistant" else "input_text", "text": text}
    return _codex_row(ordinal, "response_item", {"type": "message", "role": role, "content": [part]})


def test_a_summary_alone_keeps_the_prompts(tmp_path: Path) -> None:
    records = [
        _codex_row(0, "session_meta", {}),
        _codex_says(1, "user", "typed"),
        _codex_says(2, "assistant", "answered"),
        _codex_row(3, "compacted", {"message": "in short"}),
        _codex_says(4, "user", "more"),
    ]
    assert _texts(codex_source.read, tmp_path / "x.jsonl", records) == ["typed", "in short", "more"]


def test_a_fork_begins_with_the_head_of_its_parent(tmp_path: Path) -> None:
    day = tmp_path / "2026" / "01" / "02"
    parent = [
        _codex_row(0, "session_meta", {}),
        _codex_says(1, "user", "shared"),
        _codex_says(2, "user", "parent only"),
    ]
    base = {"history_base": {"thread_id": "p", "end_ordinal_exclusive": 2}}
    fork = [_codex_row(2, "session_meta", base), _codex_says(3, "user", "fork only")]
    assert _texts(codex_source.read, day / "rollout-p.jsonl", parent) == ["shared", "parent only"]
    assert _texts(codex_source.read, day / "rollout-f.jsonl", fork) == ["shared", "fork only"]
    (day / "rollout-p.jsonl").unlink()
    with pytest.raises(NotASession):
        codex_source.read(day / "rollout-f.jsonl")
