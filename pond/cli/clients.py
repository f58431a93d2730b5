"""`pond clients`: what pond reads and writes, from the adapters' own declarations."""

import sys
from typing import Annotated, Any

import typer

from pond.cli.show import print_json
from pond.cli.terminal import say
from pond.codec.registry import adapter, clients


def run(
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> int:
    found = [_describe(name) for name in clients()]
    if json:
        print_json(found, sys.stdout)
        return 0
    for client in found:
        say(f"{client['client']}: {client['title']}")
        say(f"  reads    {client['reads']}")
        say(f"  writes   {client['writes']}")
        say(f"  verified {', '.join(client['verified'])}")
        for pattern in client["files"]:
            say(f"  files    {pattern}")
        for pattern, because in client["ignores"].items():
            say(f"  ignores  {pattern}: {because}")
        for gap in client["gaps"]:
            say(f"  limit    {gap['what']} ({gap['kind']}): {gap['because']}")
    return 0


def _describe(name: str) -> dict[str, Any]:
    owner = adapter(name)
    declared = owner.declared()
    return {
        "client": name,
        "title": declared["title"],
        "reads": declared["reads"],
        "writes": declared["writes"],
        "verified": declared["verified"],
        "files": list(owner.module.FILES),
        "ignores": owner.module.IGNORES,
        "gaps": declared.get("gap", []),
    }
