"""pond's own words in a session: every reader sees them; its client, its growth and its search do not."""

import io
from pathlib import Path

import pytest

from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.config.settings import Settings
from pond.intake.deriving import derive, waiting
from pond.intake.ingest import ingest
from pond.intake.request import Request
from pond.lake.erase import erase, family
from pond.lake.export import export
from pond.lake.get import get_session
from pond.lake.import_ import import_
from pond.lake.listing import ListingFilter, recent
from pond.lake.notices import Notice, append, records_in
from pond.lake.through_lake import Wish, through_lake
from pond.model.notices import NOTICE, is_notice, notice
from pond.operations.ingest import IngestEvents, ingest_events
from pond.operations.restore import RestoreRequest, restore, restore_stream
from pond.operations.search import search
from pond.operations.service import Service
from pond.restore.restoring import OWN
from pond.sessions import load
from pond.sessions.archive.select import Selection
from pond.sessions.lake import opened
from pond.sessions.rows import LAST, SLOT
from pond.sessions.rows import OWN as HALF
from pond.sessions.tables import MESSAGES
from pond.substrate import read
from pond.substrate.store import Store
from tests.house.tree import ROOT
from tests.lake.taking import settings, take_in
from tests.operations.came_back import is_back, sessions_of

TOURS = [ROOT / "adapters" / client / "fixtures" / "tour" for client in ("claude_code", "codex")]
TOLD = Notice("pond/reclaim/1", "The grafter is gone.", "2026-11-18T14:00:13.876Z")


def _log(tour: Path) -> Path:
    return next(tour.rglob("*.jsonl"))


def _copy(tour: Path, place: Path, records: int | None = None) -> Path:
    """Copy the first records of a tour's session to where its client would have it."""
    log = _log(tour)
    file = place / log.relative_to(tour)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:records]))
    return file


def _tell(store: Store, session_id: str, told: Notice = TOLD) -> int:
    row = load.session(store, session_id)
    assert row is not None
    return append(store, row, [told])


def _told(store: Store, session_id: str) -> list[str]:
    return [events[0]["id"] for events in load.groups(store, session_id) if is_notice(events[0])]


def _ids(store: Store, session_id: str) -> list[str]:
    return [event["id"] for group in load.groups(store, session_id) for event in group if event["kind"] == "message"]


