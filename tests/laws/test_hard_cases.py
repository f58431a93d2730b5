"""The shapes that break simple readers, one test for each numbered case, on the smallest record that shows it."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pond.diagnostics.diagnostic import SourceFault
from pond.model.json_text import JsonObject, Numeral
from tests.laws.passage import Passage, read, restore_text, to_canonical
from tests.laws.rows import (
    HEADER,
    PROJECT,
    SESSION,
    TIME,
    Store,
    call,
    claude,
    codex,
    event,
    item,
    prompt,
    result,
    said,
    turn,
)


@pytest.fixture
def in_claude(tmp_path: Path) -> Store:
    return claude(tmp_path)


@pytest.fixture
def in_codex(tmp_path: Path) -> Store:
    return codex(tmp_path)


def kinds(passage: Passage) -> list[str]:
    """Return the roles of messages and the types of parts, in order."""
    return [event.get("role") or event["type"] for event in passage.rows]


def runs(passage: Passage) -> list[tuple[str, str]]:
    """Return (provenance, text) of the text parts."""
    return [(part["provenance"], part["text"]) for part in passage.parts if part["type"] == "text"]


def marks(event: JsonObject) -> JsonObject:
    """Return the marks that only say: the writer would have chosen otherwise."""
    pond = event["options"].get("pond", {})
    return {key: value for key, value in pond.items() if key not in ("seq", "as")}


# --- dispatch -------------------------------------------------------------------------------------------------------


def test_case_01_dispatch_on_a_nested_key(in_claude: Store, in_codex: Store) -> None:
    """Case 1: `payload.type` and `attachment.type` decide what a row is."""
    queued = {
        "type": "attachment", "uuid": "a", "sessionId": SESSION, "timestamp": TIME, "cwd": PROJECT,
        "attachment": {"type": "queued_command", "prompt": "and the ferns?"},
    }  # fmt: skip
    assert runs(in_claude.row(queued)) == [("conversational", "and the ferns?")]
    call_row = item("function_call", call_id="c", name="shell", arguments="{}")
    assert kinds(in_codex.row(call_row, HEADER)) == ["assistant", "tool_call"]
    assert kinds(in_codex.row(event("token_count"), HEADER)) == ["system"]


def test_case_01_dispatch_on_an_absent_key(in_codex: Store) -> None:
    """Case 1: the oldest Codex header has no `type` at all."""
    passage = in_codex.read({"id": "old-1", "timestamp": TIME, "instructions": None})
    assert passage.session["id"] == "old-1"
    assert passage.messages[0]["options"]["pond"]["as"] == "untyped/instructions/id"


@pytest.mark.rule("adapter-integrity-no-silent-drops")
def test_case_01_unknown_kinds_are_carried_and_counted(in_claude: Store, in_codex: Store) -> None:
    """Case 1: a kind nobody listed is kept whole and told of."""
    for passage, name in (
        (in_claude.read(turn("user", "hi"), {"type": "sundial", "sessionId": SESSION, "shade": 3}), "sundial"),
        (in_codex.read(HEADER, {"timestamp": TIME, "type": "sundial", "payload": {"shade": 3}}), "sundial"),
    ):
        carrier = passage.messages[-1]
        assert (carrier["role"], carrier["content"]) == ("system", "")
        assert carrier["options"]["source"]["type"] == "sundial"
        assert passage.report.drift == {name: 1}


def test_case_01_unknown_blocks_keep_their_place(in_claude: Store) -> None:
    """Case 1: a block that no rule takes stays between its neighbours; it is drift where nobody listed it."""
    for name, drift in (("redacted_thinking", {}), ("fallback", {}), ("sundial", {"assistant/sundial": 2})):
        blocks = [said("before"), {"type": name, "data": "x"}, said("after"), {"type": name}]
        passage = in_claude.row(turn("assistant", blocks))
        assert [part["text"] for part in passage.parts] == ["before", "after"]
        assert passage.report.drift == drift


def test_case_02_one_record_two_messages(in_claude: Store) -> None:
    """Case 2: a row that mixes results and text is a tool message and a user message, and one row again."""
    for content in ([result("t"), said("and more")], [said("first"), result("t")]):
        passage = in_claude.row(turn("user", content))
        assert kinds(passage) == ["tool", "tool_result", "user", "text"]
        tool, user = passage.messages
        assert user["options"]["pond"]["with"] is True
        assert tool["id"] != user["id"]


# --- shapes ---------------------------------------------------------------------------------------------------------


def test_case_03_shapes_of_content(in_claude: Store, in_codex: Store) -> None:
    """Case 3: string, list, null and absent come back as they were; a mark is kept only where it is needed."""
    as_list = in_claude.row(turn("user", [said("hi")]))
    as_text = in_claude.row(turn("user", "hi"))
    assert runs(as_list) == runs(as_text) == [("conversational", "hi")]
    assert marks(as_list.messages[0]) == {}
    assert marks(as_text.messages[0]) == {"shape": {"message.content": "string"}}
    assert runs(in_claude.row(turn("assistant", "hello"))) == [("conversational", "hello")]
    absent = turn("user", None)
    assert in_claude.row(absent).parts == []
    del absent["message"]["content"]
    assert in_claude.row(absent).parts == []
    assert in_claude.row(turn("user", [])).parts == []
    assert runs(in_codex.row(item("message", role="user", content="hi"), HEADER)) == [("conversational", "hi")]


@pytest.mark.parametrize(
    "content",
    ["done", [said("done")], [said("a"), {"type": "image", "source": {}}], [{"type": "tool_reference"}], [], None],
)
def test_case_04_content_of_a_tool_result(in_claude: Store, content: Any) -> None:
    """Case 4: a result is the JSON value the tool gave, whatever its shape."""
    (part,) = in_claude.row(turn("user", [result("t", content=content)])).parts
    assert part["result"] == content


@pytest.mark.rule("model-no-synthesis")
def test_case_04_a_tool_result_without_content_has_none(in_claude: Store) -> None:
    """Case 4: what is absent stays absent."""
    (part,) = in_claude.row(turn("user", [result("t")])).parts
    assert "result" not in part
    assert "name" not in part


@pytest.mark.parametrize(
    ("arguments", "params"),
    [
        ('{"cmd":["ls"]}', {"cmd": ["ls"]}),
        ('{"cmd": ["ls"]}', {"cmd": ["ls"]}),
        ('{ "a" : 1.0 }', {"a": 1.0}),
        ('{"n":123456789012345678901234567890}', {"n": 123456789012345678901234567890}),
        ('{"a":"caf\\u00e9"}', {"a": "café"}),
        ('{"a":1,"a":2}', '{"a":1,"a":2}'),
        ("ls -la", "ls -la"),
        ("", ""),
    ],
)
def test_case_05_json_inside_a_string(in_codex: Store, arguments: str, params: Any) -> None:
    """Case 5: the parsed value is typed, the spelling comes back; a repeated key is not parsed away."""
    row = item("function_call", call_id="c", name="shell", arguments=arguments)
    (part,) = in_codex.row(row, HEADER).parts
    assert repr(part["params"]) == repr(params)


@pytest.mark.parametrize("data", ["AAAA", "AAA", "AA\nAA", "_-__", "not base64!", ""])
def test_case_06_spelling_of_base64(in_claude: Store, in_codex: Store, data: str) -> None:
    """Case 6: padding, line breaks and alphabet of a picture's data come back as they were."""
    source = {"type": "base64", "media_type": "image/png", "data": data}
    passage = in_claude.row(turn("user", [{"type": "image", "source": source}]))
    (part,) = passage.parts
    assert (part["type"], part["media_type"], part["data"]) == ("file", "image/png", data)
    url = f"data:image/png;base64,{data}"
    image = item("message", role="user", content=[{"type": "input_image", "image_url": url}])
    (part,) = in_codex.row(image, HEADER).parts
    assert (part["type"], part["media_type"], part["data"]) == ("file", "image/png", data)


