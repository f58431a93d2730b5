"""Restores a pod: the one place where the state of a named agent and the history in the lake come together.

The order makes every crash harmless; a second run finishes the first. Children that are gone are reclaimed first: in
one write they leave the outstanding ones, enter the history, and a notification becomes due. Then the session is told,
under an id that depends on the reclaim. Then the notification is no longer due. Only after that does the caller see
anything, so no model continues in a state that it was not told about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from pond.operations.pods import pods_of
from pond.operations.service import Service
from pond.pods.faults import EmptySession, Inactive, Moved, Pending, UnknownSession
from pond.pods.liveness import Ask as Ask
from pond.pods.liveness import Liveness, asked, by_socket
from pond.pods.scopes import deny_rules

if TYPE_CHECKING:
    from pond.lake.notices import Notice
    from pond.model.json_text import JsonObject
    from pond.pods.store import PodStore
    from pond.substrate.store import Store
    from pond.types import (
        Pod,
        PodChild,
        PodPointer,
        PodRestoreRequest,
        PodRestoreResponse,
        Reclaim,
        ReclaimReason,
        Session,
    )

_TIMES = 3  # to start again if the pod is pointed elsewhere meanwhile
_NOTICE_ID = "pond/reclaim/"


def restore_pod(service: Service, request: PodRestoreRequest, ask: Ask = by_socket) -> PodRestoreResponse:
    """Reclaim what is gone, tell the session, and return the state with which the agent continues; `ask` says who is
    alive.
    """
    pods = pods_of(service, request.get("namespace"))
    for left in reversed(range(_TIMES)):
        try:
            return _restored(service, pods, request["name"], ask)
        except Moved:
            if not left:
                raise
    raise AssertionError("the last time either returns or raises")


def _restored(service: Service, pods: PodStore, name: str, ask: Ask) -> PodRestoreResponse:
    before = pods.read(name)
    pointer, children = _pointer(before), before["children"]
    lake = service.reading()
    session = _session(lake, name, pointer)
    found = asked(children, ask, service.settings.pods.probe_seconds)
    pod = pods.reclaim_gone(name, pointer, _gone(children, found))
    due = [reclaim for reclaim in pod["reclaimed"] if reclaim["id"] in pod["notices_due"]]
    told = _told(lake, name, due)
    if told:
        service.wrote(None)
        pod = pods.told(name, [reclaim["id"] for reclaim in told])
    return {
        "pod": pod, "session": cast("Session", session), "messages": _messages(lake, pointer["session_id"]),
        "deny": deny_rules(pod), "reclaims": told, "notices": [notice_id(reclaim) for reclaim in told],
    }  # fmt: skip


def notice_id(reclaim: Reclaim) -> str:
    """Return the id of the message about a reclaim."""
    return _NOTICE_ID + reclaim["id"]


def _pointer(pod: Pod) -> PodPointer:
    """Return where a pod's history is; raise if it has none, or none yet."""
    if "active" not in pod:
        raise Inactive(f"pod `{pod['name']}` points to no session")
    if "segment_id" not in pod["active"]:
        session = pod["active"]["session_id"]
        raise Pending(f"pod `{pod['name']}` waits for the first segment of session `{session}`")
    return pod["active"]


def _session(lake: Store, name: str, pointer: PodPointer) -> JsonObject:
    from pond.lake.notices import records_in
    from pond.sessions import load

    id = pointer["session_id"]
    session = load.session(lake, id)
    if session is None:
        raise UnknownSession(f"pod `{name}` points to session `{id}`, which is not in the lake")
    if not records_in(lake, id):
        raise EmptySession(f"pod `{name}` points to session `{id}`, which has no records")
    return session


def _gone(
    children: Sequence[PodChild], found: Mapping[str, Liveness]
) -> list[tuple[PodChild, ReclaimReason]]:  # fmt: skip
    return [(child, state) for child in children if (state := found[child["name"]]) != "alive"]


def _told(lake: Store, name: str, due: Sequence[Reclaim]) -> list[Reclaim]:
    """Tell the sessions about reclaims; return those that were told. A session that is not here is told later."""
    from pond.lake.notices import append
    from pond.sessions import load

    done: list[Reclaim] = []
    for id in dict.fromkeys(reclaim["session_id"] for reclaim in due):
        session = load.session(lake, id)
        if session is not None:
            mine = [reclaim for reclaim in due if reclaim["session_id"] == id]
            append(lake, session, [_notice(name, reclaim) for reclaim in mine])
            done += mine
    return done


def _notice(name: str, reclaim: Reclaim) -> Notice:
    from pond.lake.notices import Notice

    children = reclaim["children"]
    lost = [scope["target"] for child in children for scope in child["scopes"] if scope["permission"] == "write"]
    gone = ", ".join(f"`{child['name']}` ({child['reason']})" for child in children)
    back = f"What they could write is yours again: {', '.join(f'`{each}`' for each in lost)}." if lost else ""
    text = f"Pod `{name}` was restored. These children are gone and were reclaimed: {gone}. {back}".rstrip()
    return Notice(notice_id(reclaim), text, reclaim["at"])


def _messages(lake: Store, session_id: str) -> int:
    from pond.sessions.stored_text import to_stored
    from pond.sessions.writing import positions_of

    return len(positions_of(lake, to_stored(session_id)))
