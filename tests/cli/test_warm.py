"""A command that is a fork of the warm process does what one does that has started by itself."""

import os
import stat
from pathlib import Path

import pytest

import tests.size
from tests.cli import command, warm
from tests.cli.command import Done, environment, finish, pond, start
from tests.cli.sessions import CODEX
from tests.size import share, size


def _both(*words: str | Path, variables: dict[str, str] | None = None, cwd: Path | None = None) -> tuple[Done, Done]:
    return pond(*words, variables=variables, cwd=cwd), finish(start(*words, variables=variables, cwd=cwd))


@pytest.mark.parametrize("words", [["--version"], ["convert"], ["convert", "no.jsonl"]])
def test_it_says_the_same_and_ends_the_same(words: list[str], tmp_path: Path) -> None:
    forked, started = _both(*words, cwd=tmp_path)
    assert forked == started


def test_it_has_the_variables_and_the_directory_that_it_is_given(tmp_path: Path) -> None:
    forked, started = _both("config", "show", variables={"POND_LAKE": "here", "HOME": str(tmp_path)}, cwd=tmp_path)
    assert forked == started
    assert f"{tmp_path}/here".encode() in forked.out


def test_it_reads_what_it_is_sent_and_writes_below_its_own_umask(tmp_path: Path) -> None:
    text = CODEX.session(tmp_path / "in", "sent").read_bytes()
    done = pond("convert", "-", "--to", "canonical", "-o", "out.jsonl", stdin=text, cwd=tmp_path, umask=0o277)
    assert (done.code, done.err) == (0, "")
    assert stat.S_IMODE((tmp_path / "out.jsonl").stat().st_mode) == 0o400


def _run(program: str, patience: float = 60) -> tuple[int, bytes, bytes]:
    return warm.run(warm.Request([], environment(), os.getcwd(), program=program), None, patience)


def test_what_one_command_leaves_behind_no_other_finds() -> None:
    assert _run("import os, pond; pond.left = os.environ['LEFT'] = 'x'")[0] == 0
    assert _run("import os, pond; print(hasattr(pond, 'left'), 'LEFT' in os.environ)")[1] == b"False False\n"


def test_lance_is_not_loaded_before_the_fork() -> None:
    assert _run("import sys; print('lance' in sys.modules, 'pyarrow' in sys.modules)")[1] == b"False True\n"


def test_a_crash_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    code, _, told = _run("raise ZeroDivisionError('ours')")
    assert (code, told.splitlines()[-1]) == (1, b"ZeroDivisionError: ours")
    monkeypatch.setattr(command, "run", lambda *_: (code, b"", told))
    with pytest.raises(AssertionError, match="ours"):
        pond("--version")


def test_a_signal_and_a_hang_end_it() -> None:
    assert _run("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")[0] == -9
    with pytest.raises(warm.Hangs):
        _run("import time; time.sleep(100)", patience=0.2)
    assert _run("print('next')") == (0, b"next\n", b"")


def test_a_variable_that_is_read_at_the_start_needs_a_start() -> None:
    assert warm.is_warm({"HOME": "/", "POND_LAKE": "x"})
    assert not warm.is_warm({"HOME": "/", "PYTHONUTF8": "1"})


def test_a_share_is_spread_over_all_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tests.size, "SOAK", False)
    assert (size(100, 7), share([0, 1], 5), share(range(10), 1)) == (7, [0, 1], [0])
    assert share(range(10), 4) == [0, 3, 6, 9]
    monkeypatch.setattr(tests.size, "SOAK", True)
    assert (size(100, 7), share(range(3), 1)) == (100, [0, 1, 2])
