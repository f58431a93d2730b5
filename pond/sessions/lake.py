"""Which lake a request is about: the one place that turns settings and a namespace into a store."""

from __future__ import annotations

from pond.config.settings import Settings
from pond.sessions.tables import SESSIONS
from pond.substrate.catalog import Catalog
from pond.substrate.store import Store


def opened(settings: Settings, beside: Store | None = None) -> Store:
    """Return the store of the settings' lake and namespace; another thread's store may share its cache."""
    return Store(Catalog(settings.lake, settings.storage, settings.namespace), beside=beside)


def existing(settings: Settings) -> Store:
    """Return the store of a lake for reading; raise Missing if there is none, and create nothing."""
    store = opened(settings)
    store.handle(SESSIONS)
    return store
