"""A lake that stays fresh: what a scheduler is given, that it runs, one at a time, and what `status` says of it."""

import fcntl
import json
import os
import plistlib
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from pond.cli.schedule import CRON, LAUNCHD, SYSTEMD, Job, schedule, scheduler, seconds_of, shown, with_line
from pond.config.locations import state_file
from pond.diagnostics.diagnostic import UsageError
from tests.cli.command import POND, environment, pond
from tests.cli.sessions import CLAUDE_CODE
from tests.conftest import program
from tests.house.tree import ROOT

# A crontab that keeps its lines in the file that CRONTAB names, as the real one keeps them for the user.
FAKE = """#!/bin/sh
case "$1" in
-l) [ -f "$CRONTAB" ] || { echo "no crontab for you" >&2; exit 1; }; cat "$CRONTAB" ;;
-) cat > "$CRONTAB" ;;
*) exit 2 ;;
esac
"""


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """A home with one session of a client, and a crontab of its own."""
    place = tmp_path / "ho me 100%"  # nothing that a scheduler may take for something else
    CLAUDE_CODE.session(place / ".claude", "walnut")
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin" / "crontab"
    fake.write_text(FAKE)
    fake.chmod(0o755)
    variables = {"HOME": str(place), "POND_LAKE": str(place / "lake"), "CRONTAB": str(tmp_path / "crontab")}
    return variables | {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}


def _cron(home: dict[str, str], *words: str) -> str:
    done = pond("sync", *words, variables=home)
    assert done.code == 0, done.err
    file = Path(home["CRONTAB"])
    return file.read_text() if file.exists() else ""


