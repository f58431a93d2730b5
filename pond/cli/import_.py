"""`pond import`: sessions of an archive into the lake."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from pond.cli.hints import helped
from pond.cli.show import Progress, print_json
from pond.cli.terminal import say, warn
from pond.config.load import load
from pond.diagnostics.render import as_json, with_help
from pond.lake.import_ import Imported, import_
from pond.sessions.lake import opened


def run(
    archive: Annotated[str, typer.Argument(metavar="FILE.pond", help="An archive that `pond export` wrote.")],
    erased: Annotated[
        bool, typer.Option("--erased", help="Bring back sessions that were erased from this lake, too.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check everything and say what would be new.")] = False,
    lake: Annotated[str | None, typer.Option("--lake", metavar="PLACE", help="The lake to write to.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    """Take the sessions of an archive into the lake, as far as they are new."""
    progress: Progress | None = None

    def at(done: int, total: int) -> None:
        nonlocal progress
        progress = progress or Progress(total, "importing")
        progress.at(done)

    try:
        done = import_(opened(load({"lake": lake})), Path(archive), erased=erased, dry_run=dry_run, progress=at)
    finally:
        if progress is not None:
            progress.end()
    if json:
        print_json(_summary(archive, done, dry_run), sys.stdout)
    else:
        _say(done, dry_run)
    return 1 if any(fault.severity == "error" for fault in done.faults) else 0


def _summary(archive: str, done: Imported, dry_run: bool) -> dict[str, object]:
    return {
        "archive": archive,
        "dry_run": dry_run,
        "held": done.held,
        "new": done.new,
        "erased": done.erased,
        "faults": [as_json(helped(fault)) for fault in done.faults],
    }


def _say(done: Imported, dry_run: bool) -> None:
    for fault in map(helped, done.faults):
        warn(with_help(fault))
    rows = ", ".join(f"{done.new[name]} of {done.held[name]} {name}" for name in ("sessions", "messages", "parts"))
    say(f"{rows} {'would be' if dry_run else 'were'} new.")
