"""A session on its way from a source to its target: its row, its records' events, and what it can be asked."""

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
    """Return the place of a record that stands in no file."""
    return 0, 0


class SessionOrigin(ABC):
    """Where a session comes from. Each kind of source answers what it can."""

    checked = True  # its events come from a reader; canonical text may hold anything
    reading: SessionReading | None = None  # where the records are read from the client's own source
    back = False  # they go back to the client they came from, unproved
    # How far the source is read, and the line of the record being read. A value: it is asked once a record.
    reached: Callable[[], tuple[int, int]] = staticmethod(_nowhere)

    @abstractmethod
    def recall(self, message_id: str) -> list[JsonObject]:
        """Return the events of an earlier message again."""

    def others(self, session_id: str) -> Iterator[SessionStream]:
        """Yield the session with this id of the same store, where it is there."""
        return iter(())

    def beside(self, name: str) -> bytes | None:
        """Return what a file beside the session holds, as the mapping names it; None where it is not there."""
        return None

    def checkpoint(self) -> Checkpoint | None:
        """Return where a later reading can go on, when all groups are read; None where it has to begin anew."""
        return None

    def moved(self, location: str) -> str:
        """Return what becomes of a location in the client's layout, where a directory got another name."""
        return location


class Leaving(Protocol):
    """A session that leaves its client: knows what there is to say and to write when its records are written."""

    @property
    def spawned(self) -> bool:
        """Tell whether it is a subagent's."""

    def end(self) -> Written:
        """Return what belongs beside the session; raise SourceFault where it cannot be written as it is wanted."""


@dataclass(frozen=True, slots=True)
class SessionStream:
    """A session on its way."""

    row: JsonObject
    groups: Groups
    origin: SessionOrigin
    leaving: Leaving | None = None  # where it goes to another client than its own
    member: FamilyMember | None = None  # of a family that has to be known before the session is put at its location

    @property
    def foreign(self) -> bool:
        """Tell whether the session is on its way to another client than its own."""
        return self.leaving is not None

    def going_on(self, groups: Groups) -> SessionStream:
        """Return the session with other groups: those that are left of its own, or the same again."""
        return replace(self, groups=groups)


@dataclass(frozen=True, slots=True)
class Written:
    """What there is to know of a session when its records are written."""

    beside: list[SideFile]  # files that belong beside it
    time: str = ""  # of the last message, where the file is to be dated so
    resume: ResumeAdvice | None = None  # how to continue with it, where it stands by itself
