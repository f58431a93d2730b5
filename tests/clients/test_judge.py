"""The judge's verdicts on recorded requests, without any client."""

from typing import Any

import pytest

from tests.clients.expected import Item
from tests.clients.judge import invented, miscounts, missing, service_problems, unnamed
from tests.clients.wire import Request, request

EXPECTED = [
    Item("human", "Where is the rake?", frozenset({"u1"})),
    Item("thinking", "Perhaps outside.", frozenset({"t1"})),
    Item("model", "I will look.", frozenset({"a1"})),
    Item("call", names=frozenset({"c1"}), name="look", arguments={"place": "yard"}, result="a rake\n"),
    Item("image", names=frozenset({"c1"})),
    Item("model", "In the yard.", frozenset({"a2"})),
]


def _picture() -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}


def _messages() -> list[dict[str, Any]]:
    """Return the conversation as a request of the Messages protocol holds it."""
    answer = [
        {"type": "thinking", "thinking": "Perhaps outside.", "signature": "c2lnbg=="},
        {"type": "text", "text": "I will look."},
        {"type": "tool_use", "id": "c1", "name": "look", "input": {"place": "yard"}},
    ]
    found = [{"type": "text", "text": "a rake"}, _picture()]
    return [
        {
            "role": "user",
            "content": [{"type": "text", "text": "<system-reminder>x</system-reminder>\n\nWhere is the rake?"}],
        },
        {"role": "assistant", "content": answer},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": found}]},
        {"role": "assistant", "content": "In the yard."},
        {"role": "user", "content": "And now?"},
    ]


def _input() -> list[dict[str, Any]]:
    """Return the same conversation as a request of the Responses protocol holds it."""
    pixel = {"type": "input_image", "image_url": "data:image/png;base64,AA=="}
    return [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Where is the rake?"}]},
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "Perhaps outside."}],
            "encrypted_content": "x",
        },
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I will look."}]},
        {"type": "function_call", "name": "look", "arguments": '{"place": "yard"}', "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "a rake"}, pixel]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "In the yard."}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "And now?"}]},
    ]


def _asked(messages: list[dict[str, Any]]) -> Request:
    return request("messages", {"messages": messages})


def _reasons(asked: Request) -> list[str]:
    found = map(str, missing(EXPECTED, asked.atoms))
    return [*found, *miscounts(EXPECTED, asked.atoms), *service_problems(asked)]


def test_a_whole_conversation_is_accepted() -> None:
    assert _reasons(_asked(_messages())) == []
    assert _reasons(request("responses", {"input": _input()})) == []


def test_a_missing_answer_is_named() -> None:
    messages = _messages()
    del messages[3]
    assert _reasons(_asked(messages)) == ["model 'In the yard.': not in the request"]


def test_an_answer_in_the_wrong_role_does_not_count() -> None:
    messages = _messages()
    messages[3]["role"] = "user"
    assert _reasons(_asked(messages)) == ["model 'In the yard.': not in the request"]


def test_answers_in_another_order_are_noticed() -> None:
    messages = _messages()
    messages[1]["content"][1]["text"], messages[3]["content"] = "In the yard.", "I will look."
    assert _reasons(_asked(messages)) == [
        'call look({"place": "yard"}): out of order',
        "model 'In the yard.': out of order",
    ]


def test_a_prompt_said_once_does_not_count_twice() -> None:
    twice = [EXPECTED[0], EXPECTED[0]]
    assert [each.why for each in missing(twice, _asked(_messages()).atoms)] == ["out of order"]


def test_a_call_with_other_arguments_is_another_call() -> None:
    messages = _messages()
    messages[1]["content"][2]["input"] = {"place": "barn"}
    assert _reasons(_asked(messages)) == ['call look({"place": "yard"}): not in the request']


