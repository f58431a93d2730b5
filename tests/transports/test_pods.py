"""Pods over HTTP: what `pond pod` does on this machine, for both clients, in the default namespace alone."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pond.client import ServerError
from tests.cli.command import pond
from tests.client.both import BOTH, Ask
from tests.operations import invented
from tests.pods import agents
from tests.transports.server import Server, serving


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "lake") as running:
        running.ingest([invented.session("oak"), *invented.said("oak", "m1", "the lamp of the lighthouse", at=1)])
        yield running


@pytest.fixture(params=BOTH)
def ask(request: pytest.FixtureRequest, server: Server) -> Ask:
    return lambda operation, **given: BOTH[request.param](operation, server.place, **given)


def _changed(ask: Ask, op: str, **fields: object) -> Any:
    return ask("change_pod", name="gardener", change={"op": op, **fields})["pod"]


def test_a_pod_is_made_changed_listed_and_removed(ask: Ask, tmp_path: Path) -> None:
    assert ask("list_pods") == {"pods": []}
    _changed(ask, "set_manifest", manifest=agents.MANIFEST)
    made = _changed(ask, "set_active", session_id="oak", segment_id="seg-1")
    assert made["manifest"] == agents.MANIFEST
    assert agents.pods(tmp_path).read("gardener") == made == ask("get_pod", name="gardener")["pod"]
    (listed,) = ask("list_pods")["pods"]
    assert (listed["name"], listed["active"]) == ("gardener", made["active"])
    assert [ask("remove_pod", name="gardener")["removed"] for _ in range(2)] == [True, False]


def test_a_restore_reclaims_tells_the_session_and_returns_what_is_denied(ask: Ask) -> None:
    _changed(ask, "set_active", session_id="oak", segment_id="seg-1")
    with tempfile.TemporaryDirectory() as short, agents.listening(Path(short) / "child") as place:
        _changed(ask, "add_child", child=agents.child("grafter", "/srv/orchard/src", socket_path=place))
        _changed(ask, "add_child", child=agents.child("pruner", "/srv/orchard/old"))
        back = ask("restore_pod", name="gardener")
        assert ask("restore_pod", name="gardener")["notices"] == []
    assert [child["name"] for child in back["pod"]["children"]] == ["grafter"]
    assert back["deny"] == [{"target": "/srv/orchard/src", "recursive": True, "child": "grafter"}]
    (notice,) = back["notices"]
    # Whichever thread answers next sees it.
    pages = [ask("get", session_id="oak", response_mode="complete")["messages"] for _ in range(20)]
    assert [[message["id"] for message in page] for page in pages] == [["m1", notice]] * 20


@pytest.mark.parametrize(
    ("operation", "given", "code", "reason"),
    [
        ("get_pod", {"name": "nobody"}, "not_found", "no-such-pod"),
        ("restore_pod", {"name": "nobody"}, "not_found", "no-such-pod"),
        ("get_pod", {"name": "../lake"}, "validation_failed", "wrong-value"),
        ("change_pod", {"name": "x", "change": {"op": "rename"}}, "validation_failed", "wrong-value"),
        ("list_pods", {"client": {"namespace": "acme"}}, "namespace_unknown", "no-namespace"),
    ],
)
def test_what_cannot_be_done_is_an_error_of_the_closed_set(
    ask: Ask, operation: str, given: dict[str, Any], code: str, reason: str
) -> None:
    with pytest.raises(ServerError) as refused:
        ask(operation, **given)
    assert (refused.value.code, refused.value.reason) == (code, reason)


def test_a_namespace_that_is_there_has_no_pods_either(ask: Ask, server: Server, tmp_path: Path) -> None:
    assert pond("namespace", "create", "acme", "--lake", tmp_path / "lake").code == 0
    assert server.post("/v1/list", namespace="acme").status == 200
    with pytest.raises(ServerError, match="default namespace"):
        ask("get_pod", name="gardener", client={"namespace": "acme"})
