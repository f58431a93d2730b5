"""Filters find in Lance what the same conditions mean in Python: with indexes, without, and whatever a value holds."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pond.diagnostics.diagnostic import UsageError
from pond.search.filters import filter_of
from pond.search.query.parse import parse
from pond.search.query.query import Condition, Key
from pond.search.wire import conditions_of, filters_of
from pond.substrate.store import Store
from pond.types import SearchExclusions, SearchFilters
from tests.search.asking import NOW, Message, expected, found, lake

pytestmark = pytest.mark.rule("search-prefilter-pushdown")

HOSTILE = [
    "'", "''", "'; drop table messages; --", "') OR 1=1 --", ") OR 1=1 --", "x' OR 'x'='x", "\\", "\\'", "%", "_",
    "\0", "a\0b", "\u2018quoted\u2019", "\u201cquoted\u201d", '"', "`x`", "/* x */", "$1", "{x}", "[x]",
    "x]) OR array_has(labels, 'failed", "\n", "\u2028", "\x1f", "\x01", "\\x{1f}", ".*", "(?i)x", "北京", "\ud83d",
    "🌿",
    "NULL", "true",
]  # fmt: skip
MESSAGES = [
    Message("plain"),
    Message("second", role="assistant", source_agent="claude-code", labels=("tool=bash", "file=lake.py", "failed")),
    Message("nulls", role=None, source_agent=None, project=None, timestamp=None, labels=None),
    Message("null labels", labels=None),
    Message("null time", timestamp=None, role="tool"),
    Message("below", project="/home/ada/herbarium/ferns", timestamp="2026-05-02T00:00:00.000Z"),
    Message("beside", project="/home/ada/herbarium-old", timestamp="2026-05-02T00:00:00.000001Z"),
    Message(
        "windows", project=r"C:\Users\Ada\Herbarium", labels=("tool=mcp__moss__read", "file=a/lake.py", "file=lake.py")
    ),
    Message("brackets", project="/srv/[a]/*b", labels=("file=readme.md", "has=image")),
    Message("old", timestamp="0001-01-01T00:00:00.000Z", labels=("has=file", "has=audio")),
    Message("late", timestamp="9999-12-31T23:59:59.999Z", labels=("tool=bash",)),
    Message("other session", session_id="5e55-b", labels=("failed",)),
    Message("explored", session_id="a9e7-1", agent="explore", labels=("tool=read", "file=lake.py")),
    Message("subagent", session_id="a9e7-2", agent="subagent", labels=None),
    *(
        Message(f"hostile {at}", role="user", project=text, agent=None, labels=(f"tool={text}", f"file={text}"))
        for at, text in enumerate(HOSTILE)
    ),
    *(
        Message(f"hostile agent {at}", session_id=f"9057/{at}", agent=text, source_agent=text or "x")
        for at, text in enumerate(HOSTILE)
    ),
]


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "indexed"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return lake(tmp_path_factory.mktemp("lakes") / "lake", MESSAGES, indexed=request.param)


def typed(text: str) -> tuple[Condition, ...]:
    return parse(text, NOW).conditions


ASKED = [
    "", "role:user", "-role:user", "role:user role:tool", "role:user -role:tool", "client:codex", "-client:codex",
    "client:CODEX -client:claude-code", "project:/home/ada/herbarium", "project:/home/ada/herbarium/",
    "project:herbarium", "project:Herbarium", "-project:herbarium", "project:*ferns", "project:*HERB*",
    "project:*[a]*", "project:?:/users/*", "project:/nowhere", "-project:/nowhere", "project:*nowhere*",
    r"project:C:\Users", "project:c:/users/ada", "project:herbarium project:*-old", "session:5e55-a", "session:5e55-b",
    "-session:5e55-a", "session:a9e7-1", "after:2026-05-02", "before:2026-05-02", "-after:2026-05-02",
    "-before:2026-05-02", "before:2026-05-02T00:00:00.000001Z", "after:0001-01-01T00:00:00Z", "before:9999-12-31",
    "after:2026-05-02 before:2026-05-03", "after:2026-05-02 after:2026-05-01", "before:2026-05-02 before:2026-05-01",
    "tool:bash", "tool:BASH", "-tool:bash", "tool:mcp__*", "-tool:mcp__*", "tool:*", "-tool:*", "tool:bas?",
    "tool:bash tool:mcp__*", "file:lake.py", "file:a/lake.py", r"file:a\lake.py", "-file:lake.py", "file:*.py",
    "-file:*.py", "file:*.md file:lake.py", "has:image", "-has:image", "has:image has:audio", "failed:true",
    "failed:false", "-failed:true", "-failed:false", "failed:true failed:false", "failed:true -failed:true",
    "agent:explore", "agent:Explore", "-agent:explore", "subagents:true", "subagents:only", "subagents:false",
    "subagents:false subagents:only", "subagents:true -agent:explore", "subagents:true tool:read -failed:true",
    "role:user tool:bash -has:file", "role:user -role:user",
]  # fmt: skip


@pytest.mark.parametrize("text", ASKED)
def test_what_is_typed_is_found(store: Store, text: str) -> None:
    assert found(store, typed(text)) == expected(MESSAGES, typed(text))


def test_the_conditions_tell_the_messages_apart() -> None:
    """Most of what is asked above finds some messages and not others: the comparison could fail."""
    answers = [len(expected(MESSAGES, typed(text))) for text in ASKED]
    assert sum(0 < count < len(MESSAGES) for count in answers) > len(ASKED) * 0.85


def test_a_beginning_of_an_id_is_a_session(store: Store) -> None:
    assert found(store, typed("session:a9e7-1")) == ["explored"]
    with pytest.raises(UsageError, match="matches 2"):
        found(store, typed("session:5e55"))


@pytest.mark.parametrize(
    ("text", "code", "column", "help"),
    [
        ("x session:nowhere", "lake-not-found", 11, ""),
        ("x session:5e55", "lake-ambiguous", 11, "5e55-a"),
        ("client:codx", "usage", 8, "did you mean `codex`?"),
    ],
)
def test_what_is_not_there_is_refused_where_it_stands(
    store: Store, text: str, code: str, column: int, help: str
) -> None:
    with pytest.raises(UsageError) as refused:
        filter_of(store, typed(text))
    (diagnostic,) = refused.value.diagnostics
    assert (diagnostic.code, diagnostic.span and diagnostic.span.column) == (code, column)
    assert help in diagnostic.help


def test_what_is_asked_in_two_ways_holds_both(store: Store) -> None:
    both = typed("role:user role:tool"), typed("role:assistant role:tool")
    assert found(store, *both) == expected(MESSAGES, *both) == ["null time"]
    assert found(store, typed("subagents:true"), typed("role:user")) == found(store, typed("subagents:true role:user"))


def test_subagents_are_left_out_until_asked_for(store: Store) -> None:
    assert filter_of(store) == filter_of(store, ()) == "(agent IS NULL)"
    assert filter_of(store, typed("subagents:true")) is None
    assert found(store, typed("session:a9e7-2")) == ["subagent"]
    assert "explored" not in found(store, typed("-agent:subagent"))


# --- whatever a value holds -------------------------------------------------------------------------------------------

TEXTUAL = (Key.PROJECT, Key.AGENT, Key.TOOL, Key.FILE, Key.CLIENT, Key.SESSION)


def excluding(filters: SearchFilters) -> Sequence[Condition]:
    return conditions_of({"exclude": cast(SearchExclusions, filters)})


def conditions_in_every_way(key: Key, value: str) -> list[Sequence[Condition]]:
    """Return a condition on a value from options, from a request, and from a text where it can be typed."""
    filters = filters_of({key: [value]}, NOW)
    ways: list[Sequence[Condition]] = [conditions_of(filters), excluding(filters)]
    if '"' not in value and value.strip() == value:
        ways += [typed(f'{key}:"{value}"'), typed(f'-{key}:"{value}"')]
    return ways


def is_nothing(key: Key, text: str) -> bool:
    """Return whether nothing of a value is left to compare."""
    if key in (Key.AGENT, Key.TOOL, Key.FILE):
        text = text.replace("\0", " ")
    return not text.strip() or (key is Key.FILE and not text.strip("\\/"))


def found_or_refused(store: Store, conditions: Sequence[Condition]) -> list[str] | None:
    """Return what is found; None where the lake has no such client or session, or several."""
    try:
        return found(store, conditions)
    except UsageError:
        return None


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("key", TEXTUAL)
def test_a_value_is_data(store: Store, key: Key, text: str) -> None:
    if is_nothing(key, text):
        with pytest.raises(UsageError, match="expected a value"):
            filters_of({key: [text]}, NOW)
        return
    for conditions in conditions_in_every_way(key, text):
        answer = found_or_refused(store, conditions)
        assert answer == expected(MESSAGES, conditions) or (answer is None and key in (Key.CLIENT, Key.SESSION))


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("key", [Key.ROLE, Key.AFTER, Key.BEFORE, Key.HAS, Key.FAILED, Key.SUBAGENTS])
def test_a_value_that_is_no_choice_is_refused(key: Key, text: str) -> None:
    if (key, text) not in ((Key.FAILED, "true"), (Key.SUBAGENTS, "true")):
        with pytest.raises(UsageError) as refused:
            filters_of({key: [text]}, NOW)
        assert refused.value.diagnostics[0].path == f"--{key}"


VALUES = st.text("'\"\\%_*?[]().|^$\x1f\x01\0 abé北\ud7ff🌿\ud83d-", min_size=1, max_size=5).filter(str.strip)


@given(st.lists(VALUES, min_size=1, max_size=4), st.lists(st.sampled_from(HOSTILE) | VALUES, max_size=6), st.booleans())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_label_is_found_by_any_value(
    tmp_path_factory: pytest.TempPathFactory, wanted: list[str], held: list[str], negated: bool
) -> None:
    labels = [f"tool={text.lower().strip()}" for text in (*held, *wanted[:1])]
    messages = [Message(str(at), labels=(label,)) for at, label in enumerate(labels)] + [Message("none", labels=None)]
    here = lake(tmp_path_factory.mktemp("any") / "lake", messages, indexed=False)
    filters = filters_of({Key.TOOL: wanted}, NOW)
    conditions = excluding(filters) if negated else conditions_of(filters)
    assert found(here, conditions) == expected(messages, conditions)


def test_the_longest_wildcards_are_answered(store: Store) -> None:
    for pattern in ("?" * 200, "*?" * 100, "a*" * 100, "北*" * 100, "\\" * 199 + "*"):
        conditions = conditions_of({"tool": [pattern[:-2] + f"{at:02}" for at in range(100)]})
        assert found(store, conditions) == expected([], conditions)


def test_as_many_values_as_may_be_asked_for(store: Store) -> None:
    conditions = conditions_of({"tool": [f"tool {at}" for at in range(99)] + ["bash"]})
    assert found(store, conditions) == expected(MESSAGES, conditions) != []


def test_all_projects_of_a_large_lake_can_be_meant(tmp_path: Path) -> None:
    messages = [Message(str(at), session_id=str(at), project=f"/home/ada/{at}") for at in range(20)]
    here = lake(tmp_path / "lake", messages, indexed=True)
    assert found(here, typed("project:/home/ada")) == expected(messages, typed("project:/home/ada")) != []
