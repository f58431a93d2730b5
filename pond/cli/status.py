"""`pond status`: what the lake holds, and how it stands."""

import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer

from pond.cli.config import Lake
from pond.cli.show import drift_line, print_json, problem_lines, size
from pond.cli.terminal import say
from pond.config.load import load
from pond.diagnostics.visible import in_line
from pond.lake.retention import AHEAD, Retention
from pond.lake.status import Checks, Coverage, Overview
from pond.operations.service import Service
from pond.operations.upkeep import checks, overview
from pond.substrate.upkeep import TableHealth


def run(
    json: Annotated[bool, typer.Option("--json", help="Print everything as one JSON document.")] = False,
    lake: Lake = None,
) -> int:
    service = Service(load({"lake": lake}))
    first = overview(service)
    if json:
        held = asdict(first)
        print_json({"place": held.pop("location")} | held | asdict(checks(service)), sys.stdout)
        return 0
    for line in _overview(first):
        say(line)
    sys.stdout.flush()  # the rest takes longer
    for line in _checks(checks(service)):
        say(line)
    return 0


def _overview(found: Overview) -> Iterator[str]:
    yield f"lake         {in_line(found.location)}"
    clients = ", ".join(f"{in_line(name)} {count}" for name, count in found.clients.items())
    yield f"sessions     {found.rows['sessions']}{f' ({clients})' if clients else ''}"
    yield f"messages     {found.rows['messages']}"
    yield f"parts        {found.rows['parts']}"
    yield f"last ingest  {found.last_ingest or 'never'}"


def _checks(found: Checks) -> Iterator[str]:
    total = sum(table.bytes for table in found.tables.values())
    yield f"size         {size(total)}"
    for name, table in found.tables.items():
        yield f"  {name:<11}{_table(table)}"
    if any(index.unindexed for table in found.tables.values() for index in table.indexes):
        yield "  what an index lacks is searched slowly; `pond optimize` adds it"
    yield from _embeddings(found.embeddings)
    if found.waiting:
        yield f"waiting      {found.waiting} messages cannot be searched yet; the next `pond sync` ends that"
    sources = found.sources
    yield f"sources      {sources.files} files, {size(sources.bytes)}"
    yield from problem_lines(sources.problems, "refused      ")
    yield from problem_lines(sources.same_ids, "same id      ")
    if sources.gone:
        yield f"  no longer there: {len(sources.gone)}; sessions that only the lake has: {len(sources.only_here)}"
    if found.drift:
        yield f"unnamed      {drift_line(found.drift)}"
    if found.orphans:
        yield f"incomplete   {found.orphans} messages of sessions that are not whole; the next `pond sync` ends that"
    for id in found.erasing:
        yield f"erasing      {in_line(id)} did not come to its end; run `pond erase {in_line(id)}` again"
    for each in found.retention:
        yield from _retention(each)


def _embeddings(found: Coverage) -> Iterator[str]:
    models = "".join(f", {in_line(name)} {count}" for name, count in found.models.items())
    yield f"embeddings   {sum(found.models.values())} of {found.texts} messages{models}"
    if found.configured is not None and (waiting := found.texts - found.models.get(found.configured, 0)):
        yield f"  {waiting} wait for {in_line(found.configured)}; `pond sync` embeds them"


def _table(table: TableHealth) -> str:
    behind = [index.unindexed for index in table.indexes if index.unindexed]
    indexes = f", {len(behind)} of {len(table.indexes)} indexes lack up to {max(behind)} rows" if behind else ""
    return (
        f"{table.rows:>9} rows  {size(table.bytes):>9}  {table.fragments} fragments, {table.versions} versions{indexes}"
    )


def _retention(found: Retention) -> Iterator[str]:
    name, file = in_line(found.client), in_line(found.settings)
    yield ""
    if found.problem:
        yield f"{name}: {in_line(found.problem)}"
    else:
        yield f"{name} deletes a session file {found.days} days after its last change."
        yield f"  Files that go within {AHEAD} days: {found.due}; not all in the lake: {len(found.unstored)}."
        yield from (f"    {in_line(path)}" for path in found.unstored)
    yield f"  To keep them, write `{found.setting}` into {file}; `pond sync` takes them into the lake."
