"""Queued prompts: said once in the target, by their own row or by the queue's; what was never sent is named."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pond.model.json_text import JsonObject
from tests.foreign.accounting import misnamed, unaccounted
from tests.foreign.road import Made, scratch
from tests.foreign.test_branches import live, live_back, to_codex
from tests.laws.passage import read
from tests.laws.rows import SESSION, call, claude, result, said, turn

NOTICE = "<task-notification>\n<task-id>b3</task-id>\n</task-notification>"


def picture(data: str) -> JsonObject:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


PICTURE = picture("iVBORw0KGgo=")


def at(second: float) -> str:
    return f"2026-01-02T03:{int(second) // 60:02d}:{second % 60:06.3f}Z"


def queue(operation: str, content: Any = None, second: float = 0) -> JsonObject:
    row = {"type": "queue-operation", "operation": operation, "timestamp": at(second), "sessionId": SESSION}
    return row if content is None else {**row, "content": content}


def ask(text: Any, second: float = 0, **more: Any) -> JsonObject:
    return turn("user", text, f"u{second}", timestamp=at(second), **more)


def reply(text: str, second: float = 0, **more: Any) -> JsonObject:
    return turn("assistant", [said(text)], f"a{second}", timestamp=at(second), **more)


def attached(text: Any, second: float = 0) -> JsonObject:
    attachment = {"type": "queued_command", "prompt": text, "commandMode": "prompt"}
    return {**turn("", "", f"q{second}", timestamp=at(second)), "type": "attachment", "attachment": attachment}


def begun(*rows: JsonObject) -> list[JsonObject]:
    return [ask("begin"), reply("begun"), *rows]


def conversation(folder: Path, *rows: JsonObject) -> tuple[list[str], Made]:
    """Return what the target's client would send after the opening; every part is there or named."""
    made = to_codex(folder, *begun(*rows))
    source = read(folder / "in" / claude(folder).place, "claude-code")
    assert unaccounted(source, made) == []
    assert misnamed(source, made) == []
    first, second, *rest = live(made)
    assert (first, second) == ("begin", "begun")
    return rest, made


def named(made: Made, *kinds: str) -> list[str]:
    """Return the losses that name a part of the queue, in order."""
    return [loss.kind for loss in made.losses if loss.part and loss.kind in (*kinds, "repeat", "not-sent")]


SAID_ONCE = {
    "as the next turn": [queue("enqueue", "dig", 1), queue("dequeue", None, 2), ask("dig", 3), reply("dug", 4)],
    "in the midst of one": [
        queue("enqueue", "dig", 1),
        queue("remove", "dig", 2),
        attached("dig", 1),
        reply("dug", 4),
    ],
    "in a row that comes before the note": [
        queue("enqueue", "dig", 1),
        attached("dig", 1),
        queue("remove", "dig", 2),
        reply("dug", 4),
    ],
    "in a row before a note that names nothing": [
        queue("enqueue", "dig", 1),
        attached("dig", 1),
        queue("dequeue", None, 2),
        reply("dug", 4),
    ],
    "in a row with a reminder": [
        queue("enqueue", "dig", 1),
        queue("dequeue", None, 2),
        ask("<system-reminder>\nrain\n</system-reminder>\ndig", 3),
        reply("dug", 4),
    ],
    "in a row with a reminder, before the note": [
        queue("enqueue", "dig", 1),
        attached("<system-reminder>\nrain\n</system-reminder>\ndig", 1),
        queue("remove", "dig", 2),
        reply("dug", 4),
    ],
    "by the queue alone": [queue("enqueue", "dig", 1), queue("remove", "dig", 2), reply("dug", 4)],
    "by a note alone": [queue("remove", "dig", 2), reply("dug", 4)],
    "by the queue, when nothing says which": [queue("enqueue", "dig", 1), queue("dequeue", None, 2), reply("dug", 4)],
}