@pytest.mark.parametrize("tour", TOURS, ids=["claude-code", "codex"])
def test_a_source_that_grows_around_notices_is_stored_and_restored_as_without_them(tour: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    for step, records in enumerate((5, 9, 20, None)):
        file = _copy(tour, tmp_path, records)
        assert take_in(lake, file).files["grown"] == (step > 0)
        assert _tell_next(lake, file, step)
    file = _copy(tour, tmp_path)
    (session_id,) = sessions_of(lake, file)
    take_in(tmp_path / "plain", file)
    own = [id for id in _ids(opened(settings(lake)), session_id) if not id.startswith("pond/")]
    assert own == _ids(opened(settings(tmp_path / "plain")), session_id)
    assert records_in(opened(settings(lake)), session_id) == len(file.read_bytes().splitlines())
    again = take_in(lake, file)
    assert (again.files["unchanged"], again.new_messages, again.report.diagnostics) == (1, 0, [])


def _tell_next(lake: Path, file: Path, step: int) -> bool:
    """Tell a file's session something more; return whether all that it was told is there, and its file comes back."""
    (session_id,) = sessions_of(lake, file)
    store = opened(settings(lake))
    assert _tell(store, session_id, Notice(f"pond/reclaim/{step}", f"step {step}", TOLD.time)) == 1
    return _told(store, session_id) == [f"pond/reclaim/{each}" for each in range(step + 1)] and is_back(lake, file)


def test_a_notice_stands_where_the_log_was_when_it_was_told(tmp_path: Path) -> None:
    file = _copy(TOURS[0], tmp_path, 5)
    take_in(tmp_path / "lake", file)
    (session_id,) = sessions_of(tmp_path / "lake", file)
    store = opened(settings(tmp_path / "lake"))
    _tell(store, session_id)
    before = _ids(store, session_id)
    assert before[-1] == TOLD.id
    take_in(tmp_path / "lake", _copy(TOURS[0], tmp_path))
    after = _ids(opened(settings(tmp_path / "lake")), session_id)
    assert after[: len(before)] == before
    assert len(after) > len(before)


def test_no_record_ever_has_the_position_of_a_notice(tmp_path: Path) -> None:
    take_in(tmp_path, *TOURS)
    store = opened(settings(tmp_path))
    for row in load.sessions(store, None):
        _tell(store, row["id"])
    rows = read.rows(store, MESSAGES, ["id", "position"]).to_pylist()
    own = {row["position"] for row in rows if row["id"] == TOLD.id}
    others = {row["position"] for row in rows if row["id"] != TOLD.id}
    assert all(position < LAST and position % SLOT >= HALF for position in own)
    assert all(position >= LAST or position % SLOT < HALF for position in others)


def test_verify_through_a_lake_is_value_equal_with_notices_between(tmp_path: Path) -> None:
    steps = iter(range(1000))

    def take(where: Settings, request: Request) -> None:
        ingest(where, request)
        store, step = opened(where), next(steps)
        for row in load.sessions(store, None):
            if records_in(store, row["id"]):
                _tell(store, row["id"], Notice(f"pond/reclaim/{step}", "somebody is gone", TOLD.time))

    verdicts = list(through_lake([_log(tour) for tour in TOURS], Wish(steps=4, seed=3), take))
    assert [(verdict.equal, verdict.records) for _, verdict in verdicts] == [(35, 35), (41, 41)]
    assert all(not verdict.report.diagnostics for _, verdict in verdicts)
    assert next(steps) > 4, "there were some"


@pytest.fixture
def told(tmp_path: Path) -> tuple[Service, str]:
    """Return a lake with one session that was told something after its last record."""
    file = _copy(TOURS[0], tmp_path / "store")
    take_in(tmp_path / "lake", file)
    service = Service(settings(tmp_path / "lake"))
    (session_id,) = sessions_of(tmp_path / "lake", file)
    _tell(opened(service.settings), session_id)
    return service, session_id


@pytest.mark.parametrize("mode", ["conversational", "complete", "verbatim"])
def test_get_shows_it_in_every_mode(mode: str, told: tuple[Service, str]) -> None:
    service, session_id = told
    page = get_session(service.reading(), session_id, mode, from_end=True, limit=1)
    (message,) = page["messages"]
    assert (message["id"], message["role"], message["timestamp"]) == (TOLD.id, "system", TOLD.time)
    assert TOLD.text in (message.get("text"), message.get("content"))


def test_search_does_not_find_it_and_counts_do_not_change(told: tuple[Service, str]) -> None:
    service, _ = told
    found = search(service, {"protocol_version": 1, "query": "grafter gone"})
    assert found["hits"] == []
    (listed,) = recent(service.reading(), ListingFilter())["sessions"]
    assert listed["messages"] == 10
    assert waiting(service.reading()) == 0, "nothing of it waits to be derived"
    assert derive(service.reading()) == 0


def test_native_restore_leaves_it_out_and_dates_the_file_as_without_it(
    told: tuple[Service, str], tmp_path: Path
) -> None:
    service, session_id = told
    running = restore(service, RestoreRequest(ConversionRequest(OWN), [session_id]), tmp_path / "out")
    (made,) = running.made
    assert not running.report.diagnostics
    assert running.report.records == 35
    assert "grafter" not in made.path.read_text()
    assert len(made.path.read_text().splitlines()) == 35
    assert made.path.stat().st_mtime < 1_780_000_000, "the last record is of March 2026"


def test_another_client_gets_a_loss_that_names_it(told: tuple[Service, str], tmp_path: Path) -> None:
    service, session_id = told
    running = restore(service, RestoreRequest(ConversionRequest("codex"), [session_id]), tmp_path / "out")
    (made,) = running.made
    losses = [loss for each in running.report.losses for loss in each.all() if loss.message == TOLD.id]
    assert [loss.kind for loss in losses] == ["system-message"]
    assert "grafter" not in made.path.read_text()


def _canonical(service: Service, session_id: str) -> list[dict[str, object]]:
    from pond.model.json_text import decode_stored

    out = io.BytesIO()
    restore_stream(service, RestoreRequest(ConversionRequest("canonical"), [session_id]), out)
    return [decode_stored(line) for line in out.getvalue().decode().splitlines()]


@pytest.mark.parametrize("known", [9, None], ids=["of which it knows the beginning", "that knows all but the notice"])
def test_canonical_text_carries_it_into_another_lake_once(
    known: int | None, told: tuple[Service, str], tmp_path: Path
) -> None:
    service, session_id = told
    events = _canonical(service, session_id)
    other = Service(Settings(lake=str(tmp_path / "other")))
    take_in(tmp_path / "other", _copy(TOURS[0], tmp_path / "again", known))
    for stored in (True, False):
        done = ingest_events(other, IngestEvents(events))
        assert done["rejected"] == []
        assert bool(done["sessions"][0]["stored"]) is stored
    assert _canonical(other, session_id) == events


def test_canonical_text_with_a_notice_out_of_place_is_refused(told: tuple[Service, str], tmp_path: Path) -> None:
    service, session_id = told
    events = _canonical(service, session_id)
    (own,) = [event for event in events if event["id"] == TOLD.id]
    for after in (0, -1, "3", None, 1 << 40):
        bad = {**own, "options": {"pond": {"as": NOTICE, "after": after}}}
        changed = [bad if event is own else event for event in events]
        done = ingest_events(Service(Settings(lake=str(tmp_path / "other"))), IngestEvents(changed))
        assert ["after" in each["error"]["message"] for each in done["rejected"]] == [True]


def test_export_and_import_keep_it_and_do_not_take_it_for_another_session(
    told: tuple[Service, str], tmp_path: Path
) -> None:
    service, session_id = told
    store = service.reading()
    export(store, tmp_path / "told.pond", Selection())
    new = opened(Settings(lake=str(tmp_path / "new")))
    assert import_(new, tmp_path / "told.pond").faults == []
    assert _ids(new, session_id) == _ids(store, session_id)
    # One lake was told something and the other has grown: they are still one session, in both directions.
    take_in(tmp_path / "shorter", _copy(TOURS[0], tmp_path / "again", 20))
    shorter = opened(settings(tmp_path / "shorter"))
    _tell(shorter, session_id, Notice("pond/reclaim/0", "earlier", TOLD.time))
    done = import_(shorter, tmp_path / "told.pond")
    assert ([row["id"] for row in load.sessions(shorter, None)], done.faults) == ([session_id], [])
    assert _told(shorter, session_id) == ["pond/reclaim/0", TOLD.id]
    export(shorter, tmp_path / "both.pond", Selection())
    assert import_(store, tmp_path / "both.pond").faults == []
    assert _told(opened(service.settings), session_id) == ["pond/reclaim/0", TOLD.id]


def test_erasing_a_session_erases_what_it_was_told(told: tuple[Service, str]) -> None:
    service, session_id = told
    store = service.reading()
    erase(store, [family(store, session_id)], alone=True, tell=lambda what: None)
    assert read.count(opened(service.settings), MESSAGES) == 0


def test_told_twice_it_stands_there_once(told: tuple[Service, str]) -> None:
    service, session_id = told
    stale = service.reading()
    assert [_tell(opened(service.settings), session_id), _tell(stale, session_id)] == [0, 0]
    assert _told(opened(service.settings), session_id) == [TOLD.id]


def test_a_mapping_cannot_call_a_kind_of_record_so() -> None:
    from pond.diagnostics.diagnostic import MappingError
    from pond.lang.check import check
    from pond.lang.parse import parse

    text = (ROOT / "adapters" / "codex" / "codex.map").read_text()
    labels = [line.split('"')[1] for line in text.splitlines() if line.startswith('  "')]
    with pytest.raises(MappingError, match="notice"):
        check(parse(text.replace(f'  "{labels[0]}"', f'  "{NOTICE}"', 1), "codex.map"))


def test_only_its_own_marks_make_a_notice() -> None:
    own = notice("s", "m", "text", TOLD.time, 3)
    assert is_notice(own)
    assert not is_notice({**own, "options": {}})
    assert not is_notice({**own, "options": {"pond": {"as": NOTICE}}})
    assert not is_notice({**own, "options": {"pond": {"as": "user", "after": 3}}})


def test_report_counts_no_record_for_it(told: tuple[Service, str]) -> None:
    from pond.restore.stored import StoredSession

    service, session_id = told
    row, report = load.session(service.reading(), session_id), Report()
    assert row is not None
    groups = list(StoredSession(service.reading(), row, report).session().groups)
    assert (len(groups), report.records) == (36, 35)
