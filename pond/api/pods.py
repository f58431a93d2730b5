"""Pods in Python: the current state of a named agent. The lake holds what happened."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pond.config.load import load
from pond.operations.envelope import PROTOCOL, pod_change_request
from pond.operations.pod_restore import Ask, restore_pod
from pond.operations.pods import change_pod, get_pod, list_pods, remove_pod
from pond.operations.service import Service

if TYPE_CHECKING:
    from pond.api.files import AnyPath
    from pond.types import Pod, PodChange, PodChild, PodEntry, PodRestoreRequest, PodRestoreResponse, PodWorkspace


class Pods:
    """The pods of this machine; the defaults of `root` and `lake` are those of the settings.

    Every method that changes a pod changes one aspect of it, which is on disk before it returns, and returns the new
    state of the pod. Several threads and processes may use it at once.
    """

    def __init__(self, root: AnyPath | None = None, *, lake: AnyPath | None = None) -> None:
        flags = {"pods.root": root, "lake": lake}
        named = {name: os.fspath(place) for name, place in flags.items() if place is not None}
        self._service = Service(load(named))

    def list(self) -> list[PodEntry]:
        """Return all pods, sorted by name; one whose record cannot be read has an `error`."""
        return list_pods(self._service, {"protocol_version": PROTOCOL})["pods"]

    def get(self, name: str) -> Pod:
        """Return a pod."""
        return get_pod(self._service, {"protocol_version": PROTOCOL, "name": name})["pod"]

    def set_active(self, name: str, session: str, segment: str) -> Pod:
        """Point a pod at a segment of a session."""
        return self._change(name, {"op": "set_active", "session_id": session, "segment_id": segment})

    def set_pending(self, name: str, session: str) -> Pod:
        """Point a pod at a session that has no segment yet."""
        return self._change(name, {"op": "set_pending", "session_id": session})

    def set_workspace(self, name: str, workspace: PodWorkspace) -> Pod:
        """Set the agent's working directory."""
        return self._change(name, {"op": "set_workspace", "workspace": workspace})

    def set_children(self, name: str, children: Iterable[PodChild]) -> Pod:
        """Replace the outstanding children."""
        return self._change(name, {"op": "set_children", "children": [*children]})

    def add_child(self, name: str, child: PodChild) -> Pod:
        """Add a child, or replace the one with its name."""
        return self._change(name, {"op": "add_child", "child": child})

    def remove_child(self, name: str, child: str) -> Pod:
        """Forget a child without adding it to the history."""
        return self._change(name, {"op": "remove_child", "child": child})

    def reclaim(self, name: str, *children: str) -> Pod:
        """Move outstanding children to the history, in one write."""
        return self._change(name, {"op": "reclaim", "children": [*children]})

    def set_peers(self, name: str, peers: Iterable[str]) -> Pod:
        """Replace the peers."""
        return self._change(name, {"op": "set_peers", "peers": [*peers]})

    def add_peer(self, name: str, peer: str) -> Pod:
        """Add a peer."""
        return self._change(name, {"op": "add_peer", "peer": peer})

    def remove_peer(self, name: str, peer: str) -> Pod:
        """Forget a peer."""
        return self._change(name, {"op": "remove_peer", "peer": peer})

    def set_manifest(self, name: str, manifest: Any) -> Pod:
        """Replace the manifest, which may be any JSON value."""
        return self._change(name, {"op": "set_manifest", "manifest": manifest})

    def remove(self, name: str, *, force: bool = False) -> bool:
        """Remove a pod, and tell whether there was one; `force` also removes a record that cannot be read."""
        return remove_pod(self._service, {"protocol_version": PROTOCOL, "name": name, "force": force})["removed"]

    def restore(self, name: str, *, ask: Ask | None = None) -> PodRestoreResponse:
        """Reclaim the children that are gone, tell the session, and return the state with which the agent continues.

        `ask` says whether a child is `alive`, `missing`, `stopped` or `unreachable`, within the seconds that it is
        given; without it, the child's socket is tried.
        """
        request: PodRestoreRequest = {"protocol_version": PROTOCOL, "name": name}
        return restore_pod(self._service, request) if ask is None else restore_pod(self._service, request, ask)

    def _change(self, name: str, change: PodChange) -> Pod:
        request = pod_change_request({"protocol_version": PROTOCOL, "name": name, "change": change})
        return change_pod(self._service, request)["pod"]
