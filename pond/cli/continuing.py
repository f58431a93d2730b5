"""What to type to continue with a session: the files go where the client looks, then the client is started there.

Every line can be pasted into a shell. Nothing in it replaces a file, and a name that a person gave stays.
"""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pond.cli.terminal import warn
from pond.codec.continuing import ResumeAdvice, declared_home, home_of, place_in_home, resumable
from pond.codec.registry import adapter
from pond.codec.report import Report
from pond.diagnostics.visible import one_line_of

_MOST = 3  # sessions that are explained


def as_told(advice: ResumeAdvice) -> dict[str, Any]:
    """Return the advice as a script gets it."""
    return {
        "client": advice.client,
        "session": advice.session_id,
        "place": place_in_home(advice),
        "directory": advice.directory,
        "command": advice.command,
    }


def show_resumes(report: Report, output: str | None) -> None:
    """Say how to continue with the first sessions that were written."""
    resumes = resumable(report.resumes)
    shown = resumes[:_MOST]
    if not shown:
        return
    steps = list(dict.fromkeys(step for advice in shown for step in _steps(advice, output)))
    starts = [_start(advice) for advice in shown]
    if len(shown) == 1 and not steps:
        warn(one_line_of(f"pond: to continue: {starts[0]}"))
    else:
        warn("pond: to continue:")
        for line in [*steps, *starts]:
            warn(one_line_of(f"  {line}"))
    for directory in dict.fromkeys(advice.directory for advice in shown if not os.path.isdir(advice.directory)):
        warn(one_line_of(f"pond: {directory} is not on this machine; --map-path OLD=NEW writes for another directory"))
    if len(resumes) > _MOST:
        warn(f"pond: and {len(resumes) - _MOST} more sessions (--json has all)")


def _start(advice: ResumeAdvice) -> str:
    """Return the command that starts the client; both find a session by its id wherever they are started."""
    if not os.path.isdir(advice.directory):
        return advice.command
    return f"cd {shlex.quote(advice.directory)} && {advice.command}"


def _steps(advice: ResumeAdvice, output: str | None) -> Iterator[str]:
    """Yield what brings the files into the client's home, where they are not there yet."""
    home, place = home_of(advice.client, os.environ), place_in_home(advice)
    if output is None:
        yield f"# save the output as {_in_home(advice.client, place)}"
    elif not os.path.isdir(output):
        yield from _copied(advice, Path(output), place)
    elif os.path.realpath(output) == os.path.realpath(home) and advice.path in ("", place):
        return  # written and listed where it belongs
    elif advice.path not in ("", place):
        yield from _copied(advice, Path(output) / advice.path, place)
    else:
        folder, there = place.split("/")[0], _in_home(advice.client, "")
        yield f"mkdir -p {there} && cp -Rpn {shlex.quote(str(Path(output) / folder))} {there}"
    yield from _listed(advice)


def _copied(advice: ResumeAdvice, file: Path, place: str) -> Iterator[str]:
    """Yield how one session's file, and the folder of its name beside it, get to their place."""
    folder, name = os.path.split(place)
    there = _in_home(advice.client, f"{folder}/")
    yield f"mkdir -p {there} && cp -pn {shlex.quote(str(file))} {_in_home(advice.client, place)}"
    beside = file.with_suffix("")
    if beside.is_dir():
        yield f"cp -Rpn {shlex.quote(f'{beside}/.')} {_in_home(advice.client, f'{folder}/{Path(name).stem}/')}"


def _listed(advice: ResumeAdvice) -> Iterator[str]:
    """Yield how the session gets its name into the client's list, unless a person has named it there."""
    if advice.line:
        index = _in_home(advice.client, adapter(advice.client).list_name)
        line = f"printf '%s\\n' {shlex.quote(advice.line)} >> {index}"
        yield f"grep -qs {shlex.quote(advice.session_id)} {index} || {line}"


def _in_home(client: str, place: str) -> str:
    """Return a place in the client's home as a shell reads it; `~` stays what people write."""
    declared = declared_home(client, os.environ)
    if declared is not None and declared.startswith("~/"):
        return "~/" + shlex.quote(f"{declared[2:]}/{place}")
    return shlex.quote(f"{home_of(client, os.environ)}/{place}")
