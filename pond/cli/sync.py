"""`pond sync`: the stores of this machine's clients into the lake, and the lake's indexes up to date."""

import sys
from typing import Annotated, Any

import typer

from pond.cli.config import Lake
from pond.cli.ingested import as_json, exit_code, show
from pond.cli.show import Progress, print_json
from pond.cli.terminal import say
from pond.config.load import load
from pond.config.settings import Settings
from pond.diagnostics.visible import one_line_of
from pond.operations import sync


def run(
    only: Annotated[
        str | None, typer.Option("--only", metavar="STAGE", help="Run one stage: import, embed or update-indexes.")
    ] = None,
    skip: Annotated[
        list[str] | None, typer.Option("--skip", metavar="STAGE", help="Leave a stage out; repeatable.")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Go on following live sessions until interrupted.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what is new, and store nothing.")] = False,
    lake: Lake = None,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON; one a pass with --watch.")] = False,
) -> int:
    """Take in what the clients of this machine have added, then bring the lake's indexes up to date."""
    settings = load({"lake": lake})
    stages = sync.stages(only, skip or [])
    if not json:
        for place, _ in sync.inputs(settings):
            say(f"source    {one_line_of(place)}")
        if sync.IMPORT in stages and not sync.inputs(settings):
            say("source    none: no client keeps sessions here; `pond ingest PATH` stores others")
    code = _pass(settings, stages, dry_run, json)
    if watch:
        for _ in sync.changes(settings):
            # One process: Lance is loaded by now, and does not survive a fork.
            code = max(code, _pass(settings, stages, dry_run, json, processes=1, quiet=True))
    return code


def _pass(
    settings: Settings,
    stages: list[str],
    dry_run: bool,
    json: bool,
    *,
    processes: int | None = None,
    quiet: bool = False,
) -> int:
    code = 0
    told: dict[str, Any] = {}
    if sync.IMPORT in stages:
        progress = Progress(0, "ingesting")
        try:
            summary = sync.run_import(settings, progress.of, dry_run=dry_run, processes=processes)
        finally:
            progress.end()
        told["import"] = as_json(summary)
        quiet = quiet and not summary.new_messages and not summary.report.errors
        code = exit_code(summary, missing=False)
        if not json and not quiet:
            show(summary, dry_run)
    if sync.EMBED in stages:
        told["embed"] = {"enabled": False}
        if stages == [sync.EMBED] and not json:
            say("embed     nothing to do: this version makes no embeddings; `pond sync` runs the other stages")
    if sync.UPDATE_INDEXES in stages and not dry_run:
        told["update-indexes"] = behind = sync.run_update_indexes(settings)
        if not json and not quiet:
            say(f"indexes   {sum(map(len, behind.values()))} brought up to date")
    if json and not quiet:
        print_json(told, sys.stdout)
    return code
