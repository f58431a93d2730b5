"""Branches: what was taken back stays taken back, subagents get sessions of their own, summaries stay summaries."""

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pond.codec.relatives import outline_of
from pond.model.json_text import JsonObject
from pond.portable.outline import Record
from tests.foreign.replay import claude_live, codex_live
from tests.foreign.road import Made, convert, scratch
from tests.foreign.rules import faults
from tests.laws.passage import strict_values
from tests.laws.rows import HEADER, Store, call, claude, codex, event, item, prompt, result, said, turn

FINAL = "The last word."


def ask(uuid: str, parent: str | None, **more: Any) -> JsonObject:
    """Return a prompt that hangs on a row; its text is its name."""
    return turn("user", f"ask {uuid}", uuid, parentUuid=parent, **more)


def reply(uuid: str, parent: str | None, **more: Any) -> JsonObject:
    row = turn("assistant", [said(f"reply {uuid}")], uuid, parentUuid=parent, **more)
    row["message"]["id"] = f"msg_{uuid}"
    return row


def answer(text: str) -> JsonObject:
    """Return what the model says in a Codex rollout."""
    return item("message", role="assistant", content=[{"type": "output_text", "text": text}])


def rolled_back(turns: int) -> JsonObject:
    return event("thread_rolled_back", num_turns=turns)


def to_codex(folder: Path, *rows: Any) -> Made:
    return _made(claude(folder / "in"), "codex", folder, rows)


def to_claude(folder: Path, *rows: Any) -> Made:
    return _made(codex(folder / "in"), "claude-code", folder, [HEADER, *rows])


def _made(store: Store, target: str, folder: Path, rows: Any) -> Made:
    store.read(*rows)
    made = convert(store.folder / store.place, target, folder / "out", store.client)
    assert made.report.errors == 0, made.report.diagnostics
    assert faults(made) == []
    return made


def live(made: Made) -> list[str]:
    """Return what the target's client would send of the converted session."""
    rows = strict_values(made.main.read_bytes())
    return codex_live(rows) if made.client == "codex" else claude_live(rows)


def live_back(made: Made, folder: Path) -> list[str]:
    """Return what the source's client would send of the same session taken back."""
    back = convert(made.main, "claude-code" if made.client == "codex" else "codex", folder / "back", made.client)
    assert faults(back) == []
    return live(back)


def both_ways(made: Made, folder: Path, *texts: str) -> None:
    assert live(made) == list(texts)
    assert live_back(made, folder) == list(texts)


# --- turns taken back ------------------------------------------------------------------------------------------------


def test_a_rewound_prompt(tmp_path: Path) -> None:
    rows = [ask("1", None), reply("1r", "1"), ask("2", "1r"), reply("2r", "2"), ask("3", "1r"), reply("3r", "3")]
    made = to_codex(tmp_path, *rows)
    both_ways(made, tmp_path, "ask 1", "reply 1r", "ask 3", "reply 3r")
    assert [loss.count for loss in made.losses if loss.kind == "rewound"] == [1]


def test_a_rewind_of_a_rewind(tmp_path: Path) -> None:
    rows = [
        ask("1", None), reply("1r", "1"), ask("2", "1r"), reply("2r", "2"), ask("3", "2r"), reply("3r", "3"),
        ask("4", "2r"), reply("4r", "4"), ask("5", "1r"), reply("5r", "5"), ask("6", "5r"),
    ]  # fmt: skip
    both_ways(to_codex(tmp_path, *rows), tmp_path, "ask 1", "reply 1r", "ask 5", "reply 5r", "ask 6")


def test_a_rewind_to_the_start(tmp_path: Path) -> None:
    rows = [ask("1", None), reply("1r", "1"), ask("2", "1r"), reply("2r", "2"), ask("3", None), reply("3r", "3")]
    both_ways(to_codex(tmp_path, *rows), tmp_path, "ask 3", "reply 3r")


def test_a_rewind_past_calls_and_context(tmp_path: Path) -> None:
    """Context that the harness put into the user's slot is a user message too, and is counted as one."""
    note = turn("user", "noted", "n", parentUuid="1", isMeta=True)
    asked = turn("assistant", [call("toolu_1")], "c", parentUuid="n")
    given_back = turn("user", [result("toolu_1", content="found")], "t", parentUuid="c")
    rows = [ask("0", None), reply("0r", "0"), ask("1", "0r"), note, asked, given_back, reply("1r", "t"), ask("2", "0r")]
    both_ways(to_codex(tmp_path, *rows), tmp_path, "ask 0", "reply 0r", "ask 2")


