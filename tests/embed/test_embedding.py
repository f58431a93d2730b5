"""Every message that has a text gets its vector, once, whatever happens on the way; nothing else of it changes."""

import fcntl
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import termios
import threading
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from pond.config.settings import Embed, Settings
from pond.embed import embedder
from pond.embed.model import Model
from pond.intake.deriving import derive
from pond.lake import embedding
from pond.lake.embedding import Embedded, embed
from pond.lake.erase import erase, family
from pond.lake.optimize import optimize
from pond.lake.status import checks
from pond.operations.search import search
from pond.operations.service import Service
from pond.operations.sync import EMBED, SyncRequest, sync
from pond.sessions import vectors
from pond.sessions.tables import MESSAGES, VECTORS
from pond.substrate import read, upkeep, write
from pond.substrate.store import Store
from tests.cli.command import POND, environment, finish, shown, start
from tests.embed.lakes import add, embedded_ids, far, filled, staged, store_at, unsound
from tests.embed.server import POISON, Endpoint
from tests.lake.sound import content, duplicates

MESSAGES_HERE = 200


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("lakes") / "template"
    filled(place, MESSAGES_HERE)
    return place


@pytest.fixture
def place(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "lake"))


@pytest.fixture
def there(place: Path) -> Store:
    return store_at(place)


def _all(there: Store, model: Model, *, anew: bool = False) -> Embedded:
    return embed(there, model, threads=2, anew=anew)


@pytest.mark.rule("session-embed-from-canonical")
def test_every_text_gets_the_vector_of_itself_and_nothing_else_changes(there: Store, server: Endpoint) -> None:
    before = content(there)
    done = _all(there, far(server))
    assert (done.embedded, done.waiting, done.refused, done.fault) == (MESSAGES_HERE, 0, 0, None)
    assert len(embedded_ids(there, far(server))) == MESSAGES_HERE
    assert unsound(there, far(server), 16) == []
    assert (staged(there), duplicates(there)) == (0, [])
    marks = {key: {**row, vectors.MARK: None} for key, row in content(there)["messages"].items()}
    assert {**content(there), "messages": marks} == before


def test_again_is_a_no_op_that_asks_nobody(there: Store, server: Endpoint) -> None:
    _all(there, far(server))
    asked, version = len(server.requests), there.renewed(MESSAGES).version
    assert _all(there, far(server)).embedded == 0
    assert (len(server.requests), there.renewed(MESSAGES).version) == (asked, version)


def test_what_comes_later_is_embedded_alone(there: Store, server: Endpoint) -> None:
    _all(there, far(server))
    add(there, 40, first=MESSAGES_HERE)
    server.texts.clear()
    assert _all(there, far(server)).embedded == len(server.texts) == 40
    assert unsound(there, far(server), 16) == []


def test_no_row_moves_and_no_other_index_loses_one(there: Store, server: Endpoint) -> None:
    upkeep.fold_indexes(there, MESSAGES)
    before = len(there.renewed(MESSAGES).get_fragments())
    _all(there, far(server))
    assert upkeep.fold_indexes(there, MESSAGES) == []
    assert len(there.renewed(MESSAGES).get_fragments()) == before


# --- a fault ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["nan", "other-dimensions", "too-many", "forbidden"])
def test_a_model_that_fails_half_way_keeps_what_it_made(there: Store, server: Endpoint, mode: str) -> None:
    model = far(server)
    server.delay = 0.02

    def spoil() -> None:
        while len(server.texts) < 60:
            time.sleep(0.005)
        server.mode = mode

    thread = threading.Thread(target=spoil)
    thread.start()
    done = embed(there, model, threads=1)
    thread.join()
    assert done.fault is not None
    assert done.fault.code in ("model-answer", "model-unreachable")
    assert 0 < done.embedded < MESSAGES_HERE
    assert len(embedded_ids(there, model)) == done.embedded == MESSAGES_HERE - done.waiting
    assert unsound(there, model, 16) == []
    server.mode = "honest"
    assert _all(there, model).embedded == MESSAGES_HERE - done.embedded


def test_a_model_that_refuses_everything_is_given_up_soon(there: Store, server: Endpoint) -> None:
    server.mode = "zeros"
    done = embed(there, far(server, dimensions=16), threads=1)
    assert done.fault is not None
    assert (done.embedded, done.refused, done.waiting) == (0, 16, MESSAGES_HERE)
    assert len(server.requests) < 60


