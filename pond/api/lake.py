"""A lake in Python: sessions in, sessions out, and its tables as Arrow."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, cast

from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.config.load import load
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.intake.request import Request, Summary
from pond.model.json_text import JsonObject
from pond.operations.convert import target_directory
from pond.operations.envelope import PROTOCOL, search_request, stats_request
from pond.operations.finding import meant
from pond.operations.get import get as run_get
from pond.operations.ingest import IngestEvents, ingest_events
from pond.operations.listing import list_sessions
from pond.operations.restore import RestoreRequest, restore
from pond.operations.search import search as run_search
from pond.operations.service import Service
from pond.operations.sql import Result
from pond.operations.stats import stats as run_stats
from pond.operations.sync import Synced, SyncRequest, ingest_files, sync

if TYPE_CHECKING:
    import pyarrow as pa

    from pond.restore.restoring import Restored
    from pond.types import (
        Event,
        GetRequest,
        GetResponse,
        IngestResponse,
        ListRequest,
        Message,
        SearchFilters,
        SearchRequest,
        SearchResponse,
        SessionSummary,
        StatsRequest,
        StatsResponse,
    )

AnyPath = str | os.PathLike[str]
Mode = Literal["conversational", "complete", "verbatim"]
_PAGE = 1000  # messages or sessions requested at once
_TABLES = ("sessions", "messages", "parts")
_LEFT_OUT = "data"  # payloads are large, and of little use in a table


class Lake:
    """The sessions of a lake: a directory, or a prefix in an object store. The default is the lake of the settings.

    Several threads may use it. Nothing is created before something is stored.
    """

    def __init__(self, location: AnyPath | None = None, *, namespace: str | None = None) -> None:
        flags = {"lake": None if location is None else os.fspath(location), "namespace": namespace}
        self._service = Service(load({name: value for name, value in flags.items() if value is not None}))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what is open; the lake can be used again."""
        self._service.close()

    # --- out ---

    def sessions(
        self,
        *,
        client: str | None = None,
        project: str | None = None,
        parent: str | None = None,
        children: bool = False,
    ) -> Iterator[SessionSummary]:
        """Yield the sessions, the most recently active first; children too on request."""
        request: ListRequest = {"protocol_version": PROTOCOL, "children": children, "limit": 10_000}
        if client is not None:
            request["source_agent"] = client
        if project is not None:
            request["project"] = project
        if parent is not None:
            request["parent_session_id"] = parent
        yield from list_sessions(self._service, request)["sessions"]

    def get(
        self,
        id: str,
        *,
        mode: Mode = "conversational",
        limit: int = 20,
        after: str | None = None,
        from_end: bool = False,
        context: int = 0,
    ) -> GetResponse:
        """Return a page of a session, or a message with its neighbours; the id may be a unique prefix."""
        found = meant(self._service, id)
        request: GetRequest = {"protocol_version": PROTOCOL, "session_id": found.session_id, "limit": limit}
        if found.message_id is not None:
            request |= {"message_id": found.message_id, "context_depth": context}
        else:
            request |= {"response_mode": mode, "session_from": "end" if from_end else "start"}
        if after is not None:
            request["after_id"] = after
        return run_get(self._service, request)

    def messages(self, session: str) -> Iterator[Message]:
        """Yield every message of a session, with all of its parts in `content`, in the order of the log."""
        after: str | None = None
        while True:
            page = cast(JsonObject, self.get(session, mode="verbatim", limit=_PAGE, after=after))
            yield from page["messages"]
            if not page["messages_remaining"]:
                return
            after = page["messages"][-1]["id"]

    def stats(self, *, filters: SearchFilters | None = None) -> StatsResponse:
        """Return what the lake holds, its state, and in `activity` what was done; filters narrow the activity."""
        request: StatsRequest = {"protocol_version": PROTOCOL, "activity": True, "filters": filters or {}}
        return run_stats(self._service, stats_request(request))

    def restore(
        self, *sessions: str, output: AnyPath, to: str | None = None, everything: bool = False
    ) -> tuple[list[Restored], Report]:
        """Write sessions and their descendants as files in a directory; return them, and what happened."""
        from pond.restore.restoring import OWN

        request = RestoreRequest(ConversionRequest(OWN if to is None else to), sessions, everything)
        running = restore(self._service, request, target_directory(os.fspath(output)))
        return list(running.made), running.report

    def to_arrow(self, table: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return a table (sessions, messages or parts) as Arrow; payloads and embeddings only if they are named."""
        from pond.sessions.tables import TABLES
        from pond.sessions.vectors import with_vectors
        from pond.substrate import read

        if table not in _TABLES:
            raise UsageError(Diagnostic("usage", f"unknown table `{table}`", help=f"one of {', '.join(_TABLES)}"))
        (own,) = (each for each in TABLES if each.name == table)
        found = with_vectors(self._service.reading(), own)
        names = columns if columns is not None else [name for name in own.schema.names if name != _LEFT_OUT]
        if unknown := [name for name in names if name not in found.schema.names]:
            help = f"one of {', '.join(found.schema.names)}"
            raise UsageError(Diagnostic("usage", f"`{table}` has no column `{unknown[0]}`", help=help))
        return read.rows(self._service.reading(), found, list(names))

    def search(
        self,
        query: str,
        *,
        filters: SearchFilters | None = None,
        limit: int = 10,
        sort: Literal["relevance", "recent"] = "relevance",
        cursor: str | None = None,
        explain: bool = False,
        like: tuple[str, str] | None = None,
    ) -> SearchResponse:
        """Return the messages that match best: `hits` flat, and `sessions` with the texts; `cursor` gets the next page.

        `like` is a session and a message: it finds messages with a similar meaning, with or without words.
        """
        request: SearchRequest = {"protocol_version": PROTOCOL, "query": query, "limit": limit, "sort": sort}
        request |= {"filters": filters or {}, "explain": explain}
        if cursor is not None:
            request["cursor"] = cursor
        if like is not None:
            request["like"] = {"session_id": like[0], "message_id": like[1]}
        return run_search(self._service, search_request(request))

    def sql(self, query: str, *, limit: int | None = None) -> pa.Table:
        """Return the rows of one read-only SQL query over `sessions`, `messages` and `parts`, as Arrow; all of them."""
        import pyarrow as pa

        result = Result(self._service, query, rows=limit)
        return pa.Table.from_batches(list(result), result.schema)

    # --- in ---

    def ingest(self, *paths: AnyPath, client: str | None = None, project: str | None = None) -> Summary:
        """Store what is new in session files and folders."""
        inputs = [(os.path.expanduser(os.fspath(path)), client) for path in paths]
        return ingest_files(self._service, Request(inputs, project, processes=1))

    def ingest_events(self, events: Iterable[Event]) -> IngestResponse:
        """Store canonical events: each session, then each of its messages followed by that message's parts."""
        return ingest_events(self._service, IngestEvents(cast("list[JsonObject]", list(events))))

    def sync(self, *, archive: AnyPath | None = None) -> Synced:
        """Store what the clients of this machine have added, or an archive; then update the indexes."""
        return sync(self._service, SyncRequest(archive=None if archive is None else Path(archive), processes=1))