def test_case_06_pictures_elsewhere(in_claude: Store, in_codex: Store) -> None:
    """Case 6: a picture at a URL keeps the URL; its media type is the generic one, nobody having said more."""
    url = "https://example.org/leaf"
    (part,) = in_claude.row(turn("user", [{"type": "image", "source": {"type": "url", "url": url}}])).parts
    assert (part["data"], part["media_type"]) == (url, "application/octet-stream")
    image = item("message", role="user", content=[{"type": "input_image", "image_url": url}])
    (part,) = in_codex.row(image, HEADER).parts
    assert (part["data"], part["media_type"]) == (url, "application/octet-stream")


@pytest.mark.parametrize(
    ("spelt", "canonical"),
    [
        ("2026-01-02T03:04:06.999Z", "2026-01-02T03:04:06.999Z"),
        ("2026-01-02T03:04:06Z", "2026-01-02T03:04:06.000Z"),
        ("2026-01-02T04:04:06+01:00", "2026-01-02T03:04:06.000Z"),
    ],
)
def test_case_07_spelling_of_time(in_claude: Store, spelt: str, canonical: str) -> None:
    """Case 7: a time is canonical, its spelling is kept where it differs."""
    passage = in_claude.row(turn("user", "hi", timestamp=spelt))
    (message,) = passage.messages
    assert message["timestamp"] == canonical
    assert ("spelling" in marks(message)) == (spelt != canonical)


