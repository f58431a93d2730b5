"""`pond mcp`: pond as the memory of coding clients, and its registration with them."""

import os
from typing import Annotated

import typer

from pond.cli.asking import agreed, own_home
from pond.cli.config import Lake
from pond.cli.show import refuse
from pond.cli.terminal import say
from pond.config.load import load
from pond.diagnostics.diagnostic import Diagnostic, PondError, UsageError
from pond.diagnostics.visible import one_line_of
from pond.registration.clients import BY_NAME, CLIENTS, Client
from pond.registration.greeting import tools
from pond.registration.launching import TOKEN, Launch, own
from pond.registration.registering import Plan, planned, register, take_back, undone
from pond.transports.mcp.stdio import serve


def run(lake: Lake = None) -> int:
    serve(lake)


def install(
    client: Annotated[
        list[str] | None,
        typer.Option("--client", metavar="NAME", help="Only this client; all that are found if not set."),
    ] = None,
    http: Annotated[
        str | None, typer.Option("--http", metavar="URL", help="Use the server at this address, such as …/mcp.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the change, and make none.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take pond out again.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; needed where nobody can answer.")] = False,
    lake: Lake = None,
) -> int:
    """Register pond with the coding clients of this machine, or take it out again."""
    home, environ = own_home(os.environ), os.environ
    chosen = _chosen(client)
    launch = Launch(url=http, token=environ.get(TOKEN)) if http else own(load({"lake": lake}), environ)
    plans: list[Plan] = []
    failed = 0
    for each in chosen:
        try:
            plans.append(undone(each, home, environ) if undo else planned(each, launch, home, environ))
        except PondError as error:  # the others are registered all the same
            failed = refuse(error)
    changing = [plan for plan in plans if plan.changes]
    _show(plans, launch.token, undo)
    if not changing or dry_run:
        say("nothing was changed" if changing else "nothing to do")
        return failed
    if not yes and not agreed(f"Change {len(changing)} file{'s' * (len(changing) > 1)}?", "--yes"):
        say("nothing was changed")
        return 1
    for plan in changing:
        _carry_out(plan, undo)
    if not undo:
        say(f"checked     {', '.join(tools(launch, environ))}")
    return failed


def _chosen(names: list[str] | None) -> list[Client]:
    """Return the clients that are named, or those of this machine."""
    if unknown := [name for name in names or () if name not in BY_NAME]:
        what = f"pond cannot be registered with `{unknown[0]}`"
        raise UsageError(Diagnostic("usage", what, help=f"one of {', '.join(BY_NAME)}"))
    if names:
        return [BY_NAME[name] for name in dict.fromkeys(names)]
    home = own_home(os.environ)
    return [client for client in CLIENTS if client.is_here(home, os.environ)]


def _show(plans: list[Plan], secret: str | None, undo: bool) -> None:
    for plan in plans:
        if not plan.changes:
            say(one_line_of(f"{plan.client.name:<11} {'is not registered' if undo else 'is registered'}"))
            continue
        say(one_line_of(f"{plan.client.name:<11} {plan.how}"))
        for line in plan.diff(secret):
            say(one_line_of(f"  {line}"))


def _carry_out(plan: Plan, undo: bool) -> None:
    if undo:
        take_back(plan, os.environ)
        say(one_line_of(f"taken out   {plan.client.name}"))
        return
    backup = register(plan, os.environ)
    say(one_line_of(f"registered  {plan.client.name}  (before: {backup})"))
    if plan.client.note:
        say(f"            {plan.client.note}")


commands = {"install": install}
