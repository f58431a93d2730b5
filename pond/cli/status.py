"""`pond status`: what the lake holds, and how it stands."""

import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer

from pond.cli.config import Lake
from pond.cli.schedule import CRON, TITLES
from pond.cli.scheduling import installed
from pond.cli.show import counted, drift_line, print_json, problem_lines, size
from pond.cli.terminal import say
from pond.cli.times import clock
from pond.config.load import load
from pond.diagnostics.visible import in_line
from pond.lake.retention import AHEAD, Retention
from pond.lake.status import Checks, Coverage, Overview
from pond.operations.runs import Run, last
from pond.operations.service import Service
from pond.operations.upkeep import checks, overview
from pond.substrate.upkeep import TableHealth


def run(
    json: Annotated[bool, typer.Option("--json", help="Print everything as one JSON document.")] = False,
    lake: Lake = None,
) -> int:
    service = Service(load({"lake": lake}))
    first = overview(service)
    run, schedules = last(service.settings.lake, service.environ), installed()
    if json:
        held = asdict(first)
        fresh = {"last_sync": asdict(run) if run else None, "schedules": schedules}
        print_json({"place": held.pop("location")} | held | fresh | asdict(checks(service)), sys.stdout)
        return 0
    for line in _overview(first):
        say(line)
    for line in _fresh(run, schedules):
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
    yield f"last change  {clock(found.last_ingest) if found.last_ingest else 'never'}"


def _fresh(run: Run | None, schedules: dict[str, str]) -> Iterator[str]:
    """Say when the lake was last synced, what could not be read, and what runs the next sync."""
    if run is None:
        yield "last sync    never on this machine"
    else:
        by = ", by the schedule" if run.scheduled else ""
        new = (
            f"{counted(run.new_sessions, 'session')} and {counted(run.new_messages, 'message')} new"
            if run.new_messages
            else "nothing new"
        )
        yield f"last sync    {clock(run.ended)}{by}: {new}"
        yield from problem_lines([{"file": "pond", **problem} for problem in run.problems], "  not read   ")
    for kind, every in schedules.items():
        yield f"schedule     every {every} ({TITLES[kind]})" if kind != CRON else f"schedule     {every} (cron)"
    if not schedules:
        yield "schedule     none; `pond sync --install` keeps the lake fresh"


def _checks(found: Checks) -> Iterator[str]:
    total = sum(table.bytes for table in found.tables.values())
    yield f"size         {size(total)}"
    for name, table in found.tables.items():
        yield f"  {name:<11}{_table(table)}"
    if any(index.unindexed for table in found.tables.values() for index in table.indexes):
        yield "  rows that no index holds are searched slowly; `pond optimize` indexes them"
    yield from _embeddings(found.embeddings)
    if found.waiting:
        yield f"waiting      {found.waiting} messages cannot be searched yet; the next `pond sync` indexes them"
    sources = found.sources
    yield f"sources      {counted(sources.files, 'file')}, {size(sources.bytes)}"
    yield from problem_lines(sources.problems, "refused      ")
    yield from problem_lines(sources.same_ids, "same id      ")
    if sources.gone:
        gone, only = counted(len(sources.gone), "file"), counted(len(sources.only_here), "session")
        yield f"  gone: {gone}; only in the lake: {only}"
    if found.drift:
        yield f"unmapped     {drift_line(found.drift)}"
    if found.orphans:
        yield f"incomplete   {found.orphans} messages of incomplete sessions; the next `pond sync` completes them"
    for id in found.erasing:
        yield f"erasing      {in_line(id)} was interrupted; run `pond erase {in_line(id)}` again"
    for each in found.retention:
        yield from _retention(each)


def _embeddings(found: Coverage) -> Iterator[str]:
    models = "".join(f", {in_line(name)} {count}" for name, count in found.models.items())
    yield f"embeddings   {sum(found.models.values())} of {found.texts} messages{models}"
    if found.configured is not None and (waiting := found.texts - found.models.get(found.configured, 0)):
        yield f"  {waiting} are not embedded with {in_line(found.configured)} yet; `pond sync` embeds them"


def _table(table: TableHealth) -> str:
    behind = [index.unindexed for index in table.indexes if index.unindexed]
    most = f", {len(behind)} of {len(table.indexes)} indexes lack up to {max(behind)} rows" if behind else ""
    return f"{table.rows:>9} rows  {size(table.bytes):>9}  {table.fragments} fragments, {table.versions} versions{most}"


def _retention(found: Retention) -> Iterator[str]:
    name, file = in_line(found.client), in_line(found.settings)
    yield ""
    if found.problem:
        yield f"{name}: {in_line(found.problem)}"
    else:
        yield f"{name} deletes a session file {found.days} days after its last change."
        yield f"  Files to be deleted within {AHEAD} days: {found.due}; not fully stored: {len(found.unstored)}."
        yield from (f"    {in_line(path)}" for path in found.unstored)
    yield f"  `pond sync` stores them. To keep the files, too, put `{found.setting}` into {file}."
