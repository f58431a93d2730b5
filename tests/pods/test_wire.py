"""Requests about pods as they come from outside, and answers that are what the schema says."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from codegen.emit_schema import wire_bundle
from pond.model.json_text import encode
from pond.operations import envelope
from pond.operations.failing import RequestError, error_of
from pond.operations.pod_restore import restore_pod
from pond.operations.pods import change_pod, get_pod, list_pods, remove_pod
from pond.operations.service import Service
from tests.pods import agents

ASKED = {"protocol_version": 1, "name": "gardener"}


def _valid(kind: str, response: Mapping[str, Any]) -> dict[str, Any]:
    seen: dict[str, Any] = json.loads(encode(dict(response)))
    Draft202012Validator({**wire_bundle(), "$ref": f"#/$defs/{kind}"}).validate(seen)
    return seen


def test_every_answer_is_what_the_schema_says(tmp_path: Path) -> None:
    service = agents.service(tmp_path)
    body = {**ASKED, "change": {"op": "set_active", "session_id": "oak", "segment_id": "seg-1"}}
    assert _valid("PodResponse", change_pod(service, envelope.pod_change_request(body)))["pod"]["name"] == "gardener"
    agents.change(service, "gardener", "add_child", child=agents.child("grafter", "/srv"))
    (tmp_path / "pods" / "broken").mkdir()
    (tmp_path / "pods" / "broken" / "metadata.json").write_text("{")
    listed = _valid("PodListResponse", list_pods(service, envelope.pod_list_request({"protocol_version": 1})))
    assert [("error" in entry) for entry in listed["pods"]] == [True, False]
    restored = _valid("PodRestoreResponse", restore_pod(service, envelope.pod_restore_request(ASKED)))
    assert len(restored["notices"]) == 1
    assert _valid("PodResponse", get_pod(service, envelope.pod_get_request(ASKED)))["pod"] == restored["pod"]
    assert _valid("PodRemoveResponse", remove_pod(service, envelope.pod_remove_request(ASKED))) == {"removed": True}


@pytest.mark.parametrize(
    ("request_of", "body", "reason", "path"),
    [
        (envelope.pod_get_request, {"protocol_version": 1}, "missing-field", "$.name"),
        (envelope.pod_list_request, {"protocol_version": 1, "name": "x"}, "unknown-field", "$.name"),
        (envelope.pod_remove_request, {**ASKED, "force": 1}, "wrong-type", "$.force"),
        (envelope.pod_restore_request, {**ASKED, "session_id": "oak"}, "unknown-field", "$.session_id"),
        (envelope.pod_change_request, ASKED, "missing-field", "$.change"),
        (envelope.pod_change_request, {**ASKED, "change": {"op": "dance"}}, "wrong-value", "$.change"),
        (envelope.pod_change_request, {**ASKED, "change": {"op": "add_peer"}}, "missing-field", "$.change.peer"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(
    request_of: Callable[[object], object], body: dict[str, object], reason: str, path: str
) -> None:
    with pytest.raises(RequestError) as refused:
        request_of(body)
    details = error_of(refused.value)["details"]
    assert (details["reason"], details["path"]) == (reason, path)


def test_what_stands_in_the_way_has_an_error_of_the_closed_set(tmp_path: Path) -> None:
    service = Service(agents.settings(tmp_path))
    agents.change(service, "idle", "add_peer", peer="x")
    agents.change(service, "waiting", "set_pending", session_id="s")
    for name, code, reason in (
        ("nobody", "not_found", "no-such-pod"),
        ("idle", "not_found", "inactive"),
        ("waiting", "not_found", "pending"),
        ("../x", "validation_failed", "wrong-value"),
        ("IDLE", "not_found", "no-such-pod"),
    ):
        with pytest.raises(Exception, match="pod") as refused:
            agents.restore(service, name)
        error = _valid("Error", error_of(refused.value))
        assert (error["code"], error["details"]["reason"]) == (code, reason)
