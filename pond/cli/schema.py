"""`pond schema list|show|publish|check`: the published schemas of pond's types."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from pond.cli.show import print_json
from pond.cli.terminal import say
from pond.diagnostics.visible import one_line_of
from pond.publishing.listing import listed, shown

Json = Annotated[bool, typer.Option("--json", help="Print as JSON.")]


def list_(json: Json = False) -> int:
    """List what is published: the schemas with their `$id`, the OpenAPI document, the TypeScript declarations."""
    found = listed()
    if json:
        print_json([{"file": each.file, "id": each.id, "title": each.title} for each in found], sys.stdout)
        return 0
    files, ids = (max(len(text) for text in column) for column in zip(*((f.file, f.id) for f in found), strict=True))
    for each in found:
        say(f"{each.file:<{files}}  {each.id:<{ids}}  {each.title}")
    return 0


def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A file from `pond schema list`, or a type such as SearchRequest.")
    ],
) -> int:
    """Print a published file, or the schema of a type with everything it refers to."""
    say(shown(name), end="")
    return 0


def publish(
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="The directory to write to; created if necessary.")],
    json: Json = False,
) -> int:
    """Write the schemas, the OpenAPI document, TypeScript declarations, examples and an index page to a directory."""
    from pond.publishing.publish import publish as write

    changed, count = write(Path(out))
    if json:
        print_json({"directory": out, "files": count, "written": len(changed)}, sys.stdout)
        return 0
    say(one_line_of(f"published {count} files to {out}: {len(changed)} written, {count - len(changed)} unchanged"))
    return 0


def check(
    against: Annotated[
        str, typer.Option("--against", metavar="DIR|REV", help="A directory of published schemas, or a git revision.")
    ],
    json: Json = False,
) -> int:
    """List every change that breaks a published version; exit with 1 if there is one."""
    from pond.publishing.check import check as compare

    found = compare(against)
    if json:
        print_json([{"at": each.at, "change": each.change} for each in found], sys.stdout)
        return 1 if found else 0
    for each in found:
        say(one_line_of(f"{each.at}: {each.change}"))
    say(one_line_of(f"{len(found) or 'no'} breaking change{'' if len(found) == 1 else 's'} since {against}"))
    return 1 if found else 0


commands = {"list": list_, "show": show, "publish": publish, "check": check}
