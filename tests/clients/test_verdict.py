"""The verdict on two runs of a client, without any client."""

from dataclasses import replace
from typing import Any

import pytest

from tests.clients.client import WORD
from tests.clients.expected import Item
from tests.clients.isolation import Run
from tests.clients.mock_model import AGAIN, CALL_ID, DONE, TURN
from tests.clients.resuming import Resumed
from tests.clients.verdict import judge
from tests.clients.wire import Request, request

EXPECTED = [Item("human", "Open the window", frozenset({"u"})), Item("model", "It is open.", frozenset({"a"}))]
SILENT = [*EXPECTED, Item("thinking", "Fresh air.", frozenset({"t"}))]


def _said(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


HISTORY = [_said("user", "Open the window"), _said("assistant", "It is open."), _said("user", TURN)]
CALLED = [
    {"type": "function_call", "call_id": CALL_ID, "name": "look", "arguments": "{}"},
    {"type": "function_call_output", "call_id": CALL_ID, "output": WORD},
]


def _asked(*items: dict[str, Any]) -> Request:
    return request("responses", {"input": list(items)})


GOOD = Resumed(
    (Run(0, "", ""), Run(0, "", "")),
    _asked(*HISTORY),
    _asked(*HISTORY, *CALLED),
    _asked(*HISTORY, *CALLED, _said("assistant", DONE), _said("user", AGAIN)),
)


def _reasons(resumed: Resumed, original: Resumed | None = None, expected: list[Item] = EXPECTED) -> list[str]:
    return judge(expected, resumed, [], original, lambda value: value).reasons


def test_a_session_that_goes_on_is_good() -> None:
    assert _reasons(GOOD) == []
    assert _reasons(GOOD, GOOD) == []


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (replace(GOOD, opening=None), "the prompt never reached the model"),
        (replace(GOOD, opening=_asked(*HISTORY[1:])), "human 'Open the window': not in the request"),
        (replace(GOOD, opening=_asked(*CALLED, *HISTORY)), "1 calls in the request, 0 in the session"),
        (replace(GOOD, opening=_asked(*HISTORY, CALLED[1])), "a real service would refuse: a result without"),
        (replace(GOOD, opening=_asked(*HISTORY, _said("assistant", "Hm."))), "the model never said 'Hm.'"),
        (replace(GOOD, answering=None), "the new turn's tool result did not come back"),
        (replace(GOOD, answering=GOOD.opening), "the new turn's tool result did not come back"),
        (
            replace(GOOD, runs=(Run(0, "", ""), Run(1, "", "refused"))),
            "a run did not end well: code 0:  | code 1",
        ),
        (replace(GOOD, runs=(Run(None, "", ""), Run(0, "", ""))), "a run did not end well"),
        (replace(GOOD, later=None), "resumed by its id, the session did not reach the model"),
        (replace(GOOD, later=_asked(*HISTORY, _said("user", AGAIN))), f"after a turn: model {DONE!r}"),
    ],
)
def test_what_goes_wrong_is_a_reason(broken: Resumed, reason: str) -> None:
    assert any(each.startswith(reason) for each in _reasons(broken)), _reasons(broken)


def test_a_native_file_must_lead_to_the_same_request() -> None:
    noted = replace(GOOD, opening=_asked(_said("user", "<note>"), *HISTORY))
    assert _reasons(noted, GOOD) == ["the request is not the one that the unconverted file leads to"]
    moved = replace(GOOD, opening=_asked(_said("user", "<environment_context>elsewhere"), *HISTORY))
    assert _reasons(moved, GOOD) == []


def test_what_the_client_leaves_out_itself_is_a_remark() -> None:
    found = judge(SILENT, GOOD, [], GOOD, lambda value: value)
    assert found.reasons == []
    assert found.notes == ["the client itself leaves out 1, of the unconverted file too"]
    assert _reasons(GOOD, None, SILENT) == ["thinking 'Fresh air.': not in the request"]


def test_a_named_loss_is_a_remark() -> None:
    found = judge(SILENT, GOOD, [{"kind": "reasoning-left-out", "message": "t"}], None, lambda value: value)
    assert found.reasons == []
    assert found.notes == ["not sent, and named in the loss report: 1 thinking"]


def test_the_same_place_under_another_name_is_the_same() -> None:
    def same(value: Any) -> Any:
        return value.replace("window", "door") if isinstance(value, str) else value

    renamed = [replace(item, text=str(same(item.text))) for item in EXPECTED]
    assert judge(renamed, GOOD, [], None, same).reasons == []
    assert judge(EXPECTED, GOOD, [], None, same).reasons == []
    assert judge(renamed, GOOD, [], None, lambda value: value).reasons != []
