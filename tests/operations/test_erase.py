"""A session that is erased is gone with all that descends from it, to the last byte, and stays so."""

import platform
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pond.diagnostics.diagnostic import UsageError
from pond.intake.sources import SOURCE
from pond.lake.erase import erase, family, forget, preview, unfinished
from pond.lake.tombstones import put, stones
from pond.sessions import ledger, load
from pond.sessions.lake import existing
from pond.sessions.tables import LEDGER, MESSAGES, PARTS, SESSIONS, TABLES
from pond.substrate import predicate, read, upkeep, write
from pond.substrate.signals import Missing
from tests.cli.command import POND, environment
from tests.lake import kill
from tests.lake.build import TOURS, lake
from tests.lake.remains import SECRET, holding, store_secret
from tests.lake.taking import contents, settings, store, take_in

FAMILY = ("5ec0de", "5ec0de/child", "5ec0de/child/grandchild", "unlike")  # the last one's id says nothing of its parent
NOTE = {"host": platform.node(), "size": 1, "problems": [], "drift": {}}


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with two ordinary sessions and a secret family, indexed."""
    place = tmp_path_factory.mktemp("lakes") / "before"
    there = lake(place, *TOURS)
    for id, parent in zip(FAMILY, (None, *FAMILY[:2], "5ec0de"), strict=True):
        store_secret(there, id, parent)
    sources = {f"here:/{SECRET}/{id}.jsonl": NOTE | {"path": f"/{SECRET}/{id}", "sessions": [id]} for id in FAMILY}
    both = {"here:/both": NOTE | {"path": "/both", "sessions": ["other", "5ec0de"]}}
    other = {"here:/other": NOTE | {"path": "/other", "sessions": ["other"]}}
    ledger.note(there, SOURCE, sources | both | other)
    for table in TABLES:
        upkeep.fold_indexes(there, table)
    return place


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same lake as if the family had never been."""
    place = tmp_path_factory.mktemp("lakes") / "ordinary"
    lake(place, *TOURS)
    return place


@pytest.fixture
def place(before: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(before, tmp_path / "lake"))


def is_gone(place: Path, ordinary: Path) -> bool:
    """Tell whether no file and no row has anything of the family, and everything else is as it was."""
    there = store(place)
    assert contents(place) == contents(ordinary)
    assert list(ledger.notes(there, SOURCE)) == ["here:/other"]
    assert unfinished(there) == []
    for table in TABLES:
        assert upkeep.leftovers(there, table) == []
        assert len(list((place / f"{table.name}.lance" / "_versions").glob("*.manifest"))) == 1
    for table in (MESSAGES, PARTS):
        assert {index.unindexed for index in upkeep.health(there, table).indexes} == {0}
    return holding(place) == []


def test_nothing_is_left_of_a_family(place: Path, ordinary: Path) -> None:
    assert {file.partition("/")[0] for file in holding(place)} == {f"{table.name}.lance" for table in TABLES}
    there = store(place)
    done = erase(there, [family(there, "5ec0de")])
    assert (done.sessions, done.messages, done.parts, done.left) == (4, 4, 8, {})
    assert is_gone(place, ordinary)


def test_the_rest_can_be_read_and_searched(place: Path, ordinary: Path) -> None:
    there = store(place)
    erase(there, [family(there, "5ec0de")])
    for id in read.rows(there, SESSIONS, ["id"])["id"].to_pylist():
        assert list(load.groups(there, id)) == list(load.groups(store(ordinary), id))
    terms = read.rows(there, MESSAGES, ["terms"], "terms IS NOT NULL")["terms"][0].as_py()
    word = max(terms.split(), key=len)
    counts = [each.handle(MESSAGES).to_table(full_text_query=word).num_rows for each in (there, store(ordinary))]
    assert counts[0] == counts[1] > 0


def test_every_member_is_remembered(place: Path) -> None:
    there = store(place)
    erase(there, [family(there, "5ec0de")])
    found = stones(there)
    assert set(found) == set(FAMILY)
    assert {(stone.of, stone.sessions, stone.done) for stone in found.values()} == {("5ec0de", 4, True)}
    assert all(stone.at.endswith("Z") for stone in found.values())


