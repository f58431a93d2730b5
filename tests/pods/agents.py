"""Pods and sessions to test with: a small lake, a root beside it, and children that are alive or not."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pond.config.settings import Pods, Settings
from pond.model.json_text import JsonObject
from pond.operations.envelope import pod_change_request, pod_restore_request
from pond.operations.pod_restore import Ask, restore_pod
from pond.operations.pods import change_pod
from pond.operations.service import Service
from pond.pods.store import PodStore
from pond.sessions import load
from pond.sessions.lake import opened
from pond.sessions.writing import prepare
from pond.types import Pod, PodChild, PodRestoreResponse
from tests.operations import invented

SESSION = "oak"
MANIFEST = {"model": "any", "scope": ["/srv/orchard"], "budget": 12345678901234567890123, "ratio": 1.0}


def settings(place: Path, **more: Any) -> Settings:
    """Return settings whose lake and pods are next to each other."""
    return Settings(lake=str(place / "lake"), pods=Pods(root=str(place / "pods"), probe_seconds=0.2), **more)


def service(place: Path, *, texts: int = 3) -> Service:
    """Return a service over a lake with one session, which has so many records."""
    made = Service(settings(place))
    lake = opened(made.settings)
    prepare(lake)
    records = [invented.said(SESSION, f"m{number}", f"text {number}", at=number) for number in range(texts)]
    invented.store(lake, invented.session(SESSION), records)
    return made


def pods(place: Path) -> PodStore:
    """Return the store itself."""
    return PodStore(place / "pods")


def child(name: str, *targets: str, **hints: str) -> PodChild:
    """Return a child with delegated write scopes."""
    scopes = [{"target": target, "permission": "write", "recursive": True} for target in targets]
    return {"name": name, "scopes": scopes, **hints}  # type: ignore[typeddict-item]


def change(where: Service, name: str, op: str, **fields: object) -> Pod:
    """Change a pod as a transport would."""
    body = {"protocol_version": 1, "name": name, "change": {"op": op, **fields}}
    return change_pod(where, pod_change_request(body))["pod"]


def active(where: Service, name: str = "gardener", session: str = SESSION) -> Pod:
    """Point a pod at a session."""
    return change(where, name, "set_active", session_id=session, segment_id="seg-1")


def restore(where: Service, name: str = "gardener", ask: Ask | None = None) -> PodRestoreResponse:
    """Restore a pod as a transport would."""
    request = pod_restore_request({"protocol_version": 1, "name": name})
    return restore_pod(where, request) if ask is None else restore_pod(where, request, ask)


def messages(where: Service, session: str = SESSION) -> list[JsonObject]:
    """Return the messages of a stored session, in order, without their parts."""
    store = opened(where.settings)
    return [event for group in load.groups(store, session) for event in group if event["kind"] == "message"]


def notices(where: Service, session: str = SESSION) -> list[JsonObject]:
    """Return the messages in a session that pond wrote itself."""
    return [message for message in messages(where, session) if message["id"].startswith("pond/reclaim/")]


@contextmanager
def listening(path: Path) -> Iterator[str]:
    """Listen at a socket, as a living child does."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        yield str(path)