def test_a_free_text_may_be_wrapped_for_the_messages_protocol() -> None:
    call = Item("call", name="patch", arguments="*** text", result="done")
    block = {"type": "tool_use", "id": "c", "name": "patch", "input": {"input": "*** text"}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": "done"}
    atoms = _asked([{"role": "assistant", "content": [block]}, {"role": "user", "content": [result]}]).atoms
    assert missing([call], atoms) == []


def test_a_call_without_a_result_is_noticed() -> None:
    messages = _messages()
    messages[2]["content"] = "never mind"
    assert _reasons(_asked(messages)) == [
        'call look({"place": "yard"}): its call has no result in the request',
        "0 results in the request, 1 in the session",
        "0 images in the request, 1 in the session",
        "the tool call c1 (look) has no result",
        "the result of c1 does not follow at once",
    ]


def test_another_result_is_noticed() -> None:
    messages = _messages()
    messages[2]["content"][0]["content"][0]["text"] = "[Tool call interrupted]"
    assert _reasons(_asked(messages)) == [
        'call look({"place": "yard"}): its result is another: \'[Tool call interrupted]\''
    ]


def test_a_call_too_many_is_noticed() -> None:
    items = _input()
    items[6:6] = [
        {"type": "function_call", "name": "look", "arguments": "{}", "call_id": "c2"},
        {"type": "function_call_output", "call_id": "c2", "output": ""},
    ]
    assert _reasons(request("responses", {"input": items})) == [
        "2 calls in the request, 1 in the session",
        "2 results in the request, 1 in the session",
    ]


def test_a_result_cut_by_the_client_counts() -> None:
    long = "".join(f"line {number}\n" for number in range(1000))
    wanted = [Item("call", name="look", arguments={}, result=long)]

    def told(output: str) -> list[str]:
        call = {"type": "function_call", "name": "look", "arguments": "{}", "call_id": "c"}
        answer = {"type": "function_call_output", "call_id": "c", "output": output}
        return [each.why[:21] for each in missing(wanted, request("responses", {"input": [call, answer]}).atoms)]

    assert told(f"{long[:50]}…900 tokens truncated…{long[-50:]}") == []
    assert told(f"{long[:50]}…900 tokens truncated…another end") == ["its result is another"]
    assert told(long[:50]) == ["its result is another"]


def test_an_answer_that_was_never_given_is_noticed() -> None:
    assert invented(EXPECTED, _asked(_messages()).atoms) == []
    more = [*_messages(), {"role": "assistant", "content": "No response requested."}]
    assert invented(EXPECTED, _asked(more).atoms) == []
    more.append({"role": "assistant", "content": "In the yard. [converted]"})
    assert invented(EXPECTED, _asked(more).atoms) == ["the model never said 'In the yard. [converted]'"]


def test_half_an_emoji_may_arrive_as_a_replacement() -> None:
    atoms = _asked([{"role": "assistant", "content": "half \ufffd leaf"}]).atoms
    assert missing([Item("model", "half \ud83c leaf")], atoms) == []
    assert missing([Item("model", "half \U0001f33f leaf")], atoms) != []


@pytest.mark.parametrize(
    ("losses", "left"),
    [
        ([], 1),
        ([{"kind": "reasoning-left-out", "message": "t1", "part": "t1:0"}], 0),
        ([{"kind": "reasoning-left-out", "part": "t1:0"}], 0),
        ([{"kind": "reasoning-left-out", "message": "a1"}], 1),
        ([{"kind": "failure-flag", "message": "t1"}], 1),
        ([{"kind": "failure-flag", "message": "t1"}, {"kind": "reasoning-not-sent", "message": "t1"}], 0),
    ],
)
def test_only_a_loss_that_says_so_excuses_an_absence(losses: list[dict[str, Any]], left: int) -> None:
    absent = missing(EXPECTED[1:2], _asked(_messages()[2:]).atoms)
    assert len(absent) == 1
    assert len(unnamed(absent, losses)) == left


def test_a_named_loss_excuses_one_picture_only() -> None:
    messages = _messages()
    messages[2]["content"][0]["content"] = "a rake"
    atoms, loss = _asked(messages).atoms, {"kind": "file-left-out", "message": "c1"}
    assert miscounts(EXPECTED, atoms, [loss]) == []
    assert miscounts([*EXPECTED, Item("image", names=frozenset({"u9"}))], atoms, [loss]) != []
    assert miscounts(EXPECTED, atoms, [{**loss, "message": "u1"}]) != []


@pytest.mark.parametrize(
    ("place", "value", "problem"),
    [
        ((1, 0), {"type": "thinking", "thinking": "x"}, "thinking without a signature"),
        ((1, 1), {"type": "text", "text": " "}, "an empty text"),
        ((1, 2), {"type": "tool_use", "id": "c1", "name": "look", "input": "yard"}, "the input of c1 is no object"),
        ((1, 2), {"type": "tool_use", "id": "c1", "name": "a tool", "input": {}}, "a tool name like 'a tool'"),
        ((2, 0), {"type": "tool_result", "tool_use_id": "c9", "content": ""}, "a result without the tool call c9"),
    ],
)
def test_what_a_service_refuses_is_a_problem(place: tuple[int, int], value: dict[str, Any], problem: str) -> None:
    messages = _messages()
    messages[place[0]]["content"][place[1]] = value
    assert problem in service_problems(_asked(messages))


def test_a_call_id_must_have_the_form_of_its_service() -> None:
    call: dict[str, Any] = {"type": "tool_use", "id": "c:1", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c:1", "content": "x"}
    messages = [*_messages()[:1], {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    assert service_problems(_asked(messages)) == ["a call id like 'c:1'"]
    items = [{**item, "call_id": "c" * 65} for item in _input()[4:6]]
    assert service_problems(request("responses", {"input": items})) == ["a call id of 65 characters"]


def test_an_empty_message_is_a_problem() -> None:
    assert service_problems(_asked([*_messages(), {"role": "user", "content": []}])) == ["an empty message (user)"]


def test_a_history_without_its_beginning_is_a_problem() -> None:
    assert service_problems(_asked(_messages()[3:])) == ["the first message is not from the user"]


def test_every_problem_is_listed() -> None:
    items = [*_input()[4:6], *_input()[4:6], {**_input()[4], "call_id": "c3"}]
    assert service_problems(request("responses", {"input": items})) == [
        "two tool calls with the id c1",
        "the tool call c3 (look) has no result",
    ]
