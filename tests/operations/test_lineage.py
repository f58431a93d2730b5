"""How a session comes from its parent decides what happens to both: only a spawned one belongs to it."""

from pathlib import Path
from typing import Any

import pytest

from pond.config.load import load as load_settings
from pond.intake.deriving import derive
from pond.intake.ingest import ingest
from pond.intake.request import Request
from pond.lake import erase, import_
from pond.lake.export import export
from pond.lake.get import get_session
from pond.lake.listing import ListingFilter, recent
from pond.model.json_text import JsonObject, decode_stored
from pond.model.lineage import KINDS
from pond.model.validate import validate
from pond.sessions import load
from pond.sessions.archive.select import Selection
from pond.sessions.tables import SESSIONS
from pond.sessions.writing import prepare
from pond.substrate.catalog import Catalog
from pond.substrate.store import Store
from tests.house.tree import ROOT
from tests.operations import invented

FORKS = ROOT / "adapters" / "codex" / "fixtures" / "fork"
SUBAGENTS = ROOT / "adapters" / "codex" / "fixtures" / "subagents"


def _session(id: str, at: int, **facts: str) -> tuple[JsonObject, list[list[JsonObject]]]:
    return invented.session(id, **facts), [invented.said(id, "m", f"words of {id}", at=at)]


def _family(folder: Path, *, told: bool = True) -> Store:
    """Return a lake with a session, what it spawned, a fork of it with a helper of its own, and a chain of two."""
    store = Store(Catalog(str(folder)))
    prepare(store)

    def below(parent: str, kind: str) -> dict[str, str]:
        return {"parent_session_id": parent} | ({"lineage_kind": kind} if told else {})

    invented.store_all(
        store,
        [
            _session("root", 1),
            _session("helper", 2, **below("root", "spawn")),
            _session("fork", 3, **below("root", "fork")),
            _session("fork-helper", 4, **below("fork", "spawn")),
            _session("next", 5, **below("root", "continuation")),
            _session("next-next", 6, **below("next", "continuation")),
        ],
        lambda options: None,
    )
    return store


def _listed(store: Store, **wanted: Any) -> dict[str, JsonObject]:
    return {row["id"]: row for row in recent(store, ListingFilter(**wanted))["sessions"]}


def test_a_fork_and_a_continuation_are_listed_for_themselves(tmp_path: Path) -> None:
    store = _family(tmp_path)
    listed = _listed(store)
    assert list(listed) == ["next-next", "next", "fork", "root"]
    assert {id: row["children"] for id, row in listed.items()} == {"root": 1, "fork": 1, "next": 0, "next-next": 0}
    assert (listed["next-next"]["parent_session_id"], listed["next-next"]["lineage_kind"]) == ("next", "continuation")
    assert listed["root"]["active_at"] == "2026-05-04T00:02:00.000Z"  # work in a fork is not its parent's
    assert list(_listed(store, parent="root")) == ["helper"]
    assert len(_listed(store, everything=True)) == 6
    assert [each["id"] for each in get_session(store, "root")["subagents"]] == ["helper"]


@pytest.mark.rule("adapter-lineage-complete-restore")
def test_only_what_was_spawned_goes_along(tmp_path: Path) -> None:
    store = _family(tmp_path / "lake")
    assert [row["id"] for row in load.descendants(store, ["root"])] == ["helper"]
    assert export(store, tmp_path / "root.pond", Selection(("root",))).sessions == 2
    assert [*erase.family(store, "fork").members] == ["fork", "fork-helper"]


def test_a_fork_outlives_its_parent(tmp_path: Path) -> None:
    store = _family(tmp_path / "lake")
    export(store, tmp_path / "all.pond", Selection())
    assert erase.erase(store, [erase.family(store, "root")], alone=True).sessions == 2
    assert set(_listed(store, everything=True)) == {"fork", "fork-helper", "next", "next-next"}
    assert import_.import_(store, tmp_path / "all.pond").erased == ["root", "helper"]
    assert set(_listed(store, everything=True)) == {"fork", "fork-helper", "next", "next-next"}


def test_a_fork_of_an_erased_session_still_comes_in(tmp_path: Path) -> None:
    settings = load_settings({"lake": str(tmp_path / "lake")}, {})
    ingest(settings, Request([(str(FORKS), None)]))
    store = Store(Catalog(str(tmp_path / "lake")))
    fork = next(row for row in load.sessions(store, None) if row.get("lineage_kind") == "fork")
    parent = fork["parent_session_id"]
    if load.session(store, parent) is not None:
        erase.erase(store, [erase.family(store, parent)], alone=True)
    erase.erase(store, [erase.family(store, fork["id"])], alone=True)
    erase.forget(store, [erase.family(store, fork["id"])])
    ingest(settings, Request([(str(FORKS), None)]))
    assert load.session(Store(Catalog(str(tmp_path / "lake"))), fork["id"]) is not None


def test_a_session_that_does_not_say_counts_as_spawned(tmp_path: Path) -> None:
    store = _family(tmp_path, told=False)  # nobody's records tell
    assert list(_listed(store)) == ["root"]
    assert len(load.descendants(store, ["root"])) == 5


def test_a_lake_of_an_earlier_pond_is_read_right_and_then_noted(tmp_path: Path) -> None:
    for name in ("new", "old"):
        ingest(load_settings({"lake": str(tmp_path / name)}, {}), Request([(str(FORKS), None), (str(SUBAGENTS), None)]))
    new, old = (Store(Catalog(str(tmp_path / name))) for name in ("new", "old"))
    old.handle(SESSIONS).drop_columns(["lineage_kind"])
    old = Store(Catalog(str(tmp_path / "old")))
    assert all("lineage_kind" not in row for row in load.sessions(old, None))
    assert list(_listed(old)) == list(_listed(new))
    assert [row["id"] for row in load.descendants(old, _listed(new))] == [
        row["id"] for row in load.descendants(new, _listed(new))
    ]
    derive(old)
    kinds = {row["id"]: row.get("lineage_kind") for row in load.sessions(old, None)}
    assert kinds == {row["id"]: row.get("lineage_kind") for row in load.sessions(new, None)}
    assert {"spawn", "fork"} <= set(kinds.values())


@pytest.mark.rule("model-parent-pointer-coherence")
def test_a_kind_needs_a_parent_and_is_one_of_three() -> None:
    session = invented.session("s")
    assert not validate([session | {"parent_session_id": "p", "lineage_kind": "continuation"}])
    for broken in ({"lineage_kind": "fork"}, {"parent_session_id": "p", "lineage_kind": "cousin"}):
        (fault,) = validate([session | broken])
        assert fault.path == "$[0].lineage_kind"


def test_the_kinds_are_those_of_the_schema() -> None:
    schema = decode_stored((ROOT / "schema" / "canonical.schema.json").read_text())
    assert [each["const"] for each in schema["$defs"]["LineageKind"]["oneOf"]] == [*KINDS]
