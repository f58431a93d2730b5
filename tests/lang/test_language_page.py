"""docs/language.md is true: its example runs, and its tables name what the language has."""

import json
import re
from pathlib import Path

import pytest

from pond.diagnostics.codes import CODES
from pond.lang import parse as language
from pond.lang.context import Writing
from pond.lang.conversions import CONVERSIONS
from pond.lang.explain import MARKS
from pond.lang.fmt import format_map
from tests.lang.engines import HERE, Listener, copy, engines_of

PAGE = (HERE.parents[1] / "docs" / "language.md").read_text(encoding="utf-8")


def fenced(language_name: str) -> str:
    (found,) = re.findall(rf"```{language_name}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def test_the_example_says_what_the_page_says() -> None:
    mapping = fenced("map")
    assert format_map(mapping) == mapping
    engine = engines_of(mapping)
    listener = Listener()
    listener.session_id, listener.project = "7f3", "/home/ada/engine"
    events, heard = [], []
    for line in fenced("jsonl").splitlines():
        record = json.loads(line)
        read = engine.compiled_read(listener.next(record), listener)
        events.append(copy(read))
        heard += listener.heard
        listener.heard = []
        assert engine.compiled_write(read, Writing("7f3", "/home/ada/engine")) == record
    (opened,), (asked, state, question), (answer, text, call) = events
    assert "source" not in opened["options"]
    assert opened["options"]["pond"]["spelling"] == {"at": "2026-03-04T05:06:07Z"}
    assert asked["options"]["source"] == {"mood": "curious"}
    assert "shape" not in asked["options"]["pond"]
    assert (state["text"], state["provenance"]) == ("<state>3 files open</state>", "injected")
    assert (question["text"].strip(), question["provenance"]) == ("Why does it stall?", "conversational")
    assert answer["options"]["pond"]["weave"] == {"body": "0r0"}
    assert text["text"] == "Let me look."
    assert (call["params"], call["options"]["pond"]["spelling"]) == ({"file": "valve.py"}, {"args": "spaced"})
    assert heard == [("source-drift-kind", "say/bot/chart")]


@pytest.mark.parametrize("name", CONVERSIONS)
def test_every_conversion_is_in_the_table(name: str) -> None:
    assert re.search(rf'^\| `{name}(\("T"\))?` \|', PAGE, re.MULTILINE)


def test_every_mark_is_in_the_table() -> None:
    named = re.findall(r"^\| `(options\.[a-z_.]+)` \|", PAGE, re.MULTILINE)
    assert named == [name for name, _ in MARKS]


@pytest.mark.parametrize("code", sorted(code for code in CODES if code.startswith("map-")))
def test_every_error_is_mentioned(code: str) -> None:
    assert f"`{code}`" in PAGE


def test_every_word_of_the_language_is_used() -> None:
    grammar = Path(language.__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    rules = re.sub(r"//.*", "", grammar)
    words = set(re.findall(r'"([a-z_]{2,})"', rules))
    assert {"client", "implied", "beside", "executed_by"} <= words
    assert {
        word for word in words if not re.search(rf"`[^`]*\b{word}\b|^\s+.*\b{word}\b|^.*\b{word}\b.*=>", PAGE, re.M)
    } == set()
