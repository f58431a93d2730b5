"""`pond optimize`: the lake, quick and small."""

import sys
from dataclasses import asdict
from typing import Annotated

import typer

from pond.cli.config import Lake
from pond.cli.show import Doing, print_json, size
from pond.cli.terminal import say
from pond.config.load import load
from pond.handlers.lake import existing
from pond.handlers.optimize import KEEP, Optimized, duration, optimize


def run(
    keep: Annotated[
        str, typer.Option("--keep", metavar="TIME", help="Keep versions younger than this: 90m, 12h, 7d.")
    ] = KEEP,
    json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
    lake: Lake = None,
) -> int:
    """Bring the lake's indexes up to date, put small files together and delete old versions."""
    keeping = duration(keep)
    store = existing(load({"lake": lake}))
    with Doing() as doing:
        tables = optimize(store, keeping, doing.now)
    if json:
        print_json({"tables": [asdict(table) for table in tables]}, sys.stdout)
        return 0
    for table in tables:
        say(_line(table))
    before, after = (sum(table.bytes[at] for table in tables) for at in (0, 1))
    say(f"{size(before)} before, {size(after)} after")
    return 0


def _line(table: Optimized) -> str:
    before, after = map(size, table.bytes)
    behind = f", indexes brought up to date: {', '.join(table.indexes)}" if table.indexes else ""
    return f"{table.name:<9}{table.rows:>10} rows  {before:>9} -> {after:>9}{behind}"
