"""Tenants of one server: each sees its own rows and nobody else's, wherever its lake lies."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pond.config.settings import Serve, Settings
from pond.operations.failing import RequestError
from pond.operations.listing import list_sessions
from pond.operations.namespaces import create_namespace, list_namespaces
from pond.operations.service import Service
from tests.cli.command import pond
from tests.lake import s3
from tests.operations import invented
from tests.size import size
from tests.transports.server import Server, serving

TENANTS = ("house-of-ada", "house-of-grace", "house-of-mary")


def _events(tenant: str, number: int) -> list[object]:
    id = f"session-{number}"  # the same ids in every namespace
    text = f"the secret of {tenant} is number {number}"
    return [invented.session(id, project=f"/srv/{tenant}"), *invented.said(id, "m", text, at=number % 1000)]


@pytest.mark.rule("wire-namespace-resolution")
def test_a_table_of_namespaces_says_where_each_lies(tmp_path: Path) -> None:
    places = {"ada": str(tmp_path / "hers"), "*": str(tmp_path / "all" / "of-{namespace}" / "lake")}
    service = Service(Settings(lake=str(tmp_path / "lake"), namespaces=places))
    assert create_namespace(service, "ada").lake == str(tmp_path / "hers")
    assert create_namespace(service, "grace").lake == str(tmp_path / "all" / "of-grace" / "lake")
    assert [(each.name, each.exists) for each in list_namespaces(service)] == [("ada", True), ("grace", True)]
    assert list_sessions(service, {"protocol_version": 1, "namespace": "grace"})["sessions"] == []
    for name in ("mary", "../hers", "Ada", "a/b", "*", "", "a" * 65, "{namespace}"):
        with pytest.raises(RequestError) as refused:
            list_sessions(service, {"protocol_version": 1, "namespace": name})
        assert refused.value.details["reason"] == "no-namespace"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all", "hers"]


def test_only_named_namespaces_are_known_where_some_are_named(tmp_path: Path) -> None:
    service = Service(Settings(lake=str(tmp_path / "lake"), namespaces={"ada": str(tmp_path / "hers")}))
    with pytest.raises(RequestError):
        create_namespace(service, "grace")


def test_namespaces_are_made_and_listed(tmp_path: Path) -> None:
    lake = ["--lake", str(tmp_path / "lake")]
    assert pond("namespace", "list", *lake).out.startswith(b"No namespaces")
    for name in ("ada", "ada", "grace"):
        assert pond("namespace", "create", name, *lake).code == 0
    found = json.loads(pond("namespace", "list", "--json", *lake).out)["namespaces"]
    assert [(each["name"], each["exists"]) for each in found] == [("ada", True), ("grace", True)]
    refused = pond("namespace", "create", "Ada", *lake)
    assert (refused.code, "cannot be a namespace" in refused.err) == (2, True)


def test_idle_namespaces_are_let_go(tmp_path: Path) -> None:
    now = [0.0]
    limits = Serve(open_namespaces=3, idle=10.0)
    service = Service(Settings(lake=str(tmp_path / "lake"), serve=limits), {}, lambda: now[0])
    names = [f"tenant-{number}" for number in range(size(50, 8))]
    for name in names:
        create_namespace(service, name)
    for name in names * 2:
        list_sessions(service, {"protocol_version": 1, "namespace": name})
        assert service.open_namespaces <= 3
    assert service.open_namespaces == 3
    with pytest.raises(RequestError):  # asking for names that are none pushes nobody out
        list_sessions(service, {"protocol_version": 1, "namespace": "nobody"})
    list_sessions(service, {"protocol_version": 1, "namespace": names[-1]})
    now[0] += 11
    service.let_go()
    assert service.open_namespaces == 0


# --- under load ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bucket() -> Iterator[int]:
    with s3.serving() as port:
        yield port


@pytest.fixture(params=["local", "s3"])
def hosted(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """A server whose tenants are made from a template, on disk or in a bucket."""
    variables = {"XDG_CONFIG_HOME": str(tmp_path)}
    template, storage = str(tmp_path / "tenants" / "{namespace}"), ""
    if request.param == "s3":
        place = s3.Store(request.getfixturevalue("bucket"), "hosted")
        template = f"{place.uri}/{{namespace}}"
        storage = "[storage]\n" + "".join(f'{name} = "{text}"\n' for name, text in place.storage_options.items())
    (tmp_path / "pond").mkdir()
    (tmp_path / "pond" / "pond.toml").write_text(f'{storage}[namespaces]\n"*" = "{template}"\n')
    for tenant in TENANTS:
        made = pond("namespace", "create", tenant, "--lake", str(tmp_path / "lake"), variables=variables)
        assert made.code == 0, made.err
    with serving(tmp_path / "lake", variables=variables) as server:
        yield server


def test_tenants_never_meet(hosted: Server) -> None:
    """Every tenant writes and reads at the same time, under the same ids; nobody ever sees another's row."""
    rounds = size(40, 4)
    wrong: list[object] = []

    def work(tenant: str) -> None:
        for number in range(rounds):
            hosted.ingest(_events(tenant, number), namespace=tenant)
            answers = [
                hosted.post("/v1/search", query="secret", namespace=tenant, limit=50).json,
                hosted.post("/v1/get", session_id=f"session-{number}", namespace=tenant).json,
                hosted.post("/v1/list", namespace=tenant).json,
                hosted.post("/v1/sql", query="SELECT DISTINCT project FROM sessions", namespace=tenant).json,
            ]
            if answers[-1].get("rows") != [{"project": f"/srv/{tenant}"}]:
                wrong.append((tenant, number, answers[-1]))
            others = [other for other in TENANTS if other != tenant]
            wrong.extend((tenant, answer) for answer in answers if any(each in json.dumps(answer) for each in others))
            stats = hosted.get("/v1/stats", **{"x-pond-namespace": tenant}).json
            if not number < stats["sessions"] <= rounds:
                wrong.append((tenant, number, stats["sessions"]))

    threads = [threading.Thread(target=work, args=[tenant]) for tenant in TENANTS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    for tenant in TENANTS:
        assert hosted.get("/v1/stats", **{"x-pond-namespace": tenant}).json["sessions"] == rounds
    assert hosted.post("/v1/list", namespace="nobody").reason == "no-namespace"
    assert hosted.post("/v1/list").json["error"]["details"]["reason"] == "no-lake"
