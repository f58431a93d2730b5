"""A client's run apart from the user: its own HOME, an environment built from nothing, loopback as the only network."""

import contextlib
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

_MARK = "_POND_CLIENTS_ISOLATED"
_SET_FLAGS, _UP_AND_RUNNING = 0x8914, 0x41  # SIOCSIFFLAGS; IFF_UP | IFF_RUNNING
TIMEOUT = 180.0


def isolate(words: list[str], module: str = "tests.clients") -> bool:
    """Start this program again with loopback as its only network; tell, in the new run, whether that worked."""
    state = os.environ.get(_MARK)
    if state == "1":
        _raise_loopback()
    if state is not None:
        return state == "1"
    prefix = _unshare()
    if prefix is not None:
        os.environ[_MARK] = "1"
        sys.stdout.flush()
        os.execvp(prefix[0], [*prefix, sys.executable, "-m", module, *words])
    return False


def _unshare() -> list[str] | None:
    """Return the command that opens a network and process namespace, or None where the system does not allow one."""
    if not sys.platform.startswith("linux") or shutil.which("unshare") is None:
        return None
    for flags in (["-r", "-n", "-p", "-f", "--mount-proc", "--kill-child"], ["-r", "-n"]):
        if subprocess.run(["unshare", *flags, "true"], capture_output=True).returncode == 0:
            return ["unshare", *flags]
    return None


def _raise_loopback() -> None:
    import fcntl  # not on every system; where it is missing there are no namespaces either

    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as control:
        fcntl.ioctl(control, _SET_FLAGS, struct.pack("16sH14s", b"lo", _UP_AND_RUNNING, b"\0" * 14))


@dataclass(frozen=True)
class Run:
    """How a client ended: its exit code, None when it had to be ended, and what it printed."""

    code: int | None
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Room:
    """A temporary directory with a HOME and a work directory, for one client."""

    root: Path
    home: Path
    work: Path
    path: tuple[str, ...]  # what stands before the system's own PATH

    def another(self) -> "Room":
        """Return the room with a HOME that is new; the work directory stays the same."""
        home = Path(tempfile.mkdtemp(prefix="home-", dir=self.root))
        return replace(self, home=home)

    def environment(self, **extra: str) -> dict[str, str]:
        """Return the whole environment of a client; nothing of the caller's is in it."""
        own = {
            "HOME": str(self.home),
            "PATH": os.pathsep.join([*self.path, "/usr/local/bin", "/usr/bin", "/bin"]),
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "CI": "1",
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_DATA_HOME": str(self.home / ".local/share"),
            "XDG_STATE_HOME": str(self.home / ".local/state"),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "TMPDIR": str(self.root),
        }
        return {**own, **extra}

    def at_terminal(self, environment: dict[str, str]) -> dict[str, str]:
        """Return an environment for a program at a terminal that can do everything."""
        kept = {name: value for name, value in environment.items() if name not in ("CI", "NO_COLOR")}
        return {**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor"}

    def run(self, command: list[str], environment: dict[str, str], timeout: float = TIMEOUT) -> Run:
        """Run a client in the work directory, in a process group that is ended when the time is over."""
        process = subprocess.Popen(
            command,
            cwd=self.work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        code: int | None
        try:
            out, err = process.communicate(timeout=timeout)
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            code = None
        return Run(code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


@contextlib.contextmanager
def room(path: tuple[str, ...] = ()) -> Iterator[Room]:
    """Make a room, and clear it away at the end."""
    with tempfile.TemporaryDirectory(prefix="pond-clients-", ignore_cleanup_errors=True) as temporary:
        root = Path(temporary).resolve()
        made = Room(root, root / "home", root / "work", path)
        made.work.mkdir()
        yield made