def test_a_child_alone_leaves_its_parent(place: Path) -> None:
    there = store(place)
    assert erase(there, [family(there, "5ec0de/child")]).sessions == 2
    left = read.rows(there, SESSIONS, ["id"], predicate.equals("source_agent", "heron"))["id"].to_pylist()
    assert sorted(left) == ["5ec0de", "unlike"]
    assert erase(there, [family(there, "5ec0de")]).sessions == 2
    assert {id: stone.of for id, stone in stones(there).items()} == {
        "5ec0de": "5ec0de",
        "unlike": "5ec0de",
        "5ec0de/child": "5ec0de/child",
        "5ec0de/child/grandchild": "5ec0de/child",
    }


def test_a_parent_and_its_child_asked_for_together_are_one_family(place: Path, ordinary: Path) -> None:
    there = store(place)
    wanted = [family(there, "unlike"), family(there, "5ec0de"), family(there, "5ec0de")]
    assert erase(there, wanted).sessions == 4
    assert {stone.of for stone in stones(there).values()} == {"5ec0de"}
    assert is_gone(place, ordinary)


def test_what_is_gone_is_not_erased_again(place: Path) -> None:
    there = store(place)
    erase(there, [family(there, "5ec0de")])
    before = {table.name: there.renewed(table).version for table in TABLES}
    for text in ("5ec0de", "5ec", "unlike"):
        again = family(there, text)
        assert sorted(again.members) == sorted(FAMILY)
        assert erase(there, [again]).sessions == 0
    assert {table.name: there.renewed(table).version for table in TABLES} == before


def test_what_a_writer_brought_back_goes_again(place: Path, ordinary: Path) -> None:
    there = store(place)
    erase(there, [family(there, "5ec0de")])
    put(there, {"unlike": replace(stones(there)["unlike"], at="2026-01-01T00:00:00Z")})
    store_secret(there, "unlike", "5ec0de")  # an ingest that had begun before, and did not know
    assert unfinished(there) == ["5ec0de"]
    assert erase(there, [family(there, "5ec0de")]).sessions == 1
    assert stones(there)["unlike"].at == "2026-01-01T00:00:00Z"
    assert is_gone(place, ordinary)


def test_ids_that_nothing_has(place: Path) -> None:
    there = store(place)
    with pytest.raises(UsageError, match="no session `5ec9`"):
        family(there, "5ec9")
    erase(there, [family(there, "5ec0de/child"), family(there, "unlike")])
    for id in ("5ec0de", "5ec0df"):
        store_secret(there, id)
    erase(there, [family(there, "5ec0df"), family(there, "5ec0de")])
    with pytest.raises(UsageError) as caught:
        family(there, "5ec0")
    assert caught.value.diagnostics[0].help == "one of 5ec0de, 5ec0de/child, 5ec0df"
    assert family(there, "5ec0de/ch").members == ("5ec0de/child", "5ec0de/child/grandchild")


def test_a_lake_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(Missing):
        existing(settings(tmp_path / "none"))
    assert not (tmp_path / "none").exists()


def test_a_person_sees_what_would_go(place: Path) -> None:
    there = store(place)
    shown = preview(there, family(there, "5ec0de"))
    assert (shown.session_id, shown.client, shown.project) == ("5ec0de", "heron", f"/home/ada/{SECRET}")
    assert (shown.title, shown.messages, shown.children) == (f"the {SECRET} of 5ec0de", 4, 3)
    write.erase(there, SESSIONS, "starts_with(id, '5ec0de')")
    with pytest.raises(UsageError):
        family(there, "5ec0de")  # no session, no tombstone: remains of an ingest, which the next one completes


def test_ids_that_no_column_can_hold(tmp_path: Path) -> None:
    there = lake(tmp_path / "lake")
    odd = "half \ud800, quote ' and \x01"
    store_secret(there, odd)
    store_secret(there, "x", odd)
    assert erase(there, [family(there, odd)]).sessions == 2
    assert holding(tmp_path / "lake") == []
    assert unfinished(there) == []
    assert forget(there, [family(there, odd)]) == 2
    assert stones(there) == {}


# --- and stays so ----------------------------------------------------------------------------------------------------


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TOURS[0], tmp_path / "source"))


def test_ingest_does_not_bring_it_back_until_it_is_forgotten(tmp_path: Path, source: Path) -> None:
    place = tmp_path / "lake"
    take_in(place, source)
    whole, there = contents(place), store(place)
    id = whole["sessions"][0]["id"]
    erase(there, [family(there, id)])
    assert take_in(place, source).erased == 1
    assert contents(place) == {"sessions": [], "messages": [], "parts": []}
    assert take_in(place, source).erased == 0  # it is known by now, and not read again
    assert forget(there, [family(there, id)]) == 1
    take_in(place, source)
    assert contents(place) == whole
    assert stones(there) == {}


