"""Values nested as deeply as a record may be go to another client, and what is written there can be read again."""

import json
from pathlib import Path

import pytest

from pond.codec.batch import convert_job
from pond.codec.finding import FoundSource
from pond.codec.request import ConversionRequest
from pond.model.equal import same
from pond.model.json_text import MAX_DEPTH, Json, JsonObject, encode_line
from tests.foreign.road import CLIENTS, OTHER, convert
from tests.laws.passage import strict_values

_AT = "2026-03-14T08:26:53.589Z"
_ID = "019ceb74-0000-7000-8000-000000000001"
DEPTHS = range(MAX_DEPTH - 14, MAX_DEPTH - 4)  # deeper ones are too deep for Claude Code's record


def _nested(levels: int, innermost: Json = "half of \ud83c") -> Json:
    value = innermost
    for _ in range(levels):
        value = {"in": value}
    return value


def _claude_code(levels: int) -> list[JsonObject]:
    def row(number: int, kind: str, content: Json, **more: Json) -> JsonObject:
        return {
            "type": kind, "uuid": f"row-{number}", "parentUuid": f"row-{number - 1}" if number else None,
            "sessionId": _ID, "cwd": "/home/ada", "timestamp": _AT,
            "message": {"role": kind, "content": content}, **more,
        }  # fmt: skip

    call = {"type": "tool_use", "id": "call", "name": "Press", "input": _nested(levels)}
    result = {"type": "tool_result", "tool_use_id": "call", "content": "pressed"}
    return [
        row(0, "user", "press it"),
        row(1, "assistant", [call]),
        row(2, "user", [result], toolUseResult=_nested(levels)),
    ]


def _codex(levels: int) -> list[JsonObject]:
    def row(kind: str, payload: JsonObject) -> JsonObject:
        return {"timestamp": _AT, "type": kind, "payload": payload}

    def item(kind: str, **more: Json) -> JsonObject:
        return row("response_item", {"type": kind, **more})

    return [
        row("session_meta", {"id": _ID, "timestamp": _AT, "cwd": "/home/ada", "originator": "codex"}),
        item("message", role="user", content=[{"type": "input_text", "text": "press it"}]),
        item("function_call", name="press", call_id="call", arguments=json.dumps(_nested(levels, "leaf"))),
        item("function_call_output", call_id="call", output="pressed"),
        item("ghost", value=_nested(levels)),
    ]


RECORDS = {"claude-code": _claude_code, "codex": _codex}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("levels", DEPTHS)
def test_deep_values_are_written_so_that_they_can_be_read(client: str, levels: int, tmp_path: Path) -> None:
    file = _written(client, levels, tmp_path)
    there = convert(file, OTHER[client], tmp_path / "there", client)
    assert there.report.errors == 0, there.report.diagnostics
    (text,) = [path.read_text() for path in there.files]
    assert "pressed" in text
    assert text.count("in") >= levels, "the call's arguments are there in some form"
    back = convert(there.files[0], client, tmp_path / "back")
    assert back.report.errors == 0, back.report.diagnostics


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("levels", DEPTHS)
def test_deep_values_come_back_with_their_origin(client: str, levels: int, tmp_path: Path) -> None:
    file = _written(client, levels, tmp_path)
    order = ConversionRequest(OTHER[client], client, keep_origin=True)
    report = convert_job(FoundSource(file, str(file)), order, tmp_path / "there", tmp_path / "spool")
    assert report.errors == 0, report.diagnostics
    (middle,) = (tmp_path / "there").rglob("*.jsonl")
    back = convert(middle, client, tmp_path / "back")
    assert back.report.errors == 0, back.report.diagnostics
    (restored,) = back.files
    text = restored.read_bytes().replace(restored.stem[-36:].encode(), _ID.encode())
    sent, got = strict_values(file.read_bytes()), [_own(row) for row in strict_values(text) if not _is_origin(row)]
    assert len(sent) == len(got)
    assert all(map(same, sent, got))


def _is_origin(row: Json) -> bool:
    return bool(row["type"] == "pond_origin")


def _own(row: Json) -> Json:
    """Return a row without what pond noted in it."""
    return {name: value for name, value in row.items() if name != "pond"}


def _written(client: str, levels: int, folder: Path) -> Path:
    file = folder / f"{_ID}.jsonl"
    file.write_bytes(b"".join(map(encode_line, RECORDS[client](levels))))
    return file