@pytest.mark.rule("model-no-synthesis")
def test_case_07_what_is_no_time(in_claude: Store, in_codex: Store) -> None:
    """Case 7: an unreadable time stays, the session's start stands in for it, and the fault is counted."""
    later = turn("user", "hm", uuid="u-2", timestamp="[redacted]")
    for passage in (in_claude.row(later, turn("user", "hi")), in_codex.row({**prompt("hm"), "timestamp": 17}, HEADER)):
        (message,) = passage.messages
        assert message["timestamp"] == passage.session["created_at"] == TIME
        assert message["options"]["source"]["timestamp"] in ("[redacted]", 17)
        assert [d.path for d in passage.report.diagnostics] == ["$.timestamp"]
    nowhere = in_claude.read(turn("user", "hm", timestamp="[redacted]"))
    assert "created_at" not in nowhere.session
    assert "timestamp" not in nowhere.messages[0]


def test_case_08_the_same_text_twice_in_a_record(in_claude: Store, in_codex: Store) -> None:
    """Case 8: two values of the source are two values of canonical, and there is no third."""
    words = "a line of output that is long enough to be recognised"
    row = turn("user", [result("t", content=words)], toolUseResult={"stdout": words})
    assert json.dumps(in_claude.row(row).rows).count(words) == 2
    passage = in_codex.read(HEADER, prompt(words), event("user_message", message=words))
    assert json.dumps(passage.rows).count(words) == 2


# --- facts from elsewhere -------------------------------------------------------------------------------------------


def test_case_09_session_facts_come_from_several_rows(in_claude: Store) -> None:
    """Case 9: id, project and start are each taken from the first row that says them."""
    first = {"type": "mode", "mode": "normal", "sessionId": SESSION}
    second = turn("user", "hi", timestamp="soon")
    third = turn("user", "ho", uuid="u-2", cwd="/elsewhere")
    passage = in_claude.read(first, second, third)
    assert passage.session["id"] == SESSION
    assert passage.session["project"] == PROJECT
    assert passage.session["created_at"] == TIME
    assert passage.session["options"]["pond"]["project_from"] == "record"


def test_case_09_what_equals_the_session_is_not_stored_again(in_claude: Store) -> None:
    """Case 9: a row's own id and directory are stored where they differ from the session's, and only there."""
    same = in_claude.row(turn("user", "hi"))
    assert (
        same.messages[0]["options"].get("source", {}) == {"type": "user"} or "source" not in same.messages[0]["options"]
    )
    moved = in_claude.row(turn("user", "hi", uuid="u-2", cwd="/elsewhere"), turn("user", "hi"))
    assert moved.messages[0]["options"]["source"]["cwd"] == "/elsewhere"
    assert "sessionId" not in moved.messages[0]["options"]["source"]


@pytest.mark.rule("adapter-integrity-opaque-ids")
def test_case_10_a_subagent_is_named_by_its_path(in_claude: Store) -> None:
    """Case 10: its rows carry the parent's id; what the path says is decoded once, on the way in."""
    row = turn("user", "look", isSidechain=True, agentId="a1")
    for place, own in (
        (f"projects/-x/{SESSION}/subagents/agent-a1.jsonl", f"{SESSION}/agent-a1"),
        (f"projects/-x/{SESSION}/subagents/workflows/wf_1/agent-a1.jsonl", f"{SESSION}/workflows/wf_1/agent-a1"),
        ("projects/-x/agent-a1.jsonl", f"{SESSION}/agent-a1"),
    ):
        session = in_claude.read(row, place=place).session
        assert (session["id"], session["parent_session_id"]) == (own, SESSION)


@pytest.mark.rule("model-parent-pointer-coherence")
def test_case_10_forks_name_their_parent(in_claude: Store, in_codex: Store) -> None:
    """Case 10: a fork has a parent session, and a cut-point only together with it."""
    forked = {"sessionId": "par-1", "messageUuid": "m-9"}
    session = in_claude.read(turn("user", "hi", forkedFrom=forked)).session
    assert (session["parent_session_id"], session["parent_message_id"]) == ("par-1", "m-9")
    session = in_claude.read(turn("user", "hi", forkedFrom={"messageUuid": "m-9"})).session
    assert "parent_message_id" not in session
    header = {**HEADER, "payload": {**HEADER["payload"], "forked_from_id": "par-2"}}
    assert in_codex.read(header).session["parent_session_id"] == "par-2"
    header = {**HEADER, "payload": {**HEADER["payload"], "parent_thread_id": "par-3"}}
    assert in_codex.read(header).session["parent_session_id"] == "par-3"
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": "par-4", "depth": 1}}}
    header = {**HEADER, "payload": {**HEADER["payload"], "source": spawn, "forked_from_id": "par-2"}}
    assert in_codex.read(header).session["parent_session_id"] == "par-4"