def test_a_rollback_in_the_middle_and_at_the_end(tmp_path: Path) -> None:
    rows = [
        prompt("one"), answer("1"), prompt("two"), answer("2"), rolled_back(1), prompt("three"), answer("3"),
        prompt("four"), rolled_back(1),
    ]  # fmt: skip
    both_ways(to_claude(tmp_path, *rows, prompt("five")), tmp_path, "one", "1", "three", "3", "five")


@pytest.mark.parametrize(("turns", "left"), [(1, ["one", "1"]), (2, []), (9, [])])
def test_a_rollback_of_many_turns(turns: int, left: list[str], tmp_path: Path) -> None:
    rows = [prompt("one"), answer("1"), prompt("two"), answer("2"), rolled_back(turns), prompt(FINAL)]
    assert live(to_claude(tmp_path, *rows)) == [*left, FINAL]


def test_a_rollback_as_the_last_row(tmp_path: Path) -> None:
    """The earlier row has no children yet: the client must be told, or it continues from what was taken back."""
    rows = [prompt("one"), answer("1"), prompt("two"), answer("2"), rolled_back(1)]
    both_ways(to_claude(tmp_path, *rows), tmp_path, "one", "1")


@pytest.mark.parametrize(("turns", "left"), [(1, ["one", "1"]), (2, [])])
def test_a_rollback_past_a_review(turns: int, left: list[str], tmp_path: Path) -> None:
    """What a person asked a reviewer is a turn here; the client does not count it among this thread's."""
    review = event("entered_review_mode", target={"type": "custom", "instructions": "Only the rakes."})
    rows = [prompt("one"), answer("1"), prompt("two"), answer("2"), review, rolled_back(turns), prompt(FINAL)]
    made = to_claude(tmp_path, *rows)
    assert live(made) == [*left, FINAL]
    main, _ = made.sessions()
    assert "Only the rakes." in {part.get("text") for part in main.parts}


def test_a_review_is_no_part_of_an_earlier_turn(tmp_path: Path) -> None:
    review = event("entered_review_mode", target={"type": "custom", "instructions": "Only the rakes."})
    rows = [prompt("one"), answer("1"), review, answer("r"), prompt("two"), answer("2"), rolled_back(1), prompt(FINAL)]
    assert live(to_claude(tmp_path, *rows)) == ["one", "1", "Only the rakes.", "r", FINAL]


def test_going_back_to_an_abandoned_branch(tmp_path: Path) -> None:
    """A log without branches cannot go back to one: it says the turns of that branch again."""
    rows = [ask("1", None), reply("1r", "1"), ask("2", None), reply("2r", "2"), ask("3", "1r"), reply("3r", "3")]
    both_ways(to_codex(tmp_path, *rows), tmp_path, "ask 1", "reply 1r", "ask 3", "reply 3r")


@given(data=st.data())
def test_any_tree_of_turns(data: st.DataObject) -> None:
    """Each prompt hangs on any earlier reply, or on nothing; what counts is the way up from the last one."""
    parents: list[int | None] = [None]
    for number in range(1, data.draw(st.integers(1, 6))):
        parents.append(data.draw(st.sampled_from([None, *range(number)])))
    rows: list[JsonObject] = []
    for number, parent in enumerate(parents):
        rows += [ask(f"{number}", None if parent is None else f"{parent}r"), reply(f"{number}r", f"{number}")]
    wanted: list[str] = []
    at: int | None = len(parents) - 1
    while at is not None:
        wanted, at = [f"ask {at}", f"reply {at}r", *wanted], parents[at]
    with scratch() as folder:
        both_ways(to_codex(folder, *rows), folder, *wanted)


def test_rows_that_hang_on_each_other(tmp_path: Path) -> None:
    """Parents in a circle lead nowhere; the conversation ends up in some order, and is all there."""
    rows = [
        ask("1", "2r"),
        reply("1r", "1"),
        ask("2", "1r"),
        reply("2r", "2"),
        ask("3", "3"),
        ask("4", "1r"),
        ask("5", "3"),
    ]
    main, _ = to_codex(tmp_path, *rows).sessions()
    assert {part["text"] for part in main.parts} >= {f"ask {number}" for number in range(1, 6)}


@given(data=st.data())
def test_any_row_of_rewinds(data: st.DataObject) -> None:
    """Each prompt hangs on a reply that still counts, or on nothing; what counts is the way up from the last one."""
    path: list[str] = []
    rows: list[JsonObject] = []
    for number in range(data.draw(st.integers(1, 7))):
        del path[data.draw(st.integers(0, len(path))) :]
        name = str(number)
        rows += [ask(name, f"{path[-1]}r" if path else None), reply(f"{name}r", name)]
        path.append(name)
    wanted = [text for name in path for text in (f"ask {name}", f"reply {name}r")]
    with scratch() as folder:
        both_ways(to_codex(folder, *rows), folder, *wanted)


