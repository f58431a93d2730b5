"""Ids as people type them: a whole id or a unique prefix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pond.operations.service import Service

if TYPE_CHECKING:  # the caller loads Lance
    from pond.lake.find import SessionMatch


def meant(service: Service, text: str, session: str | None = None, namespace: str | None = None) -> SessionMatch:
    """Return the session or message meant; within a session, the message. Raise UsageError for none or several."""
    from pond.lake import find

    store = service.reading(namespace)
    if session is None:
        return find.session_or_message(store, text)
    return find.message(store, find.session(store, session), text)


def session_meant(service: Service, text: str, namespace: str | None = None) -> str:
    """Return the id of the session meant; raise UsageError for none or several."""
    from pond.lake import find

    return find.session(service.reading(namespace), text)