def test_case_10_files_beside_a_session_come_back(in_claude: Store, tmp_path: Path) -> None:
    """Case 10: side files belong to the session, whatever bytes are in them."""
    home = tmp_path / "projects/-home-ada-bench"
    (home / SESSION / "tool-results").mkdir(parents=True)
    (home / SESSION / "tool-results/t1.txt").write_bytes(b"\xff\x00 pots\n")
    (home / f"{SESSION}.meta.json").write_text('{"agentType": "walker", "n": 1.0}')
    passage = in_claude.read(turn("user", "hi"))
    assert passage.session["options"]["source"]["beside"] == {"{stem}.meta.json": {"agentType": "walker", "n": 1.0}}
    assert passage.parts[-1]["file_name"] == "t1.txt"
    restored = restore_text(to_canonical(home / f"{SESSION}.jsonl", "claude-code"), "claude-code").beside
    assert restored["{stem}/tool-results/t1.txt"] == b"\xff\x00 pots\n"
    assert json.loads(restored["{stem}.meta.json"]) == {"agentType": "walker", "n": 1.0}


@pytest.mark.rule("model-schema-honesty")
def test_case_11_the_name_of_a_tool_result(in_claude: Store, in_codex: Store) -> None:
    """Case 11: it is in the call, another record; without the call there is no name."""
    passage = in_claude.read(turn("assistant", [call("t")]), turn("user", [result("t"), result("x")], uuid="u-2"))
    assert [part.get("name") for part in passage.parts] == ["Read", "Read", None]
    passage = in_codex.read(
        HEADER,
        item("function_call", call_id="c", name="shell", arguments="{}"),
        item("function_call_output", call_id="c", output="ok"),
        item("function_call_output", call_id="nobody", output="ok"),
    )
    assert [part.get("name") for part in passage.parts] == ["shell", "shell", None]
    assert "name" not in passage.parts[-1]


def test_case_11_a_result_in_the_answer_itself(in_claude: Store) -> None:
    """Case 11: other services behind the client put a tool's result into the model's own message."""
    passage = in_claude.read(turn("assistant", [call("t"), result("t", content="ok"), said("done")]))
    assert [part["type"] for part in passage.parts] == ["tool_call", "tool_result", "text"]
    assert (passage.parts[1]["name"], passage.parts[1]["result"]) == ("Read", "ok")
    assert passage.report.drift == {}


def test_case_12_several_records_are_one_message_of_the_model(in_claude: Store) -> None:
    """Case 12: they stay separate; what groups them is kept."""
    rows = [turn("assistant", [said(text)], uuid=uuid) for uuid, text in (("a", "one"), ("b", "two"))]
    for row in rows:
        row["message"]["id"] = "msg_1"
    messages = in_claude.read(*rows).messages
    assert [message["id"] for message in messages] == ["a", "b"]
    assert [message["options"]["anthropic"]["id"] for message in messages] == ["msg_1", "msg_1"]


def test_case_13_failure_told_by_the_rows_between(in_codex: Store) -> None:
    """Case 13: the rows between a script's call and its output say whether it failed."""

    def flag(exit_code: int) -> bool:
        rows = (
            HEADER,
            item("custom_tool_call", call_id="c", name="exec", input="run()"),
            event("exec_command_end", call_id="inner", exit_code=exit_code),
            item("custom_tool_call_output", call_id="c", output="Script completed"),
        )
        return bool(in_codex.read(*rows).parts[-1]["is_failure"])

    assert flag(1) is True
    assert flag(0) is False


def test_case_13_a_new_script_has_not_failed_yet(in_codex: Store) -> None:
    """Case 13: a failure of the script before says nothing about the next."""
    rows = [HEADER]
    for script, exit_code in (("c", 1), ("d", 0)):
        rows += [
            item("custom_tool_call", call_id=script, name="exec", input="run()"),
            event("exec_command_end", call_id=f"inner-{script}", exit_code=exit_code),
            item("custom_tool_call_output", call_id=script, output="Script completed"),
        ]
    assert [part.get("is_failure") for part in in_codex.read(*rows).parts] == [None, True, None, False]


