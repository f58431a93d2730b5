"""A file that grew is read from where it grew, and gives the rows of the whole file, or says that it cannot."""

import io
import json
import os
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pond.codec.facts import filled_in
from pond.codec.files import BUFFER
from pond.codec.lines import LineSource
from pond.codec.openfile import OpenFile
from pond.codec.opening import open_input
from pond.codec.registry import CANONICAL, clients
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.codec.resume import Checkpoint, Continuation
from pond.codec.source import NeedsWhole
from tests.laws.corpus import SessionFile, capture_files, fixture_files, quick, sample_files
from tests.laws.growth import (
    Part,
    every_cut_goes_on_exactly,
    follow,
    go_on,
    goes_on_exactly,
    growing,
    only_the_whole_tells,
    read_if_any,
    read_part,
)
from tests.laws.rows import HEADER, call, claude, codex, event, item, prompt, result, turn
from tests.size import size

# --- every file, cut everywhere -------------------------------------------------------------------------------------


@pytest.mark.rule("adapter-integrity-additive-sync")
@pytest.mark.parametrize("file", fixture_files(), ids=str)
def test_going_on_from_any_cut_gives_the_whole(file: SessionFile) -> None:
    every_cut_goes_on_exactly(file, most=size(20, 10))


@pytest.mark.rule("adapter-integrity-additive-sync")
@pytest.mark.parametrize("client", clients())
def test_following_a_file_seldom_needs_the_whole(client: str) -> None:
    steps = [follow(file, most=20) for file in fixture_files() if file.client == client]
    assert sum(resumed for resumed, _ in steps) >= 0.9 * sum(tried for _, tried in steps) > 100


def test_samples_are_gone_on_with(samples_dir: Path) -> None:
    _grow(quick(sample_files(samples_dir)))


def test_captures_are_gone_on_with(captures_dir: Path) -> None:
    _grow(quick(capture_files(captures_dir)))


def _grow(files: list[SessionFile]) -> None:
    assert files, "no session of a known client in this directory"
    for file in files:
        try:
            every_cut_goes_on_exactly(file, most=4)
            follow(file, most=4)
        except AssertionError as broken:
            raise AssertionError(f"{file.path}: {broken}") from broken


@cache
def _lines_of(client: str) -> list[bytes]:
    """List the lines of all fixtures of a client, and some that are nobody's."""
    files = [file for file in fixture_files() if file.client == client and file.path.suffix == ".jsonl"]
    lines = [line for file in files for line in file.path.read_bytes().split(b"\n") if len(line) < 2_000]
    return [*lines, b"", b"  ", b"{", b"12", b'"text"', b"null", b"\r"]


@pytest.mark.hypothesis
@pytest.mark.parametrize("client", clients())
@settings(max_examples=size(150, 75))
@given(data=st.data())
def test_going_on_is_exact_whatever_the_lines(client: str, data: st.DataObject) -> None:
    lines = data.draw(st.lists(st.sampled_from(_lines_of(client)), min_size=2, max_size=8))
    again = data.draw(st.lists(st.sampled_from(lines), max_size=4))  # ids and contents that come once more
    text = data.draw(st.sampled_from((b"\n", b"\r\n"))).join([*lines, *again]) + data.draw(
        st.sampled_from((b"", b"\n"))
    )
    cut = data.draw(st.integers(1, max(1, len(text))))
    file = next(f for f in fixture_files() if f.client == client)
    with growing(file) as path:
        path.write_bytes(text[:cut])
        earlier = read_if_any(path, client)
        path.write_bytes(text)
        whole = read_if_any(path, client)
        if earlier is None or whole is None or whole.checkpoint is None:
            return
        if not goes_on_exactly(path, client, earlier, whole, f"cut at {cut}"):
            assert only_the_whole_tells(earlier, whole)
        # Another file of the session may have given any of these ids.
        goes_on_exactly(path, client, earlier, whole, f"cut at {cut}", also_known=whole.ids)


# --- one case each --------------------------------------------------------------------------------------------------


