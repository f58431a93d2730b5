"""`pond erase`: sessions out of the lake, for good."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from pond.cli.config import Lake
from pond.cli.show import Watching, print_json, refuse
from pond.cli.terminal import say, warn
from pond.config.load import load
from pond.diagnostics.diagnostic import Diagnostic, PondError, UsageError
from pond.diagnostics.visible import in_line
from pond.lake.erase import Erased, Family, Preview
from pond.operations.service import Service
from pond.operations.upkeep import EraseRequest, erase, families, forget_erased, previews
from pond.sessions.stored_text import from_stored


def run(
    sessions: Annotated[list[str], typer.Argument(metavar="SESSION...", help="Session ids, or unique prefixes.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; required without a terminal.")] = False,
    alone: Annotated[
        bool,
        typer.Option(
            "--alone", help="Also remove leftovers of interrupted writes; nothing else may be writing to the lake."
        ),
    ] = False,
    take_back: Annotated[
        bool, typer.Option("--forget", help="Forget that they were erased, so that a sync may store them again.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
    lake: Lake = None,
) -> int:
    service, request = Service(load({"lake": lake})), EraseRequest(sessions, alone)
    meant = families(service, request)
    if take_back:
        count = forget_erased(service, request)
        _print({"forgotten": count}, f"{count} sessions may be stored again", json)
        return 0
    if not yes and not _agreed(previews(service, request)):
        say("Nothing was erased.")
        return 1
    with Watching() as watch:
        done = erase(service, request, watch)
    what = f"erased {done.sessions} sessions, {done.messages} messages, {done.parts} parts"
    _print(_as_json(meant, done), what, json)
    return _leftovers(done)


def _agreed(wanted: Sequence[Preview]) -> bool:
    """Show what would go, and ask."""
    if not sys.stdin.isatty():
        message = "there is no terminal to ask on"
        raise UsageError(Diagnostic("usage", message, help="`--yes` erases without asking"))
    for each in wanted:
        title = f"  {in_line(each.title)}" if each.title else ""
        warn(f"{in_line(each.session_id)}{title}")
        facts = [in_line(each.client or "leftovers of an erased session"), in_line(each.project or "")]
        warn(f"  {'  '.join(filter(None, facts))}")
        warn(f"  {each.messages} messages, {each.children} children")
    say("Erase this for good? [y/N] ", sys.stderr, end="")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _as_json(families: Sequence[Family], done: Erased) -> dict[str, object]:
    ids = dict.fromkeys(from_stored(id) for each in families for id in each.members)
    return {
        "ids": list(ids), "sessions": done.sessions, "messages": done.messages, "parts": done.parts, "left": done.left,
    }  # fmt: skip


def _print(value: dict[str, object], line: str, json: bool) -> None:
    if json:
        print_json(value, sys.stdout)
    else:
        say(line)


def _leftovers(done: Erased) -> int:
    if not done.left:
        return 0
    count = sum(map(len, done.left.values()))
    message = f"{count} files of interrupted writes may still contain erased rows"
    help = "when nothing else writes to the lake, run this again with `--alone`"
    return refuse(PondError(Diagnostic("lake-leftovers", message, help=help)))
