"""Requests from outside and their answers: what is sent is judged, what comes back is what the schema says."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import pond
from codegen.emit_schema import wire_bundle
from pond.config.settings import Settings
from pond.diagnostics.codes import CODES
from pond.diagnostics.diagnostic import Diagnostic, PondError
from pond.diagnostics.failures import REASONS, Failure
from pond.lake.erase import erase, family
from pond.model.json_text import JsonObject, encode
from pond.operations.envelope import get_request, list_request, stats_request
from pond.operations.failing import RequestError, error_of, failure_of
from pond.operations.get import get
from pond.operations.ingest import MOST_EVENTS, events_of, ingest_events
from pond.operations.listing import list_sessions
from pond.operations.search import search
from pond.operations.service import Service
from pond.operations.stats import stats
from tests.lake.build import TOURS
from tests.operations import invented


@cache
def _validator(kind: str) -> Draft202012Validator:
    return Draft202012Validator({**wire_bundle(), "$ref": f"#/$defs/{kind}"})


def _valid(kind: str, response: Mapping[str, Any]) -> JsonObject:
    """Return a response as the caller sees it, checked against the schema."""
    seen: JsonObject = json.loads(encode(dict(response)))
    _validator(kind).validate(seen)
    return seen


def _events(session_id: str, texts: list[str], **facts: str) -> list[JsonObject]:
    events = [invented.session(session_id, **facts)]
    for number, text in enumerate(texts):
        events += invented.said(session_id, f"{session_id}-{number}", text, at=number)
    return events


def _ingest(service: Service, events: list[Any], **more: object) -> JsonObject:
    body = {"protocol_version": 1, "events": events, **more}
    return _valid("IngestResponse", ingest_events(service, events_of(body)))


def _get(service: Service, **fields: object) -> JsonObject:
    return _valid("GetResponse", get(service, get_request({"protocol_version": 1, **fields})))


def _list(service: Service, **fields: object) -> JsonObject:
    return _valid("ListResponse", list_sessions(service, list_request({"protocol_version": 1, **fields})))


@pytest.fixture
def service(tmp_path: Path) -> Service:
    made = Service(Settings(lake=str(tmp_path / "lake")))
    _ingest(made, _events("oak", ["first", "second", "third"]))
    return made


# --- the envelope ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "code", "reason", "path"),
    [
        ([], "validation_failed", "wrong-type", "$"),
        ({}, "validation_failed", "missing-field", "$.protocol_version"),
        ({"protocol_version": "1"}, "validation_failed", "wrong-type", "$.protocol_version"),
        ({"protocol_version": True}, "validation_failed", "wrong-type", "$.protocol_version"),
        ({"protocol_version": 2, "nonsense": 1}, "version_unsupported", "protocol-version", None),
        ({"protocol_version": 1, "nonsense": 1}, "validation_failed", "unknown-field", "$.nonsense"),
        ({"protocol_version": 1, "limit": "3"}, "validation_failed", "wrong-type", "$.limit"),
        ({"protocol_version": 1, "limit": 0}, "validation_failed", "wrong-value", "$.limit"),
        ({"protocol_version": 1, "response_mode": "loud"}, "validation_failed", "wrong-value", "$.response_mode"),
    ],
)
def test_a_request_that_is_none_is_refused(body: object, code: str, reason: str, path: str | None) -> None:
    with pytest.raises(RequestError) as refused:
        get_request(body)
    error = _valid("Error", error_of(refused.value))
    assert (error["code"], error["details"]["reason"], error["details"].get("path")) == (code, reason, path)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "missing-field"),
        ({"events": []}, "wrong-type"),
        ({"events": "x"}, "wrong-type"),
        ({"events": [{}], "extra": 1}, "unknown-field"),
        ({"events": [{}], "namespace": ""}, "wrong-value"),
    ],
)
def test_a_batch_that_is_none_is_refused(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(RequestError) as refused:
        events_of({"protocol_version": 1, **fields})
    assert error_of(refused.value)["details"]["reason"] == reason


def test_every_diagnostic_is_an_error_of_the_closed_set() -> None:
    for code in CODES:
        error = error_of(PondError(Diagnostic(code, "it happened")))
        _valid("Error", error)
        assert error["details"]["reason"] in REASONS
    assert error_of(KeyError("secret"))["message"] == "an unexpected error: KeyError"
    assert failure_of(ValueError()) is Failure.INTERNAL


def test_the_failures_are_those_of_the_schema() -> None:
    said = {each["const"]: each["description"] for each in wire_bundle()["$defs"]["ErrorCode"]["oneOf"]}
    assert said.keys() == {failure.code for failure in Failure}
    for failure in Failure:
        assert f"HTTP {failure.status};" in said[failure.code]
        assert failure.retry == ("do not retry" not in said[failure.code])


# --- get and list ----------------------------------------------------------------------------------------------------


def test_a_message_is_found_by_its_id_alone(service: Service) -> None:
    found = _get(service, message_id="oak-1", context_depth=1)
    assert (found["session"]["id"], found["message"]["id"]) == ("oak", "oak-1")
    assert [each["text"] for each in (*found["before"], *found["after"])] == ["first", "third"]


def test_a_message_that_several_sessions_hold_names_them(service: Service) -> None:
    fork = _events("fork", [])
    copied = invented.said("fork", "oak-1", "second", at=1)
    _ingest(service, [*fork, *copied])
    with pytest.raises(RequestError) as refused:
        _get(service, message_id="oak-1")
    assert error_of(refused.value)["details"] == {"reason": "ambiguous", "candidates": ["fork", "oak"]}
    assert _get(service, message_id="oak-1", session_id="fork")["session"]["id"] == "fork"


def test_a_session_is_read_from_either_end(service: Service) -> None:
    assert [each["text"] for each in _get(service, session_id="oak", limit=2)["messages"]] == ["first", "second"]
    page = _get(service, session_id="oak", limit=2, session_from="end")
    assert [each["text"] for each in page["messages"]] == ["second", "third"]
    assert page["messages_remaining"] == 1
    rest = _get(service, session_id="oak", session_from="end", after_id=page["messages"][0]["id"])
    assert [each["text"] for each in rest["messages"]] == ["first"]


def test_a_session_names_its_subagents_and_calls_their_ids(service: Service) -> None:
    _ingest(service, _events("acorn", ["count"], parent_session_id="oak", created_at="2026-05-04T00:10:00.000Z"))
    _ingest(service, _events("leaf", ["fall"], parent_session_id="oak", created_at="2026-05-04T00:05:00.000Z"))
    call = invented.message("oak", "call", "assistant", at=9)
    asked = invented.part(call, 0, "tool_call", name="Look", call_id="c-1", params={}, provider_executed=False)
    _ingest(service, [*_events("oak", ["first", "second", "third"]), call, asked])
    found = _get(service, session_id="oak", response_mode="complete")
    assert [(child["id"], child["messages"], child["children"]) for child in found["subagents"]] == [
        ("leaf", 1, 0), ("acorn", 1, 0),
    ]  # fmt: skip
    assert found["messages"][-1]["parts_summary"][0]["call_id"] == "c-1"
    assert [each["id"] for each in _list(service)["sessions"]] == ["oak"]
    assert {each["id"] for each in _list(service, parent_session_id="oak")["sessions"]} == {"acorn", "leaf"}
    assert _list(service, children=True, limit=1)["sessions_remaining"] == 2


@pytest.mark.parametrize(
    "fields", [{"session_id": "elm"}, {"message_id": "elm"}, {"session_id": "oak", "message_id": "x"}]
)
def test_what_is_not_there_is_not_found(service: Service, fields: dict[str, str]) -> None:
    with pytest.raises(PondError) as refused:
        _get(service, **fields)
    error = error_of(refused.value)
    assert (error["code"], error["details"]["reason"]) == ("not_found", "no-such-id")


def test_times_of_a_request_are_spelled_as_rfc_3339_allows(service: Service) -> None:
    (oak,) = _list(service)["sessions"]
    active = datetime.fromisoformat(oak["active_at"])
    for time in (active, active.astimezone(timezone(timedelta(hours=5, minutes=30)))):
        spelled = time.isoformat(timespec="microseconds" if time.microsecond else "seconds")
        assert _list(service, since=spelled)["sessions"] == [oak]
        assert _list(service, until=spelled)["sessions"] == []


@pytest.mark.parametrize("name", ["since", "until"])
@pytest.mark.parametrize("time", ["0000-01-01T00:00:00.000Z", "2026-02-30T00:00:00.000Z"])
def test_a_day_that_no_calendar_has_is_refused(service: Service, name: str, time: str) -> None:
    with pytest.raises(RequestError) as refused:
        _list(service, **{name: time})
    error = _valid("Error", error_of(refused.value))
    assert (error["details"]["reason"], error["details"]["path"]) == ("wrong-value", f"$.{name}")


def test_a_request_that_names_nothing_is_refused(service: Service) -> None:
    with pytest.raises(RequestError) as refused:
        _get(service)
    assert error_of(refused.value)["details"]["reason"] == "nothing-named"


def test_a_pond_without_a_lake_says_so(tmp_path: Path) -> None:
    with pytest.raises(PondError) as refused:
        _list(Service(Settings(lake=str(tmp_path / "none"))))
    assert error_of(refused.value)["details"]["reason"] == "no-lake"
    assert not (tmp_path / "none").exists()


def test_the_numbers_of_a_lake(service: Service) -> None:
    found = _valid("StatsResponse", stats(service, stats_request({"protocol_version": 1})))
    assert (found["sessions"], found["messages"], found["parts"], found["clients"]) == (1, 3, 3, {"codex": 1})
    assert found["searchable_messages"] == 3
    assert [(table["name"], table["rows"]) for table in found["tables"][:3]] == [
        ("sessions", 1), ("messages", 3), ("parts", 3),
    ]  # fmt: skip


# --- ingest ----------------------------------------------------------------------------------------------------------


def test_events_are_stored_once(service: Service) -> None:
    (again,) = _ingest(service, _events("oak", ["first", "second", "third"]))["sessions"]
    assert again == {"session_id": "oak", "stored": 0, "already_stored": 7, "rejected": 0}
    (grown,) = _ingest(service, _events("oak", ["first", "second", "third", "fourth"]))["sessions"]
    assert grown == {"session_id": "oak", "stored": 2, "already_stored": 7, "rejected": 0}


def test_one_bad_event_costs_itself_and_is_named(service: Service) -> None:
    good, bad = _events("elm", ["one", "two"]), _events("fir", ["one"])
    del bad[2]["text"]
    done = _ingest(service, [*good, *bad, "no event"])
    by_id = {each["session_id"]: each for each in done["sessions"]}
    assert (by_id["elm"]["stored"], by_id["elm"]["rejected"]) == (5, 0)
    assert by_id["fir"]["rejected"] >= 1
    assert [each["index"] for each in done["rejected"]] == [6, 7, 8]
    assert {each["error"]["details"]["reason"] for each in done["rejected"]} == {"broken-event"}


def test_other_content_under_a_stored_id_is_refused_and_the_rest_goes_in(service: Service) -> None:
    done = _ingest(service, _events("oak", ["something", "second", "third", "fourth"]))
    assert done["sessions"] == [{"session_id": "oak", "stored": 2, "already_stored": 6, "rejected": 1}]
    (refused,) = done["rejected"]
    assert (refused["index"], refused["error"]["details"]["reason"]) == (2, "differs")
    assert [each["text"] for each in _get(service, session_id="oak")["messages"]] == [
        "first", "second", "third", "fourth",
    ]  # fmt: skip


@pytest.mark.parametrize("fact", ["source_agent", "project"])
def test_the_client_and_the_project_of_a_session_stay(service: Service, fact: str) -> None:
    done = _ingest(service, _events("oak", ["first", "fourth"], **{fact: "other"}))
    assert done["sessions"] == [{"session_id": "oak", "stored": 0, "already_stored": 0, "rejected": 5}]
    assert done["rejected"][0]["error"]["details"]["reason"] == "immutable"
    assert len(_get(service, session_id="oak")["messages"]) == 3


def test_what_was_erased_stays_erased(service: Service) -> None:
    store = service.writing()
    erase(store, [family(store, "oak")])
    done = _ingest(service, _events("oak", ["first", "second", "third"]))
    assert done["sessions"] == [{"session_id": "oak", "stored": 0, "already_stored": 0, "rejected": 7}]
    assert {each["error"]["details"]["reason"] for each in done["rejected"]} == {"erased"}


def test_a_batch_has_an_end(service: Service) -> None:
    with pytest.raises(RequestError) as refused:
        _ingest(service, [{}] * (MOST_EVENTS + 1))
    assert error_of(refused.value)["details"] == {"reason": "batch-too-large", "most": MOST_EVENTS}


# --- namespaces ------------------------------------------------------------------------------------------------------


@pytest.mark.rule("wire-namespace-resolution")
def test_one_place_decides_which_tables_a_namespace_means(tmp_path: Path, service: Service) -> None:
    with pytest.raises(RequestError) as unread:
        _list(service, namespace="ada")
    with pytest.raises(RequestError) as unwritten:
        _ingest(service, _events("a", ["b"]), namespace="ada")
    assert {error_of(refused.value)["code"] for refused in (unread, unwritten)} == {"namespace_unknown"}
    assert [path.name for path in (tmp_path / "lake").iterdir() if path.name.startswith("tenant")] == []
    ada = Service(Settings(lake=str(tmp_path / "lake"), namespace="ada"))
    _ingest(ada, _events("hers", ["one"]))
    assert [each["id"] for each in _list(service, namespace="ada")["sessions"]] == ["hers"]
    assert [each["id"] for each in _list(ada)["sessions"]] == ["hers"]
    assert [each["id"] for each in _list(service)["sessions"]] == ["oak"]


def test_a_session_may_come_in_pieces(tmp_path: Path) -> None:
    service = Service(Settings(lake=str(tmp_path / "lake")))
    events = _events("ash", ["the lamp", "of the lighthouse"])
    for event in events:
        (done,) = _ingest(service, [event])["sessions"]
        assert (done["stored"], done["rejected"]) == (1, 0)
    found = _get(service, session_id="ash", response_mode="verbatim")
    assert [part["text"] for message in found["messages"] for part in message["content"]] == [
        "the lamp",
        "of the lighthouse",
    ]
    hits = search(service, {"protocol_version": 1, "query": "lighthouse"})["hits"]
    assert hits[0]["message_id"] == "ash-1"
    late = _ingest(service, [invented.part(events[1], 1, "text", text="too late")])
    assert late["rejected"][0]["error"]["details"]["reason"] == "broken-event"


@pytest.mark.parametrize("fixture", TOURS, ids=lambda path: path.parts[-3])
def test_what_came_as_events_is_restored_as_it_was(fixture: Path, tmp_path: Path) -> None:
    (source,) = fixture.rglob("*.jsonl")
    with pond.Lake(tmp_path / "lake") as lake:
        events = list(pond.read(source))
        for begin in range(0, len(events), 7):
            assert not lake.ingest_events(events[begin : begin + 7])["rejected"]
        made, report = lake.restore(output=tmp_path / "out", everything=True)
        assert (len(made), report.errors) == (1, 0)
    (restored,) = (tmp_path / "out").rglob("*.jsonl")
    lines = [[json.loads(line) for line in file.read_text().splitlines()] for file in (source, restored)]
    assert lines[0] == lines[1]
