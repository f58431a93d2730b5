"""`pond namespace create|list`: the tenants of a deployment."""

import sys
from typing import Annotated

import typer

from pond.cli.config import Lake
from pond.cli.show import print_json
from pond.cli.terminal import say
from pond.config.load import load
from pond.diagnostics.visible import one_line_of
from pond.operations.namespaces import create_namespace, list_namespaces
from pond.operations.service import Service


def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name: 1 to 64 characters of a-z, 0-9, _ and -.")],
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    lake: Lake = None,
) -> int:
    """Create a namespace: an empty lake that requests can use from now on."""
    made = create_namespace(Service(load({"lake": lake})), name)
    if json:
        print_json({"name": made.name, "lake": made.lake}, sys.stdout)
    else:
        say(one_line_of(f"namespace {made.name}: {made.lake}"))
    return 0


def show(
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    lake: Lake = None,
) -> int:
    """List the namespaces and their lakes."""
    found = list_namespaces(Service(load({"lake": lake})))
    if json:
        rows = [{"name": each.name, "lake": each.lake, "exists": each.exists} for each in found]
        print_json({"namespaces": rows}, sys.stdout)
        return 0
    width = max((len(each.name) for each in found), default=0)
    for each in found:
        say(one_line_of(f"{each.name:<{width}}  {each.lake}{'' if each.exists else '  (not created)'}"))
    if not found:
        say("No namespaces: `pond namespace create NAME` makes one.")
    return 0


commands = {"create": create, "list": show}