class Log:
    """A session file that a client writes to."""

    def __init__(self, folder: Path, client: str) -> None:
        store = claude(folder) if client == "claude-code" else codex(folder)
        self.client, self.path = client, folder / store.place
        self.path.parent.mkdir(parents=True)

    def write(self, *rows: Any) -> None:
        """Add rows: values, each with its line feed, or text as it is."""
        with self.path.open("ab") as file:
            for row in rows:
                file.write(row if type(row) is bytes else json.dumps(row).encode() + b"\n")

    def read(self) -> Part:
        return read_part(self.path, self.client)

    def go_on(self, earlier: Part) -> Part:
        """Continue from a reading and prove that this gives the whole."""
        assert goes_on_exactly(self.path, self.client, earlier, self.read(), "here"), "the whole was needed"
        return go_on(self.path, self.client, earlier)

    def refuses(self, earlier: Part, why: str) -> None:
        with pytest.raises(NeedsWhole, match=why):
            go_on(self.path, self.client, earlier)


@pytest.fixture
def log(tmp_path: Path) -> Log:
    log = Log(tmp_path, "claude-code")
    log.write(turn("user", "hello", "u-1"))
    return log


def test_nothing_new_gives_nothing_and_the_same_mark(log: Log) -> None:
    earlier = log.read()
    rest = log.go_on(earlier)
    assert (rest.groups, rest.checkpoint, rest.report.records) == ([], earlier.checkpoint, 0)


def test_a_line_that_was_cut_off_is_taken_when_it_is_complete(log: Log) -> None:
    size = log.path.stat().st_size
    line = json.dumps(turn("user", "more", "u-2")).encode()
    log.write(line[:50])
    earlier = log.read()
    assert earlier.checkpoint is not None
    assert (earlier.checkpoint.cursor, earlier.checkpoint.lines, earlier.checkpoint.records) == (size, 1, 1)
    assert [d.code for d in earlier.report.diagnostics] == ["source-not-json"]
    log.write(line[50:], b"\n")
    assert log.go_on(earlier).ids == ["u-2"]


def test_a_line_without_a_line_feed_is_taken_once(log: Log) -> None:
    log.write(json.dumps(turn("user", "more", "u-2")).encode())
    earlier = log.read()
    assert earlier.checkpoint is not None
    assert (earlier.checkpoint.cursor, earlier.checkpoint.lines) == (log.path.stat().st_size, 1)
    log.write(b"\r\n", b"{\n", turn("user", "last", "u-3"))
    rest = log.go_on(earlier)
    assert rest.ids == ["u-3"]
    assert [d.span.line for d in rest.report.diagnostics if d.span] == [3]


def test_a_line_that_went_on_after_it_was_taken_is_refused(log: Log) -> None:
    log.write(json.dumps(turn("user", "more", "u-2")).encode())
    earlier = log.read()
    assert len(earlier.log) == 2
    log.write(b" 3\n")
    log.refuses(earlier, "not complete")


def test_a_number_that_may_go_on_is_not_taken(log: Log) -> None:
    log.write(b"12")
    earlier = log.read()
    assert len(earlier.log) == 1
    log.write(b"3\n")
    assert len(log.go_on(earlier).groups) == 1


def test_what_is_written_while_a_line_is_read_is_no_line_of_its_own(log: Log) -> None:
    line = json.dumps(turn("user", "more", "u-2")).encode()
    log.write(line[:50])
    with log.path.open("rb") as file:
        lines = LineSource(file, "log", log.path).lines()
        assert [number for _, number, _ in islice(lines, 2)] == [1, 2]
        log.write(line[50:], b"\n")
        assert [*lines] == []


def test_a_file_shorter_than_its_mark_is_refused(log: Log) -> None:
    log.write(turn("user", "more", "u-2"))
    earlier = log.read()
    log.path.write_bytes(log.path.read_bytes()[:-20])
    log.refuses(earlier, "shorter")


