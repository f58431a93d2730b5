"""The acceptance criteria of the boundary between session history and pod state, one test each, named after it."""

import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from pond.diagnostics.diagnostic import UsageError
from pond.operations.pods import get_pod, list_pods, pods_of, remove_pod
from pond.operations.service import Service
from pond.pods import faults
from pond.pods.store import PodStore
from pond.substrate.signals import Missing
from tests.pods import agents


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("filled")
    agents.service(place)
    return place


@pytest.fixture
def service(filled: Path, tmp_path: Path) -> Service:
    shutil.copytree(filled / "lake", tmp_path / "lake")
    return Service(agents.settings(tmp_path))


def _files(root: Path) -> dict[str, bytes]:
    return {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*") if file.is_file()}


# --- layout ----------------------------------------------------------------------------------------------------------


def test_metadata_is_written_and_read_under_the_pod_root_and_not_under_the_lake(
    service: Service, tmp_path: Path
) -> None:
    before = _files(tmp_path / "lake")
    agents.active(service)
    agents.change(service, "gardener", "add_child", child=agents.child("grafter", "/srv/orchard/src"))
    assert [*_files(tmp_path / "pods")] == ["gardener/metadata.json"]
    assert _files(tmp_path / "lake") == before
    stored = json.loads((tmp_path / "pods" / "gardener" / "metadata.json").read_text())
    assert stored["active"] == {"session_id": "oak", "segment_id": "seg-1"}
    assert get_pod(service, {"protocol_version": 1, "name": "gardener"})["pod"] == stored


def test_the_old_path_below_the_session_root_is_neither_read_nor_written(service: Service, tmp_path: Path) -> None:
    agents.active(service, "gardener")
    shutil.copytree(tmp_path / "pods" / "gardener", tmp_path / "lake" / "pods" / "gardener")
    pods_of(service).remove("gardener")
    old = _files(tmp_path / "lake" / "pods")
    assert list_pods(service, {"protocol_version": 1}) == {"pods": []}
    with pytest.raises(faults.NoPod):
        agents.restore(service, "gardener")
    assert remove_pod(service, {"protocol_version": 1, "name": "gardener"}) == {"removed": False}
    agents.change(service, "gardener", "set_peers", peers=["beekeeper"])
    assert "active" not in pods_of(service).read("gardener")
    assert _files(tmp_path / "lake" / "pods") == old


@pytest.mark.parametrize("place", ["lake", "lake/pods", "synced/below", "."])
def test_sessions_and_pods_have_distinct_roots(place: str, tmp_path: Path) -> None:
    from pond.config.settings import Pods, Settings, Sync

    synced = Sync(paths=(str(tmp_path / "synced"),))
    shared = Settings(lake=str(tmp_path / "lake"), sync=synced, pods=Pods(root=str(tmp_path / place)))
    with pytest.raises(faults.Misplaced):
        agents.active(Service(shared))
    assert [*tmp_path.rglob("*")] == []


@pytest.mark.parametrize(
    ("place", "is_apart"),
    [
        ("tenants/{namespace}", False), ("{namespace}", False), ("tenants/{namespace}/lake", False),
        ("tenants/of-{namespace}", True), ("tenants/ada", True), ("tenants/pods", False), ("tenants", False),
    ],
)  # fmt: skip
def test_no_namespace_has_its_sessions_where_the_pods_are(place: str, is_apart: bool, tmp_path: Path) -> None:
    from pond.config.settings import Pods, Settings

    pods, lakes = Pods(root=str(tmp_path / "tenants" / "pods")), {"*": str(tmp_path / place)}
    service = Service(Settings(lake=str(tmp_path / "lake"), namespaces=lakes, pods=pods), {})
    if is_apart:
        assert list_pods(service, {"protocol_version": 1}) == {"pods": []}
    else:
        with pytest.raises(faults.Misplaced):
            list_pods(service, {"protocol_version": 1})


# --- field preservation ----------------------------------------------------------------------------------------------


def _full(service: Service) -> dict[str, object]:
    """Return a pod in which every field says something."""
    agents.active(service)
    agents.change(service, "gardener", "set_workspace", workspace={"root": "/srv/orchard", "id": "orchard"})
    agents.change(service, "gardener", "set_manifest", manifest=agents.MANIFEST)
    agents.change(service, "gardener", "add_child", child=agents.child("pruner", "/srv/orchard/old"))
    agents.change(service, "gardener", "reclaim", children=["pruner"])
    agents.change(service, "gardener", "add_child", child=agents.child("grafter", "/srv/orchard/src"))
    return dict(agents.change(service, "gardener", "add_peer", peer="beekeeper"))


CHANGES: list[tuple[str, dict[str, object], str]] = [
    ("set_active", {"session_id": "elm", "segment_id": "seg-2"}, "active"),
    ("set_pending", {"session_id": "elm"}, "active"),
    ("set_workspace", {"workspace": {"root": "/srv/meadow"}}, "workspace"),
    ("set_children", {"children": [agents.child("weeder", "/srv/orchard/weeds")]}, "children"),
    ("add_child", {"child": agents.child("weeder")}, "children"),
    ("remove_child", {"child": "grafter"}, "children"),
    ("reclaim", {"children": ["grafter"]}, "children reclaimed"),
    ("set_peers", {"peers": ["miller"]}, "peers"),
    ("add_peer", {"peer": "miller"}, "peers"),
    ("remove_peer", {"peer": "beekeeper"}, "peers"),
    ("set_manifest", {"manifest": None}, "manifest"),
]


@pytest.mark.parametrize(("op", "fields", "touched"), CHANGES, ids=[op for op, *_ in CHANGES])
def test_an_update_preserves_every_field_it_is_not_about(
    op: str, fields: dict[str, object], touched: str, service: Service
) -> None:
    before = _full(service)
    after = dict(agents.change(service, "gardener", op, **fields))
    assert {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} == {*touched.split()}
    assert dict(pods_of(service).read("gardener")) == after


def test_active_pointer_updates_preserve_children_and_manifest_snapshot(service: Service) -> None:
    before = _full(service)
    after = agents.active(service, session="elm")
    assert after["active"] == {"session_id": "elm", "segment_id": "seg-1"}
    assert (after["children"], after["manifest"]) == (before["children"], agents.MANIFEST)


def test_children_updates_preserve_active_pointer_and_manifest_snapshot(service: Service) -> None:
    before = _full(service)
    for op, fields, touched in CHANGES:
        if touched.startswith("children"):
            after = agents.change(service, "gardener", op, **fields)
            assert (after["active"], after["manifest"]) == (before["active"], agents.MANIFEST)


# --- one surface without the other -----------------------------------------------------------------------------------


def test_discovery_works_without_a_lake(tmp_path: Path) -> None:
    alone = Service(agents.settings(tmp_path))
    agents.active(alone)
    (entry,) = list_pods(alone, {"protocol_version": 1})["pods"]
    assert (entry["name"], entry["active"]["session_id"]) == ("gardener", "oak")
    with pytest.raises(Missing):
        agents.restore(alone)
    assert not (tmp_path / "lake").exists()


def test_the_lake_works_without_pods(service: Service, tmp_path: Path) -> None:
    assert list_pods(service, {"protocol_version": 1}) == {"pods": []}
    assert [message["id"] for message in agents.messages(service)] == ["m0", "m1", "m2"]
    assert not (tmp_path / "pods").exists()


def test_what_stands_in_the_way_of_a_restore_is_told_apart(service: Service) -> None:
    agents.change(service, "inactive", "add_peer", peer="gardener")
    agents.change(service, "pending", "set_pending", session_id="oak")
    agents.active(service, "lost", session="nowhere")
    agents.active(service, "empty", session="bare")
    from pond.sessions.lake import opened
    from pond.sessions.rows import session_row
    from pond.sessions.writing import write_sessions
    from tests.operations import invented

    write_sessions(opened(service.settings), [session_row(invented.session("bare"), 1)])
    service.close()
    expected = {
        "nobody": faults.NoPod, "inactive": faults.Inactive, "pending": faults.Pending,
        "lost": faults.UnknownSession, "empty": faults.EmptySession,
    }  # fmt: skip
    for name, kind in expected.items():
        with pytest.raises(kind) as refused:
            agents.restore(service, name)
        assert isinstance(refused.value, UsageError), name
    assert len({kind.code for kind in expected.values()}) == len(expected)


# --- restore ---------------------------------------------------------------------------------------------------------


def test_restore_resolves_the_pointer_and_then_the_session(service: Service) -> None:
    _full(service)
    found = agents.restore(service, ask=lambda child, seconds: "alive")
    assert (found["session"]["id"], found["messages"]) == ("oak", 3)
    assert found["pod"]["manifest"] == agents.MANIFEST
    assert (found["reclaims"], found["notices"]) == ([], [])
    assert agents.notices(service) == []


def test_outstanding_write_delegations_come_back_as_deny_rules_and_are_stored_nowhere(
    service: Service, tmp_path: Path
) -> None:
    agents.active(service)
    scopes = [
        {"target": "/srv/orchard/src", "permission": "write", "recursive": True},
        {"target": "/srv/orchard/seed", "permission": "write", "recursive": False},
        {"target": "/srv/orchard/docs", "permission": "read", "recursive": True},
    ]
    agents.change(service, "gardener", "add_child", child={"name": "grafter", "scopes": scopes})
    found = agents.restore(service, ask=lambda child, seconds: "alive")
    assert found["deny"] == [
        {"target": "/srv/orchard/src", "recursive": True, "child": "grafter"},
        {"target": "/srv/orchard/seed", "recursive": False, "child": "grafter"},
    ]
    assert "deny" not in (tmp_path / "pods" / "gardener" / "metadata.json").read_text()


def test_children_that_are_gone_are_reclaimed_and_the_session_is_told_before_the_restore_returns(
    service: Service, tmp_path: Path
) -> None:
    agents.active(service)
    with agents.listening(tmp_path / "stopped.sock") as stopped:
        pass
    with agents.listening(tmp_path / "alive.sock") as alive:
        children = [
            agents.child("alive", "/a", socket_path=alive),
            agents.child("missing", "/b", socket_path=str(tmp_path / "nowhere.sock")),
            agents.child("unknown", "/c"),
            agents.child("stopped", "/d", socket_path=stopped),
            agents.child("unreachable", "/e", socket_path=str(tmp_path / ("deep" * 60))),
        ]
        agents.change(service, "gardener", "set_children", children=children)
        found = agents.restore(service)
    (reclaim,) = found["reclaims"]
    assert {each["name"]: each["reason"] for each in reclaim["children"]} == {
        "missing": "missing", "unknown": "missing", "stopped": "stopped", "unreachable": "unreachable",
    }  # fmt: skip
    assert [rule["child"] for rule in found["deny"]] == ["alive"]
    assert [each["name"] for each in found["pod"]["children"]] == ["alive"]
    (notice,) = agents.notices(service)
    assert [notice["id"]] == found["notices"]
    assert (notice["role"], notice["timestamp"]) == ("system", reclaim["at"])
    assert all(each["name"] in notice["content"] for each in reclaim["children"])
    assert agents.messages(service)[-1] == notice
    assert found["messages"] == 4
    assert found["pod"] == pods_of(service).read("gardener")


def test_a_restore_that_is_run_again_gives_one_reclaim_and_one_notification(service: Service) -> None:
    agents.active(service)
    agents.change(service, "gardener", "add_child", child=agents.child("grafter", "/srv/orchard/src"))
    agents.restore(service)
    again = agents.restore(service)
    assert (again["reclaims"], again["notices"], again["deny"]) == ([], [], [])
    assert (len(again["pod"]["reclaimed"]), len(agents.notices(service))) == (1, 1)


@pytest.mark.parametrize("told", [False, True], ids=["before the session is told", "after it"])
def test_a_restore_that_was_interrupted_is_ended_by_the_next(
    told: bool, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents.active(service)
    agents.change(service, "gardener", "add_child", child=agents.child("grafter", "/srv/orchard/src"))
    with monkeypatch.context() as patched:

        def stop(*_: object) -> None:
            raise KeyboardInterrupt

        patched.setattr(PodStore, "told", stop) if told else patched.setattr("pond.lake.notices.append", stop)
        with pytest.raises(KeyboardInterrupt):
            agents.restore(service)
    half = pods_of(service).read("gardener")
    assert (half["children"], len(half["notices_due"]), len(agents.notices(service))) == ([], 1, int(told))
    found = agents.restore(service)
    assert [each["id"] for each in found["reclaims"]] == half["notices_due"]
    assert (found["pod"]["notices_due"], len(found["pod"]["reclaimed"])) == ([], 1)
    assert [notice["id"] for notice in agents.notices(service)] == found["notices"]


def test_restores_at_once_give_one_reclaim_and_one_notification(service: Service) -> None:
    agents.active(service)
    agents.change(service, "gardener", "add_child", child=agents.child("grafter", "/srv/orchard/src"))
    together = threading.Barrier(3)

    def ask(child: object, seconds: float) -> str:
        together.wait(30)
        return "stopped"

    with ThreadPoolExecutor(3) as threads:
        found = [threads.submit(agents.restore, service, ask=ask) for _ in range(3)]  # type: ignore[arg-type]
        responses = [each.result() for each in found]
    assert [response["deny"] for response in responses] == [[], [], []]
    assert all(response["messages"] == 4 for response in responses), "nobody returns before the session is told"
    pod = pods_of(service).read("gardener")
    assert (len(pod["reclaimed"]), pod["notices_due"], len(agents.notices(service))) == (1, [], 1)


def test_a_child_that_was_spawned_anew_while_it_was_asked_is_left_alone(service: Service) -> None:
    agents.active(service)
    agents.change(service, "gardener", "add_child", child=agents.child("grafter", "/old"))

    def ask(child: object, seconds: float) -> str:
        agents.change(service, "gardener", "add_child", child=agents.child("grafter", "/new", socket_path="/run/g"))
        return "stopped"

    found = agents.restore(service, ask=ask)  # type: ignore[arg-type]
    assert found["deny"] == [{"target": "/new", "recursive": True, "child": "grafter"}]
    assert agents.notices(service) == []


def test_a_pod_that_is_pointed_elsewhere_while_it_is_restored_is_restored_there_or_refused(service: Service) -> None:
    agents.active(service)
    agents.change(service, "gardener", "add_child", child=agents.child("grafter", "/srv"))
    segments = iter(f"seg-{number}" for number in range(2, 9))

    def ask(child: object, seconds: float) -> str:
        agents.change(service, "gardener", "set_active", session_id="oak", segment_id=next(segments))
        return "stopped"

    with pytest.raises(faults.Moved):
        agents.restore(service, ask=ask)  # type: ignore[arg-type]
    assert (pods_of(service).read("gardener")["reclaimed"], agents.notices(service)) == ([], [])


def test_a_childs_metadata_is_not_deleted_because_its_socket_is_gone(service: Service, tmp_path: Path) -> None:
    agents.active(service, "grafter")
    agents.active(service)
    agents.change(
        service, "gardener", "add_child", child=agents.child("grafter", "/srv", socket_path=str(tmp_path / "gone"))
    )
    before = (tmp_path / "pods" / "grafter" / "metadata.json").read_bytes()
    assert agents.restore(service)["reclaims"]
    assert (tmp_path / "pods" / "grafter" / "metadata.json").read_bytes() == before


def test_asking_takes_a_bounded_time_however_it_is_done(service: Service) -> None:
    agents.active(service)
    for number in range(20):
        agents.change(service, "gardener", "add_child", child=agents.child(f"child-{number}"))
    for_ever = threading.Event()

    def ask(child: object, seconds: float) -> str:
        for_ever.wait(60)
        return "alive"

    found = agents.restore(service, ask=ask)  # type: ignore[arg-type]
    for_ever.set()
    assert {child["reason"] for child in found["reclaims"][0]["children"]} == {"unreachable"}


def test_whoever_cannot_ask_reclaims_nothing(service: Service) -> None:
    agents.active(service)
    agents.change(service, "gardener", "add_child", child=agents.child("grafter", "/srv"))

    def ask(child: object, seconds: float) -> str:
        raise RuntimeError("the runtime is not up")

    with pytest.raises(RuntimeError):
        agents.restore(service, ask=ask)  # type: ignore[arg-type]
    assert [child["name"] for child in pods_of(service).read("gardener")["children"]] == ["grafter"]


def test_pods_belong_to_the_default_namespace(service: Service) -> None:
    from pond.operations.failing import RequestError, failure_of

    with pytest.raises(RequestError) as refused:
        list_pods(service, {"protocol_version": 1, "namespace": "tenant"})
    assert failure_of(refused.value).code == "namespace_unknown"


def test_a_lake_that_was_exported_and_imported_keeps_the_pointer_valid(service: Service, tmp_path: Path) -> None:
    from pond.operations.archive import ExportRequest, ImportRequest, export, import_

    agents.active(service)
    agents.change(service, "gardener", "add_child", child=agents.child("digger", "/srv/orchard/north"))
    before = agents.restore(service)
    assert len(before["notices"]) == 1
    export(service, ExportRequest(tmp_path / "packed"))
    elsewhere = Service(replace(service.settings, lake=str(tmp_path / "elsewhere")))
    import_(elsewhere, ImportRequest(tmp_path / "packed"))
    after = agents.restore(elsewhere)
    assert (after["pod"], after["session"], after["messages"]) == (
        before["pod"], before["session"], before["messages"]
    )  # fmt: skip
    assert agents.messages(elsewhere) == agents.messages(service)
    assert (after["notices"], len(agents.notices(elsewhere))) == ([], 1)
