"""What goes out of one lake comes into another as it was, once."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest

from pond.diagnostics.diagnostic import PondError, UsageError
from pond.lake import export as export_module
from pond.lake.import_ import import_
from pond.model.equal import first_difference
from pond.sessions import ledger
from pond.sessions.archive import check as check_module
from pond.sessions.archive import merge as merge_module
from pond.sessions.archive.manifest import TABLES
from pond.sessions.archive.select import Selection
from pond.sessions.tables import MESSAGES, PARTS
from pond.sessions.writing import prepare
from pond.substrate import read, snapshot, write
from pond.substrate.catalog import Catalog
from pond.substrate.snapshot import Snapshot
from pond.substrate.store import Store
from pond.substrate.table import Table
from tests.cli.command import environment
from tests.house.tree import ROOT
from tests.lake.archives import FIXTURES, Box, difference, exported, sessions, versions
from tests.lake.build import SUBAGENTS, TOURS, in_pieces, lake
from tests.lake.talk import say, talk
from tests.size import size

pytestmark = pytest.mark.usefixtures("warm_check")

NOTHING_NEW = {"sessions": 0, "messages": 0, "parts": 0}


def empty(place: Path) -> Store:
    return Store(Catalog(str(place)))


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return lake(tmp_path_factory.mktemp("everything") / "lake", *FIXTURES)


@pytest.fixture(scope="module")
def tours(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return lake(tmp_path_factory.mktemp("tours") / "lake", *TOURS)


# --- there and back ---------------------------------------------------------------------------------------------------


def test_every_session_of_every_fixture_comes_back_value_equal(everything: Store, tmp_path: Path) -> None:
    target = empty(tmp_path / "lake")
    done = import_(target, exported(everything, tmp_path / "a.pond"))
    assert difference(target, everything) is None
    assert done.new == done.held == {table.name: len(Snapshot(everything, table)) for table in TABLES}
    assert len(sessions(target)) > 50
    assert done.faults == []
    assert {path.name for path in tmp_path.iterdir()} == {"a.pond", "lake"}


def test_importing_again_adds_nothing_and_commits_nothing(tours: Store, tmp_path: Path) -> None:
    archive, target = exported(tours, tmp_path / "a.pond"), empty(tmp_path / "lake")
    import_(target, archive)
    before = versions(target)
    assert import_(target, archive).new == NOTHING_NEW
    assert versions(target) == before


def test_a_lake_that_has_some_of_it_gets_the_rest(everything: Store, tmp_path: Path) -> None:
    target = lake(tmp_path / "lake", *SUBAGENTS, *TOURS)
    there = len(sessions(target))
    done = import_(target, exported(everything, tmp_path / "a.pond"))
    assert done.new["sessions"] == done.held["sessions"] - there
    assert difference(target, everything) is None


def test_a_session_that_grew_gets_its_new_rows(tmp_path: Path) -> None:
    older, newer = empty(tmp_path / "older"), empty(tmp_path / "newer")
    for store, count in ((older, 3), (newer, 5)):
        prepare(store)
        talk(store, "s", count)
    done = import_(older, exported(newer, tmp_path / "a.pond"))
    assert done.new == {"sessions": 0, "messages": 2, "parts": 2}
    assert difference(older, newer) is None


def test_an_archive_is_compact_and_has_neither_index_nor_history(tmp_path: Path) -> None:
    source = in_pieces(tmp_path / "lake", *TOURS, *SUBAGENTS)
    path = exported(source, tmp_path / "a.pond")
    names = [entry.filename for entry, _ in Box.of(path).members]
    assert names[0] == "manifest.json"
    assert len(names) == len(TABLES) * 2 + 1, names
    stored = sum(file.stat().st_size for file in Path(source.catalog.tables_root).rglob("*") if file.is_file())
    assert path.stat().st_size < stored / 5


def test_the_same_lake_gives_the_same_claims(tours: Store, tmp_path: Path) -> None:
    first, second = (
        json.loads(Box.of(exported(tours, tmp_path / name)).data("manifest.json")) for name in ("a.pond", "b.pond")
    )
    assert first["tables"] == second["tables"]
    assert len(first["members"]) == len(second["members"])


# --- choosing ---------------------------------------------------------------------------------------------------------


def test_a_session_comes_with_its_children_and_nothing_else(everything: Store, tmp_path: Path) -> None:
    target = empty(tmp_path / "lake")
    all_of_them = sessions(everything)
    parent = next(
        s[0]["parent_session_id"] for s in all_of_them.values() if s[0].get("parent_session_id") in all_of_them
    )
    import_(target, exported(everything, tmp_path / "a.pond", Selection((parent,))))
    found = sessions(target)
    children = {id for id, events in all_of_them.items() if events[0].get("parent_session_id") == parent}
    assert children
    assert {parent} | children <= found.keys()
    assert all(id == parent or events[0]["parent_session_id"] in found for id, events in found.items())
    assert first_difference({id: all_of_them[id] for id in found}, found) is None


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(client="codex"), {"late"}),
        (Selection(project="/srv/one"), {"early", "below"}),
        (Selection(since=1_770_000_000_000_000), {"late", "below"}),
        (Selection(until=1_770_000_000_000_000), {"early"}),
        (Selection(project="/srv/one", since=1_770_000_000_000_000), {"below"}),
        (Selection(("ear",)), {"early"}),
    ],
)
def test_sessions_are_chosen_by_what_holds_of_them(selection: Selection, expected: set[str], tmp_path: Path) -> None:
    source, target = empty(tmp_path / "source"), empty(tmp_path / "lake")
    prepare(source)
    talk(source, "early", 1, project="/srv/one", created_at="2026-01-01T00:00:00.000Z")
    talk(source, "late", 1, project="/srv/one-more", created_at="2026-03-01T00:00:00.000Z", source_agent="codex")
    talk(source, "below", 1, project="/srv/one/below", created_at="2026-04-01T00:00:00.000Z")
    import_(target, exported(source, tmp_path / "a.pond", selection))
    assert sessions(target).keys() == expected


def test_choosing_nothing_is_refused(tours: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        exported(tours, tmp_path / "a.pond", Selection(project="/nowhere"))
    assert refused.value.diagnostics[0].code == "lake-not-found"
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_not_overwritten(tours: Store, tmp_path: Path) -> None:
    (tmp_path / "a.pond").write_text("mine")
    with pytest.raises(PondError) as refused:
        exported(tours, tmp_path / "a.pond")
    assert refused.value.diagnostics[0].code == "output-exists"
    assert (tmp_path / "a.pond").read_text() == "mine"


# --- what a lake keeps to itself --------------------------------------------------------------------------------------


def test_a_session_erased_here_does_not_come_back_unasked(tours: Store, tmp_path: Path) -> None:
    archive, target = exported(tours, tmp_path / "a.pond"), empty(tmp_path / "lake")
    prepare(target)
    gone, *others = sorted(sessions(tours))
    ledger.note(target, ledger.ERASED, {gone: {}})
    done = import_(target, archive)
    assert done.erased == [gone]
    assert [(fault.code, fault.count) for fault in done.faults] == [("archive-erased", 1)]
    assert sorted(sessions(target)) == others
    assert read.count(target, PARTS, f"session_id = '{gone}'") == 0

    assert import_(target, archive, erased=True).erased == []
    assert difference(target, tours) is None
    assert import_(target, archive).faults == [], "it is no longer remembered as erased"


def test_what_descends_from_an_erased_session_stays_away_with_it(tmp_path: Path) -> None:
    source, target = empty(tmp_path / "source"), empty(tmp_path / "lake")
    prepare(source)
    prepare(target)
    for id, parent in (("child", "gone"), ("gone", "root"), ("grandchild", "child"), ("root", "nobody")):
        talk(source, id, 1, parent_session_id=parent)
    ledger.note(target, ledger.ERASED, {"gone": {}})
    done = import_(target, exported(source, tmp_path / "a.pond"))
    assert sorted(done.erased) == ["child", "gone", "grandchild"]
    assert sessions(target).keys() == {"root"}


def test_a_session_that_is_being_erased_is_left_out(tmp_path: Path) -> None:
    source = empty(tmp_path / "source")
    prepare(source)
    talk(source, "stays", 1)
    talk(source, "goes", 1)
    ledger.note(source, ledger.ERASED, {"goes": {}})
    target = empty(tmp_path / "lake")
    import_(target, exported(source, tmp_path / "a.pond"))
    assert sessions(target).keys() == {"stays"}
    assert read.count(target, MESSAGES) == 1


def test_a_session_whose_id_the_lake_has_for_another_goes_in_under_a_name_of_its_own(tmp_path: Path) -> None:
    source, target = empty(tmp_path / "source"), empty(tmp_path / "lake")
    prepare(source)
    prepare(target)
    talk(source, "same", 3)
    talk(source, "grown", 3)
    talk(source, "other", 3, source_agent="codex")
    talk(source, "child", 1, parent_session_id="other")
    talk(target, "other", 1)
    talk(target, "grown", 2)
    before = sessions(target)["other"]
    archive = exported(source, tmp_path / "a.pond")
    done = import_(target, archive)
    assert [fault.code for fault in done.faults] == ["lake-same-id"]
    found = sessions(target)
    (aside,) = found.keys() - {"same", "grown", "other", "child"}
    assert aside.startswith("other~")
    assert aside in done.faults[0].message
    assert found["other"] == before
    assert (found["same"], found["grown"]) == (sessions(source)["same"], sessions(source)["grown"])
    assert len(found[aside]) == len(sessions(source)["other"])
    assert found[aside][0]["options"]["pond"]["id"] == "other"
    assert found["child"][0]["parent_session_id"] == aside
    before_again = versions(target)
    again = import_(target, archive)
    assert (again.new, again.faults) == (NOTHING_NEW, [])
    assert versions(target) == before_again


def test_a_dry_run_counts_and_touches_nothing(tours: Store, tmp_path: Path) -> None:
    archive, target = exported(tours, tmp_path / "a.pond"), empty(tmp_path / "lake")
    told = import_(target, archive, dry_run=True)
    assert not (tmp_path / "lake").exists()
    assert told.new == told.held == import_(target, archive).new
    assert import_(target, archive, dry_run=True).new == NOTHING_NEW


# --- payloads that rows share -----------------------------------------------------------------------------------------


def test_a_row_whose_payload_is_with_a_row_that_differs_here_gets_it(tmp_path: Path) -> None:
    source, target = empty(tmp_path / "source"), empty(tmp_path / "lake")
    for store in (source, target):
        prepare(store)
    picture, other = bytes(range(256)) * 8, bytes(reversed(range(256))) * 8
    talk(source, "s", 3, pictures=[picture, picture, picture])
    talk(target, "s", 1, pictures=[other])  # as if the first row had been read in another form
    merge_module.merge(source, target, merge_module.MergePlan(taken=["s"]), lambda rows: None, dry=False)
    now, then = sessions(target)["s"], sessions(source)["s"]
    assert now[3:] == then[3:]
    assert now[:3] != then[:3]
    held = read.rows(target, PARTS, ["id"], "data_size IS NOT NULL").num_rows
    assert held == 2, "each payload once"


def test_payloads_are_read_a_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = empty(tmp_path / "lake")
    prepare(store)
    talk(store, "s", 6, pictures=[bytes([n]) * 1000 for n in range(6)])
    monkeypatch.setattr(snapshot, "_PAYLOADS", 2500)
    batches = list(Snapshot(store, PARTS).batches())
    assert [batch.num_rows for batch in batches] == [2, 2, 2]
    monkeypatch.setattr(snapshot, "_PAYLOADS", 10)
    assert [batch.num_rows for batch in Snapshot(store, PARTS).batches()] == [1] * 6


# --- while others write, and when it ends early -----------------------------------------------------------------------


@pytest.mark.parametrize("few", [0, 500])
def test_what_is_written_between_two_tables_is_left_out_or_whole(
    few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_module, "_FEW", few)  # found by an index, or by a scan of everything
    source, other = empty(tmp_path / "source"), empty(tmp_path / "source")
    prepare(source)
    talk(source, "old", 2)

    def taken(store: Store, table: Table) -> Snapshot:
        made = Snapshot(store, table)
        talk(other, f"after-{table.name}", 2)
        say(other, "old", 10 + len(table.name))
        return made

    monkeypatch.setattr(export_module, "Snapshot", taken)
    target = empty(tmp_path / "lake")
    import_(target, exported(source, tmp_path / "a.pond"))
    found = sessions(target)
    assert found.keys() == {"old"}
    assert [event["kind"] for event in found["old"]] == ["session", *["message", "part"] * 3]


def test_an_archive_made_while_another_process_writes_is_coherent(tmp_path: Path) -> None:
    source = empty(tmp_path / "source")
    prepare(source)
    count, place = size(40, 20), str(tmp_path / "source")
    writing = [sys.executable, "-c", f"from tests.lake.talk import chatter; chatter({place!r}, {count})"]
    with subprocess.Popen(writing, cwd=ROOT, env=environment()) as writer:
        for number in range(3):
            target = empty(tmp_path / f"lake{number}")
            import_(target, exported(source, tmp_path / f"{number}.pond"))
            for id, events in sessions(target).items():
                assert len(events) == 1 + 2 * 5, id
            time.sleep(0.2)
        assert writer.wait(120) == 0
    assert len(sessions(source)) == count


@pytest.mark.parametrize("calls", range(4))
def test_an_import_that_broke_off_is_completed_by_the_next(
    calls: int, tours: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, target = exported(tours, tmp_path / "a.pond"), empty(tmp_path / "lake")
    insert, left = write.insert, calls

    def breaking(store: Store, table: Table, new: pa.Table) -> int:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        return insert(store, table, new)

    monkeypatch.setattr(snapshot, "_ROWS", 8)
    monkeypatch.setattr(merge_module, "_ROWS", 8)
    with monkeypatch.context() as patch:
        patch.setattr(write, "insert", breaking)
        with pytest.raises(KeyboardInterrupt):
            import_(target, archive)
    assert sessions(target) == {}, "a session is stored last"
    done = import_(target, archive)
    assert difference(target, tours) is None
    assert done.new["sessions"] == done.held["sessions"]


def test_a_killed_import_is_completed_by_the_next(everything: Store, tmp_path: Path) -> None:
    archive, target = exported(everything, tmp_path / "a.pond"), empty(tmp_path / "lake")
    importing = f"from tests.lake.talk import slow_import; slow_import({str(tmp_path / 'lake')!r}, {str(archive)!r})"
    for moment in (3, 6):  # commits that it has made
        with subprocess.Popen(
            [sys.executable, "-c", importing], cwd=ROOT, env=environment(TMPDIR=str(tmp_path)), stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            for _ in range(moment):
                process.stdout.readline()
            process.kill()
    import_(target, archive)
    assert difference(target, everything) is None


def test_an_archive_is_checked_in_a_process_that_may_die(
    tours: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, target = exported(tours, tmp_path / "a.pond"), empty(tmp_path / "lake")
    monkeypatch.setattr(check_module, "_CHILD", "import os; os.abort()")
    with pytest.raises(PondError) as refused:
        import_(target, archive)
    assert refused.value.diagnostics[0].code == "archive-schema"
    assert not (tmp_path / "lake").exists()


@pytest.mark.rule("lance-table-creation-stable-row-ids")
def test_importing_makes_the_same_tables_as_ingesting(tours: Store, tmp_path: Path) -> None:
    target = empty(tmp_path / "lake")
    import_(target, exported(tours, tmp_path / "a.pond"))
    for table in TABLES:
        assert target.handle(table).has_stable_row_ids
        found = {index.name for index in target.handle(table).describe_indices()}
        assert found == {index.name for index in table.indexes}