@pytest.mark.parametrize("rows", SAID_ONCE.values(), ids=SAID_ONCE)
def test_a_queued_prompt_is_said_once(rows: list[JsonObject], tmp_path: Path) -> None:
    texts, made = conversation(tmp_path, *rows)
    assert [text.strip() for text in texts] == ["dig", "dug"]
    assert [text.strip() for text in live_back(made, tmp_path)] == ["begin", "begun", "dig", "dug"]
    assert "not-sent" not in named(made)


def test_rows_that_are_older_than_the_note(tmp_path: Path) -> None:
    """The client writes its notes at once and the rows of a turn later: an older answer is none to this prompt."""
    call_row = turn("assistant", [call("toolu_1")], "c", timestamp=at(3))
    given_back = turn("user", [result("toolu_1", content="found")], "r", timestamp=at(8))
    rows = [queue("enqueue", "dig", 5), queue("remove", "dig", 9), reply("looking", 2), call_row, given_back]
    texts, _ = conversation(tmp_path, *rows, attached("dig", 5), reply("dug", 11))
    assert texts == ["looking", "Read", "found", "dig", "dug"]


def test_one_that_no_row_says_waits_for_the_results(tmp_path: Path) -> None:
    """Between a call and its result there is no place for a prompt: the pair would be torn apart."""
    first = turn("assistant", [call("toolu_1")], "c1", timestamp=at(1))
    second = turn("assistant", [call("toolu_2")], "c2", timestamp=at(4))
    results = [turn("user", [result(f"toolu_{n}", content=f"found {n}")], f"r{n}", timestamp=at(5)) for n in (1, 2)]
    rows = [first, queue("enqueue", "dig", 2), queue("remove", "dig", 3), second, *results, reply("dug", 6)]
    texts, made = conversation(tmp_path, *rows)
    assert texts == ["Read", "Read", "found 1", "found 2", "dig", "dug"]
    assert "result-missing" not in made.kinds


def test_prompts_without_a_time(tmp_path: Path) -> None:
    """Nobody can tell what came after the note, and a row of its own may still come."""
    rows = [queue("enqueue", "dig"), queue("remove", "dig"), reply("dug", 4)]
    for row in rows:
        del row["timestamp"]
    assert conversation(tmp_path, *rows)[0] == ["dug", "dig"]


def test_several_in_one_message(tmp_path: Path) -> None:
    waiting = [queue("enqueue", "dig", 1), queue("enqueue", "sow\nand rake", 2), queue("enqueue", "rake", 3)]
    rows = [
        *waiting,
        queue("dequeue", None, 4),
        queue("dequeue", None, 5),
        ask("dig\nsow\nand rake", 6),
        reply("dug", 7),
    ]
    texts, made = conversation(tmp_path, *rows)
    assert texts == ["dig\nsow\nand rake", "dug", "rake"], "the third still waits: its words are no line of the message"
    assert named(made) == ["repeat", "repeat"]


def test_words_inside_a_line_are_no_prompt(tmp_path: Path) -> None:
    rows = [queue("enqueue", "dig", 1), queue("dequeue", None, 2), ask("digging?", 3), reply("yes", 4)]
    assert conversation(tmp_path, *rows)[0] == ["digging?", "dig", "yes"]


def test_a_line_that_says_what_still_waits(tmp_path: Path) -> None:
    rows = [queue("enqueue", "dig", 1), queue("enqueue", "sow", 2), queue("dequeue", None, 3)]
    texts, _ = conversation(tmp_path, *rows, ask("dig\nsow\nrest", 4), reply("yes", 5))
    assert texts == ["dig\nsow\nrest", "yes", "sow"]


def test_a_person_who_types_it_again(tmp_path: Path) -> None:
    rows = [queue("enqueue", "dig", 1), attached("dig", 1), ask("dig", 2), queue("remove", "dig", 3), reply("dug", 4)]
    texts, made = conversation(tmp_path, *rows)
    assert texts == ["dig", "dig", "dug"]
    assert named(made) == ["repeat", "repeat"]


