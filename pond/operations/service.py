"""Who answers requests: the settings, and the lakes that are open, one for each namespace."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pond.config.settings import Settings
from pond.diagnostics.failures import Failure
from pond.operations.failing import RequestError
from pond.operations.sql_worker import Workers

if TYPE_CHECKING:  # takes a while to import; requests that are about files need none of it
    from pond.substrate.store import Store


class Service:
    """Answers requests of one process, from any of its threads.

    An opened table belongs to a thread, so each thread has stores of its own; those of one namespace share a cache.
    """

    def __init__(self, settings: Settings, environ: Mapping[str, str] = os.environ) -> None:
        self.settings, self.environ = settings, environ
        self.workers = Workers(settings)
        self._own = threading.local()
        self._first: dict[str | None, Store] = {}
        self._lock = threading.Lock()

    def reading(self, namespace: str | None = None) -> Store:
        """Return the store of a namespace to read from; raise where there is none, and make nothing."""
        store = self._store(namespace)
        self._check(store, namespace, must_exist=True)
        return store

    def writing(self, namespace: str | None = None) -> Store:
        """Return the store of a namespace to write to; only that of the settings is made where it is missing."""
        store = self._store(namespace)
        self._check(store, namespace, must_exist=False)
        return store

    def settings_for(self, namespace: str | None) -> Settings:
        """Return the settings with the namespace that a request is about (wire-namespace-resolution)."""
        return self.settings if namespace is None else replace(self.settings, namespace=namespace)

    def _store(self, namespace: str | None) -> Store:
        from pond.sessions.lake import opened

        stores: dict[str | None, Store] = self._own.__dict__.setdefault("stores", {})
        settings = self.settings_for(namespace)
        if settings.namespace not in stores:
            with self._lock:
                first = self._first.get(settings.namespace)
                stores[settings.namespace] = opened(settings, beside=first)
                self._first.setdefault(settings.namespace, stores[settings.namespace])
        return stores[settings.namespace]

    def _check(self, store: Store, namespace: str | None, *, must_exist: bool) -> None:
        from pond.sessions.tables import SESSIONS

        if namespace in (None, self.settings.namespace):
            if must_exist:
                store.handle(SESSIONS)  # raises Missing
        elif store.existing(SESSIONS) is None:
            raise RequestError(Failure.NAMESPACE_UNKNOWN, "no-namespace", f"no namespace `{namespace}` here")

    def close(self) -> None:
        """Let go of what this thread has open, and end the processes that ran queries."""
        self.workers.close()
        self._own.__dict__.pop("stores", None)
        self._first.clear()
