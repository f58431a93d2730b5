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
from pond.cli.schedule import EVERY
from pond.cli.show import Watching, print_json, refuse
from pond.cli.terminal import note
from pond.config.load import load
from pond.diagnostics.diagnostic import PondError
from pond.diagnostics.render import as_json as fault_as_json
from pond.diagnostics.visible import one_line_of
from pond.operations.runs import Run, now, remember, running, told
from pond.operations.service import Service
from pond.operations.sync import EMBED, IMPORT, Synced, SyncRequest, changes, inputs, sync

if TYPE_CHECKING:
    from pond.lake.embedding import Embedded


def run(
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="STAGE", help="Run one stage: import, embed or update-indexes."),
    ] = None,
    skip: Annotated[
        list[str] | None, typer.Option("--skip", metavar="STAGE", help="Skip a stage; may be given more than once.")
    ] = None,
    import_from: Annotated[
        str | None,
        typer.Option("--import-from", metavar="FILE.pond", help="Store the sessions of an archive, not the clients'."),
    ] = None,
    force_embed: Annotated[
        bool, typer.Option("--force-embed", help="Embed every message again, even if it has a vector.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Keep running and store what is added.")] = False,
    install: Annotated[
        bool, typer.Option("--install", help="Set up a schedule that runs this by itself; shows it, and asks first.")
    ] = False,
    every: Annotated[str, typer.Option("--every", metavar="15m|1h|1d", help="With --install: how often.")] = EVERY,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler", metavar="systemd|launchd|cron", help="With --install: this one; else what the machine has."
        ),
    ] = None,
    uninstall: Annotated[bool, typer.Option("--uninstall", help="Remove the schedule again.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --install or --uninstall: do not ask.")] = False,
    scheduled: Annotated[
        bool,
        typer.Option("--scheduled", help="As the schedule runs it: do nothing while another sync of the lake runs."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what is new, or what would be set up, and change nothing.")
    ] = False,
    lake: Lake = None,
    json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON, one for each pass.")] = False,
) -> int:
    if install or uninstall:
        from pond.cli import scheduling

        if install:
            return scheduling.install(every, scheduler, lake, yes=yes, dry_run=dry_run, json=json)
        return scheduling.uninstall(yes=yes, dry_run=dry_run, json=json)
    service = Service(load({"lake": lake}))
    archive = Path(import_from) if import_from is not None else None
    request = SyncRequest(only, skip or [], dry_run, archive, embed_anew=force_embed)
    stages = request.stages()
    with running(service.settings.lake, service.environ) as alone:
        if scheduled and not alone:
            note("Another sync of this lake is running; nothing was done.")
            return 0
        if not json and import_from is None and IMPORT in stages:
            _show_sources(service)
        return _passes(service, request, json, watch=watch, scheduled=scheduled)


def _show_sources(service: Service) -> None:
    found = inputs(service)
    for source, _ in found:
        note(f"source    {one_line_of(source)}")
    if not found:
        note("source    none: no client keeps sessions here; `pond ingest PATH` stores others")


def _passes(service: Service, request: SyncRequest, json: bool, *, watch: bool, scheduled: bool) -> int:
    """Sync once, or with `watch` again and again; note each pass for `pond status`."""
    code = _noted(service, request, json, scheduled)
    if watch:
        for _ in changes(service):
            # One process: Lance is loaded by now, and does not survive a fork.
            again = replace(request, processes=1, embed_anew=False)
            code = max(code, _noted(service, again, json, scheduled, quiet=True))
    return code


def _noted(service: Service, request: SyncRequest, json: bool, scheduled: bool, *, quiet: bool = False) -> int:
    run = Run(now(), scheduled=scheduled)
    try:
        code = _pass(service, request, json, run, quiet=quiet)
    except PondError as error:
        run.problems = told(error.diagnostics)
        _remember(service, request, run)
        raise
    _remember(service, request, run)
    return code


def _remember(service: Service, request: SyncRequest, run: Run) -> None:
    run.ended = now()
    if not request.dry_run and IMPORT in request.stages():
        remember(service.settings.lake, service.environ, run)


def _pass(service: Service, request: SyncRequest, json: bool, run: Run, *, quiet: bool) -> int:
    with Watching() as watching:
        done = sync(service, request, watching)
    taken_in, archive, code = done.taken_in, done.archive, 0
    if taken_in is not None:
        run.new_sessions, run.new_messages = taken_in.new_sessions, taken_in.new_messages
        run.problems = told(taken_in.report.faults)
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
    note(f"embedded  {done.embedded} messages with {one_line_of(done.model)}{refused}{waiting}")


def _show(done: Synced, request: SyncRequest) -> None:
    if done.taken_in is not None:
        show(done.taken_in, request.dry_run)
    if done.archive is not None:
        show_import(done.archive, request.dry_run)
    if done.embedded is not None:
        _show_embedded(done.embedded)
    elif done.stages == [EMBED]:
        note("embed     nothing to do: embedding is off; `embed.model` names a model, `pond model list` shows some")
    if done.indexes is not None:
        note(f"indexes   {sum(map(len, done.indexes.values()))} updated")
