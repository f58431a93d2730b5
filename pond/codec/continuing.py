"""How to continue with a session that was written: in which client, where its file belongs, with which command."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from pond.codec.facts import own_id
from pond.codec.registry import adapter, client_named, clients
from pond.codec.session import SessionStream, Written
from pond.model.json_text import JsonObject
from pond.model.marks import PATH, marks_of


@dataclass(slots=True)
class ResumeAdvice:
    """A session that can be continued; `path` is its path below the output, if that is not its location."""

    client: str
    session_id: str
    directory: str
    created_at: str
    location: str  # in the client's own layout; of a session that was never there, its name
    line: str = ""  # about the session, for the list that the client keeps of all of them
    path: str = ""

    @property
    def command(self) -> str:
        """The client's own command; the directory to be in is another matter."""
        resume: str = _store(self.client)["resume"]
        return resume.format(id=self.session_id)


def advice(session: SessionStream, written: Written) -> ResumeAdvice:
    """Return how to continue with a session that was written in its client's form."""
    row = session.row
    lines = [extra.data for extra in written.beside if extra.shared]
    line = lines[-1].decode("utf-8", "replace").strip() if lines else ""
    location = marks_of(row["options"]).get(PATH)
    return ResumeAdvice(
        row["source_agent"], own_id(row), row["project"], row.get("created_at") or "",
        location if type(location) is str else "", line,
    )  # fmt: skip


def resumable(advice: Sequence[ResumeAdvice]) -> list[ResumeAdvice]:
    """Return the advice on sessions of clients that say how they are started."""
    return [each for each in advice if "resume" in _store(each.client)]


def can_continue(session: SessionStream) -> tuple[bool, SessionStream]:
    """Tell whether people continue with a session by itself; a subagent's is its parent's."""
    if session.leaving is not None:
        return not session.leaving.spawned, session
    if session.row.get("parent_session_id") is None:
        return True, session
    from pond.codec.relatives import opening  # a quick start: most sessions have no parent

    groups = iter(session.groups)
    first = next(groups, None)
    looked = session.going_on(groups if first is None else chain((first,), groups))
    return not opening(session.row, first).spawned, looked


def home_of(client: str, environ: Mapping[str, str]) -> Path:
    """Return the client's own directory on this machine."""
    store = _store(client)
    return Path(environ.get(store["variable"]) or os.path.expanduser(store["home"]))


def declared_home(client: str, environ: Mapping[str, str]) -> str | None:
    """Return the client's directory as people write it; None where a variable has moved it."""
    store = _store(client)
    return None if environ.get(store["variable"]) else str(store["home"])


def provider_of(client: str, environ: Mapping[str, str], output: str | None) -> str:
    """Return the provider that a client is set up for, in the home written into or its own; empty where none is named.

    A client that is started with a profile by itself takes the provider from there.
    """
    client = client_named(client)
    if client not in clients() or (asked := _store(client).get("provider")) is None:
        return ""
    homes = [Path(output)] if output is not None else []
    for home in (*homes, home_of(client, environ)):
        try:
            settings = tomllib.loads((home / asked["settings"]).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        profiles = settings.get(asked["profiles"])
        profile = profiles.get(settings.get("profile")) if type(profiles) is dict else None
        own = profile.get(asked["key"]) if type(profile) is dict else None
        found = own if type(own) is str else settings.get(asked["key"])
        return found if type(found) is str else ""
    return ""


def place_in_home(advice: ResumeAdvice) -> str:
    """Return where the session belongs in the client's home; one that was never there is given its place."""
    folder = advice.location.split("/")[0]
    if folder in _store(advice.client)["folders"]:
        return advice.location
    from pond.codec.relatives import lowering_of  # few ask
    from pond.portable.conversation import Heading
    from pond.portable.lift import EPOCH

    module = lowering_of(adapter(advice.client))
    if module is None:
        return advice.location
    created = advice.created_at or EPOCH
    heading = Heading(advice.session_id, advice.session_id, advice.client, advice.directory, created)
    location: str = module.LOWERING.path_of(heading)
    return location


def _store(client: str) -> JsonObject:
    found: JsonObject = adapter(client).declared().get("store", {})
    return found
