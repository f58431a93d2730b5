"""`pond sync`: the stores of this machine's clients into the lake, and the lake's indexes up to date."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from pond.cli.config import Lake
from pond.cli.imported import exit_code as import_code
from pond.cli.imported import show as show_import
from pond.cli.imported import summary as import_summary
from pond.cli.ingested import as_json, exit_code, show
from pond.cli.show import Watching, print_json
from pond.cli.terminal import say
from pond.config.load import load
from pond.diagnostics.visible import one_line_of
from pond.operations.service import Service
from pond.operations.sync import EMBED, IMPORT, Synced, SyncRequest, changes, inputs, sync


def run(
    only: Annotated[
        str | None, typer.Option("--only", metavar="STAGE", help="Run one stage: import, embed or update-indexes.")
    ] = None,
    skip: Annotated[
        list[str] | None, typer.Option("--skip", metavar="STAGE", help="Leave a stage out; repeatable.")
    ] = None,
    import_from: Annotated[
        str | None,
        typer.Option("--import-from", metavar="FILE.pond", help="Take in an archive instead of the clients' stores."),
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Go on following live sessions until interrupted.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what is new, and store nothing.")] = False,
    lake: Lake = None,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON; one a pass with --watch.")] = False,
) -> int:
    service = Service(load({"lake": lake}))
    request = SyncRequest(only, skip or [], dry_run, Path(import_from) if import_from is not None else None)
    stages = request.stages()
    if not json and import_from is None:
        for source, _ in inputs(service):
            say(f"source    {one_line_of(source)}")
        if IMPORT in stages and not inputs(service):
            say("source    none: no client keeps sessions here; `pond ingest PATH` stores others")
    code = _pass(service, request, json)
    if watch:
        for _ in changes(service):
            # One process: Lance is loaded by now, and does not survive a fork.
            code = max(code, _pass(service, replace(request, processes=1), json, quiet=True))
    return code


def _pass(service: Service, request: SyncRequest, json: bool, *, quiet: bool = False) -> int:
    with Watching() as watching:
        done = sync(service, request, watching)
    taken_in, archive, code = done.taken_in, done.archive, 0
    if taken_in is not None:
        quiet = quiet and not taken_in.new_messages and not taken_in.report.errors
        code = exit_code(taken_in, missing=False)
    if archive is not None:
        code = import_code(archive)
    if json and not quiet:
        print_json(_as_json(done, request), sys.stdout)
    elif not quiet:
        _show(done, request)
    return code


def _as_json(done: Synced, request: SyncRequest) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if done.taken_in is not None:
        told["import"] = as_json(done.taken_in)
    if done.archive is not None:
        told["import"] = import_summary(str(request.archive), done.archive, request.dry_run)
    if EMBED in done.stages:
        told["embed"] = {"enabled": False}
    if done.indexes is not None:
        told["update-indexes"] = done.indexes
    return told


def _show(done: Synced, request: SyncRequest) -> None:
    if done.taken_in is not None:
        show(done.taken_in, request.dry_run)
    if done.archive is not None:
        show_import(done.archive, request.dry_run)
    if done.stages == [EMBED]:
        say("embed     nothing to do: this version makes no embeddings; `pond sync` runs the other stages")
    if done.indexes is not None:
        say(f"indexes   {sum(map(len, done.indexes.values()))} brought up to date")