@given(data=st.data())
def test_any_row_of_rollbacks(data: st.DataObject) -> None:
    """Turns come and go; the last row is a prompt or a rollback."""
    path: list[str] = []
    rows: list[JsonObject] = []
    for number in range(data.draw(st.integers(1, 7))):
        name = str(number)
        rows += [prompt(f"ask {name}"), answer(f"reply {name}")]
        path.append(name)
        gone = data.draw(st.integers(0, len(path) - 1))
        if gone:
            rows.append(rolled_back(gone))
            del path[-gone:]
    wanted = [text for name in path for text in (f"ask {name}", f"reply {name}")]
    with scratch() as folder:
        both_ways(to_claude(folder, *rows), folder, *wanted)


# --- subagents inside the file ---------------------------------------------------------------------------------------


def test_sidechains_become_children(tmp_path: Path) -> None:
    """Two subagents told in turns with the main conversation: three sessions, each whole and in order."""
    side = {"isSidechain": True}
    rows = [
        ask("1", None), reply("1r", "1"), ask("a1", None, **side), ask("b1", None, **side), reply("a2", "a1", **side),
        reply("2r", "1r"), reply("b2", "b1", **side), reply("a3", "a2", **side), ask("2", "2r"),
    ]  # fmt: skip
    made = to_codex(tmp_path, *rows)
    main, children = made.sessions()
    assert live(made) == ["ask 1", "reply 1r", "reply 2r", "ask 2"]
    told = sorted([part["text"] for part in child.parts] for child in children)
    assert told == [["ask a1", "reply a2", "reply a3"], ["ask b1", "reply b2"]]
    assert {child.session["parent_session_id"] for child in children} == {main.session["id"]}


# --- summaries -------------------------------------------------------------------------------------------------------


def _boundary(uuid: str, above: str, kept: list[str]) -> JsonObject:
    metadata = {"preservedMessages": {"uuids": kept}} if kept else {}
    row = {"type": "system", "subtype": "compact_boundary", "uuid": uuid, "parentUuid": None, "content": "compacted"}
    return {**turn("system", "", uuid), **row, "logicalParentUuid": above, "compactMetadata": metadata}


@pytest.mark.parametrize("kept", [[], ["2"], ["2", "2r"]], ids=str)
def test_a_summary_and_the_messages_it_keeps(kept: list[str], tmp_path: Path) -> None:
    summary = turn("user", "It was about ferns.", "s", parentUuid="b", isCompactSummary=True)
    rows = [
        ask("1", None), reply("1r", "1"), ask("2", "1r"), reply("2r", "2"), _boundary("b", "2r", kept), summary,
        ask("3", "s"), reply("3r", "3"),
    ]  # fmt: skip
    words = {"2": "ask 2", "2r": "reply 2r"}
    texts = ["It was about ferns.", *(words[uuid] for uuid in kept), "ask 3", "reply 3r"]
    both_ways(to_codex(tmp_path, *rows), tmp_path, *texts)


def test_a_rewind_after_a_summary(tmp_path: Path) -> None:
    summary = turn("user", "It was about ferns.", "s", parentUuid="b", isCompactSummary=True)
    rows = [
        ask("1", None),
        reply("1r", "1"),
        _boundary("b", "1r", []),
        summary,
        ask("2", "s"),
        reply("2r", "2"),
        ask("3", "s"),
    ]
    both_ways(to_codex(tmp_path, *rows), tmp_path, "It was about ferns.", "ask 3")


def test_a_summary_with_its_history(tmp_path: Path) -> None:
    history = [prompt(text)["payload"] for text in ("two", "It was about ferns.")]
    compacted = {
        **HEADER,
        "type": "compacted",
        "payload": {"message": "It was about ferns.", "replacement_history": history},
    }
    rows = [prompt("one"), answer("1"), prompt("two"), answer("2"), compacted, prompt("three"), answer("3")]
    made = to_claude(tmp_path, *rows)
    assert sorted(live(made)) == sorted(["It was about ferns.", "two", "three", "3"])
    assert live(made)[-2:] == ["three", "3"]


def test_a_turn_costs_the_same_however_many_came_before() -> None:
    outline = outline_of({"id": "s", "source_agent": "claude-code", "project": "/p", "options": {}})

    def seconds(first: int, last: int) -> float:
        before = time.process_time()
        for number in range(first, last):
            head: JsonObject = {"kind": "message", "id": f"u{number}", "options": {}}
            parent = {"parentUuid": f"u{number - 1}"} if number else {}
            outline.look(Record([head], "user", parent, True, number))
        return time.process_time() - before

    early = seconds(0, 4_000)
    seconds(4_000, 40_000)
    late = seconds(40_000, 44_000)
    assert late < 5 * early + 0.05, f"{early:.3f} s, then {late:.3f} s"
