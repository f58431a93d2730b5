"""`pond optimize`: the lake, quick and small."""

import sys
from collections.abc import Iterator
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated

import typer

from pond.cli.config import Lake
from pond.cli.show import Watching, print_json, size
from pond.cli.terminal import note
from pond.cli.times import clock
from pond.config.load import load
from pond.lake.optimize import KEEP, Optimized, duration
from pond.operations.service import Service
from pond.operations.upkeep import OptimizeRequest, optimize


def run(
    keep: Annotated[
        str, typer.Option("--keep", metavar="TIME", help="Keep old versions for this long: 90m, 12h, 7d.")
    ] = KEEP,
    json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
    lake: Lake = None,
) -> int:
    keeping = duration(keep)
    service = Service(load({"lake": lake}))
    with Watching() as watch:
        tables = optimize(service, OptimizeRequest(keeping), watch)
    if json:
        print_json({"tables": [asdict(table) for table in tables]}, sys.stdout)
        return 0
    for table in tables:
        note(_line(table))
    for line in _sums(tables, keeping):
        note(line)
    return 0


def _line(table: Optimized) -> str:
    before, after = map(size, table.row_bytes)
    behind = f", indexes updated: {', '.join(table.indexes)}" if table.indexes else ""
    return f"{table.name:<9}{table.rows:>10} rows  {before:>9} -> {after:>9}{behind}"


def _sums(tables: list[Optimized], keeping: timedelta) -> Iterator[str]:
    """Say what the lake holds, what was freed, and when the rest will be."""
    for what, sums in (("rows", [t.row_bytes for t in tables]), ("indexes", [t.index_bytes for t in tables])):
        before, after = (size(sum(pair[at] for pair in sums)) for at in (0, 1))
        yield f"{what:<9}{before} before, {after} after"
    yield f"freed    {size(sum(table.freed for table in tables))} of old versions"
    if waiting := sum(table.waiting for table in tables):
        yield f"waiting  {size(waiting)} {_until(tables, keeping)}"


def _until(tables: list[Optimized], keeping: timedelta) -> str:
    if not keeping:
        return "written by a running or interrupted command; deleted a week after it was written"
    then = clock(max(table.waiting_until for table in tables if table.waiting))
    return (
        f"of old versions that a running command may still read; `pond optimize` frees it after {then}, "
        "or now with --keep 0s if nothing else uses the lake"
    )
