"""Pods: the state of named agents, on the disk of this machine. `pod_restore` combines them with the lake."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pond.config.kinds import HOLE, is_namespace
from pond.config.locations import default_pods
from pond.diagnostics.diagnostic import PondError
from pond.diagnostics.failures import Failure
from pond.operations.failing import RequestError, error_of
from pond.operations.service import Service
from pond.pods.faults import Misplaced
from pond.pods.faults import PodError as PodError
from pond.pods.store import PodStore

if TYPE_CHECKING:
    from pond.types import (
        PodChangeRequest,
        PodEntry,
        PodGetRequest,
        PodListRequest,
        PodListResponse,
        PodRemoveRequest,
        PodRemoveResponse,
        PodResponse,
    )


def list_pods(service: Service, request: PodListRequest) -> PodListResponse:
    """Return all pods, including those whose record cannot be read, with what is wrong with them."""
    store = pods_of(service, request.get("namespace"))
    return {"pods": [_entry(store, name) for name in store.names()]}


def get_pod(service: Service, request: PodGetRequest) -> PodResponse:
    """Return a pod."""
    return {"pod": pods_of(service, request.get("namespace")).read(request["name"])}


def change_pod(service: Service, request: PodChangeRequest) -> PodResponse:
    """Make one change and return the new state of the pod; everything else stays the same."""
    return {"pod": pods_of(service, request.get("namespace")).change(request["name"], request["change"])}


def remove_pod(service: Service, request: PodRemoveRequest) -> PodRemoveResponse:
    """Remove a pod's record; its sessions and the records of its children stay."""
    store = pods_of(service, request.get("namespace"))
    return {"removed": store.remove(request["name"], force=request.get("force", False))}


def pods_of(service: Service, namespace: str | None = None) -> PodStore:
    """Return the pods of the settings; raise if they would share a directory with sessions."""
    if namespace not in (None, service.settings.namespace):
        what = f"pods belong to the default namespace, not to `{namespace}`"
        raise RequestError(Failure.NAMESPACE_UNKNOWN, "no-namespace", what)
    root = service.settings.pods.root or default_pods(service.environ)
    for what, place in _session_roots(service):
        if _overlap(root, place):
            raise Misplaced(f"the pods at `{root}` and {what} at `{place}` overlap")
    return PodStore(root)


def _entry(store: PodStore, name: str) -> PodEntry:
    try:
        pod = store.read(name)
    except PondError as error:
        return {"name": name, "error": error_of(error)}
    counts: PodEntry = {
        "name": name, "children": len(pod["children"]), "peers": len(pod["peers"]), "reclaims": len(pod["reclaimed"]),
    }  # fmt: skip
    return counts | {"active": pod["active"]} if "active" in pod else counts


def _session_roots(service: Service) -> list[tuple[str, str]]:
    """Return the places of this machine that hold sessions, and what they are."""
    settings = service.settings
    places = [
        ("the lake", settings.lake),
        *(("the lake of a namespace", each) for each in settings.namespaces.values()),
    ]
    local = [(what, each.removeprefix("file://")) for what, each in places]
    lakes = [(what, each) for what, each in local if "://" not in each]
    return [*lakes, *(("a path that is synced", path) for path in settings.sync.paths)]


def _overlap(root: str, place: str) -> bool:
    """Tell whether one of two directories is or contains the other; a place may have a hole for a namespace."""
    both = zip(Path(os.path.realpath(root)).parts, Path(os.path.realpath(place)).parts, strict=False)
    return all(_fits(own, each) for own, each in both)


def _fits(name: str, template: str) -> bool:
    before, hole, after = template.partition(HOLE)
    if not hole:
        return name == template
    named = name.removeprefix(before).removesuffix(after)
    return name == before + named + after and is_namespace(named)
