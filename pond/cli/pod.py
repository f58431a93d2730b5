"""`pond pod list|show|set-active|…`: the state of named agents."""

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, TypeAlias, cast

import typer

from pond.cli.config import Lake
from pond.cli.show import print_json
from pond.cli.terminal import say, width
from pond.config.load import load
from pond.diagnostics.visible import in_line, one_line_of
from pond.model.json_text import JsonObject
from pond.operations.envelope import PROTOCOL
from pond.operations.pod_restore import restore_pod
from pond.operations.pods import change_pod, get_pod, list_pods, remove_pod
from pond.operations.service import Service

if TYPE_CHECKING:  # shapes only
    from pond.types import PodChange, PodChild, PodScope, ScopePermission

Name: TypeAlias = Annotated[str, typer.Argument(metavar="NAME", help="The name of the pod.")]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print as JSON.")]
Root: TypeAlias = Annotated[
    str | None, typer.Option("--root", metavar="DIR", help="Use this directory of pods instead of the configured one.")
]
Session: TypeAlias = Annotated[str, typer.Argument(metavar="SESSION", help="The id of the session.")]
_HEADS = ("name", "session", "segment", "children", "peers", "reclaims")


def list_(json: Json = False, root: Root = None) -> int:
    """List the pods; a record that cannot be read is listed with its error."""
    found = list_pods(_service(root), {"protocol_version": PROTOCOL})
    if json:
        print_json(found, sys.stdout)
    elif not found["pods"]:
        say("There are no pods yet.")
    else:
        for line in _table([_row(cast(JsonObject, entry)) for entry in found["pods"]]):
            say(line)
    return 1 if any("error" in entry for entry in found["pods"]) else 0


def show(name: Name, json: Json = False, root: Root = None) -> int:
    """Show a pod: its session, its children and what they may access, its peers, and its history."""
    found = get_pod(_service(root), {"protocol_version": PROTOCOL, "name": name})
    return _print(found, _lines(cast(JsonObject, found["pod"])), json)


def set_active(
    name: Name,
    session: Session,
    segment: Annotated[str, typer.Argument(metavar="SEGMENT", help="The id of the segment to continue in.")],
    json: Json = False,
    root: Root = None,
) -> int:
    """Point a pod to a segment of a session; creates the pod if necessary."""
    return _change(name, {"op": "set_active", "session_id": session, "segment_id": segment}, json, root)


def set_pending(name: Name, session: Session, json: Json = False, root: Root = None) -> int:
    """Point a pod to a session without segments yet; creates the pod if necessary."""
    return _change(name, {"op": "set_pending", "session_id": session}, json, root)


def add_child(
    name: Name,
    child: Annotated[str, typer.Argument(metavar="CHILD", help="The child's own name.")],
    write: Annotated[
        list[str] | None,
        typer.Option("--write", metavar="PATH", help="A path that the child may write, with everything below it."),
    ] = None,
    read: Annotated[
        list[str] | None,
        typer.Option("--read", metavar="PATH", help="A path that the child may read, with everything below it."),
    ] = None,
    flat: Annotated[bool, typer.Option("--flat", help="Only the paths themselves, not what is below them.")] = False,
    socket: Annotated[
        str | None, typer.Option("--socket", metavar="PATH", help="Where the child listens at the moment (a hint).")
    ] = None,
    callback: Annotated[
        str | None,
        typer.Option("--callback", metavar="ADDRESS", help="Where the child reports to at the moment (a hint)."),
    ] = None,
    json: Json = False,
    root: Root = None,
) -> int:
    """Add a child and what it may access, or replace the child of the same name."""
    scopes = [*_scopes("write", write, flat), *_scopes("read", read, flat)]
    added: PodChild = {"name": child, "scopes": scopes}
    if socket is not None:
        added["socket_path"] = socket
    if callback is not None:
        added["callback_address"] = callback
    return _change(name, {"op": "add_child", "child": added}, json, root)


def reclaim(
    name: Name,
    children: Annotated[list[str], typer.Argument(metavar="CHILD...", help="The children's names.")],
    json: Json = False,
    root: Root = None,
) -> int:
    """Take back what children may access, and move them to the pod's history."""
    return _change(name, {"op": "reclaim", "children": children}, json, root)


