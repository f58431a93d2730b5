"""The indexed text of a message is what person and model said, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pond.model.json_text import Json, JsonObject
from pond.sessions.search_text import search_text


def part(kind: str, provenance: str = "conversational", **fields: Json) -> JsonObject:
    return {"kind": "part", "type": kind, "provenance": provenance, "options": {}, **fields}


def text(text: str, provenance: str = "conversational") -> JsonObject:
    return part("text", provenance, text=text)


def said_by(role: str, **marks: Json) -> JsonObject:
    return {"kind": "message", "role": role, "options": {"pond": marks}}


SAID = text("fix the login")
OTHERS = [
    part("reasoning", text="thinking"),
    part("tool_call", name="Bash", params={"command": "ls"}, provider_executed=False),
    part("tool_result", is_failure=False, result="a file"),
    part("tool_approval_request", approval_id="1", tool_call_id="2"),
    part("tool_approval_response", approval_id="1", approved=True, reason="fine"),
]


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize(
    ("parts", "indexed"),
    [
        ([SAID], "fix the login"),
        ([SAID, text("and the logout")], "fix the login\nand the logout"),
        ([text("  two\n lines ")], "  two\n lines "),
        ([part("file", media_type="image/png", data="AAAA")], "image/png"),
        (
            [part("file", media_type="image/png", file_name="a.png", data="AAAA"), SAID],
            "a.png\nimage/png\nfix the login",
        ),
        ([text(""), SAID, text(" \n"), SAID], "fix the login\nfix the login"),
        ([*OTHERS, SAID, *OTHERS], "fix the login"),
        ([text("half \ud83d of \udc00\ud800 pairs")], "half \ufffd of \ufffd\ufffd pairs"),
        ([text("a\0b é")], "a b é"),
        ([text("日本語 \U0001f600")], "日本語 \U0001f600"),
        ([], None),
        ([text("")], None),
        ([text("\0\n\u3000")], None),
        (OTHERS, None),
    ],
)
def test_indexed_text(role: str, parts: list[JsonObject], indexed: str | None) -> None:
    assert search_text(said_by(role), parts) == indexed


@pytest.mark.rule("model-part-provenance")
def test_what_the_harness_put_there_is_not_indexed() -> None:
    injected = [text("<reminder>", "injected"), part("file", "injected", media_type="text/plain", data="AAAA")]
    assert search_text(said_by("user"), injected) is None
    assert search_text(said_by("user"), [injected[0], SAID, injected[1]]) == "fix the login"


def test_a_prompt_is_indexed_where_it_is_said_first() -> None:
    assert search_text(said_by("user", again=True), [SAID]) is None
    assert search_text(said_by("user", again=False), [SAID]) == "fix the login"
    assert search_text({"role": "user", "options": {"pond": "odd"}}, [SAID]) == "fix the login"


@pytest.mark.parametrize("role", ["system", "tool"])
def test_system_and_tool_messages_have_no_indexed_text(role: str) -> None:
    assert search_text(said_by(role), [SAID]) is None


@given(st.lists(st.text(st.characters(exclude_categories=())), max_size=4))
def test_indexed_text_can_be_stored_and_shows_something(texts: list[str]) -> None:
    found = search_text(said_by("user"), [text(said) for said in texts])
    if found is not None:
        found.encode("utf-8")
        assert "\0" not in found
        assert found.strip()
