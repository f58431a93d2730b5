"""The filters of a request and the options of a command say the same as the text."""

import copy
import os
from typing import get_args

import pytest

from pond.diagnostics.diagnostic import UsageError
from pond.operations.envelope import search_request
from pond.operations.failing import RequestError, error_of
from pond.search.query.parse import parse
from pond.search.query.query import Condition, Key
from pond.search.query.values import HAS, ROLES, SUBAGENTS
from pond.search.wire import conditions_of, filters_of, without_of
from pond.types import Attachment, Role, SearchFilters, Subagents
from tests.search.asking import NOW


def request(filters: object) -> SearchFilters:
    body = {"protocol_version": 1, "query": "fern", "filters": filters}
    return search_request(body)["filters"]


@pytest.mark.parametrize(
    ("filters", "text"),
    [
        ({}, ""),
        ({"role": "user"}, "role:user"),
        ({"role": ["user", "tool"]}, "role:user role:tool"),
        ({"source_agent": "codex", "project": "~/api"}, "client:codex project:~/api"),
        ({"session_id": ["a", "b"]}, "session:a session:b"),
        ({"since": "2026-05-01T00:00:00.000Z"}, "after:2026-05-01"),
        ({"until": "2026-05-01T00:00:00.000Z"}, "before:2026-05-01"),
        ({"since": "2026-05-01T00:00:00Z"}, "after:2026-05-01"),
        ({"until": "2026-05-01t05:30:00+05:30"}, "before:2026-05-01"),
        ({"exclude": {"since": "2026-04-30 23:00:00.000000000-01:00"}}, "-after:2026-05-01"),
        ({"agent": "Explore", "tool": "Bash", "file": r"a\Lake.py"}, "agent:Explore tool:Bash file:a/lake.py"),
        ({"has": ["image"], "failed": True}, "has:image failed:true"),
        ({"failed": False, "subagents": "only"}, "failed:false subagents:only"),
        ({"exclude": {"role": "user", "failed": True}}, "-role:user -failed:true"),
        ({"exclude": {"until": "2026-05-01T00:00:00.000Z", "tool": ["a", "b"]}}, "-before:2026-05-01 -tool:a -tool:b"),
        ({"min_score": 0.5}, ""),
    ],
)
def test_a_request_says_what_a_text_says(filters: object, text: str) -> None:
    assert set(conditions_of(request(filters))) == set(parse(text, NOW).conditions)


def test_a_request_keeps_its_own_spelling() -> None:
    filters = {"since": "2026-05-01T00:00:00Z", "exclude": {"until": "2026-05-01T00:00:00Z"}}
    given = copy.deepcopy(filters)
    assert request(given) != filters
    assert given == filters


def test_excluded_phrases() -> None:
    assert without_of(request({"exclude": {"phrases": ["a b", "c", "c"]}})) == ("a b", "c")
    assert without_of(request({})) == ()


def test_options_say_what_a_text_says() -> None:
    options = {
        Key.ROLE: ["User", "tool"], Key.CLIENT: ["codex"], Key.PROJECT: ["~/api"], Key.SESSION: ["019c"],
        Key.AFTER: ["7d"], Key.BEFORE: ["today"], Key.TOOL: ["Bash"], Key.FILE: ["~/a.py"], Key.FAILED: ["true"],
        Key.SUBAGENTS: ["true"], Key.AGENT: ["Explore"], Key.HAS: ["image"],
    }  # fmt: skip
    text = " ".join(f"{key}:{value}" for key, typed in options.items() for value in typed)
    filters = filters_of(options, NOW)
    assert filters == request(filters)  # what the wire takes
    assert set(conditions_of(filters)) == set(parse(text, NOW).conditions)
    assert Condition(Key.FILE, os.path.expanduser("~/a.py").lower()) in conditions_of(filters)


def test_options_that_are_not_given_filter_nothing() -> None:
    assert filters_of({key: [] for key in Key}, NOW) == {}


def test_of_options_that_hold_one_value_the_last_counts() -> None:
    options = {Key.AFTER: ["7d", "1d"], Key.FAILED: ["true", "false"]}
    assert filters_of(options, NOW) == {"since": "2026-05-03T12:30:00.000Z", "failed": False}


@pytest.mark.parametrize(
    ("filters", "path", "reason"),
    [
        ({"role": "robot"}, "$.filters.role", "wrong-value"),
        ({"role": ["user", "robot"]}, "$.filters.role[1]", "wrong-value"),
        ({"tool": ""}, "$.filters.tool", "wrong-value"),
        ({"exclude": {"has": ["smell"]}}, "$.filters.exclude.has[0]", "wrong-value"),
        ({"exclude": {"subagents": "only"}}, "$.filters.exclude.subagents", "unknown-field"),
        ({"since": "7d"}, "$.filters.since", "wrong-value"),
        ({"since": "2026-05-01T00:00:00"}, "$.filters.since", "wrong-value"),
        ({"since": 7}, "$.filters.since", "wrong-type"),
        ({"exclude": {"until": "2026-05-01T25:00:00Z"}}, "$.filters.exclude.until", "wrong-value"),
        ({"client": "codex"}, "$.filters.client", "unknown-field"),
    ],
)
def test_a_request_that_cannot_be_meant_is_refused(filters: object, path: str, reason: str) -> None:
    with pytest.raises(RequestError) as refused:
        request(filters)
    assert {"path": path, "reason": reason}.items() <= refused.value.details.items()


@pytest.mark.parametrize(
    ("filters", "path"),
    [
        ({"since": "2026-02-31T00:00:00.000Z"}, "$.filters.since"),
        ({"exclude": {"until": "2026-02-31T00:00:00.000Z"}}, "$.filters.exclude.until"),
        ({"tool": ["bash", " "]}, "$.filters.tool"),
        ({"file": "*" * 201}, "$.filters.file"),
    ],
)
def test_a_value_that_no_schema_refuses_is_refused_by_its_meaning(filters: SearchFilters, path: str) -> None:
    with pytest.raises(UsageError) as refused:
        conditions_of(request(filters))
    assert refused.value.diagnostics[0].path == path


def test_the_wire_names_the_place_in_the_text() -> None:
    with pytest.raises(UsageError) as refused:
        parse("fern\nrole:robot", NOW)
    details = error_of(refused.value)["details"]
    assert (details["reason"], details["line"], details["column"]) == ("wrong-value", 2, 6)


def test_the_choices_are_those_of_the_wire() -> None:
    assert get_args(Role) == ROLES
    assert get_args(Attachment) == HAS
    assert set(SUBAGENTS.values()) == set(get_args(Subagents))