def restore(name: Name, json: Json = False, root: Root = None, lake: Lake = None) -> int:
    """Reclaim children that are gone, record that in the session, and show what the agent continues with."""
    found = cast(JsonObject, restore_pod(_service(root, lake), {"protocol_version": PROTOCOL, "name": name}))
    return _print(found, _restored(found), json)


def remove(
    name: Name,
    force: Annotated[bool, typer.Option("--force", help="Remove it even if the record cannot be read.")] = False,
    json: Json = False,
    root: Root = None,
) -> int:
    """Remove a pod's record; its sessions and its children's records stay."""
    done = remove_pod(_service(root), {"protocol_version": PROTOCOL, "name": name, "force": force})
    return _print(done, [f"removed {in_line(name)}" if done["removed"] else f"there is no pod {in_line(name)}"], json)


commands = {
    "list": list_, "show": show, "set-active": set_active, "set-pending": set_pending, "add-child": add_child,
    "reclaim": reclaim, "restore": restore, "remove": remove,
}  # fmt: skip


def _service(root: str | None, lake: str | None = None) -> Service:
    return Service(load({"pods.root": root, "lake": lake}))


def _change(name: str, change: "PodChange", json: bool, root: str | None) -> int:
    done = change_pod(_service(root), {"protocol_version": PROTOCOL, "name": name, "change": change})
    return _print(done, _lines(cast(JsonObject, done["pod"])), json)


def _scopes(permission: "ScopePermission", paths: list[str] | None, flat: bool) -> list["PodScope"]:
    return [{"target": path, "permission": permission, "recursive": not flat} for path in paths or ()]


# --- for people ------------------------------------------------------------------------------------------------------


def _print(value: Mapping[str, object], lines: Iterator[str] | list[str], json: bool) -> int:
    if json:
        print_json(value, sys.stdout)
    else:
        for line in lines:
            say(one_line_of(line))
    return 0


def _table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(width, column)) for column in zip(_HEADS, *(row[: len(_HEADS)] for row in rows), strict=True)]
    for row in (_HEADS, *rows):
        cells = (cell + " " * (room - width(cell)) for cell, room in zip(row, widths, strict=False))
        yield "  ".join((*cells, *row[len(_HEADS) :])).rstrip()


def _row(entry: JsonObject) -> tuple[str, ...]:
    """Return the cells of a pod, and after them what is wrong with it."""
    name, pointer = in_line(entry["name"]), entry.get("active", {})
    if "error" in entry:
        return (name, *[""] * (len(_HEADS) - 1), in_line(entry["error"]["message"]))
    ids = [in_line(pointer.get(each, "")) for each in ("session_id", "segment_id")]
    return (name, *ids, *(str(entry[each] or "") for each in _HEADS[3:]))


def _lines(pod: JsonObject) -> Iterator[str]:
    yield f"pod        {pod['name']}"
    pointer = pod.get("active")
    if pointer is None:
        yield "active     no session"
    else:
        yield f"active     {pointer['session_id']}  {pointer.get('segment_id', '(pending)')}"
    if workspace := pod.get("workspace"):
        yield f"workspace  {'  '.join(str(value) for value in workspace.values())}"
    for child in pod["children"]:
        yield f"child      {child['name']}{_delegated(child)}"
    if pod["peers"]:
        yield f"peers      {', '.join(pod['peers'])}"
    for each in pod["reclaimed"]:
        names = ", ".join(f"{child['name']} ({child['reason']})" for child in each["children"])
        yield f"reclaimed  {each['at']}  {names}"


def _delegated(child: JsonObject) -> str:
    return "".join(f"  {scope['permission']} {scope['target']}" for scope in child["scopes"])


def _restored(found: JsonObject) -> Iterator[str]:
    yield from _lines(found["pod"])
    yield f"session    {found['messages']} messages, {found['session']['project']}"
    for rule in found["deny"]:
        yield f"deny       write {rule['target']}{' and below' if rule['recursive'] else ''}: {rule['child']} may"
    for id in found["notices"]:
        yield f"told       {id}"