def test_words_of_a_longer_message_are_not_a_prompt_that_waits(tmp_path: Path) -> None:
    texts, _ = conversation(tmp_path, queue("enqueue", "dig", 1), ask("later:\ndig\nthen rest", 2), reply("yes", 3))
    assert texts == ["later:\ndig\nthen rest", "yes", "dig"]


def test_the_same_words_twice(tmp_path: Path) -> None:
    waiting = [queue("enqueue", "dig", 1), queue("enqueue", "dig", 2)]
    rows = [*waiting, queue("dequeue", None, 3), ask("dig", 4), reply("dug", 5), queue("dequeue", None, 6)]
    assert conversation(tmp_path, *rows, reply("dug again", 7))[0] == ["dig", "dug", "dig", "dug again"]


def test_the_same_words_twice_and_no_row_says_them(tmp_path: Path) -> None:
    operations = ("enqueue", "enqueue", "remove", "remove")
    rows = [queue(operation, "dig", second) for second, operation in enumerate(operations)]
    assert conversation(tmp_path, *rows, reply("dug", 4))[0] == ["dig", "dig", "dug"]


@pytest.mark.parametrize("rows", SAID_ONCE.values(), ids=SAID_ONCE)
def test_a_file_that_tells_it_all_again(rows: list[JsonObject], tmp_path: Path) -> None:
    """A resumed file may repeat its rows: the prompt was typed once all the same."""
    texts, _ = conversation(tmp_path, *rows, *rows)
    assert [text.strip() for text in texts] == ["dig", "dug"]


def test_a_note_belongs_to_what_was_said_before(tmp_path: Path) -> None:
    rows = [queue("enqueue", "dig", 1), attached("dig", 1), queue("dequeue", None, 2), queue("enqueue", "sow", 3)]
    assert conversation(tmp_path, *rows, queue("dequeue", None, 4), reply("yes", 5))[0] == ["dig", "sow", "yes"]


def test_a_younger_prompt_that_is_sent_first(tmp_path: Path) -> None:
    """Notices wait longer than people: which one a note means is told by the row that follows."""
    waiting = [queue("enqueue", NOTICE, 1), queue("enqueue", "dig", 2)]
    rows = [*waiting, queue("dequeue", None, 3), ask("dig", 4), reply("dug", 5)]
    rows += [queue("dequeue", None, 6), ask(NOTICE, 7), reply("thanks", 8)]
    texts, made = conversation(tmp_path, *rows)
    assert texts == ["dig", "dug", "thanks"]
    assert named(made, "context-marked") == ["repeat", "repeat", "context-marked"]


def test_something_that_the_client_does_not_name(tmp_path: Path) -> None:
    """An empty place in the queue is taken out in its turn, and nothing is said for it."""
    waiting = [queue("enqueue", None, 1), queue("enqueue", "dig", 2)]
    rows = [*waiting, queue("dequeue", None, 3), ask([said("what?"), PICTURE], 4), reply("moss", 5)]
    texts, _ = conversation(tmp_path, *rows, queue("dequeue", None, 6), ask("dig", 7), reply("dug", 8))
    assert texts == ["what?", "moss", "dig", "dug"]


def test_a_note_about_nothing(tmp_path: Path) -> None:
    """What waits in another file cannot be taken for what comes later."""
    rows = [queue("dequeue", None, 1), queue("enqueue", "dig", 2), reply("so far", 3), queue("dequeue", None, 4)]
    assert conversation(tmp_path, *rows, ask("dig", 5), reply("dug", 6))[0] == ["so far", "dig", "dug"]


def test_a_picture(tmp_path: Path) -> None:
    other = picture("R0lGODlh")
    rows = [
        queue("enqueue", [PICTURE], 1), queue("dequeue", None, 2), ask([PICTURE], 3), reply("moss", 4),
        queue("enqueue", [other], 5), queue("remove", [other], 6), reply("dill", 7),
    ]  # fmt: skip
    _, made = conversation(tmp_path, *rows)
    main, _ = made.sessions()
    assert [part["data"] for part in main.parts if part["type"] == "file"] == ["iVBORw0KGgo=", "R0lGODlh"]


