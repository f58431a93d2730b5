"""Answers requests: holds the settings and the open lakes, one for each namespace."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pond.config.kinds import EVERY, HOLE, is_namespace
from pond.config.settings import Settings
from pond.diagnostics.failures import Failure
from pond.operations.failing import RequestError
from pond.operations.gathering import Gathering
from pond.operations.sql_worker import Workers

if TYPE_CHECKING:  # slow to import; requests about files do not need it
    from pond.substrate.store import Store

_Place = tuple[str, str | None]  # a lake, and the tenant within it


@dataclass(slots=True)
class _Opened:
    """The stores of one place, one for each thread, and when one of them was last used.

    `behind` are the threads whose stores have not looked since this process last wrote there.
    """

    stores: dict[int, Store] = field(default_factory=dict)
    used: float = 0.0
    behind: set[int] = field(default_factory=set)


class Service:
    """Answers the requests of one process, from any of its threads.

    An opened table belongs to a thread, so each thread has its own stores; those of one namespace share a cache. An
    unused namespace is closed, and so is the least recently used one if too many are open.
    """

    def __init__(
        self,
        settings: Settings,
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings, self.environ, self._clock = settings, environ, clock
        self.workers = Workers(settings)
        self._open: OrderedDict[_Place, _Opened] = OrderedDict()  # the most recently used one at the end
        self._lock = threading.Lock()
        self.gathering = Gathering(self)

    def reading(self, namespace: str | None = None) -> Store:
        """Return the store of a namespace for reading; raise if there is none, and create nothing."""
        store = self._store(namespace)
        self._check(store, namespace, must_exist=True)
        return store

    def writing(self, namespace: str | None = None) -> Store:
        """Return the store of a namespace for writing; only that of the settings is created if it is missing."""
        store = self._store(namespace)
        self._check(store, namespace, must_exist=False)
        return store

    def settings_for(self, namespace: str | None) -> Settings:
        """Return the settings with the lake that a request is about (wire-namespace-resolution)."""
        known = self.settings.namespaces
        if namespace in (None, self.settings.namespace):
            return self.settings
        if not is_namespace(namespace):
            raise _unknown(namespace)
        if not known:
            return replace(self.settings, namespace=namespace)
        place = known.get(namespace) or known.get(EVERY, "").replace(HOLE, namespace)
        if not place:
            raise _unknown(namespace)
        return replace(self.settings, lake=place, namespace=None)

    @property
    def open_namespaces(self) -> int:
        """How many namespaces have something open."""
        return len(self._open)

    def wrote(self, namespace: str | None) -> None:
        """Note that a namespace was written to: the next reader sees that, also on an object store."""
        settings = self.settings_for(namespace)
        with self._lock:
            if (here := self._open.get((settings.lake, settings.namespace))) is not None:
                here.behind = set(here.stores)

    def let_go(self) -> None:
        """Close the namespaces that were not used for a while, and tidy those that were written to."""
        self.gathering.tidy()
        with self._lock:
            self._let_go()

    def close(self) -> None:
        """Store what waits, close everything that is open, and end the processes that ran queries.

        The service can be used again.
        """
        self.workers.close()
        self.gathering.close()
        self.gathering = Gathering(self)
        with self._lock:
            self._open.clear()

    def _store(self, namespace: str | None) -> Store:
        from pond.sessions.lake import opened

        settings, thread = self.settings_for(namespace), threading.get_ident()
        place = settings.lake, settings.namespace
        with self._lock:
            here = self._open.setdefault(place, _Opened())
            here.used = self._clock()
            self._open.move_to_end(place)
            if thread not in here.stores:
                here.stores[thread] = opened(settings, beside=next(iter(here.stores.values()), None))
            if thread in here.behind:
                here.behind.remove(thread)
                here.stores[thread].expire()
            self._let_go()
            return here.stores[thread]

    def _let_go(self) -> None:
        # A request that is being answered keeps its own store until it is finished.
        limits, now = self.settings.serve, self._clock()
        while self._open:
            place, oldest = next(iter(self._open.items()))
            if len(self._open) <= limits.open_namespaces and now - oldest.used < limits.idle:
                return
            del self._open[place]

    def _check(self, store: Store, namespace: str | None, *, must_exist: bool) -> None:
        from pond.sessions.tables import SESSIONS

        if namespace in (None, self.settings.namespace):
            if must_exist:
                store.handle(SESSIONS)  # raises Missing
        elif store.existing(SESSIONS) is None:
            with self._lock:  # requests for unknown names must not push out existing ones
                self._open.pop((store.catalog.root, store.catalog.namespace), None)
            raise _unknown(namespace)


def _unknown(namespace: str) -> RequestError:
    return RequestError(Failure.NAMESPACE_UNKNOWN, "no-namespace", f"no namespace `{namespace}` here")
