"""Which sessions were erased: noted before anything of them is removed, so that nothing brings them back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from pond.sessions import ledger
from pond.substrate.store import Store


@dataclass(frozen=True, slots=True)
class Stone:
    """The note that a session was erased: when, with which requested one, and whether it was finished."""

    at: str
    of: str  # the requested session, as stored
    sessions: int  # how many were erased with it, including itself
    done: bool


def stones(store: Store) -> dict[str, Stone]:
    """Return the tombstones, by the ids of their sessions as stored."""
    return {
        id: Stone(note["at"], note.get("of", id), note["sessions"], note.get("done", True))
        for id, note in ledger.notes(store, ledger.ERASED).items()
    }


def put(store: Store, new: Mapping[str, Stone]) -> None:
    """Write tombstones, each replacing the previous one; all of them or none."""
    ledger.note(store, ledger.ERASED, {id: asdict(stone) for id, stone in new.items()})


def take_back(store: Store, ids: Iterable[str]) -> None:
    """Remove tombstones."""
    ledger.forget(store, ledger.ERASED, ids)