def test_words_do_not_say_the_picture_beside_them(tmp_path: Path) -> None:
    """Better twice than never."""
    rows = [queue("enqueue", [said("dig"), PICTURE], 1), queue("dequeue", None, 2), ask("dig", 3), reply("dug", 4)]
    texts, made = conversation(tmp_path, *rows)
    assert texts == ["dig", "dig", "dug"]
    assert [part["data"] for part in made.sessions()[0].parts if part["type"] == "file"] == ["iVBORw0KGgo="]


def test_what_is_left_at_the_end_is_a_persons_last_word(tmp_path: Path) -> None:
    texts, made = conversation(tmp_path, queue("enqueue", "dig", 1), queue("enqueue", NOTICE, 2))
    assert texts == ["dig"]
    assert named(made, "context-marked") == ["not-sent"], "nobody heard of the notice"


def test_a_notice_that_no_row_has_is_context(tmp_path: Path) -> None:
    texts, made = conversation(tmp_path, queue("enqueue", NOTICE, 1), queue("remove", NOTICE, 2), reply("good", 3))
    assert texts == ["good"]
    assert named(made, "context-marked") == ["repeat", "context-marked"]


NEVER_SENT = {
    "taken back": [queue("enqueue", "dig", 1), queue("popAll", "dig", 2)],
    "taken back with others": [
        queue("enqueue", "dig", 1),
        queue("enqueue", "sow", 1),
        queue("popAll", "dig\nsow", 2),
    ],
    "taken back, all": [queue("enqueue", "dig", 1), queue("popAll", None, 2)],
    "taken back, by a note alone": [queue("popAll", "dig", 2)],
    "a command": [queue("enqueue", "/model", 1), queue("dequeue", None, 2)],
    "a command with words": [queue("enqueue", "/plot:water bed 3", 1), queue("remove", "/plot:water bed 3", 2)],
}


@pytest.mark.parametrize("rows", NEVER_SENT.values(), ids=NEVER_SENT)
def test_what_was_never_sent_is_named(rows: list[JsonObject], tmp_path: Path) -> None:
    texts, made = conversation(tmp_path, *rows, reply("good", 3))
    assert texts == ["good"]
    assert "not-sent" in named(made)


def test_what_was_sent_cannot_be_taken_back(tmp_path: Path) -> None:
    rows = [queue("enqueue", "dig", 1), queue("remove", "dig", 2), queue("enqueue", "sow", 3), queue("popAll", None, 4)]
    texts, made = conversation(tmp_path, *rows, reply("dug", 5))
    assert texts == ["dig", "dug"]
    assert named(made) == ["repeat", "not-sent"]


def test_taken_back_and_the_rest_stays(tmp_path: Path) -> None:
    waiting = [queue("enqueue", text, 1) for text in ("dig", "sow", NOTICE)]
    texts, made = conversation(tmp_path, *waiting, queue("popAll", "dig", 2), reply("good", 3))
    assert texts == ["good", "sow"]
    assert named(made) == ["not-sent", "repeat", "not-sent"]


@pytest.mark.parametrize("text", ["/home/ada/trays.txt is old", "what does /model do?", "/ is the root"])
def test_a_slash_makes_no_command(text: str, tmp_path: Path) -> None:
    rows = [queue("enqueue", text, 1), queue("dequeue", None, 2), reply("good", 3)]
    assert conversation(tmp_path, *rows)[0] == [text, "good"]


def test_subagents_neither_say_nor_answer_a_prompt(tmp_path: Path) -> None:
    """Older files hold the rows of subagents too: their words belong to a conversation of their own."""
    aside = ask("dig", 3, isSidechain=True, parentUuid=None), reply("sub", 4, isSidechain=True, parentUuid="u3")
    rows = [queue("enqueue", "dig", 1), queue("remove", "dig", 2), *aside]
    texts, made = conversation(tmp_path, *rows, reply("dug", 5))
    assert texts == ["dig", "dug"]
    (child,) = made.sessions()[1]
    assert [part["text"] for part in child.parts] == ["dig", "sub"]


