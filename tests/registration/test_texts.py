"""Files of others, edited as text: one entry changes, and everything else stays to the byte."""

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pond.registration import jsonc, tables

ENTRY = {"command": "/opt/pond", "args": ["mcp"], "env": {"POND_LAKE": "/srv/lake"}}
PATH = ("mcpServers", "pond")

TEXTS = {
    "nothing": "",
    "an empty object": "{}",
    "an empty object in lines": "{\n}\n",
    "other servers": '{\n  "mcpServers": {\n    "fern": {\n      "command": "x"\n    }\n  }\n}\n',
    "no end of line": '{\n  "a": 1\n}',
    "tabs": '{\n\t"a": {\n\t\t"b": [1, 2]\n\t}\n}\n',
    "in one line": '{"a":1,"mcpServers":{"fern":{"command":"x"}}}',
    "carriage returns": '{\r\n  "a": 1,\r\n  "mcpServers": {}\r\n}\r\n',
    "comments": '// mine\n{\n  /* 1 */ "a": 1, // why\n  "mcpServers": {\n    // none yet\n  } // end\n}\n// done\n',
    "a comma too many": '{\n  "a": [1, 2,],\n  "mcpServers": {\n    "fern": {"command": "x"},\n  },\n}\n',
    "a comment at the end": '{\n  "a": "// no comment, {",\n  "b": 2 // last\n}\n',
    "a backslash and a quote": '{"a": "\\\\\\"}", "b": "\\u007b"}\n',
}


def is_within(before: str, after: str) -> bool:
    """Tell whether one text became the other by putting something in, and by nothing else."""
    rest = iter(after)
    return all(char in rest for char in before)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_an_entry_is_set_and_nothing_else_changes(text: str) -> None:
    before: Any = jsonc.parsed(text) if text else {}
    after = jsonc.with_member(text, PATH, ENTRY)
    expected = before | {"mcpServers": before.get("mcpServers", {}) | {"pond": ENTRY}}
    assert jsonc.parsed(after) == expected
    assert list(jsonc.parsed(after)) == list(expected)
    assert is_within(text, after)
    assert after.count("\r\n") == (after.count("\n") if "\r\n" in text else 0)
    assert jsonc.with_member(after, PATH, ENTRY) == after
    changed = jsonc.with_member(after, PATH, {"command": "/other"})
    assert jsonc.parsed(changed)["mcpServers"]["pond"] == {"command": "/other"}


@pytest.mark.parametrize("text", [text for text in TEXTS.values() if text], ids=[name for name in TEXTS if TEXTS[name]])
def test_an_entry_is_removed_and_nothing_else_changes(text: str) -> None:
    after = jsonc.without_member(jsonc.with_member(text, PATH, ENTRY), PATH)
    before: Any = jsonc.parsed(text)
    assert jsonc.parsed(after) == {"mcpServers": {}} | before
    assert jsonc.without_member(text, PATH) == text


def test_the_first_of_several_is_removed() -> None:
    text = '{\n  "mcpServers": {\n    "pond": {}, // ours\n    "fern": {}\n  }\n}\n'
    assert jsonc.parsed(jsonc.without_member(text, PATH)) == {"mcpServers": {"fern": {}}}


@pytest.mark.parametrize(
    "text", ["{", '{"a"', '{"a": }', "[1", '{"a": 1} x', "{'a': 1}", '{"mcpServers": []}', "/* open"]
)
def test_what_cannot_be_edited_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        jsonc.with_member(text, PATH, ENTRY)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), _VALUES, max_size=4), st.sampled_from([None, 2, "\t"]), _VALUES)
def test_any_object_keeps_all_it_had(before: dict[str, Any], indent: Any, entry: Any) -> None:
    text = json.dumps(before, indent=indent)
    if not isinstance(before.get("mcpServers", {}), dict):
        return
    after = jsonc.with_member(text, PATH, entry)
    assert jsonc.parsed(after) == before | {"mcpServers": before.get("mcpServers", {}) | {"pond": entry}}
    removed = jsonc.parsed(jsonc.without_member(after, PATH))
    servers = {name: value for name, value in before.get("mcpServers", {}).items() if name != "pond"}
    assert removed == before | {"mcpServers": servers}


# --- TOML -------------------------------------------------------------------------------------------------------------

TABLES = {
    "nothing": "",
    "settings": 'model = "x"  # mine\n\n[tools]\nweb = true\n',
    "another server": '[mcp_servers.fern]\ncommand = "x"\n\n# about me\n[profile]\nname = "a"\n',
    "a text of many lines": 'a = """\n[mcp_servers.pond]\n"""\n',
    "no end of line": "a = 1",
    "carriage returns": 'a = 1\r\n[b]\r\nc = "d"\r\n',
}
TABLE = ("mcp_servers", "pond")


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
def test_a_table_is_set_and_removed(text: str) -> None:
    before = tomllib.loads(text)
    after = tables.with_table(text, TABLE, ENTRY)
    assert tomllib.loads(after) == before | {"mcp_servers": before.get("mcp_servers", {}) | {"pond": ENTRY}}
    assert after.startswith(text)
    assert tables.with_table(after, TABLE, ENTRY) == after
    assert tables.without_table(after, TABLE).rstrip() == text.rstrip()


def test_a_table_in_the_middle_goes_alone() -> None:
    rest = '\n# about fern\n[mcp_servers.fern]\ncommand = "y"\n'
    text = '[mcp_servers.pond]\ncommand = "x"\n[mcp_servers.pond.env]\nA = "b"\n' + rest
    assert tables.without_table(text, TABLE) == rest