def test_an_id_that_came_before_the_mark_is_refused(log: Log) -> None:
    earlier = log.read()
    log.write(turn("user", "hello", "u-1"))
    log.refuses(earlier, "id of a record")


def test_an_id_that_comes_twice_after_the_mark_is_not(log: Log) -> None:
    earlier = log.read()
    log.write(turn("user", "more", "u-2"), turn("user", "more", "u-2"), turn("user", "other", "u-2"))
    assert log.go_on(earlier).ids == ["u-2", "u-2@2", "u-2~2"]


def test_contents_without_an_id_are_counted_on(log: Log) -> None:
    mode = {"type": "permission-mode", "permissionMode": "plan"}
    log.write(mode, mode)
    earlier = log.read()
    log.write(mode)
    rest = log.go_on(earlier)
    assert rest.ids == [f"{earlier.ids[1]}.3"]
    log.write(mode)
    assert log.go_on(earlier.then(rest)).ids == [f"{earlier.ids[1]}.4"]


def test_contents_that_another_file_may_have_given_are_refused(log: Log) -> None:
    mode = {"type": "permission-mode", "permissionMode": "plan"}
    log.write(mode)
    earlier = log.read()
    log.write({"type": "permission-mode", "permissionMode": "other"})
    assert goes_on_exactly(log.path, log.client, earlier, log.read(), "here", ["0123456789abcdef"])
    log.write(mode)
    with pytest.raises(NeedsWhole, match="content of a record"):
        go_on(log.path, log.client, earlier, ["0123456789abcdef"])


def test_a_result_finds_the_call_that_waited_for_it(log: Log) -> None:
    log.write(turn("assistant", [call("c-1"), call("c-2")], "u-2"), turn("user", [result("c-1", content="a")], "u-3"))
    earlier = log.read()
    assert earlier.checkpoint is not None
    assert earlier.checkpoint.calls == {"c-2": "Read"}
    log.write(turn("user", [result("c-2", content="b")], "u-4"))
    rest = log.go_on(earlier)
    assert rest.groups[0][1]["name"] == "Read"
    assert rest.checkpoint is not None
    assert rest.checkpoint.calls == {}
    log.write(turn("user", [result("c-2", content="again")], "u-5"))
    log.refuses(earlier.then(rest), "tool result")


def test_only_the_last_calls_are_remembered(log: Log) -> None:
    log.write(turn("assistant", [call(f"c-{n}") for n in range(1_100)], "u-2"))
    log.write(turn("assistant", [call("c" * 500)], "u-3"))
    earlier = log.read()
    assert earlier.checkpoint is not None
    assert [*earlier.checkpoint.calls] == [f"c-{n}" for n in range(100, 1_100)]
    log.write(turn("user", [result("c-100", content="a")], "u-4"))
    assert go_on(log.path, log.client, earlier).groups == log.read().groups[-1:]
    log.write(turn("user", [result("c-99", content="a")], "u-5"))
    log.refuses(earlier, "tool result")


def test_facts_that_come_late_are_refused(tmp_path: Path) -> None:
    log = Log(tmp_path, "claude-code")
    log.write({"type": "summary", "summary": "no time, no directory", "leafUuid": "x"})
    earlier = log.read()
    log.write(turn("user", "hello", "u-1"))
    log.refuses(earlier, "facts")
    followed = log.read()
    log.write(turn("user", "more", "u-2"))
    # The lake fills in what the records have said since; what is read next is read by that.
    assert followed.checkpoint is not None
    rest = read_part(log.path, log.client, Continuation(followed.checkpoint, earlier.row, followed.ids))
    assert rest.row == followed.row == filled_in(earlier.row, followed.row)
    assert rest.groups == log.read().groups[-1:]


def test_what_a_pass_remembers_is_gone_on_with(tmp_path: Path) -> None:
    log = Log(tmp_path, "codex")
    command = item("function_call", name="shell", arguments="{}", call_id="c-1")
    log.write(HEADER, prompt("run"), command, event("exec_command_end", call_id="c-1", exit_code=3))
    earlier = log.read()
    log.write(item("function_call_output", call_id="c-1", output="no word of it"))
    assert log.go_on(earlier).groups[0][1]["is_failure"] is True


