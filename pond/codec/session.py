"""A session between its source and its target: its row, its records' events, and what can be asked of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from pond.codec.writer import SideFile
from pond.model.json_text import JsonObject

if TYPE_CHECKING:  # most conversions need neither
    from pond.codec.continuing import ResumeAdvice
    from pond.codec.lineage import FamilyMember
    from pond.codec.reader import SessionReading
    from pond.codec.resume import Checkpoint

Groups = Iterator[list[JsonObject]]


def _nowhere() -> tuple[int, int]:
    """Return the place of a record that is in no file."""
    return 0, 0


class SessionOrigin(ABC):
    """Where a session comes from. Each kind of source answers what it can."""

    checked = True  # its events come from a reader; canonical text may hold anything
    reading: SessionReading | None = None  # if the records are read from the client's own source
    back = False  # they return to the client they came from, unproved
    # How far the source is read, and the line of the record being read. A value, because it is used for every record.
    reached: Callable[[], tuple[int, int]] = staticmethod(_nowhere)

    @abstractmethod
    def recall(self, message_id: str) -> list[JsonObject]:
        """Return the events of an earlier message again."""

    def others(self, session_id: str) -> Iterator[SessionStream]:
        """Yield the session with this id from the same store, if it is there."""
        return iter(())

    def cut(self) -> str:
        """Return the id of the last record there is; asked before any record is read. Empty where there is none."""
        return ""

    def kin(self, session_id: str) -> tuple[JsonObject, str] | None:
        """Return another session of the same store and its last record, where it is there."""
        for other in self.others(session_id):
            return other.row, other.origin.cut()
        return None

    def beside(self, name: str) -> bytes | None:
        """Return what a file beside the session holds, as the mapping names it; None if it does not exist."""
        return None

    def checkpoint(self) -> Checkpoint | None:
        """Return where a later reading can continue, when all groups are read; None if it must start from the
        beginning.
        """
        return None

    def moved(self, location: str) -> str:
        """Return the new form of a location in the client's layout, if a directory was renamed."""
        return location


class Leaving(Protocol):
    """A session that leaves its client: knows what to report and to write when its records are written."""

    @property
    def spawned(self) -> bool:
        """Tell whether it is a subagent's."""

    def end(self) -> Written:
        """Return what belongs beside the session; raise SourceFault if it cannot be written as requested."""


@dataclass(frozen=True, slots=True)
class SessionStream:
    """A session between source and target."""

    row: JsonObject
    groups: Groups
    origin: SessionOrigin
    leaving: Leaving | None = None  # if it goes to another client
    member: FamilyMember | None = None  # of a family that must be known before the session gets its location

    @property
    def foreign(self) -> bool:
        """Tell whether the session goes to another client than its own."""
        return self.leaving is not None

    def going_on(self, groups: Groups) -> SessionStream:
        """Return the session with other groups: those that are left of its own, or the same again."""
        return replace(self, groups=groups)


@dataclass(frozen=True, slots=True)
class Written:
    """What is known about a session when its records are written."""

    beside: list[SideFile]  # files that belong beside it
    time: str = ""  # of the last message, if that dates the file
    resume: ResumeAdvice | None = None  # how to continue it, if it stands by itself