@pytest.mark.parametrize(("text", "gone"), [("dig", ["dig"]), (NOTICE, [])])
def test_taking_back_a_turn_that_began_in_the_queue(text: str, gone: list[str], tmp_path: Path) -> None:
    """The answer to a prompt of the queue goes with it; a notice begins no turn."""
    rows = [
        ask("begin", parentUuid=None), reply("begun", parentUuid="u0"),
        ask("sow", 1, parentUuid="a0"), reply("sown", 2, parentUuid="u1"),
        queue("enqueue", text, 3), queue("remove", text, 4), reply("dug", 5, parentUuid="a2"),
        ask("rake", 6, parentUuid="a2"), reply("raked", 7, parentUuid="u6"),
    ]  # fmt: skip
    made = to_codex(tmp_path, *rows)
    assert live(made) == ["begin", "begun", "sow", "sown", *(["dug"] if not gone else []), "rake", "raked"]
    source = read(tmp_path / "in" / claude(tmp_path).place, "claude-code")
    texts = {part["message_id"]: part["text"] for part in source.parts}
    assert [texts[loss.message] for loss in made.losses if loss.kind == "rewound"] == gone


# --- any day at the queue ---


@dataclass
class Day:
    """A client with a queue: what it writes down, and what the conversation must be."""

    draw: Callable[..., Any]
    rows: list[JsonObject] = field(default_factory=begun)
    said: list[str] = field(default_factory=lambda: ["begin", "begun"])
    waiting: list[str] = field(default_factory=list)
    second: int = 0

    def tick(self) -> int:
        self.second += 1
        return self.second

    def enqueue(self) -> None:
        text = f"prompt {self.tick()}"
        self.waiting.append(text)
        self.rows.append(queue("enqueue", text, self.second))

    def leave(self, text: str) -> None:
        oldest = text == self.waiting[0]
        self.waiting.remove(text)
        named = not oldest or self.draw(st.booleans())
        self.rows.append(queue("remove", text, self.tick()) if named else queue("dequeue", None, self.tick()))

    def send(self) -> None:
        text = self.draw(st.sampled_from(self.waiting))
        how = self.draw(st.sampled_from(["row", "attachment", "nothing", "row first"]))
        if how == "row first":
            self.rows.append(attached(text, self.tick()))
        self.leave(text)
        if how == "row":
            self.rows.append(ask(text, self.tick()))
        elif how == "attachment":
            self.rows.append(attached(text, self.tick()))
        self.said.append(text)
        self.answer()

    def take_back(self) -> None:
        text = self.draw(st.sampled_from(self.waiting))
        self.waiting.remove(text)
        self.rows.append(queue("popAll", text, self.tick()))

    def answer(self) -> None:
        text = f"answer {self.tick()}"
        self.said.append(text)
        self.rows.append(reply(text, self.second))

    def steps(self) -> Iterator[Callable[[], None]]:
        yield self.enqueue
        yield self.answer
        if self.waiting:
            yield self.send
            yield self.take_back


@pytest.mark.rule("adapter-integrity-no-silent-drops")
@given(data=st.data())
def test_any_day_at_the_queue(data: st.DataObject) -> None:
    day = Day(data.draw)
    for _ in range(data.draw(st.integers(1, 12))):
        data.draw(st.sampled_from([*day.steps()]))()
    with scratch() as folder:
        texts, _ = conversation(folder, *day.rows[2:])
        assert ["begin", "begun", *texts] == [*day.said, *day.waiting]


def test_a_block_without_a_rule_is_named_once_behind_a_prompt_that_was_sent(tmp_path: Path) -> None:
    answer = turn("assistant", [said("dug"), {"type": "sundial"}], "a4", timestamp=at(4))
    found, made = conversation(tmp_path, queue("enqueue", "dig", 1), queue("dequeue", None, 2), answer)
    assert found == ["dig", "dug"]
    assert [loss.what for loss in made.losses if loss.kind == "block-left-out"] == ["sundial"]