@pytest.mark.rule("adapter-integrity-additive-sync")
def test_case_13_words_that_stand_in_the_event_log_alone(in_codex: Store) -> None:
    """Case 13: an event is words as long as no item before it said any; what follows it does not matter."""
    shown = [
        event("user_message", message="dig", images=[]),
        event("agent_reasoning", text="where?"),
        event("agent_reasoning_raw_content", text="there"),
        event("agent_message", message="dug", phase="final_answer"),
    ]
    found = in_codex.read(HEADER, *shown)
    assert kinds(found) == [
        "system", "user", "text", "assistant", "reasoning", "assistant", "reasoning", "assistant", "text",
    ]  # fmt: skip
    assert [part["text"] for part in found.parts] == ["dig", "where?", "there", "dug"]
    assert found.messages[-1]["options"]["openai"] == {"phase": "final_answer"}
    assert found.report.drift == {}
    assert [part["text"] for part in in_codex.read(HEADER, *shown, prompt("more")).parts][:4] == [
        "dig", "where?", "there", "dug",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "before",
    [
        prompt("dig"),
        item("message", role="assistant", content=[]),
        item("reasoning", summary=[]),
        {"timestamp": TIME, "type": "response_item", "payload": {"role": "user", "content": "dig"}},
        {"type": "message", "role": "assistant", "content": []},
        {"timestamp": TIME, "type": "world_state", "payload": {"full": True}},
        {**HEADER, "payload": {**HEADER["payload"], "originator": "pond"}},
    ],
    ids=["user", "assistant", "reasoning", "no-type", "flat", "world-state", "written-by-pond"],
)
def test_case_13_the_event_log_repeats_what_items_say(in_codex: Store, before: Any) -> None:
    """Case 13: where words are said in items, the event log holds their copies."""
    for shown in (event("user_message", message="dig"), event("agent_reasoning", text="dig")):
        assert in_codex.read(HEADER, before, shown).messages[-1]["options"]["pond"]["as"] == "carry"
    for silent in (item("message", role="developer", content=[]), item("function_call", name="f", arguments="{}")):
        passage = in_codex.read(HEADER, silent, event("user_message", message="dig"))
        assert runs(passage) == [("conversational", "dig")]


def test_case_06_sounds_and_files(in_codex: Store) -> None:
    """Case 6: sounds and files in a message, inline or elsewhere; one that the service holds stays where it is."""
    blocks = [
        {"type": "input_audio", "audio_url": "data:audio/wav;base64,UklG"},
        {"type": "input_audio", "audio_url": "https://example.invalid/rain.wav"},
        {"type": "input_file", "file_data": "data:application/pdf;base64,JVBE", "filename": "bed.pdf"},
        {"type": "input_file", "file_data": "JVBE"},
        {"type": "input_file", "file_id": "file-1"},
        {"type": "input_file", "file_url": "https://example.invalid/bed.pdf", "file_id": None},
    ]
    passage = in_codex.row(item("message", role="user", content=blocks), HEADER)
    unknown = "application/octet-stream"
    assert [(p["media_type"], p["data"], p.get("file_name")) for p in passage.parts] == [
        ("audio/wav", "UklG", None), (unknown, "https://example.invalid/rain.wav", None),
        ("application/pdf", "JVBE", "bed.pdf"), (unknown, "JVBE", None),
        (unknown, "https://example.invalid/bed.pdf", None),
    ]  # fmt: skip
    assert passage.report.drift == {}


def test_case_04_calls_that_say_less(in_codex: Store) -> None:
    """Case 4: a search without an action, results without a call, a shell that the client runs: none is a fault."""
    shell = item("local_shell_call", call_id="c", status="completed", action={"type": "exec", "command": ["ls"]})
    search = item("web_search_call", status="completed", action={"type": "search"})
    rows = [
        shell,
        search,
        item("web_search_call", status="in_progress"),
        item("tool_search_output", call_id=None, tools=[]),
    ]
    passage = in_codex.read(HEADER, *rows, item("function_call_output", call_id="c", output="beds"))
    assert kinds(passage) == [
        "system", "assistant", "tool_call", "assistant", "tool_call", "assistant", "tool", "tool_result", "tool",
        "tool_result",
    ]  # fmt: skip
    ours, theirs = (part["provider_executed"] for part in passage.parts if part["type"] == "tool_call")
    assert (ours, theirs) == (False, True)
    assert passage.parts[-1]["name"] == "local_shell_call"
    assert (passage.report.errors, passage.report.drift, passage.report.diagnostics) == (0, {}, [])


def test_case_16_words_of_another_agent(in_codex: Store) -> None:
    """Case 16: what one agent writes to another is nobody's typing."""
    sent = {"author": "/main", "recipient": "/main/digger", "content": "Dig.", "trigger_turn": True}
    row = {"timestamp": TIME, "type": "inter_agent_communication", "payload": sent}
    assert runs(in_codex.row(row, HEADER)) == [("injected", "Dig.")]


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nok", False),
        ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno", True),
        ("Process exited with code 0\nOutput:\nProcess exited with code 2", False),
        ("Process exited with code 0\nProcess exited with code 2", False),
        ("Process exited with code 02\nOutput:\nno", True),
        ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno", True),
        ("Exit code: 0\nExit code: 1\nOutput:\nok", False),
        ('{"output":"no","metadata":{"exit_code":3}}', True),
        ('{"output":"ok","metadata":{"exit_code":0}}', False),
        ("apply_patch verification failed: no such line", True),
        ("they said that Process exited with code 9", False),
        ("", False),
    ],
)
def test_case_13_failure_told_by_the_output(in_codex: Store, output: str, failed: bool) -> None:
    """Case 13: what the client prints above a tool's output says whether it failed; other words do not."""
    (part,) = in_codex.row(item("function_call_output", call_id="c", output=output), HEADER).parts
    assert part["is_failure"] is failed


