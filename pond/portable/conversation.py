"""The items a portable conversation is made of. Parts are canonical Parts; marks and residue of the source are gone."""

from __future__ import annotations

from dataclasses import dataclass, field

from pond.model.json_text import JsonObject

USER, ASSISTANT, TOOL = "user", "assistant", "tool"


@dataclass(slots=True)
class Said:
    """One message: `parts` are text, file, reasoning and tool-call Parts, or (role tool) tool-result Parts.

    A user message with `human` holds something a person wrote, and begins a turn.
    """

    role: str
    id: str  # the source message's id
    time: str
    line: int
    parts: list[JsonObject]
    human: bool = False
    model: str | None = None


@dataclass(slots=True)
class Title:
    """What the session list shows."""

    text: str
    id: str
    time: str


@dataclass(slots=True)
class Compaction:
    """From here on the model sees `summary` and the messages in `kept`, after or before it, and nothing older."""

    summary: str
    id: str
    time: str
    kept: list[Said] = field(default_factory=list)
    kept_first: bool = False


@dataclass(slots=True)
class Rewound:
    """The last `turns` turns were taken back; the conversation continues from before them."""

    turns: int
    id: str
    time: str
    again: list[str] = field(default_factory=list)  # messages of an older branch that the conversation goes back to


Item = Said | Title | Compaction | Rewound


@dataclass(frozen=True, slots=True)
class Heading:
    """What a target needs to know before the first message."""

    id: str  # the id in the target: a UUID
    source_id: str
    source_agent: str
    project: str
    created_at: str
    parent: str | None = None  # the parent's id in the target
    spawned: bool = False  # a subagent's session, not a fork
    name: str = ""  # what the parent called a subagent, if its session says so
    branch: str | None = None  # of the repository
    note: str = ""  # a line that tells a person where the session comes from
    provider: str = ""  # of models: the one that the target is set up for; empty if it is the target's own
