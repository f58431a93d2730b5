"""`pond model list|add|check|remove`: the models that messages can be embedded with."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pond.cli.show import Watching, print_json, size
from pond.cli.terminal import say
from pond.config.load import load
from pond.diagnostics.nearest import unknown
from pond.diagnostics.visible import in_line
from pond.operations.models import AddRequest, Listed, add_model, check_model, list_models, remove_model
from pond.operations.service import Service

if TYPE_CHECKING:
    from pond.embed.check import Checked

_POOLINGS = ("mean", "cls", "last")


def list_(
    all: Annotated[bool, typer.Option("--all", help="Also list what `pond model add` can fetch.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> int:
    """List the models on this machine."""
    found = list_models(Service(load()), everything=all)
    if json:
        print_json([asdict(each) for each in found], sys.stdout)
        return 0
    if not found:
        say("no models on this machine; `pond model list --all` shows what can be fetched")
        return 0
    names = max(len(each.name) for each in found)
    for each in found:
        say(_line(each, names))
    return 0


def add(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A name from `pond model list --all`; with --from, any name.")
    ],
    directory: Annotated[
        str | None,
        typer.Option("--from", metavar="DIRECTORY", help="Copy the model from this directory; nothing is fetched."),
    ] = None,
    pooling: Annotated[
        str | None,
        typer.Option("--pooling", metavar="mean|cls|last", help="How tokens become one vector: mean, cls or last."),
    ] = None,
    query_prefix: Annotated[
        str | None,
        typer.Option("--query-prefix", metavar="TEXT", help="Text that the model expects before a question."),
    ] = None,
    passage_prefix: Annotated[
        str | None,
        typer.Option("--passage-prefix", metavar="TEXT", help="Text that the model expects before a passage."),
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", metavar="N", help="How many tokens of a text the model sees.")
    ] = None,
    license: Annotated[
        str | None, typer.Option("--license", metavar="TEXT", help="The model's licence, for the list.")
    ] = None,
    languages: Annotated[
        str | None, typer.Option("--languages", metavar="TEXT", help="The model's languages, for the list.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result of the test as JSON.")] = False,
) -> int:
    """Fetch a model by its name, or copy it from a directory; then test it."""
    if pooling is not None and pooling not in _POOLINGS:
        raise unknown("pooling", pooling, _POOLINGS)
    source = None if directory is None else Path(directory)
    request = AddRequest(name, source, pooling, query_prefix, passage_prefix, max_tokens, license, languages)
    with Watching() as watch:
        done = add_model(Service(load()), request, watch)
    _show(done, json)
    if not json:
        say(f"to use it, add to [embed] in pond.toml: model = {_quoted(name)}; then `pond sync`")
    return 0


def check(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The model to test; the configured one if not given.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> int:
    """Test a model: its files, its vectors, its speed."""
    with Watching():
        done = check_model(Service(load()), name)
    _show(done, json)
    return 0


def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name from `pond model list`.")],
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> int:
    """Delete a model from this machine; its vectors stay in the lake."""
    freed = remove_model(Service(load()), name)
    if json:
        print_json({"name": name, "bytes": freed}, sys.stdout)
    else:
        say(f"removed {in_line(name)}, {size(freed)}")
    return 0


def _line(each: Listed, names: int) -> str:
    state = "in use" if each.used else "here" if each.here else "-"
    facts = [f"{each.dimensions} dimensions" if each.dimensions else "", each.license, each.languages]
    told = ", ".join(in_line(fact) for fact in facts if fact)
    where = size(each.bytes) if each.bytes else each.kind
    return f"{in_line(each.name):<{names}}  {state:<6}  {where:>9}  {told}".rstrip()


def _show(done: "Checked", json: bool) -> None:
    if json:
        print_json(asdict(done), sys.stdout)
        return
    say(f"{in_line(done.name)} works: {done.dimensions} dimensions, opened in {done.opened_in:.1f} s, "
        f"{done.texts_per_second:.0f} short texts a second on one core")  # fmt: skip


def _quoted(name: str) -> str:
    return '"' + in_line(name).replace("\\", "\\\\").replace('"', '\\"') + '"'


commands = {"list": list_, "add": add, "check": check, "remove": remove}