@pytest.mark.rule("model-no-synthesis")
def test_case_13_failure_flags_of_claude_code(in_claude: Store) -> None:
    """Case 13: `is_error` says it; where it is absent the flag is false, the one default the spec names."""
    blocks = [result("a", is_error=True), result("b", is_error=False), result("c")]
    assert [part["is_failure"] for part in in_claude.row(turn("user", blocks)).parts] == [True, False, False]


# --- order and identity ---------------------------------------------------------------------------------------------


@pytest.mark.rule("adapter-integrity-event-ordering")
def test_case_14_order_is_the_order_of_the_log(in_claude: Store, in_codex: Store) -> None:
    """Case 14: time runs backwards, records do not move."""
    times = ["2026-01-02T03:04:09.000Z", "2026-01-02T03:04:07.000Z", "2026-01-02T03:04:08.000Z"]
    passage = in_claude.read(*(turn("user", t, uuid=f"u-{t[-5]}", timestamp=t) for t in times))
    assert [part["text"] for part in passage.parts] == times
    assert [message["options"]["pond"]["seq"] for message in passage.messages] == [0, 1, 2]
    passage = in_codex.read(HEADER, *({**prompt(t), "timestamp": t} for t in times))
    assert [part["text"] for part in passage.parts] == times


@pytest.mark.rule("adapter-integrity-dedup")
def test_case_15_a_repeat_is_stored_once(in_claude: Store) -> None:
    """Case 15: an equal record under the same id is a repeat: remembered, counted, written back where it stood."""
    row, other = turn("user", "hi"), turn("user", "ho", uuid="u-2")
    reordered = dict(reversed(row.items()))
    passage = in_claude.read(row, other, row, reordered)
    assert [part["text"] for part in passage.parts] == ["hi", "ho"]
    repeats = [message for message in passage.messages if "repeat_of" in marks(message)]
    assert [marks(message)["repeat_of"] for message in repeats] == ["u-1", "u-1"]
    assert passage.report.repeats == 2


@pytest.mark.rule("adapter-integrity-dedup")
@pytest.mark.rule("adapter-integrity-additive-sync")
def test_case_15_other_content_under_the_same_id_gets_its_own_key(in_claude: Store) -> None:
    """Case 15: nothing overwrites anything, and a longer version of the file gives the same keys."""
    rows = [turn("user", text) for text in ("hi", "ho", "hi", "hum", "ho")]
    longest = in_claude.read(*rows)
    keys = [message["id"] for message in longest.messages]
    assert len(set(keys)) == len(keys)
    assert [part["text"] for part in longest.parts] == ["hi", "ho", "hum"]
    for count in range(1, len(rows)):
        shorter = in_claude.read(*rows[:count])
        assert shorter.rows == longest.rows[: len(shorter.rows)]


def test_case_15_records_without_an_id_get_one_from_their_content(in_codex: Store) -> None:
    """Case 15: equal rows without an id are told apart by how often they came before."""
    passage = in_codex.read(HEADER, prompt("again"), prompt("again"))
    first, second = passage.messages[1:]
    assert second["id"] == f"{first['id']}.2"


_BLOCK = "<system-reminder>\nThe kiln is hot.\n</system-reminder>"
_SPLITS: list[tuple[str, list[tuple[str, str]]]] = [
    (f"{_BLOCK}\nPlant it.", [("injected", f"{_BLOCK}"), ("conversational", "\nPlant it.")]),
    (f"Plant it.\n{_BLOCK}", [("conversational", "Plant it.\n"), ("injected", _BLOCK)]),
    (
        f"Plant\n{_BLOCK}\nit.",
        [("conversational", "Plant\n"), ("injected", _BLOCK), ("conversational", "\nit.")],
    ),
    (f"{_BLOCK}\n{_BLOCK}", [("injected", f"{_BLOCK}\n{_BLOCK}")]),
    ("What does <system-reminder>x</system-reminder> mean?", []),
    ("<system-reminder>\nnever closed", []),
    (f"```\n{_BLOCK}\n```", []),
    (f"The tag {_BLOCK} in a sentence", []),
    ("What is this: <system-reminder>x</system-reminder>", []),
    ("</system-reminder>\nPlant it.", []),
    ("<system-reminders>\nx\n</system-reminders>", []),
]


@pytest.mark.rule("model-part-provenance")
@pytest.mark.parametrize(("text", "expected"), _SPLITS)
def test_case_16_provenance_changes_at_the_exact_boundary(
    in_claude: Store, text: str, expected: list[tuple[str, str]]
) -> None:
    """Case 16: injected before, after, between; what a person writes about a block stays theirs."""
    expected = expected or [("conversational", text)]
    for content in (text, [said(text)]):
        found = runs(in_claude.row(turn("user", content)))
        assert found == expected
        assert "".join(run for _, run in found) == text


