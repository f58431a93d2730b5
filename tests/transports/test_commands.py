"""Commands answer through a running server, and the same as without it; several processes share an address."""

import os
import signal
import time
from pathlib import Path

import pytest

from pond.config.load import load
from pond.config.locations import server_socket
from tests.cli.command import Done, finish, start
from tests.cli.sessions import CODEX
from tests.operations import invented
from tests.transports.server import PATIENCE, Server, serving, settled

TOKEN = "a-token-of-some-length"
EVENTS = [invented.session("oak-0001"), *invented.said("oak-0001", "m1", "the lamp of the lighthouse", at=1)]


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a short path: socket files have to be named in a hundred characters."""
    return tmp_path_factory.mktemp("s")


def _pond(place: Path, *words: str) -> Done:
    return finish(start(*words, "--lake", place / "lake", variables={"XDG_RUNTIME_DIR": str(place / "run")}))


def _asked(server: Server) -> int:
    lines = server.get("/metrics").content.decode().splitlines()
    routes = ("/v1/search", "/v1/get", "/v1/list", "/local/find")
    return sum(
        int(line.split()[-1]) for line in lines if line.startswith("pond_requests_total") for r in routes if r in line
    )


def _workers(server: Server) -> list[int]:
    """Return the processes that answer: the one that runs commands is the first of a session of its own."""
    number = server.process.pid
    children = map(int, Path(f"/proc/{number}/task/{number}/children").read_text().split())
    return [child for child in children if os.getsid(child) != child]


def test_commands_are_answered_by_a_running_server(place: Path) -> None:
    commands = [
        ["search", "lighthouse"], ["search", "--json", "lamp"], ["get", "oak"], ["get", "m1", "--session", "oak"],
        ["list"], ["list", "--json"], ["search", "nothing:of(the)kind"], ["get", "nobody"], ["search", '"'],
    ]  # fmt: skip
    settled(place / "lake", EVENTS)
    with serving(place / "lake") as server:
        through = [_pond(place, *words) for words in commands]
        assert _asked(server) >= len(commands)
    alone = [_pond(place, *words) for words in commands]
    assert [(done.code, done.out, done.err) for done in through] == [(done.code, done.out, done.err) for done in alone]


def test_another_lake_is_not_answered_for(place: Path) -> None:
    with serving(place / "lake") as server:
        server.ingest(EVENTS)
        other = finish(
            start("list", "--lake", place / "other", variables={"XDG_RUNTIME_DIR": str(place / "run")})
        )  # fmt: skip
        assert (other.code, _asked(server)) == (2, 0)


def test_a_socket_that_others_could_have_made_is_not_asked(place: Path) -> None:
    with serving(place / "lake") as server:
        server.ingest(EVENTS)
        os.chmod(place / "run" / "pond", 0o777)
        assert _pond(place, "list").code == 0
        assert _asked(server) == 0


def test_the_socket_is_gone_with_the_server(place: Path) -> None:
    settings = load({"lake": str(place / "lake")}, {"HOME": str(place)})
    file = server_socket(settings, {"XDG_RUNTIME_DIR": str(place / "run")})
    assert file is not None
    with serving(place / "lake") as server:
        assert file.stat().st_mode & 0o777 == 0o600
        assert server.stop() == 0
    assert not file.exists()


def test_a_token_is_not_wanted_from_the_same_user(place: Path) -> None:
    with serving(place / "lake", variables={"POND_TOKEN": TOKEN}) as server:
        assert _pond(place, "list").code == 2  # there is no lake yet
        assert b'route="/v1/list",status="404"' in server.get("/metrics", authorization=f"Bearer {TOKEN}").content
        assert server.get("/v1/stats").reason == "missing-token"


def test_workers_share_an_address_and_are_replaced(place: Path) -> None:
    with serving(place / "lake", "--workers", "2") as server:
        server.ingest(EVENTS)
        before = _workers(server)
        assert len(before) == 2
        time.sleep(5)  # one that dies at once would not be replaced for ever
        os.kill(before[0], signal.SIGKILL)
        end = time.monotonic() + PATIENCE
        while len(now := _workers(server)) < 2 or before[0] in now:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert server.post("/v1/list").json["sessions"][0]["id"] == "oak-0001"
        assert server.stop() == 0


def test_a_server_keeps_up_with_the_clients_of_the_machine(place: Path) -> None:
    store = place / "store"
    CODEX.session(store, "first", turns=2)
    variables = {
        "HOME": str(place),
        "POND_SYNC_CLIENTS": "codex",
        "POND_SYNC_PATHS": str(store),
        "POND_SYNC_INTERVAL": "0.2",
    }
    with serving(place / "lake", "--with-sync", variables=variables) as server:

        def listed() -> int:
            found = server.post("/v1/list").json
            return len(found.get("sessions", ()))

        end = time.monotonic() + PATIENCE
        for wanted in (1, 2):
            while listed() < wanted:
                assert time.monotonic() < end
                time.sleep(0.1)
            CODEX.session(store, f"more {wanted}", turns=2)
        assert server.stop() == 0