def test_cron_runs_the_line_and_status_tells(home: dict[str, str]) -> None:
    Path(home["CRONTAB"]).write_text("# mine\n5 4 * * * true\n")
    table = _cron(home, "--install", "--scheduler", "cron", "--every", "30m", "--yes")
    assert table.startswith("# mine\n5 4 * * * true\n# pond sync")
    line = table.splitlines()[-1]
    assert line.startswith("*/30 * * * * ")
    again = _cron(home, "--install", "--scheduler", "cron", "--every", "15m", "--yes")
    assert again.splitlines()[-1].startswith("*/15 * * * * ")
    assert len(again.splitlines()) == 4
    # As cron does it: what follows the fifth field, `\%` for `%`, by sh, with next to no variables.
    command = line.split(maxsplit=5)[5].replace("\\%", "%")
    bare = {"HOME": home["HOME"], "PATH": "/usr/bin:/bin", "SHELL": "/bin/sh", "LOGNAME": "somebody"}
    for _ in range(2):
        done = subprocess.run(
            ["/bin/sh", "-c", command], env=bare, cwd="/", capture_output=True, text=True, timeout=120
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    told = pond("status", variables=home).out.decode()
    assert "by the schedule: nothing new" in told
    assert "schedule     */15 * * * * (cron)" in told
    assert json.loads(pond("list", "--json", variables=home).out)["sessions"]
    assert _cron(home, "--uninstall", "--yes") == "# mine\n5 4 * * * true\n"
    assert "schedule     none; `pond sync --install`" in pond("status", variables=home).out.decode()
    assert pond("sync", "--uninstall", "--yes", variables=home).out == b"There is no schedule to remove.\n"


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pond.cli.main", "sync", "--quiet", "--lake", "/srv/my lake/100%/$x"]
    environ = {"HOME": str(tmp_path), "POND_LAKE": 'a "b"\\c', "PYTHONPATH": str(ROOT)}
    made = schedule(SYSTEMD, Job(command, 900, environ))
    for file, text in made.files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert {file.name for file in made.files} == {"pond-sync.service", "pond-sync.timer"}
    verify = program("systemd-analyze", "systemd units")
    user = {**os.environ, "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    line = [verify, "verify", "--user", *map(str, made.files)]
    done = subprocess.run(line, capture_output=True, text=True, env=user, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    broken = next(file for file in made.files if file.suffix == ".timer")
    broken.write_text(made.files[broken].replace("OnUnitInactiveSec=900s", "OnUnitInactiveSec=now and then"))
    done = subprocess.run(line, capture_output=True, text=True, env=user, timeout=60)
    assert "now and then" in done.stderr  # it does look


def test_systemd_units_are_written_enabled_and_removed(home: dict[str, str], tmp_path: Path) -> None:
    systemctl = tmp_path / "bin" / "systemctl"
    systemctl.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n')
    systemctl.chmod(0o755)
    done = pond("sync", "--install", "--scheduler", "systemd", "--yes", variables=home)
    assert done.code == 0, done.err
    units = Path(home["HOME"], ".config/systemd/user")
    assert sorted(file.name for file in units.iterdir()) == ["pond-sync.service", "pond-sync.timer"]
    for file in units.iterdir():
        assert all(f"    {line}" in done.out.decode() for line in file.read_text().splitlines() if line)
    assert (
        "schedule     every 15m (systemd user timer)"
        in (pond("sync", variables=home), pond("status", variables=home))[1].out.decode()
    )
    assert pond("sync", "--uninstall", "--yes", variables=home).code == 0
    assert list(units.iterdir()) == []
    assert (tmp_path / "asked").read_text().splitlines() == [
        "--user daemon-reload",
        "--user enable --now pond-sync.timer",
        "--user disable --now pond-sync.timer",
        "--user daemon-reload",
    ]


def test_a_scheduler_that_refuses_is_told(home: dict[str, str], tmp_path: Path) -> None:
    systemctl = tmp_path / "bin" / "systemctl"
    systemctl.write_text("#!/bin/sh\necho no bus >&2\nexit 1\n")
    systemctl.chmod(0o755)
    done = pond("sync", "--install", "--scheduler", "systemd", "--yes", variables=home)
    assert done.code == 1
    assert "`systemctl --user daemon-reload` failed: no bus" in done.err


def test_launchd_is_given_an_agent() -> None:
    made = schedule(LAUNCHD, Job(["pond", "sync"], 3600, {"HOME": "/Users/mira", "CODEX_HOME": "/c"}))
    ((file, text),) = made.files.items()
    assert str(file) == "/Users/mira/Library/LaunchAgents/pond.sync.plist"
    facts = plistlib.loads(text.encode())
    assert (facts["ProgramArguments"], facts["StartInterval"]) == (["pond", "sync"], 3600)
    assert facts["EnvironmentVariables"] == {"CODEX_HOME": "/c"}


def test_nothing_is_set_up_without_a_yes(home: dict[str, str]) -> None:
    words = ["sync", "--install", "--scheduler", "cron"]
    done = pond(*words, variables=home)
    assert (done.code, Path(home["CRONTAB"]).exists()) == (2, False)
    assert "there is no terminal to ask on (`--yes`" in done.err
    assert pond(*words, "--dry-run", variables=home).code == 0
    assert not Path(home["CRONTAB"]).exists()
    for typed, code in ((b"n\n", 1), (b"y\n", 0)):
        controller, side = pty.openpty()
        process = subprocess.Popen([*POND, *words], stdin=side, stdout=-1, stderr=-1, env=environment(**home))
        os.close(side)
        os.write(controller, typed)
        out, err = process.communicate(timeout=60)
        os.close(controller)
        assert process.returncode == code
        assert b"Run `pond sync` every 15m? [y/N]" in err
        assert b"A line in your crontab:\n    */15 * * * * " in out
        assert Path(home["CRONTAB"]).exists() == (code == 0)


def test_one_at_a_time(home: dict[str, str]) -> None:
    place = state_file(home["POND_LAKE"], home)
    assert place is not None
    place.parent.mkdir(parents=True)
    with open(place.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = pond("sync", "--scheduled", variables=home)
        assert (done.code, done.out) == (0, b"Another sync of this lake is running; nothing was done.\n")
        assert pond("sync", "-q", "--scheduled", variables=home).out == b""
        assert not Path(home["POND_LAKE"]).exists()
    assert pond("sync", "--scheduled", variables=home).code == 0
    assert Path(home["POND_LAKE"]).exists()


def test_status_says_what_the_last_sync_could_not_read(home: dict[str, str]) -> None:
    stray = Path(home["HOME"], ".claude/projects/-x/stray.jsonl")
    stray.parent.mkdir(parents=True)
    stray.write_text('{"planet": "Saturn"}\n')
    done = pond("sync", "-q", variables=home)
    assert (done.code, done.out) == (1, b"")
    assert "source-unrecognised" in done.err
    told = pond("status", variables=home).out.decode()
    assert "1 session and" in told
    assert f"not read   1\n  {stray}:1: source-unrecognised:" in told
    noted = json.loads(pond("status", "--json", variables=home).out)["last_sync"]
    assert (noted["new_sessions"], noted["scheduled"], noted["problems"][0]["file"]) == (1, False, str(stray))


@pytest.mark.parametrize(("text", "seconds"), [("1m", 60), ("15m", 900), ("2h", 7200), ("1d", 86_400), ("90m", 5400)])
def test_how_often(text: str, seconds: int) -> None:
    assert seconds_of(text) == seconds
    assert shown(seconds) == text


@pytest.mark.parametrize("text", ["0m", "15", "soon", "-5m", "5s", ""])
def test_how_often_not(text: str) -> None:
    with pytest.raises(UsageError, match="how often"):
        seconds_of(text)


def test_cron_refuses_what_it_cannot_say() -> None:
    for every in ("7m", "90m", "5h", "3d"):
        with pytest.raises(UsageError, match=f"every {every}"):
            schedule(CRON, Job(["pond"], seconds_of(every), {"HOME": "/h"}))
    assert with_line("a\nb", "c").startswith("a\nb\n#")


def test_which_scheduler_there_is(tmp_path: Path) -> None:
    (tmp_path / "systemd").mkdir()
    here, none = {"XDG_RUNTIME_DIR": str(tmp_path)}, {"XDG_RUNTIME_DIR": "/nowhere"}
    assert scheduler(None, "Darwin", none, lambda name: None) == LAUNCHD
    assert scheduler(None, "Linux", here, lambda name: name) == SYSTEMD
    assert scheduler(None, "Linux", none, lambda name: name) == CRON
    with pytest.raises(UsageError, match="neither systemd"):
        scheduler(None, "Linux", none, lambda name: None)
    with pytest.raises(UsageError, match="unknown scheduler"):
        scheduler("anacron", "Linux", none, lambda name: None)