_CONTEXT = "<environment_context>\n  <cwd>/home/ada</cwd>\n</environment_context>"
_CODEX_SPLITS: list[tuple[str, list[tuple[str, str]]]] = [
    (_CONTEXT, [("injected", _CONTEXT)]),
    (f"{_CONTEXT}\nDig.", [("injected", _CONTEXT), ("conversational", "\nDig.")]),
    (
        "# AGENTS.md instructions for /home/ada\n\nBe brief.",
        [("injected", "# AGENTS.md instructions for /home/ada\n\nBe brief.")],
    ),
    (
        "# Context from my IDE setup:\n## Open tabs:\n- a.md\n## My request for Codex:\nDig.\n",
        [
            ("injected", "# Context from my IDE setup:\n## Open tabs:\n- a.md\n## My request for Codex:"),
            ("conversational", "\nDig.\n"),
        ],
    ),
    ("Why does <environment_context>x</environment_context> come first?", []),
    ("<environment_context>\nnever closed", []),
    ("My file begins with <environment_context>x</environment_context>", []),
    ("My # AGENTS.md instructions for you", []),
    (
        "# AGENTS.md instructions\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>\nDig.",
        [
            ("injected", "# AGENTS.md instructions\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>"),
            ("conversational", "\nDig."),
        ],
    ),
    ("# AGENTS.md instructions\n\nWhat goes below?", []),
    (
        "<realtime_delegation>\n  <input>dig</input>\n  <delta>hm</delta>\n</realtime_delegation>",
        [
            ("injected", "<realtime_delegation>\n  <input>"),
            ("conversational", "dig"),
            ("injected", "</input>\n  <delta>hm</delta>\n</realtime_delegation>"),
        ],
    ),
    ("A form has an <input> and no </input>.", []),
    *(
        (text, [("injected", text)])
        for text in (
            '<codex_internal_context source="goal">\nDig on.\n</codex_internal_context>',
            "<goal_context>\nDig on.\n</goal_context>",
            '<hook_prompt hook_run_id="r">Dig on.</hook_prompt>',
            "<node_repl_review_evidence>\ndug\n</node_repl_review_evidence>",
            "<external_editor>a.md is open</external_editor>",
            "Warning: The maximum number of unified exec processes you can keep open is 60.",
            "Warning: Your account was flagged for potentially high-risk cyber activity.",
            "<EXTERNAL SESSION IMPORTED>",
            "<audio name=[Audio #1]>",
            "<audio>",
            "</audio>",
            "<image>",
        )
    ),
    ("Play <audio> here", []),
    ("Warning: The bed is wet.", []),
    ("I wrote <goal_context>dig</goal_context> myself", []),
]


@pytest.mark.rule("model-part-provenance")
@pytest.mark.parametrize(("text", "expected"), _CODEX_SPLITS)
def test_case_16_provenance_in_codex(in_codex: Store, text: str, expected: list[tuple[str, str]]) -> None:
    """Case 16, for the other client's markers."""
    found = runs(in_codex.row(prompt(text), HEADER))
    assert found == (expected or [("conversational", text)])
    assert "".join(run for _, run in found) == text


@pytest.mark.rule("model-part-provenance")
def test_case_16_provenance_of_whole_records(in_claude: Store) -> None:
    """Case 16: what the harness marks as its own is injected whole, in anyone's slot."""
    assert runs(in_claude.row(turn("user", "Run it.", isMeta=True))) == [("injected", "Run it.")]
    assert runs(in_claude.row(turn("user", "So far.", isCompactSummary=True))) == [("injected", "So far.")]
    assert runs(in_claude.row(turn("user", "[Request interrupted by user]")))[0][0] == "injected"
    assert runs(in_claude.row(turn("user", "[Request interrupted by user] why?")))[0][0] == "conversational"
    failed = turn("assistant", [said("API Error: 529")], isApiErrorMessage=True)
    assert runs(in_claude.row(failed)) == [("injected", "API Error: 529")]
    assert runs(in_claude.row(turn("assistant", [said("API Error: 529")])))[0][0] == "conversational"
    wrapped = "<command-name>/plant</command-name>\n<command-args>two ferns</command-args>"
    assert ("conversational", "two ferns") in runs(in_claude.row(turn("user", wrapped)))


# --- both faces -----------------------------------------------------------------------------------------------------


@pytest.mark.rule("model-no-synthesis")
@pytest.mark.rule("adapter-integrity-no-silent-drops")
@pytest.mark.parametrize("wrong", [5, None, [], {"a": 1}, True])
def test_case_17_wrong_types_stay_as_they_are(in_claude: Store, in_codex: Store, wrong: Any) -> None:
    """Case 17: a value of the wrong type is never coerced: residue, a counted fault, and back again."""
    passage = in_claude.row(turn("user", [{"type": "text", "text": wrong}]))
    assert passage.parts == []
    assert passage.report.diagnostics or passage.report.drift
    passage = in_codex.row(item("function_call", call_id=wrong, name=wrong, arguments="{}"), HEADER)
    assert passage.report.diagnostics or passage.report.drift
    assert all(type(part.get("name", "")) is str for part in passage.parts)