def test_a_text_that_the_model_refuses_waits_and_the_others_do_not(there: Store, server: Endpoint) -> None:
    id = read.rows(there, MESSAGES, ["id"], "search_text IS NOT NULL", limit=1)["id"][0].as_py()
    there.renewed(MESSAGES).update({"search_text": f"'{POISON}'"}, where=f"id = '{id}'")
    done = _all(there, far(server))
    assert (done.embedded, done.refused, done.waiting) == (MESSAGES_HERE - 1, 1, 1)
    assert done.fault is not None
    assert "this text is too much" in done.fault.message


def test_other_dimensions_under_the_same_name_are_refused_until_everything_is_made_anew(
    there: Store, server: Endpoint
) -> None:
    model = far(server)
    _all(there, model)
    server.dimensions = 24
    add(there, 20, first=MESSAGES_HERE)
    embedder.opened.cache_clear()
    with pytest.raises(Exception, match="gives 24 dimensions, the lake's vectors of that name have 16"):
        _all(there, model)
    assert len(embedded_ids(there, model)) == MESSAGES_HERE
    assert _all(there, model, anew=True).embedded == MESSAGES_HERE + 20
    assert unsound(there, model, 24) == []


# --- kill and resume --------------------------------------------------------------------------------------------------


def _settings(place: Path, server: Endpoint) -> dict[str, str]:
    return {
        "POND_LAKE": str(place),
        "POND_EMBED_MODEL": "far",
        "POND_EMBED_ENDPOINT": server.url,
        "POND_EMBED_THREADS": "1",
    }


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit after each batch."""
    monkeypatch.setattr(embedding, "_EVERY", 0.0)
    monkeypatch.setattr(embedding, "_SHARE", 0)


def test_a_kill_loses_what_was_not_committed_and_nothing_else(place: Path, there: Store, server: Endpoint) -> None:
    server.delay = 0.15
    running = start("sync", "--only", "embed", variables=_settings(place, server))
    deadline = time.monotonic() + 60
    while not staged(there) and time.monotonic() < deadline:
        time.sleep(0.02)
        there.forget()
    os.kill(running.pid, signal.SIGKILL)
    running.communicate()
    assert running.returncode == -signal.SIGKILL
    there.forget()
    kept = staged(there) + len(embedded_ids(there, far(server)))
    assert 0 < kept < MESSAGES_HERE
    while server.busy:
        time.sleep(0.01)
    server.delay = 0.0
    server.texts.clear()
    done = finish(start("sync", "--only", "embed", variables=_settings(place, server)))
    assert done.code == 0
    assert len(server.texts) <= MESSAGES_HERE - kept + 1  # what was stored is not asked for again
    assert len(embedded_ids(there, far(server))) == MESSAGES_HERE
    assert (unsound(there, far(server), 16), duplicates(there), staged(there)) == ([], [], 0)


def test_an_interrupt_keeps_what_was_made(place: Path, there: Store, server: Endpoint) -> None:
    server.delay = 0.1
    running = start("sync", "--only", "embed", variables=_settings(place, server))
    while len(server.texts) < 80:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    done = finish(running)
    assert (done.code, done.err.strip()) == (130, "pond: interrupted")
    there.forget()
    assert staged(there) + len(embedded_ids(there, far(server))) >= 32


def test_a_terminal_shows_how_far_it_is_and_how_long_it_takes(place: Path, server: Endpoint) -> None:
    server.delay = 0.2
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    words = [*POND, "sync", "--only", "embed"]
    variables = environment(**_settings(place, server), TERM="xterm")
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=-1, stderr=terminal, env=variables) as running:
        os.close(terminal)
        seen = shown(controller).decode()
    assert running.returncode == 0
    drawn = re.findall(r"embedding: +(\d+) %  (\d+) of 200 messages  (\d+)/s  0:(\d\d) left", seen)
    assert drawn, seen
    assert all(int(percent) == int(done) * 100 // MESSAGES_HERE for percent, done, _, _ in drawn)
    assert int(drawn[-1][1]) > int(drawn[0][1])  # it moves
    assert int(drawn[-1][3]) <= int(drawn[0][3])


@pytest.mark.parametrize("point", ["stage", "fill", "erase"])
def test_a_death_at_any_step_is_repaired_by_the_next_run(
    there: Store, server: Endpoint, monkeypatch: pytest.MonkeyPatch, impatient: None, point: str
) -> None:
    class Death(Exception):
        pass

    module, name = {"stage": (vectors, "stage"), "fill": (write, "fill"), "erase": (write, "erase")}[point]
    real, calls = getattr(module, name), []

    def die(*given: object, **more: object) -> object:
        calls.append(1)
        if len(calls) == (4 if point == "stage" else 1):
            raise Death
        return real(*given, **more)

    with monkeypatch.context() as broken:
        broken.setattr(module, name, die)
        with pytest.raises(Death):
            _all(there, far(server))
    assert len(embedded_ids(there, far(server))) < MESSAGES_HERE or point == "erase"
    _all(there, far(server))
    assert len(embedded_ids(there, far(server))) == MESSAGES_HERE
    _all(there, far(server))
    there.forget()
    assert (unsound(there, far(server), 16), duplicates(there)) == ([], [])


def test_several_processes_store_no_vector_twice(place: Path, there: Store, server: Endpoint) -> None:
    server.delay = 0.02
    running = [start("sync", "--only", "embed", variables=_settings(place, server)) for _ in range(3)]
    assert [finish(each).code for each in running] == [0, 0, 0]
    assert len(embedded_ids(there, far(server))) == MESSAGES_HERE
    keys = read.rows(there, VECTORS, VECTORS.keys).to_pylist()
    assert len({tuple(key.values()) for key in keys}) == len(keys)
    assert (unsound(there, far(server), 16), duplicates(there)) == ([], [])


# --- another model ----------------------------------------------------------------------------------------------------


def test_another_model_takes_over_and_the_old_vectors_go(there: Store, server: Endpoint) -> None:
    old, new = far(server), far(server, "new", dimensions=24)
    _all(there, old)
    assert vectors.waiting(there, new.label) == MESSAGES_HERE
    assert _all(there, new).embedded == MESSAGES_HERE
    assert embedded_ids(there, old) == set()
    assert unsound(there, new, 24) == []
    assert list(vectors.columns(there.handle(MESSAGES).schema)) == [vectors.column("new@24")]


def test_the_old_vectors_stay_until_the_last_message_has_a_new_one(there: Store, server: Endpoint) -> None:
    old, new = far(server), far(server, "new")
    _all(there, old)
    server.delay, server.mode = 0.0, "honest"
    id = read.rows(there, MESSAGES, ["id"], "search_text IS NOT NULL", limit=1)["id"][0].as_py()
    there.renewed(MESSAGES).update({"search_text": f"'{POISON}'"}, where=f"id = '{id}'")
    assert _all(there, new).waiting == 1
    assert set(vectors.columns(there.renewed(MESSAGES).schema)) == {vectors.column("far"), vectors.column("new")}
    found = checks(there, {"CLAUDE_CONFIG_DIR": "/nowhere", "CODEX_HOME": "/nowhere"}, new.label).embeddings
    assert found.models == {"far": 1, "new": MESSAGES_HERE - 1}


def test_a_change_of_dimensions_while_others_search_and_store(place: Path, there: Store, server: Endpoint) -> None:
    old, new = far(server), far(server, "new", dimensions=40)
    _all(there, old)
    stop, faults, answers = threading.Event(), [], []
    by: set[str] = set()

    def searching() -> None:
        named = (
            Embed(),
            Embed(model="far", endpoint=server.url),
            Embed(model="new", dimensions=40, endpoint=server.url),
        )
        services = [Service(Settings(lake=str(place), embed=each)) for each in named]
        while not stop.is_set():
            try:
                for service in services:  # by words, by the old vectors, by the new ones
                    found = search(service, {"protocol_version": 1, "query": "which tray is dry"})
                    answers.append(len(found["hits"]))
                    by.update(found["searched_by"])
            except Exception as error:
                faults.append(error)

    def storing() -> None:
        mine = store_at(place)
        for first in range(MESSAGES_HERE, MESSAGES_HERE + 100, 20):
            try:
                add(mine, 20, first)
                derive(mine)
            except Exception as error:
                faults.append(error)

    threads = [threading.Thread(target=work) for work in (searching, storing)]
    for thread in threads:
        thread.start()
    server.delay = 0.02
    _all(there, new)
    threads[1].join()
    server.delay = 0.0
    _all(there, new)  # what came meanwhile
    stop.set()
    threads[0].join()
    assert faults == []
    assert answers
    assert min(answers) > 0
    assert by == {"words", "meaning"}
    assert len(embedded_ids(there, new)) == MESSAGES_HERE + 100
    assert unsound(there, new, 40) == []
    assert duplicates(there) == []


# --- what else is done to messages ------------------------------------------------------------------------------------


def test_deriving_moves_rows_and_their_vectors_with_them(there: Store, server: Endpoint) -> None:
    _all(there, far(server))
    write.correct(there, MESSAGES, "rules", 0, "session_id = 'session-00001'")
    assert derive(there) > 0
    assert len(embedded_ids(there, far(server))) == MESSAGES_HERE
    assert unsound(there, far(server), 16) == []


def test_optimizing_keeps_vectors(there: Store, server: Endpoint) -> None:
    _all(there, far(server))
    add(there, 20, first=MESSAGES_HERE)
    optimize(there, timedelta(0))
    assert unsound(there, far(server), 16) == []
    assert len(embedded_ids(there, far(server))) == MESSAGES_HERE


def test_erasing_a_session_erases_its_vectors_staged_ones_too(there: Store, place: Path, server: Endpoint) -> None:
    _all(there, far(server))
    gone = read.rows(
        there, vectors.with_vectors(there, MESSAGES), ["id", vectors.column("far")], "session_id = 'session-00003'"
    )
    number = next(row for row in gone[vectors.column("far")].to_pylist() if row)
    vectors.stage(
        there, "far", read.rows(there, MESSAGES, MESSAGES.keys, "session_id = 'session-00003'", limit=1),
        np.array([number], dtype=np.float32),
    )  # fmt: skip
    needle = np.array(number, dtype=np.float16).tobytes()[:32]
    assert any(needle in file.read_bytes() for file in place.rglob("*.lance") if file.is_file())
    erase(there, [family(there, "session-00003")])
    assert staged(there) == 0
    assert [str(file) for file in place.rglob("*") if file.is_file() and needle in file.read_bytes()] == []
    assert len(embedded_ids(there, far(server))) == MESSAGES_HERE - 20
    assert unsound(there, far(server), 16) == []


# --- the stage of a sync ----------------------------------------------------------------------------------------------


def _service(place: Path, server: Endpoint | None, **more: object) -> Service:
    settings = Settings(lake=str(place))
    if server is not None:
        settings = replace(settings, embed=Embed(model="far", endpoint=server.url, threads=1, **more))  # type: ignore[arg-type]
    return Service(settings, {})


def test_off_by_default(place: Path) -> None:
    assert sync(_service(place, None), SyncRequest(only=EMBED)).embedded is None
    assert not (place / "vectors.lance").exists()


def test_a_broken_model_does_not_keep_a_sync_from_its_other_stages(place: Path, server: Endpoint) -> None:
    server.mode = "forbidden"
    done = sync(_service(place, server), SyncRequest(skip=["import"]))
    assert done.embedded is not None
    assert done.embedded.fault is not None
    assert done.embedded.fault.code == "model-unreachable"
    assert done.indexes


def test_other_dimensions_are_a_fault_of_the_stage_alone(place: Path, there: Store, server: Endpoint) -> None:
    sync(_service(place, server), SyncRequest(only=EMBED))
    add(there, 20, first=MESSAGES_HERE)
    server.dimensions = 24
    embedder.opened.cache_clear()
    done = sync(_service(place, server), SyncRequest(skip=["import"]))
    assert done.embedded is not None
    assert done.embedded.fault is not None
    assert done.embedded.fault.code == "model-dimensions"
    assert done.indexes


def test_force_embeds_everything_anew(place: Path, there: Store, server: Endpoint) -> None:
    service = _service(place, server)
    sync(service, SyncRequest(only=EMBED))
    server.texts.clear()
    done = sync(service, SyncRequest(only=EMBED, embed_anew=True))
    assert done.embedded is not None
    assert done.embedded.embedded == len(server.texts) == MESSAGES_HERE
    assert unsound(there, far(server), 16) == []


def test_nothing_is_stored_by_a_dry_run(place: Path, server: Endpoint) -> None:
    assert sync(_service(place, server), SyncRequest(only=EMBED, dry_run=True)).embedded is None
    assert server.requests == []


def test_folding_waits_for_a_share_of_the_messages(there: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_FOLD_FROM", 10)
    store = there
    store.made(VECTORS)
    keys = read.rows(store, MESSAGES, MESSAGES.keys, "search_text IS NOT NULL", limit=30)
    vectors.stage(store, "x", keys.slice(0, 20), np.ones((20, 4), dtype=np.float32))
    assert not vectors.fold_is_due(store)  # an eighth of 210
    vectors.stage(store, "x", keys, np.ones((30, 4), dtype=np.float32))
    assert staged(store) == 30
    assert vectors.fold_is_due(store)
