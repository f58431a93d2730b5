"""Changes of a pod: each a function from a record to a record that touches one aspect and keeps all others."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from pond.types import PodChild, PodPointer, PodWorkspace

if TYPE_CHECKING:
    from pond.types import Pod, PodChange, Reclaim, ReclaimedChild, ReclaimReason

_POINTER, _WORKSPACE, _CHILD = (frozenset(each.__annotations__) for each in (PodPointer, PodWorkspace, PodChild))
NEEDS_POD = ("remove_child", "reclaim", "remove_peer")  # what takes something away makes no pod


def changed(pod: Pod, change: PodChange) -> Pod:
    """Return a pod with one change made."""
    return _CHANGES[change["op"]](pod, cast("dict[str, Any]", change))


def reclaimed(pod: Pod, gone: Iterable[tuple[PodChild, ReclaimReason]], session_id: str | None = None) -> Pod:
    """Return a pod with outstanding children moved to its history; with a session, one that is to be told of it."""
    found = list(gone)
    if not found:
        return pod
    left = {child["name"] for child, _ in found}
    now = datetime.now(UTC)
    reclaim: Reclaim = {
        "id": f"{int(now.timestamp() * 1e6):016x}-{os.urandom(4).hex()}",
        "at": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "children": [cast("ReclaimedChild", {**child, "reason": reason}) for child, reason in found],
    }
    due = pod["notices_due"]
    if session_id is not None:
        reclaim["session_id"] = session_id
        due = [*due, reclaim["id"]]
    children = [child for child in pod["children"] if child["name"] not in left]
    return {**pod, "children": children, "reclaimed": [*pod["reclaimed"], reclaim], "notices_due": due}


def told(pod: Pod, reclaims: Collection[str]) -> Pod:
    """Return a pod whose session has been told of some reclaims."""
    return {**pod, "notices_due": [each for each in pod["notices_due"] if each not in reclaims]}


def _set_active(pod: Pod, change: Mapping[str, Any]) -> Pod:
    pointer = {"session_id": change["session_id"], "segment_id": change["segment_id"]}
    return _pointed(pod, cast("PodPointer", pointer))


def _set_pending(pod: Pod, change: Mapping[str, Any]) -> Pod:
    return _pointed(pod, {"session_id": change["session_id"]})


def _pointed(pod: Pod, pointer: PodPointer) -> Pod:
    return {**pod, "active": cast("PodPointer", _over(pod.get("active", {}), pointer, _POINTER))}


def _set_workspace(pod: Pod, change: Mapping[str, Any]) -> Pod:
    return {**pod, "workspace": cast("PodWorkspace", _over(pod.get("workspace", {}), change["workspace"], _WORKSPACE))}


def _set_children(pod: Pod, change: Mapping[str, Any]) -> Pod:
    before = {child["name"]: child for child in pod["children"]}
    return {**pod, "children": [_child(before.get(new["name"], {}), new) for new in change["children"]]}


def _add_child(pod: Pod, change: Mapping[str, Any]) -> Pod:
    new, children = change["child"], pod["children"]
    if all(child["name"] != new["name"] for child in children):
        return {**pod, "children": [*children, new]}
    return {**pod, "children": [_child(old, new) if old["name"] == new["name"] else old for old in children]}


def _remove_child(pod: Pod, change: Mapping[str, Any]) -> Pod:
    return {**pod, "children": [child for child in pod["children"] if child["name"] != change["child"]]}


def _reclaim(pod: Pod, change: Mapping[str, Any]) -> Pod:
    return reclaimed(pod, ((child, "requested") for child in pod["children"] if child["name"] in change["children"]))


def _set_peers(pod: Pod, change: Mapping[str, Any]) -> Pod:
    return {**pod, "peers": sorted(set(change["peers"]))}


def _add_peer(pod: Pod, change: Mapping[str, Any]) -> Pod:
    return {**pod, "peers": sorted({*pod["peers"], change["peer"]})}


def _remove_peer(pod: Pod, change: Mapping[str, Any]) -> Pod:
    return {**pod, "peers": [peer for peer in pod["peers"] if peer != change["peer"]]}


def _set_manifest(pod: Pod, change: Mapping[str, Any]) -> Pod:
    return {**pod, "manifest": change["manifest"]}


def _child(old: Mapping[str, Any], new: Mapping[str, Any]) -> PodChild:
    return cast(PodChild, _over(old, new, _CHILD))


def _over(old: Mapping[str, Any], new: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """Return a new value with what a later version wrote into the old one and this one does not know."""
    return {**{name: value for name, value in old.items() if name not in known}, **new}


_CHANGES: dict[str, Callable[[Pod, Mapping[str, Any]], Pod]] = {
    "set_active": _set_active,
    "set_pending": _set_pending,
    "set_workspace": _set_workspace,
    "set_children": _set_children,
    "add_child": _add_child,
    "remove_child": _remove_child,
    "reclaim": _reclaim,
    "set_peers": _set_peers,
    "add_peer": _add_peer,
    "remove_peer": _remove_peer,
    "set_manifest": _set_manifest,
}
