"""`pond import`: sessions of an archive into the lake."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from pond.cli.config import Lake
from pond.cli.imported import exit_code, show, summary
from pond.cli.show import Watching, print_json
from pond.config.load import load
from pond.operations.archive import ImportRequest, import_
from pond.operations.service import Service


def run(
    archive: Annotated[str, typer.Argument(metavar="FILE.pond", help="An archive that `pond export` wrote.")],
    erased: Annotated[
        bool, typer.Option("--erased", help="Also bring back sessions that were erased from this lake.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything, show what would be new, and store nothing.")
    ] = False,
    lake: Lake = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    service = Service(load({"lake": lake}))
    with Watching() as watch:
        done = import_(service, ImportRequest(Path(archive), erased, dry_run), watch)
    if json:
        print_json(summary(archive, done, dry_run), sys.stdout)
    else:
        show(done, dry_run)
    return exit_code(done)
