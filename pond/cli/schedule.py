"""What makes a system run `pond sync` now and then: a systemd user timer, a launchd agent, or a line for cron.

Nothing is done here but to say what would be written and run; `cli.scheduling` shows it, asks, and does it.
"""

from __future__ import annotations

import os
import plistlib
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pond.config.locations import home, no_home
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.nearest import unknown

SYSTEMD, LAUNCHD, CRON = KINDS = ("systemd", "launchd", "cron")
TITLES = {SYSTEMD: "systemd user timer", LAUNCHD: "launchd agent", CRON: "cron line"}
EVERY = "15m"
_UNITS = {"m": 60, "h": 3600, "d": 86_400}
_EVERY = re.compile(r"(?P<count>[1-9][0-9]{0,3})(?P<unit>[mhd])", re.ASCII)
_UNIT, _LABEL = "pond-sync", "pond.sync"
_MARK = "# pond sync (`pond sync --uninstall` removes this and the next line)"
# What says where sessions and the lake are; a scheduled run has to find the same.
_PASSED_ON = (
    "POND_LAKE", "POND_CONFIG", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME",
    "PYTHONPATH",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be run, how often, and with which variables."""

    command: Sequence[str]
    seconds: int
    environ: Mapping[str, str]

    @property
    def variables(self) -> dict[str, str]:
        """The variables that the job needs and a scheduler does not give it."""
        return {name: self.environ[name] for name in _PASSED_ON if self.environ.get(name)}


@dataclass(frozen=True, slots=True)
class Schedule:
    """What a scheduler is given: files, a line for cron, and the commands that make it take notice."""

    kind: str
    files: dict[Path, str] = field(default_factory=dict)
    line: str = ""  # for cron
    on: list[list[str]] = field(default_factory=list)
    off: list[list[str]] = field(default_factory=list)


def seconds_of(text: str) -> int:
    """Return how many seconds lie between two runs; raise UsageError for what is no such time."""
    found = _EVERY.fullmatch(text)
    if found is None:
        raise UsageError(Diagnostic("usage", f"expected how often, found `{text}`", help="for example 15m, 1h or 1d"))
    return int(found["count"]) * _UNITS[found["unit"]]


def shown(seconds: int) -> str:
    """Return a number of seconds as `seconds_of` reads it."""
    unit, size = next((unit, size) for unit, size in reversed(_UNITS.items()) if seconds % size == 0 or unit == "m")
    return f"{seconds // size}{unit}"


def scheduler(wanted: str | None, system: str, environ: Mapping[str, str], which: Callable[[str], str | None]) -> str:
    """Return which scheduler to use: the one wanted, or the first that this machine has."""
    if wanted is not None:
        if wanted not in KINDS:
            raise unknown("scheduler", wanted, KINDS)
        return wanted
    if system == "Darwin":
        return LAUNCHD
    manager = Path(environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}", "systemd")
    if which("systemctl") and manager.is_dir():
        return SYSTEMD
    if which("crontab"):
        return CRON
    help = "`pond sync --watch` or `pond serve --with-sync` keeps the lake fresh while it runs"
    raise UsageError(Diagnostic("usage", "found neither systemd, launchd nor cron on this machine", help=help))


def schedule(kind: str, job: Job) -> Schedule:
    """Return what a scheduler is given for a job."""
    return {SYSTEMD: _systemd, LAUNCHD: _launchd, CRON: _cron}[kind](job)


def place(kind: str, environ: Mapping[str, str]) -> Path | None:
    """Return the file by which one sees that a scheduler was set up; None for cron, which keeps its own."""
    below = home(environ)
    if below is None:
        raise no_home("schedule")
    if kind == SYSTEMD:
        base = environ.get("XDG_CONFIG_HOME", "")
        return Path(base if os.path.isabs(base) else below / ".config", "systemd", "user", f"{_UNIT}.timer")
    return below / "Library" / "LaunchAgents" / f"{_LABEL}.plist" if kind == LAUNCHD else None


# --- systemd ---------------------------------------------------------------------------------------------------------


def _systemd(job: Job) -> Schedule:
    timer = place(SYSTEMD, job.environ)
    assert timer is not None
    variables = "".join(f"Environment={_of_unit(f'{name}={value}')}\n" for name, value in job.variables.items())
    service = (
        "[Unit]\nDescription=Store new sessions of coding agents in the pond lake\n\n"
        # 1: something was stored, and something could not be read; `pond status` tells.
        "[Service]\nType=oneshot\nSuccessExitStatus=1\nNice=10\n"
        f"{variables}ExecStart={' '.join(map(_of_unit, job.command))}\n"
    )
    when = (
        f"[Unit]\nDescription=Run pond sync every {shown(job.seconds)}\n\n"
        f"[Timer]\nOnStartupSec=1min\nOnUnitInactiveSec={job.seconds}s\nAccuracySec=30s\n\n"
        "[Install]\nWantedBy=timers.target\n"
    )
    systemctl = ["systemctl", "--user"]
    return Schedule(
        SYSTEMD,
        {timer.with_suffix(".service"): service, timer: when},
        on=[[*systemctl, "daemon-reload"], [*systemctl, "enable", "--now", timer.name]],
        off=[[*systemctl, "disable", "--now", timer.name], [*systemctl, "daemon-reload"]],
    )


def _of_unit(word: str) -> str:
    """Return a word as a unit file quotes it."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"' if re.search(r"[^\w@%+=:,./-]", word) else escaped


# --- launchd ---------------------------------------------------------------------------------------------------------


def _launchd(job: Job) -> Schedule:
    file = place(LAUNCHD, job.environ)
    assert file is not None
    facts = {
        "Label": _LABEL,
        "ProgramArguments": list(job.command),
        "EnvironmentVariables": job.variables,
        "StartInterval": job.seconds,
        "RunAtLoad": True,
        "ProcessType": "Background",
        "StandardErrorPath": str(file.parents[1] / "Logs" / "pond-sync.log"),
    }
    domain = f"gui/{os.getuid()}"
    return Schedule(
        LAUNCHD,
        {file: plistlib.dumps(facts, sort_keys=False).decode()},
        on=[["launchctl", "bootstrap", domain, str(file)]],
        off=[["launchctl", "bootout", f"{domain}/{_LABEL}"]],
    )


# --- cron ------------------------------------------------------------------------------------------------------------


def _cron(job: Job) -> Schedule:
    words = [*(f"{name}={shlex.quote(value)}" for name, value in job.variables.items()), shlex.join(job.command)]
    command = " ".join(words)
    if "\n" in command:
        raise UsageError(Diagnostic("usage", "a line for cron cannot hold a line break", help="rename the directory"))
    return Schedule(CRON, line=f"{_cron_times(job.seconds)} {command.replace('%', chr(92) + '%')}")


def _cron_times(seconds: int) -> str:
    minutes, hours = seconds // 60, seconds // 3600
    if minutes < 60 and 60 % minutes == 0:
        return f"*/{minutes} * * * *" if minutes > 1 else "* * * * *"
    if seconds % 3600 == 0 and hours < 24 and 24 % hours == 0:
        return f"0 */{hours} * * *" if hours > 1 else "0 * * * *"
    if seconds == _UNITS["d"]:
        return "0 12 * * *"
    help = "cron takes minutes that divide an hour (15m), hours that divide a day (6h), or 1d"
    raise UsageError(Diagnostic("usage", f"cron cannot run something every {shown(seconds)}", help=help))


def with_line(crontab: str, line: str) -> str:
    """Return a crontab with the line of pond in place of an earlier one."""
    kept = without_line(crontab)
    return f"{kept}{'' if not kept or kept.endswith(chr(10)) else chr(10)}{_MARK}\n{line}\n"


def without_line(crontab: str) -> str:
    """Return a crontab without the line of pond; everything else stays as it is."""
    lines = crontab.splitlines(keepends=True)
    marks = {at for at, line in enumerate(lines) if line.rstrip("\n") == _MARK}
    return "".join(line for at, line in enumerate(lines) if at not in marks and at - 1 not in marks)


def has_line(crontab: str) -> bool:
    """Tell whether pond has a line in a crontab."""
    return _MARK in crontab.splitlines()
