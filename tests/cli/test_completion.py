"""Completion, driven in the real shells: what is typed, the tab key, and what the shell then runs."""

import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path

import pytest

from pond.cli.completing import complete
from pond.cli.completion import SCRIPTS
from tests.cli.command import environment, pond
from tests.cli.sessions import CLAUDE_CODE, session_id
from tests.conftest import program

START = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
SOURCE = {
    "bash": "source {script}",
    "zsh": "autoload -U compinit; compinit -u -D; source {script}",
    "fish": "source {script}",
}
PATIENCE = 60.0  # seconds
NAME = "walnut"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a lake of one session, and a `pond` that notes the command line that a shell ran."""
    place = tmp_path_factory.mktemp("completion")
    CLAUDE_CODE.session(place / "in", NAME)
    assert pond("ingest", place / "in", "--lake", place / "lake").code == 0
    (place / "bin").mkdir()
    script = place / "bin" / "pond"
    script.write_text(
        "#!/bin/sh\n"
        f'if [ "$1" = __complete ]; then exec {sys.executable} -m pond.cli.main "$@"; fi\n'
        f'for word in "$@"; do printf "%s\\n" "$word"; done > {place}/ran.new && mv {place}/ran.new {place}/ran\n'
    )
    script.chmod(0o755)
    (place / "garden.map").touch()
    for shell, text in SCRIPTS.items():
        (place / f"pond.{shell}").write_text(text)
    return place


class Shell:
    """A shell at a terminal of its own."""

    def __init__(self, name: str, home: Path) -> None:
        self._home = home
        controller, side = pty.openpty()
        ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))
        variables = environment(
            HOME=str(home), PATH=f"{home / 'bin'}:{os.environ['PATH']}", TERM="xterm", POND_LAKE=str(home / "lake")
        )
        self._process = subprocess.Popen(
            START[name], stdin=side, stdout=side, stderr=side, env=variables, cwd=home, start_new_session=True,
            preexec_fn=lambda: ioctl(0, termios.TIOCSCTTY, 0),  # jobs are controlled from a terminal
        )  # fmt: skip
        os.close(side)
        self._controller = controller
        threading.Thread(target=self._drain, daemon=True).start()

    def _drain(self) -> None:
        with suppress(OSError):  # a terminal that nobody reads from blocks
            while os.read(self._controller, 1 << 16):
                pass

    def type(self, text: str) -> None:
        os.write(self._controller, text.encode())

    def ran(self, text: str) -> list[str]:
        """Type a line, which ends in a tab, and return the words of the command that the shell then runs."""
        noted = self._home / "ran"
        noted.unlink(missing_ok=True)
        self.type(text)
        time.sleep(0.1)  # a newline in the same breath may be taken for pasted text
        self.type("\r")  # what the key sends
        until = time.monotonic() + PATIENCE
        while not noted.exists():
            assert time.monotonic() < until, f"the shell ran nothing for {text!r}"
            time.sleep(0.02)
        return noted.read_text().split("\n")[:-1]

    def end(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._controller)


@pytest.fixture(scope="module", params=sorted(START))
def shell(request: pytest.FixtureRequest, home: Path) -> Iterator[Shell]:
    name = request.param
    program(name, f"completion in {name}")
    found = Shell(name, home)
    try:
        found.type(SOURCE[name].format(script=home / f"pond.{name}") + "\r")
        assert found.ran("pond ready") == ["ready"]
        yield found
    finally:
        found.end()


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("pond stat\tus", None),
        ("pond lis\t", ["list"]),
        ("pond list --cli\tcodex", ["list", "--client", "codex"]),
        ("pond list --client cod\t", ["list", "--client", "codex"]),
        ("pond list --client=cod\t", ["list", "--client=codex"]),
        ("pond config sh\t", ["config", "show"]),
        ("pond -q lis\t", ["-q", "list"]),
        ("pond map check gar\t", ["map", "check", "garden.map"]),
    ],
)
def test_a_shell_completes(shell: Shell, typed: str, words: list[str] | None) -> None:
    assert shell.ran(typed) == (words or ["status"])


def test_a_shell_completes_the_id_of_a_session(shell: Shell) -> None:
    id = session_id(NAME)
    assert shell.ran(f"pond get {id[:6]}\t") == ["get", id]
    assert shell.ran(f"pond restore {id[:6]}\t") == ["restore", id]


def test_what_is_offered_says_what_it_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POND_LAKE", str(home / "lake"))
    assert dict(complete("zsh", ["get", ""])).keys() == {session_id(NAME)}
    assert dict(complete("zsh", ["restore", "--to", ""])).keys() == {"claude-code", "codex", "canonical"}
    assert dict(complete("fish", ["list", "--client="])).keys() == {"--client=claude-code", "--client=codex"}
    assert dict(complete("bash", ["list", "--client", "=", ""])).keys() == {"claude-code", "codex"}
    assert "--limit" in dict(complete("zsh", ["list", "--"]))
    assert all(meaning for _, meaning in complete("zsh", [""]))


def test_what_goes_wrong_offers_nothing(tmp_path: Path) -> None:
    done = pond("__complete", "zsh", "get", "x", variables={"POND_LAKE": str(tmp_path / "none")})
    assert (done.code, done.out, done.err) == (0, b"", "")
    assert pond("completion", "tcsh").code == 2
