"""`pond sync --install` and `--uninstall`: shows what a scheduler is given, asks, and gives or takes it away."""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence

from pond.cli.schedule import (
    CRON,
    KINDS,
    SYSTEMD,
    TITLES,
    Job,
    Schedule,
    has_line,
    place,
    schedule,
    scheduler,
    seconds_of,
    shown,
    with_line,
    without_line,
)
from pond.cli.show import print_json
from pond.cli.terminal import note, say, warn
from pond.diagnostics.diagnostic import Diagnostic, PondError, UsageError
from pond.diagnostics.visible import one_line_of, visible

_INTERVAL = re.compile(r"OnUnitInactiveSec=(\d+)s|<key>StartInterval</key>\s*<integer>(\d+)")
_PROGRAM = "pond"
_LINGER = "It runs while you are logged in; `loginctl enable-linger` lets it run at other times, too."


def install(every: str, wanted: str | None, lake: str | None, *, yes: bool, dry_run: bool, json: bool) -> int:
    """Set up a schedule; return the exit code."""
    seconds = seconds_of(every)
    kind = scheduler(wanted, platform.system(), os.environ, shutil.which)
    plan = schedule(kind, Job(_command(lake), seconds, os.environ))
    if json:
        print_json(_as_json(plan, seconds), sys.stdout)
    else:
        for line in _told(plan):
            say(line)
    if dry_run or not _agreed(f"Run `pond sync` every {shown(seconds)}?", yes):
        note("Nothing was changed.")
        return 0 if dry_run else 1
    for file, text in plan.files.items():
        _write(file, text)
    if kind == CRON:
        _set_crontab(with_line(_crontab(), plan.line))
    for command in plan.on:
        _run(command)
    if not json:
        note("Installed. `pond status` says when it last ran; `pond sync --uninstall` removes it.")
        if kind == SYSTEMD:
            note(_LINGER)
    return 0


def uninstall(*, yes: bool, dry_run: bool, json: bool) -> int:
    """Remove whatever schedule there is; return the exit code."""
    found = list(_installed())
    if json:
        print_json({"removed": [] if dry_run else found, "found": found}, sys.stdout)
    if not found:
        if not json:
            note("There is no schedule to remove.")
        return 0
    if not json:
        say(f"Removes the {' and the '.join(TITLES[kind] for kind in found)}; the lake stays as it is.")
    if dry_run or not _agreed("Remove it?", yes):
        note("Nothing was changed.")
        return 0 if dry_run else 1
    for kind in found:
        _remove(kind)
    return 0


def installed() -> dict[str, str]:
    """Return the schedules of this user: by the scheduler, how often."""
    return {kind: _interval(kind) for kind in _installed()}


def _installed() -> Iterator[str]:
    for kind in KINDS:
        file = place(kind, os.environ)
        if file is not None and file.exists():
            yield kind
    if shutil.which("crontab") and has_line(_crontab()):
        yield CRON


def _interval(kind: str) -> str:
    if kind == CRON:
        line = _crontab().splitlines()
        return next((" ".join(each.split()[:5]) for each in line if _PROGRAM in each and not each.startswith("#")), "")
    file = place(kind, os.environ)
    found = _INTERVAL.search(file.read_text(encoding="utf-8")) if file is not None else None
    return shown(int(found[1] or found[2])) if found else ""


def _remove(kind: str) -> None:
    if kind == CRON:
        _set_crontab(without_line(_crontab()))
        return
    plan = schedule(kind, Job([_PROGRAM], 60, os.environ))
    stop, *after = plan.off
    _run(stop, must=False)  # what does not run cannot be stopped
    for file in plan.files:
        file.unlink(missing_ok=True)
    for command in after:
        _run(command, must=False)


def _command(lake: str | None) -> list[str]:
    """Return the words that run pond as it runs now, from anywhere."""
    own = os.path.abspath(sys.argv[0])
    is_script = os.path.basename(own) == _PROGRAM and os.access(own, os.X_OK)
    start = [own] if is_script else [sys.executable, "-m", "pond.cli.main"]
    return [*start, "sync", "--quiet", "--scheduled", *(["--lake", lake] if lake else [])]


def _told(plan: Schedule) -> Iterator[str]:
    for file, text in plan.files.items():
        yield f"{one_line_of(str(file))}:"
        yield from (f"    {line}" for line in visible(text).splitlines())
        yield ""
    if plan.line:
        yield "A line in your crontab:"
        yield f"    {one_line_of(plan.line)}"
        yield ""
    for command in plan.on:
        yield f"then runs: {one_line_of(' '.join(command))}"


def _as_json(plan: Schedule, seconds: int) -> dict[str, object]:
    files = {str(file): text for file, text in plan.files.items()}
    return {"scheduler": plan.kind, "seconds": seconds, "files": files, "line": plan.line, "commands": plan.on}


def _agreed(question: str, yes: bool) -> bool:
    if yes:
        return True
    if not sys.stdin.isatty():
        message = "there is no terminal to ask on"
        raise UsageError(Diagnostic("usage", message, help="`--yes` goes ahead without asking, `--dry-run` only shows"))
    say(f"{question} [y/N] ", sys.stderr, end="")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _write(file: "os.PathLike[str]", text: str) -> None:
    try:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
    except OSError as error:
        raise _failed(f"cannot write `{os.fspath(file)}`: {error.strerror}") from None


def _crontab() -> str:
    done = subprocess.run(["crontab", "-l"], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""  # who has none gets an error


def _set_crontab(text: str) -> None:
    done = subprocess.run(["crontab", "-"], input=text, capture_output=True, text=True)
    if done.returncode:
        raise _failed(f"`crontab` refused the change: {done.stderr.strip()}")


def _run(command: Sequence[str], *, must: bool = True) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True)
        reason = done.stderr.strip() if done.returncode else ""
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
    if reason and must:
        raise _failed(f"`{' '.join(command)}` failed: {reason}")
    if reason:
        warn(one_line_of(f"pond: `{' '.join(command)}`: {reason}"))


def _failed(message: str) -> PondError:
    return PondError(Diagnostic("output-failed", message, help="`pond sync --uninstall` removes what was set up"))
