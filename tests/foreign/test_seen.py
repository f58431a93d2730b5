"""What another client's screen gets: calls, titles, whole elements, names of files, hooks, and where it comes from."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.foreign.road import OTHER, Made, convert
from tests.laws.corpus import fixture_files

Row = dict[str, Any]
FILES = {f"{file.client}/{file.case}": file for file in fixture_files()}


def _made(name: str, folder: Path, note: bool = True) -> tuple[Made, list[Row]]:
    file = FILES[name]
    made = convert(file.path, OTHER[file.client], folder / "out", file.client, note)
    return made, [row for _, rows in made.rows() for row in rows]


def _items(rows: list[Row], *kinds: str) -> list[Row]:
    return [row for row in rows if row.get("payload", {}).get("type") in kinds]


def test_codex_is_shown_every_call_behind_its_result(tmp_path: Path) -> None:
    _, rows = _made("claude-code/tour", tmp_path)
    outputs = _items(rows, "function_call_output", "custom_tool_call_output")
    assert outputs
    for output in outputs:
        shown = rows[rows.index(output) + 1]
        assert shown["pond"]["display"] is True
        assert shown["payload"]["type"] == "mcp_tool_call_end"
        assert shown["payload"]["call_id"] == output["payload"]["call_id"]
        failed = output["payload"].get("success") is False
        assert shown["payload"]["result"]["Ok"]["isError"] is failed


def test_claude_code_is_shown_foreign_tools_under_the_name_of_their_client(tmp_path: Path) -> None:
    _, rows = _made("codex/tour", tmp_path)
    answers = [row for row in rows if row["type"] == "assistant"]
    calls = {b["id"]: (b["name"], row) for row in answers for b in row["message"]["content"] if b["type"] == "tool_use"}
    assert calls
    for call_id, (name, row) in calls.items():
        assert name == f"mcp__codex__{row['pond']['tools'][call_id]}"
    assert not any("model" in row["message"] for row in answers)


@pytest.mark.parametrize("name", ["claude-code/tour", "codex/tour"])
def test_one_line_says_where_the_session_comes_from_if_it_is_wanted(name: str, tmp_path: Path) -> None:
    def notes(rows: list[Row]) -> list[Row]:
        return [row for row in rows if "[pond] This history was copied from" in json.dumps(row)]

    (note,) = notes(_made(name, tmp_path / "with")[1])
    assert note["pond"] == {"display": True}
    assert notes(_made(name, tmp_path / "without", note=False)[1]) == []


def test_a_title_stands_in_the_list_that_codex_shows(tmp_path: Path) -> None:
    made, _ = _made("claude-code/tour", tmp_path)
    (line,) = (made.folder / "session_index.jsonl").read_text().splitlines()
    assert json.loads(line)["id"] == made.main.stem[-36:]
    assert json.loads(line)["thread_name"]


def test_output_in_a_file_beside_the_session_is_the_result(tmp_path: Path) -> None:
    made, rows = _made("claude-code/tool-results-files", tmp_path)
    outputs = [row["payload"]["output"] for row in _items(rows, "function_call_output")]
    assert outputs
    assert not any("<persisted-output>" in str(output) for output in outputs)
    assert "output-put-back" in made.kinds


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("claude-code/")])
def test_no_tag_is_cut_from_its_end(name: str, tmp_path: Path) -> None:
    _, rows = _made(name, tmp_path)
    texts = [part["text"] for row in _items(rows, "message") for part in row["payload"]["content"] if "text" in part]
    for tag in ("command-args", "bash-input", "user-memory-input"):
        for text in texts:
            if text.startswith("<injected-context"):
                assert text.count(f"<{tag}>") == text.count(f"</{tag}>"), text


def test_the_command_to_sum_up_is_no_turn(tmp_path: Path) -> None:
    _, rows = _made("claude-code/compaction", tmp_path)
    assert not any("/compact<" in json.dumps(row["payload"]) for row in _items(rows, "message", "user_message"))


def test_an_attached_file_is_named_and_a_hook_is_heard(tmp_path: Path) -> None:
    row = {"sessionId": "3b1f1c5e-7a0e-4d0b-9a58-0f1f2a3b4c5d", "cwd": "/home/ada", "version": "2.1.325"}
    time = {"timestamp": "2026-03-14T08:00:00.000Z"}
    file = {"filePath": "/home/ada/notes.md", "content": "Water it."}
    attached = {"type": "file", "filename": "/home/ada/notes.md", "displayPath": "notes.md", "content": {"file": file}}
    hook = {"type": "hook_additional_context", "hookName": "PostToolUse:Bash", "content": ["Sweep the floor."]}
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "sweep"}}
    told: list[Row] = [
        {"type": "user", "uuid": "a", "parentUuid": None, "message": {"role": "user", "content": "Read @notes.md"}},
        {"type": "attachment", "uuid": "b", "parentUuid": "a", "attachment": attached},
        {"type": "attachment", "uuid": "c", "parentUuid": "b", "attachment": hook},
        {"type": "assistant", "uuid": "d", "parentUuid": "c", "message": {"role": "assistant", "content": [call]}},
    ]
    path = tmp_path / f"{row['sessionId']}.jsonl"
    path.write_text("".join(json.dumps({**each, **row, **time}) + "\n" for each in told))
    rows = [each for _, found in convert(path, "codex", tmp_path / "out").rows() for each in found]
    texts = [part["text"] for each in _items(rows, "message") for part in each["payload"]["content"]]
    assert '<injected-context source="claude-code" file="notes.md">\nWater it.\n</injected-context>' in texts
    named = '<injected-context source="claude-code" hook="PostToolUse:Bash">\nSweep the floor.\n</injected-context>'
    assert named in texts
    (output,) = _items(rows, "function_call_output")
    assert "interrupted, outcome unknown" in output["payload"]["output"]
    assert output["payload"]["success"] is False
