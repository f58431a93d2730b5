"""From a client's file to the same client's records: nothing is hidden on the short way through memory."""

import io
from pathlib import Path

import pytest

from pond.codec.openfile import OpenFile
from pond.codec.opening import open_input
from pond.codec.registry import CANONICAL
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.codec.writing import write_canonical, write_native
from pond.model.json_text import decode_strictly

HEAD = (
    '{"timestamp":"2026-04-02T00:00:00.000Z","type":"session_meta",'
    '"payload":{"id":"way","timestamp":"2026-04-02T00:00:00.000Z","cwd":"/home/ada/orrery"}}'
)
SAID = (
    '{"timestamp":"2026-04-02T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"assistant",%s}}'
)
EVENT = '{"timestamp":"2026-04-02T00:00:01.000Z","type":"event_msg","payload":{"type":"turn_diff",%s}}'


def back(path: Path, *lines: str, to: str = "codex") -> tuple[list[bytes], Report]:
    """Write a Codex session, read it, write it as Codex has it; return the lines written and what was told."""
    file = path / "rollout-2026-04-02T00-00-00-way.jsonl"
    file.write_text("\n".join((HEAD, *lines, "")), encoding="utf-8", newline="")
    report, out = Report(), io.BytesIO()
    with file.open("rb") as source:
        for session in open_input(OpenFile(source, "way.jsonl", file), ConversionRequest(to), report).sessions:
            if to == CANONICAL:
                write_canonical(session, out)
            else:
                write_native(session, out, report, "way.jsonl")
    return out.getvalue().splitlines(), report


# In each, the duplicate key takes as many bytes as writing another value adds.
HIDDEN = [
    '"a":1,"a":1,"n":1e6',
    '"a":1,"a":1,"n":1E6',
    '"n":36893488147419103232,"ab":1,"ab":1,"m":"üü"',
    '"a":1,"a":1',
]


@pytest.mark.parametrize("hidden", HIDDEN)
def test_a_key_that_stands_twice_is_told_once(hidden: str, tmp_path: Path) -> None:
    written, report = back(tmp_path, SAID % '"content":"Saturn"', SAID % hidden)
    (fault,) = [fault for fault in report.faults if fault.severity == "error"]
    assert fault.span is not None
    assert (fault.code, fault.span.line, fault.count) == ("source-duplicate-key", 3, 1)
    assert decode_strictly(written[2], pytest.fail)


@pytest.mark.parametrize("hidden", HIDDEN)
def test_a_carried_record_keeps_a_key_that_stands_twice(hidden: str, tmp_path: Path) -> None:
    """As long as it is passed on as text; where it is decoded instead, the key is told."""
    written, report = back(tmp_path, EVENT % hidden)
    kept = written[1] == (EVENT % hidden).encode()
    told = [fault.code for fault in report.faults if fault.severity == "error"]
    assert told == ([] if kept else ["source-duplicate-key"])
    assert kept == ("e6" not in hidden.lower())


def test_a_carried_record_keeps_its_text(tmp_path: Path) -> None:
    carried = EVENT % '"message":"Saturn","share":0.5'
    written, report = back(tmp_path, carried, SAID % '"content":"Saturn"', carried)
    assert (written[1], written[3]) == (carried.encode(), carried.encode())
    assert (report.records, report.errors) == (4, 0)


def test_a_carried_record_is_no_deeper_in_canonical_text_than_its_readers_take(tmp_path: Path) -> None:
    deep = EVENT % f'"message":{"[" * 700}{"]" * 700}'
    assert back(tmp_path, deep)[0][1] == deep.encode()
    written, report = back(tmp_path, deep, EVENT % '"message":"Saturn"', to=CANONICAL)
    assert [fault.code for fault in report.faults] == ["source-too-deep"]
    assert len(written) == 3  # the session, its header, the other record
