"""Commands run in a process that a server keeps ready, and nobody can tell from what they say and do."""

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pond.cli.standby import SUFFIX
from pond.model.json_text import JsonObject
from tests.cli.command import Done, environment, finish, pond, shown, start
from tests.operations import invented
from tests.transports.server import PATIENCE, Server, serving, settled

COMMANDS = [
    ["search", "lighthouse"], ["search", "--json", "lamp"], ["search", "--limit=1", "lamp", "--explain"],
    ["search", "-tool:x", "lamp"], ["get", "oak"], ["get", "m1", "--session", "oak"], ["list"], ["list", "--json"],
    ["list", "--all", "--parent", "oak"], ["list", "--client", "nobody"], ["list", "--project", "."],
    ["search", "lamp", "--project", "."], ["search", "lamp", "project:."], ["search", "--like", "m1"],
    ["search", "--like", "oak"], ["search", "lamp", "--since", "no time"], ["search", "nothing:of(the)kind"],
    ["search", '"'], ["search"], ["search", "--nonsense"], ["search", "--limit", "many", "x"], ["search", "--help"],
    ["get", "nobody"], ["get"], ["get", "--mode", "odd", "oak"], ["list", "--limit", "0"], ["list", "--help"],
]  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a short path: socket files have to be named in a hundred characters."""
    return tmp_path_factory.mktemp("s")


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[Server]:
    here = place / "garden"
    here.mkdir()
    settled(place / "lake", _session("oak-0001", "/srv/orchard", "m1"), _session("elm-0001", str(here), "m2"))
    with serving(place / "lake") as running:
        yield running


def _session(id: str, project: str, message: str) -> list[JsonObject]:
    session = invented.session(id, project=project)
    return [session, *invented.said(id, message, "the lamp of the lighthouse", at=1)]


def _variables(place: Path, runtime: str = "run") -> dict[str, str]:
    return {
        "XDG_RUNTIME_DIR": str(place / runtime),
        "XDG_CONFIG_HOME": "/nonexistent",
        "POND_LAKE": str(place / "lake"),
    }


def _pond(place: Path, *words: str, runtime: str = "run", **variables: str) -> Done:
    return finish(start(*words, cwd=place / "garden", variables=_variables(place, runtime) | variables))


def _imports(place: Path, *words: str) -> str:
    """Return what the process of a command imports itself."""
    command = [sys.executable, "-X", "importtime", "-m", "pond.cli.main", *words]
    done = subprocess.run(command, env=environment(**_variables(place)), capture_output=True, timeout=PATIENCE)
    return done.stderr.decode()


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_says_the_same_by_either_road(place: Path, words: list[str]) -> None:
    through = _pond(place, *words)
    alone = pond(*words, cwd=place / "garden", variables=_variables(place, "nobody"))
    assert (through.code, through.out, through.err) == (alone.code, alone.out, alone.err)


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(
    "words", [["search", "lamp"], ["get", "oak"], ["list"], ["search", "--nonsense"]], ids=" ".join
)
def test_a_command_imports_neither_options_nor_settings(place: Path, words: list[str]) -> None:
    found = _imports(place, *words)
    assert "pond.cli.standby" in found
    assert not [
        name for name in ("typer", "typing", "pond.config.load", "pond.cli.search", "json") if f" {name}\n" in found
    ]


@pytest.mark.usefixtures("server")
def test_other_commands_run_where_they_are_typed(place: Path) -> None:
    assert " pond.config.load\n" in _imports(place, "config", "show")


@pytest.mark.usefixtures("server")
def test_a_terminal_is_written_to_as_ever(place: Path) -> None:
    def drawn(runtime: str) -> bytes:
        controller, terminal = pty.openpty()
        variables = _variables(place, runtime) | {"TERM": "xterm", "COLUMNS": "60"}
        process = start("search", "lamp", stdout=terminal, cwd=place / "garden", variables=variables)
        os.close(terminal)
        seen = shown(controller)
        assert finish(process).code == 0
        return seen

    seen = drawn("run")
    assert b"\x1b[1m" in seen
    assert seen == drawn("nobody")


@pytest.mark.usefixtures("server")
def test_an_encoding_of_its_own_is_kept_to(place: Path) -> None:
    through = _pond(place, "search", "lamp", "\u2019", PYTHONIOENCODING="ascii")
    assert through.out.isascii()
    assert through.out == _pond(place, "search", "lamp", "\u2019", runtime="nobody", PYTHONIOENCODING="ascii").out


@pytest.mark.usefixtures("server")
def test_a_reader_that_went_away_is_no_error(place: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = start("search", "lamp", stdout=writing, cwd=place / "garden", variables=_variables(place))
    os.close(writing)
    done = finish(process)
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_can_be_interrupted(place: Path, server: Server, number: signal.Signals) -> None:
    os.kill(server.process.pid, signal.SIGSTOP)  # so that it does not answer
    try:
        process = start("search", "lamp", cwd=place / "garden", variables=_variables(place))
        time.sleep(1)
        assert process.poll() is None
        process.send_signal(number)
        done = finish(process)
    finally:
        os.kill(server.process.pid, signal.SIGCONT)
    assert (done.code, done.err) == (128 + number, "pond: interrupted\n")


def test_a_server_that_is_killed_leaves_nobody_behind(tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("s")
    (place / "garden").mkdir()
    with serving(place / "lake") as server:
        server.ingest([invented.session("oak"), *invented.said("oak", "m1", "the lamp", at=1)])
        number = server.process.pid
        (child,) = map(int, Path(f"/proc/{number}/task/{number}/children").read_text().split())
        assert [file.suffix for file in sorted((place / "run" / "pond").iterdir())] == [SUFFIX, ".sock"]
        server.process.kill()
        end = time.monotonic() + PATIENCE
        while Path(f"/proc/{child}").exists():
            assert time.monotonic() < end
            time.sleep(0.01)
    assert _pond(place, "search", "lamp").code == 0  # beside what is left of the sockets


@pytest.mark.usefixtures("server")
def test_a_socket_that_others_could_have_made_is_not_asked(place: Path) -> None:
    directory = place / "run" / "pond"
    os.chmod(directory, 0o777)
    try:
        assert " typer\n" in _imports(place, "search", "lamp")
    finally:
        os.chmod(directory, 0o700)


@pytest.mark.usefixtures("server")
def test_an_environment_of_megabytes_is_handed_over_whole(place: Path) -> None:
    more = {f"NOISE_{number}": "x" * 100_000 for number in range(10)}
    assert _pond(place, "get", "oak", **more).out == _pond(place, "get", "oak", runtime="nobody").out
