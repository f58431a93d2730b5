"""One process, many requests: threads are answered while a sync runs."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pond.config.settings import Settings, Sync
from pond.operations.get import get
from pond.operations.listing import list_sessions
from pond.operations.service import Service
from pond.operations.sync import SyncRequest, sync
from tests.cli.sessions import CLAUDE_CODE, CODEX
from tests.lake.taking import take_in

ROUNDS = 50


def test_two_threads_are_answered_while_a_sync_runs(tmp_path: Path) -> None:
    store, lake = tmp_path / "store", tmp_path / "lake"
    first = CLAUDE_CODE.session(store, "first", turns=5)
    take_in(lake, first)
    for number in range(30):
        CODEX.session(store, f"more {number}", turns=20)
    service = Service(Settings(lake=str(lake), sync=Sync(clients=(), paths=(str(store),))), {})
    (known,) = list_sessions(service, {"protocol_version": 1})["sessions"]

    def reading() -> int:
        found = get(service, {"protocol_version": 1, "session_id": known["id"], "response_mode": "verbatim"})
        assert found["response_mode"] == "verbatim"
        return len(found["messages"])

    def listing() -> int:
        return len(list_sessions(service, {"protocol_version": 1, "limit": 100})["sessions"])

    def often(ask: Callable[[], int]) -> list[int]:
        return [ask() for _ in range(ROUNDS)]

    with ThreadPoolExecutor(3) as threads:
        syncing = threads.submit(sync, service, SyncRequest(processes=1))
        read, listed = threads.submit(often, reading), threads.submit(often, listing)
        assert len(set(read.result())) == 1
        assert listed.result() == sorted(listed.result())  # sessions only come
        done = syncing.result()
    assert done.taken_in is not None
    assert done.taken_in.new_sessions == 30
    assert listing() == 31
