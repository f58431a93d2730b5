"""The labels of a turn: its tools, the files they were given, whether one failed; and what a message holds itself."""

import pytest

from pond.model.json_text import Json
from pond.sessions.labels import FAILED, Turn, file_label, held, paths, tool_label
from pond.sessions.rows import STALE, Rows
from pond.sessions.terms import RULES, terms
from tests.operations.invented import message, part, said, session


@pytest.mark.parametrize(
    ("params", "found"),
    [
        ({"file_path": "/srv/Orchard/Gate.py", "content": "see /etc/hosts"}, ["/srv/orchard/gate.py"]),
        ({"filePath": "a.py"}, ["a.py"]),
        ({"notebook_path": "C:\\Garden\\plan.ipynb"}, ["c:/garden/plan.ipynb"]),
        ({"paths": ["a.py", "b/"]}, ["a.py", "b"]),
        ({"edits": [{"path": "./a.py"}, {"path": "b.py"}]}, ["a.py", "b.py"]),
        ({"uri": "file:///srv/a.py"}, ["/srv/a.py"]),
        ({"uri": "https://example.org/a.py"}, []),
        ({"input": "*** Begin Patch\n*** Update File: a/b.py\n@@\n*** Move to: a/c.py\n"}, ["a/b.py", "a/c.py"]),
        ("*** Begin Patch\n*** Add File: a b.md\n+x\n", ["a b.md"]),
        ('apply("*** Begin Patch\\n*** Delete File: a.md\\n*** End Patch")', ["a.md"]),
        ({"command": ["bash", "-lc", "apply_patch <<'E'\n*** Update File: x.rs\n"]}, ["x.rs"]),
        ({"path": "two\nlines"}, []),
        ({"path": "x" * 600}, []),
        ({"path": ""}, []),
        ({"path": 7}, []),
        (None, []),
    ],
)
def test_the_paths_that_arguments_name(params: Json, found: list[str]) -> None:
    assert list(paths(params)) == found


def test_a_file_is_labelled_by_each_last_piece_of_its_path() -> None:
    turn = Turn()
    turn.hear({"type": "tool_call", "name": "Edit", "params": {"path": "/srv/Pond/lake.py"}})
    assert list(turn.labels) == [
        "tool=edit", "file=lake.py", "file=pond/lake.py", "file=srv/pond/lake.py", "file=/srv/pond/lake.py",
    ]  # fmt: skip
    asked = (tool_label("EDIT"), file_label("Lake.py"), file_label("pond\\lake.py"), file_label("/srv/pond/lake.py"))
    assert set(asked) <= turn.labels.keys()


def test_a_turn_that_names_thousands_of_files_keeps_some() -> None:
    turn = Turn()
    for number in range(5000):
        turn.hear({"type": "tool_call", "name": f"tool {number}", "params": {"path": f"/a/b/{number}.py"}})
    assert len(turn.labels) == 64 + 256
    again = Turn(turn.labels)
    again.hear({"type": "tool_call", "name": "another", "params": {"path": "/another.py"}})
    assert again.labels == turn.labels


def test_a_failure_is_one_of_its_turn() -> None:
    turn = Turn()
    turn.hear({"type": "tool_result", "is_failure": False})
    assert not turn.labels
    turn.hear({"type": "tool_result", "is_failure": True})
    assert list(turn.labels) == [FAILED]


def test_what_a_message_holds() -> None:
    files = [{"type": "file", "media_type": kind} for kind in ("image/png", "application/pdf", "IMAGE/JPEG")]
    assert held(files) == ["has=image", "has=file"]
    assert held([{"type": "text"}]) == []


def test_what_cannot_be_stored_is_replaced() -> None:
    turn = Turn()
    turn.hear({"type": "tool_call", "name": "a\0b\ud800", "params": {"path": "\udfffx"}})
    assert list(turn.labels) == ["tool=a b\ufffd", "file=\ufffdx"]


# --- rows ------------------------------------------------------------------------------------------------------------


def _turn(number: int, calls: int = 1) -> list[list[dict[str, Json]]]:
    call = message("s", f"c{number}", "assistant")
    made = [
        part(call, at, "tool_call", name=f"tool {number}", params={"path": f"{number}-{at}.py"}) for at in range(calls)
    ]
    return [said("s", f"p{number}", f"prompt {number}"), [call, *made], said("s", f"a{number}", "done", "assistant")]


def _labels(batch: Json) -> dict[str, list[str] | None]:
    return dict(zip(batch["id"].to_pylist(), batch["labels"].to_pylist(), strict=True))


def test_labels_of_a_turn_stand_on_each_searched_message_of_it() -> None:
    rows = Rows(session("s"))
    for group in [*_turn(1), *_turn(2)]:
        rows.take(group)
    batch = rows.flush()[0]
    one, two = ([f"tool=tool {number}", f"file={number}-0.py"] for number in (1, 2))
    assert _labels(batch) == {"p1": one, "c1": None, "a1": one, "p2": two, "c2": None, "a2": two}
    assert batch["rules"].to_pylist() == [RULES] * 6
    assert batch["terms"].to_pylist()[:3] == [terms("prompt 1"), None, terms("done")]


def test_a_prompt_that_is_said_again_begins_no_turn() -> None:
    again = said("s", "again", "prompt 1")
    again[0]["options"] = {"pond": {"again": True}}
    rows = Rows(session("s"))
    for group in [said("s", "p", "prompt 1"), again, *_turn(2)[1:]]:
        rows.take(group)
    assert _labels(rows.flush()[0])["p"] == ["tool=tool 2", "file=2-0.py"]


def test_rows_wait_for_the_end_of_their_turn() -> None:
    rows = Rows(session("s"))
    for group in _turn(1):
        rows.take(group)
        assert not rows.due(2, 1 << 20)
    rows.take(_turn(2)[0])
    assert rows.due(2, 1 << 20)
    messages, parts = rows.cut()
    assert messages["id"].to_pylist() == ["p1", "c1", "a1"]
    assert set(parts["message_id"].to_pylist()) == {"p1", "c1", "a1"}
    assert rows.flush()[0]["id"].to_pylist() == ["p2"]


def test_a_turn_too_long_to_wait_for_says_that_it_is_to_be_derived_anew() -> None:
    rows = Rows(session("s"))
    prompt, call, answer = _turn(1)
    rows.take(prompt)
    assert rows.cut()[0]["rules"].to_pylist() == [STALE]  # there may be labels to come
    rows.take(call)
    assert rows.flush()[0]["rules"].to_pylist() == [STALE]  # there are
    rows.take(answer)
    assert rows.flush()[0]["rules"].to_pylist() == [RULES]
