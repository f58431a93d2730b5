"""What a target's lowering is: portable items in, canonical events in the target's own dialect out.

The events carry the labels of the target's mapping, and its compiled write face spells the records: only the `.map`
says where a value is in a record.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import xxhash

from pond.model.json_text import JsonObject
from pond.portable.conversation import Compaction, Heading, Item, Rewound, Said, Title
from pond.portable.loss import Losses

Group = list[JsonObject]


class Lowering(ABC):
    """Writes one portable conversation. `deepest` is how many generations of subagents the target can hold."""

    deepest = 1

    def __init__(self, heading: Heading, losses: Losses) -> None:
        self.heading, self.losses = heading, losses

    @staticmethod
    @abstractmethod
    def path_of(heading: Heading) -> str:
        """Return the path of the session's file in the client's own layout."""

    @staticmethod
    def folder_of(project: str) -> str | None:
        """Return the folder that the layout names after a project; None if it names none that way."""
        return None

    @abstractmethod
    def open(self, branch: str | None) -> list[Group]:
        """Return the records before the first message."""

    @abstractmethod
    def said(self, item: Said) -> list[Group]:
        """Return the records of a message."""

    @abstractmethod
    def title(self, item: Title) -> list[Group]:
        """Return the records that name the session."""

    @abstractmethod
    def compaction(self, item: Compaction) -> list[Group]:
        """Return the records that put a summary in place of what came before."""

    @abstractmethod
    def rewound(self, item: Rewound) -> list[Group]:
        """Take turns back; what follows continues from before them."""

    @abstractmethod
    def aside(self, payload: JsonObject, time: str) -> Group:
        """Return a record that the client skips: it holds events of the source."""

    @abstractmethod
    def follow(self, events: Group) -> None:
        """Take note of a record of the client's own that comes before what is to be written."""

    @abstractmethod
    def number(self, group: Group) -> None:
        """Give a record after the client's own its number, if the client counts records."""

    def close(self) -> list[Group]:
        """Return what follows the last item."""
        return []

    def lower(self, item: Item) -> list[Group]:
        """Return the records of any item."""
        if type(item) is Said:
            return self.said(item)
        if type(item) is Title:
            return self.title(item)
        if type(item) is Compaction:
            return self.compaction(item)
        assert type(item) is Rewound
        return self.rewound(item)


def as_uuid(*names: str) -> str:
    """Return the UUID that stands for these names: the same for the same names, on every machine."""
    return uuid_of("\0".join(names))


def uuid_of(names: str) -> str:
    """Return the UUID that stands for names in one text, with a NUL between them."""
    digest = xxhash.xxh3_128_hexdigest(names.encode("utf-8", "surrogatepass"))
    return f"{digest[:8]}-{digest[8:12]}-8{digest[13:16]}-a{digest[17:20]}-{digest[20:]}"  # version 8: made by us