@pytest.mark.parametrize("number", ["9007199254740993", "-0.0", "1e400", "NaN", "0.1", "1.0", "-Infinity", "12" * 20])
def test_case_18_numbers(in_claude: Store, number: str) -> None:
    """Case 18: integers of any size, signed zero, numbers no double holds."""
    line = json.dumps(turn("assistant", [call("t")])).replace('"a"', number).encode()
    (part,) = in_claude.row(line).parts
    found = part["params"]["file_path"]
    assert str(found) in (number, str(Decimal(number)))
    assert type(found) in (int, float, Numeral)


@pytest.mark.parametrize("text", ["\ud800", "nul \x00", "🌿", "", "\u2028", '\\"'])
def test_case_18_strings_and_keys(in_claude: Store, in_codex: Store, text: str) -> None:
    """Case 18: lone surrogates, NUL, astral characters, in values and in keys."""
    row = turn("user", [said(text)], **{text: text})
    assert [part["text"] for part in in_claude.row(row).parts] == [text]
    assert [part["text"] for part in in_codex.row(prompt(text), HEADER).parts] == [text]


@pytest.mark.rule("adapter-integrity-no-silent-drops")
def test_case_18_a_duplicate_key_is_reported(in_claude: Store) -> None:
    """Case 18: the last one wins, which loses the first: an error, with its line."""
    line = json.dumps(turn("user", "hi"))[:-1] + ', "note": 1, "note": 2}'
    passage = in_claude.read(turn("user", "ho", uuid="u-2"), line.encode())
    (fault,) = passage.report.diagnostics
    assert (fault.code, fault.severity) == ("source-duplicate-key", "error")
    assert fault.span is not None
    assert fault.span.line == 2


# --- where the project comes from -----------------------------------------------------------------------------------


@pytest.mark.rule("model-project-non-empty")
def test_project_from_record_path_directory_or_argument(in_claude: Store, in_codex: Store, tmp_path: Path) -> None:
    """The working directory a record names, else what the store's path says, else the directory."""
    placeless = {"type": "mode", "mode": "normal", "sessionId": SESSION}

    def found(passage: Passage) -> tuple[str, str]:
        return passage.session["project"], passage.session["options"]["pond"]["project_from"]

    assert found(in_claude.read(turn("user", "hi"))) == (PROJECT, "record")
    assert found(in_claude.read(placeless)) == ("-home-ada-bench", "path")
    assert found(in_claude.read(placeless, place="loose/x.jsonl")) == (f"{tmp_path}/loose", "directory")
    assert found(in_claude.read(turn("user", "hi", cwd=""))) == ("-home-ada-bench", "path")
    header = {"timestamp": TIME, "type": "session_meta", "payload": {"id": "r"}}
    assert found(in_codex.read(header, {"timestamp": TIME, "type": "turn_context", "payload": {"cwd": PROJECT}})) == (
        PROJECT,
        "record",
    )
    assert found(in_codex.read(header))[1] == "directory"


@pytest.mark.rule("model-project-non-empty")
@pytest.mark.rule("model-no-synthesis")
def test_a_session_without_a_project_is_refused(tmp_path: Path) -> None:
    """Nothing says where it belongs: a typed fault, unless the person says so; never a made-up name."""
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"type": "mode", "mode": "normal", "sessionId": SESSION}) + "\n")
    with pytest.raises(SourceFault) as refused:
        _read_nameless(path)
    assert [d.code for d in refused.value.diagnostics] == ["source-no-project"]
    passage = _read_nameless(path, project="/home/ada/said")
    assert passage.session["project"] == "/home/ada/said"
    assert passage.session["options"]["pond"]["project_from"] == "argument"


def _read_nameless(path: Path, project: str | None = None) -> Passage:
    """Read a file as if it came through a pipe: no path is known."""
    from pond.codec.openfile import OpenFile
    from pond.codec.opening import open_input
    from pond.codec.report import Report
    from pond.codec.request import ConversionRequest

    with open(path, "rb") as file:
        report = Report()
        (session,) = open_input(
            OpenFile(file, "<stdin>", None), ConversionRequest("canonical", "claude-code", project), report
        ).sessions
        return Passage(session.row, [*session.groups], report)


def test_reading_needs_no_path(tmp_path: Path) -> None:
    """The same rows through a pipe give the same events: only the path's own facts are missing."""
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(turn("user", "hi")) + "\n")
    assert _read_nameless(path).rows == read(path, "claude-code").rows
