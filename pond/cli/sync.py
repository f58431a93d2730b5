"""`pond sync`: the stores of this machine's clients into the lake, and the lake's indexes up to date."""

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pond.cli.config import Lake
from pond.cli.hints import helped
from pond.cli.imported import exit_code as import_code
from pond.cli.imported import show as show_import
from pond.cli.imported import summary as import_summary
from pond.cli.ingested import as_json, exit_code, show
from pond.cli.show import Watching, print_json, refuse
from pond.cli.terminal import say
from pond.config.load import load
from pond.diagnostics.diagnostic import PondError
from pond.diagnostics.render import as_json as fault_as_json
from pond.diagnostics.visible import one_line_of
from pond.operations.service import Service
from pond.operations.sync import EMBED, IMPORT, Synced, SyncRequest, changes, inputs, sync

if TYPE_CHECKING:
    from pond.lake.embedding import Embedded


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
    force_embed: Annotated[
        bool, typer.Option("--force-embed", help="Embed every message anew, whatever vector it has.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Go on following live sessions until interrupted.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what is new, and store nothing.")] = False,
    lake: Lake = None,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON; one a pass with --watch.")] = False,
) -> int:
    service = Service(load({"lake": lake}))
    archive = Path(import_from) if import_from is not None else None
    request = SyncRequest(only, skip or [], dry_run, archive, embed_anew=force_embed)
    stages = request.stages()
    if not json and import_from is None and IMPORT in stages:
        for source, _ in inputs(service):
            say(f"source    {one_line_of(source)}")
        if not inputs(service):
            say("source    none: no client keeps sessions here; `pond ingest PATH` stores others")
    code = _pass(service, request, json)
    if watch:
        for _ in changes(service):
            # One process: Lance is loaded by now, and does not survive a fork.
            code = max(code, _pass(service, replace(request, processes=1, embed_anew=False), json, quiet=True))
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
    if done.embedded is not None:
        quiet = quiet and not done.embedded.embedded and not done.embedded.fault
        if done.embedded.fault:
            code = max(code, refuse(PondError(done.embedded.fault)))
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
        told["embed"] = {"enabled": done.embedded is not None} | (asdict(done.embedded) if done.embedded else {})
        if done.embedded is not None:
            told["embed"]["fault"] = fault_as_json(helped(done.embedded.fault)) if done.embedded.fault else None
    if done.indexes is not None:
        told["update-indexes"] = done.indexes
    return told


def _show_embedded(done: "Embedded") -> None:
    refused = f", {done.refused} refused" if done.refused else ""
    waiting = f", {done.waiting} wait" if done.waiting else ""
    say(f"embedded  {done.embedded} messages with {one_line_of(done.model)}{refused}{waiting}")


def _show(done: Synced, request: SyncRequest) -> None:
    if done.taken_in is not None:
        show(done.taken_in, request.dry_run)
    if done.archive is not None:
        show_import(done.archive, request.dry_run)
    if done.embedded is not None:
        _show_embedded(done.embedded)
    elif done.stages == [EMBED]:
        say("embed     nothing to do: embedding is off; `embed.model` names a model, `pond model list` shows some")
    if done.indexes is not None:
        say(f"indexes   {sum(map(len, done.indexes.values()))} brought up to date")