def test_codes_nobody_asks_for_do_not_add_up(tmp_path: Path) -> None:
    log = Log(tmp_path, "codex")
    log.write(HEADER, *(event("exec_command_end", call_id=f"exec-{n}", exit_code=1) for n in range(200)))
    earlier = log.read()
    assert earlier.checkpoint is not None
    assert earlier.checkpoint.observer is not None
    assert earlier.checkpoint.observer["codes"] == [[f"exec-{n}", 1] for n in range(72, 200)]
    log.write(
        *(event("exec_command_end", call_id=f"exec-{n}", exit_code=0) for n in range(200, 210)),
        *(item("function_call", name="shell", arguments="{}", call_id=f"exec-{n}") for n in range(80, 84)),
        *(item("function_call_output", call_id=f"exec-{n}", output="done") for n in range(80, 84)),
    )
    failures = [group[1]["is_failure"] for group in log.go_on(earlier).groups[-4:]]
    assert failures == [False, False, True, True]


def test_a_mark_of_another_form_is_refused(log: Log) -> None:
    checkpoint = log.read().checkpoint
    assert checkpoint is not None
    assert Checkpoint.from_json(checkpoint.as_json()) == checkpoint
    with pytest.raises(NeedsWhole, match="form"):
        Checkpoint.from_json({**checkpoint.as_json(), "form": 0})


def test_a_document_has_no_mark() -> None:
    documents = [file for file in fixture_files() if file.path.suffix == ".json"]
    assert documents
    for file in documents:
        part = read_part(file.path, file.client)
        assert part.checkpoint is None
        nothing = Checkpoint(0, 0, 0, 0, "", {}, None, None)
        with pytest.raises(NeedsWhole, match="document"):
            read_part(file.path, file.client, Continuation(nothing, part.row, part.ids))


class Counted(io.FileIO):
    """A file that knows how much was read of it."""

    amount = 0

    def readinto(self, buffer: Any, /) -> int:
        size = super().readinto(buffer) or 0
        self.amount += size
        return size


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_what_stands_between_the_head_and_the_mark_is_not_read(
    tmp_path: Path, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log(tmp_path, client)
    log.write(*[HEADER] * (client == "codex"))
    text = "long " * 200
    for number in range(4_000):
        log.write(turn("user", text, f"u-{number}") if client == "claude-code" else prompt(f"{number} {text}"))
    earlier = log.read()
    assert earlier.checkpoint is not None
    log.write(turn("user", "more", "u-x") if client == "claude-code" else prompt("more"))
    right = log.go_on(earlier)

    file, pread = Counted(log.path), os.pread

    def counted(handle: int, size: int, at: int) -> bytes:
        data = pread(handle, size, at)
        file.amount += len(data)
        return data

    monkeypatch.setattr(os, "pread", counted)
    buffered = io.BufferedReader(file, BUFFER)
    continuation = Continuation(earlier.checkpoint, earlier.row, earlier.ids)
    (session,) = open_input(
        OpenFile(buffered, "log", log.path), ConversionRequest(CANONICAL, client), Report(), continuation
    ).sessions
    assert [*session.groups] == right.groups != []
    assert file.amount < log.path.stat().st_size / 4 > BUFFER
    buffered.close()


def test_files_beside_a_session_are_given_again(log: Log) -> None:
    folder = log.path.with_suffix("") / "tool-results"
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("first")
    earlier = log.read()
    (folder / "b.txt").write_text("second")
    log.write(turn("user", "more", "u-2"))
    rest = log.go_on(earlier)
    assert [name.rsplit("/", 1)[0] for name in rest.ids[1:]] == [
        "beside/{stem}/tool-results/a.txt",
        "beside/{stem}/tool-results/b.txt",
    ]
    assert rest.ids[1] == earlier.ids[1]
