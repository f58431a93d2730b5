"""`pond config show|path`: which settings hold here, and who says so."""

import os
import sys
from typing import Annotated, TypeAlias

import typer

from pond.cli.show import print_json
from pond.cli.terminal import say
from pond.config.listing import rows
from pond.config.load import load
from pond.config.locations import config_file, no_home
from pond.diagnostics.visible import one_line_of

Lake: TypeAlias = Annotated[
    str | None, typer.Option("--lake", metavar="PATH|URI", help="Use this lake instead of the configured one.")
]


def show(
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    lake: Lake = None,
) -> int:
    """Show each setting, its value, and where the value comes from."""
    found = list(rows(load({"lake": lake})))
    if json:
        print_json({row.name: {"value": row.value, "source": row.source} for row in found}, sys.stdout)
        return 0
    names, texts = (max(map(len, column)) for column in zip(*((row.name, row.text) for row in found), strict=True))
    for row in found:
        say(one_line_of(f"{row.name:<{names}}  {row.text:<{texts}}  {row.source}"))
    return 0


def path(json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False) -> int:
    """Print the path of the configuration file."""
    file = config_file(os.environ)
    if file is None:
        raise no_home("configuration")
    if json:
        print_json({"path": str(file)}, sys.stdout)
    else:
        say(one_line_of(str(file)))
    return 0


commands = {"show": show, "path": path}
