"""What an adapter knows of its client's log that canonical fields do not say: branches, summaries, titles, models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pond.model.json_text import JsonObject
from pond.portable.conversation import Rewound, Said, Title
from pond.portable.queue import Queued, text_in


@dataclass(slots=True)
class Compact:
    """A record that replaces what came before it; `kept` are earlier messages that stay, or their ids."""

    summary: str | None  # None: only its own client can read it
    kept: list[str] | list[Said] = field(default_factory=list)
    kept_first: bool = False  # they come before the summary


@dataclass(slots=True)
class Echo:
    """A record that repeats what a person told the client itself, if the conversation says it already."""


Recall = Callable[[str], list[JsonObject]]
# Seen instead of a plain record; a rewind is the only one after which the record itself still counts.
Note = Title | Rewound | Compact | Said | Queued | Echo


@dataclass(slots=True)
class Record:
    """One source record as an outline sees it: its events, its mapping label and its residue."""

    events: list[JsonObject]
    label: str
    residue: JsonObject
    human: bool  # a person wrote some of it
    line: int

    @property
    def id(self) -> str:
        return str(self.events[0]["id"])

    @property
    def time(self) -> str:
        return str(self.events[0].get("timestamp") or "")

    def text(self) -> str:
        """Return the record's text parts as one text."""
        return text_in(self.events)


class Outline:
    """A plain log: nothing rewound, nothing compacted. Adapters say more about their own client's logs.

    `renewed` are beginnings of injected text that any client adds again; `known` are fields that reach a target.
    """

    renewed: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()
    wraps: tuple[str, ...] = ()  # tags of the harness around a person's words
    inner = ""  # the field of a record that wraps what it is about
    queue: str | None = None  # label of the records with a prompt that waits or waited in the client's queue
    document_labels: frozenset[str] = (
        frozenset()
    )  # labels of files that are documents, where only an address says which
    watched_labels: frozenset[str] | None = None  # labels of the records that `look` does anything about; None: any

    def __init__(self, session: JsonObject, recall: Recall | None = None) -> None:
        self.recall = recall  # gives the events of an earlier message again, where there is anything to read them from
        self.spawned = False  # the session is a subagent's
        self.name = ""  # what the client calls the subagent
        self.kind = ""  # which kind of agent that is, where the client says
        self.model: str | None = None  # that gives the answers now
        self.branch: str | None = None  # of the repository, as far as seen
        self.thread: str | None = None  # which conversation inside the file the record belongs to; None is the main one
        self.base: tuple[str, int] | None = None  # a session that holds the beginning, and how many records of it

    def notices(self, record: JsonObject) -> bool:
        """Tell whether a record that is carried whole deserves a closer look."""
        return False

    def overhears(self, record: JsonObject, message_id: str) -> bool:
        """Take in a carried record that `notices` points at from its own fields; tell whether `look` can be spared.

        Its id comes for the first time. Of a file's first records some may wait for `look`, until that has been called.
        """
        return False

    def look(self, record: Record) -> Note | None:
        """Look at the next record; return what it is besides a plain one.

        A queued prompt that no record says is looked at once more when it was sent, as a person's record without label.
        """
        return None

    def is_aside(self, residue: JsonObject) -> bool:
        """Tell, before `look`, whether a record belongs to another conversation than the main one."""
        return False

    @staticmethod
    def title_of(residue: JsonObject) -> str | None:
        """Return what a record that is carried whole says the session is called."""
        return None

    @staticmethod
    def attached(residue: JsonObject) -> str:
        """Return the name of the file that a record's injected text was read from; empty where there is none."""
        return ""

    @staticmethod
    def moved_output(text: str) -> str | None:
        """Return the file beside the session that holds a tool's output, where a result only says so."""
        return None

    @staticmethod
    def number_of(residue: JsonObject) -> int | None:
        """Return which record of its log one says it is, where the client counts them; `base` counts so too."""
        return None

    @staticmethod
    def is_sealed(options: JsonObject) -> bool:
        """Tell whether a message without Parts holds reasoning that only the client's own service can read."""
        return False

    def finish(self) -> Rewound | None:
        """Return what is true only because nothing follows."""
        return None


def of(value: object, *keys: str) -> object:
    """Return the value at a path of objects, or None."""
    for key in keys:
        value = value.get(key) if type(value) is dict else None
    return value


def text_of(value: object, *keys: str) -> str | None:
    """Return the text at a path of objects; None if there is none."""
    found = of(value, *keys)
    return found if type(found) is str and found else None
