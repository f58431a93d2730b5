"""Namespaces: the tenants of a deployment, each with its own lake."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from pond.config.kinds import EVERY, HOLE, is_namespace
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.operations.service import Service


@dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace, where its lake is, and whether that exists: only then do requests accept it."""

    name: str
    lake: str
    exists: bool


def create_namespace(service: Service, name: str) -> Namespace:
    """Make the lake of a namespace, with its tables and indexes; an existing one does not change."""
    from pond.sessions.lake import opened
    from pond.sessions.writing import prepare

    if not is_namespace(name):
        what = f"`{name}` cannot be a namespace"
        help = "1 to 64 of the characters a to z, 0 to 9, _ and -"
        raise UsageError(Diagnostic("usage", what, help=help))
    store = opened(service.settings_for(name))
    prepare(store)
    return Namespace(name, store.catalog.tables_root, exists=True)


def list_namespaces(service: Service) -> list[Namespace]:
    """Return the configured namespaces, and those whose lakes are found in the same place."""
    names = {name for name in service.settings.namespaces if name != EVERY}
    return [_namespace(service, name) for name in sorted(names | set(_found(service)))]


def _namespace(service: Service, name: str) -> Namespace:
    from pond.sessions.lake import opened
    from pond.sessions.tables import SESSIONS

    store = opened(service.settings_for(name))
    return Namespace(name, store.catalog.tables_root, store.existing(SESSIONS) is not None)


def _found(service: Service) -> Iterator[str]:
    """Yield the namespaces whose lakes are where the template says, or below the lake itself."""
    from pond.substrate.catalog import Catalog, tenant_of
    from pond.substrate.store import folders

    settings = service.settings
    template = settings.namespaces.get(EVERY)
    if template is not None:
        above, _, behind = template.partition(HOLE)
        root, _, before = above.rpartition("/")
        after = behind.partition("/")[0]
        found = folders(Catalog(root, settings.storage))
        yield from _named(name.removeprefix(before).removesuffix(after) for name in found if name.startswith(before))
    elif not settings.namespaces:
        alone = replace(settings, namespace=None)
        yield from _named(tenant_of(name) for name in folders(Catalog(alone.lake, alone.storage)))


def _named(names: Iterable[str | None]) -> Iterator[str]:
    return (name for name in names if name is not None and is_namespace(name))