# --- whatever happens ------------------------------------------------------------------------------------------------


def test_what_cannot_be_removed_is_named_and_the_work_is_not_done(place: Path, ordinary: Path) -> None:
    there = store(place)
    data = place / "messages.lance" / "data"
    shutil.copyfile(next(data.glob("*.lance")), data / "0101.lance")  # as a writer leaves it that was killed
    done = erase(there, [family(there, "5ec0de")])
    assert done.left == {"messages": ["data/0101.lance"]}
    assert unfinished(there) == ["5ec0de"]
    again = erase(there, [family(there, "5ec0de")], alone=True)
    assert (again.sessions, again.left) == (0, {})
    assert is_gone(place, ordinary)


class Stopped(BaseException):
    """The process is gone."""


@pytest.mark.parametrize("calls", range(8))
def test_it_ends_what_it_began(place: Path, ordinary: Path, calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped between any two steps: it says so, brings nothing back, and a second run finds what is left."""
    steps = iter(range(100))

    def stopping(step: Callable[..., object]) -> Callable[..., object]:
        def stop(*arguments: object, **options: object) -> object:
            if next(steps) == calls:
                raise Stopped
            return step(*arguments, **options)

        return stop

    with monkeypatch.context() as patch:
        for module, name in ((write, "erase"), (write, "replace"), (upkeep, "purge")):
            patch.setattr(module, name, stopping(getattr(module, name)))
        there = store(place)
        with pytest.raises(Stopped):
            erase(there, [family(there, "5ec0de")])
    _ends(place, ordinary, begun=calls > 0)


def _ends(place: Path, ordinary: Path, begun: bool) -> None:
    there = store(place)
    if not begun:
        assert stones(there) == {}
    else:
        assert unfinished(there) == ["5ec0de"]
        assert set(stones(there)) == set(FAMILY)
        stored = read.rows(there, SESSIONS, ["id"])["id"].to_pylist()
        for id in {*FAMILY} & {*stored}:
            assert read.count(there, MESSAGES, predicate.equals("session_id", id)) == 1  # what is listed is whole
    erase(there, [family(there, "5ec0de")], alone=True)
    assert is_gone(place, ordinary)


def test_a_file_that_a_killed_writer_only_began_goes_where_no_other_writes(place: Path, ordinary: Path) -> None:
    begun = place / f"{SESSIONS.name}.lance" / "_transactions" / ".tmpQ3xY7z"
    begun.write_bytes(b"")
    there = store(place)
    assert erase(there, [family(there, "5ec0de")]).left == {SESSIONS.name: [f"_transactions/{begun.name}"]}
    assert unfinished(there) == ["5ec0de"]
    assert erase(there, [family(there, "5ec0de")], alone=True).left == {}
    assert not begun.exists()
    assert is_gone(place, ordinary)


def test_it_ends_what_it_began_when_it_is_killed(before: Path, ordinary: Path, tmp_path: Path) -> None:
    def command(place: Path) -> list[str]:
        return [*POND, "erase", "5ec0de", "--yes", "--lake", str(place)]

    whole = Path(shutil.copytree(before, tmp_path / "whole"))
    ending = kill.run(command(whole), kill.Tree(whole), environment=environment())
    assert ending.code == 0, ending.output
    assert is_gone(whole, ordinary)
    killed = 0
    for number, point in enumerate(kill.points(ending, 5, seed=1)):
        place = Path(shutil.copytree(before, tmp_path / str(number)))
        killed += kill.run(command(place), kill.Tree(place), point, environment()).killed
        erase(store(place), [family(store(place), "5ec0de")], alone=True)
        assert is_gone(place, ordinary)
    assert killed >= 3


def test_the_ledger_keeps_the_other_notes(place: Path) -> None:
    there = store(place)
    ledger.note(there, "else", {"x": {"y": 1}})
    erase(there, [family(there, "5ec0de")])
    assert ledger.notes(there, "else") == {"x": {"y": 1}}
    assert read.count(there, LEDGER) == 3 + len(FAMILY)  # and how common the terms of the others are


def test_time_is_told_while_it_takes(place: Path) -> None:
    said: list[str] = []
    there = store(place)
    erase(there, [family(there, "unlike")], tell=said.append)
    assert said == ["removing rows", *(f"rewriting {table.name}" for table in TABLES)]
