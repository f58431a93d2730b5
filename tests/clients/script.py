"""The words of a conversation, apart from any client; `claude_rows`, `codex_rows` write them as the clients would."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Prompt:
    """What a person asks; `picture` puts an image beside it."""

    text: str
    picture: bool = False


@dataclass(frozen=True)
class Think:
    """The model's reasoning; `sealed` carries what the service signs or encrypts."""

    text: str
    sealed: bool = True


@dataclass(frozen=True)
class Say:
    """What the model answers."""

    text: str


@dataclass(frozen=True)
class Use:
    """A tool's call. `result` is None if the session ended, or continued, without one."""

    tool: Literal["shell", "patch", "mcp", "picture"]
    words: str
    result: str | None
    failed: bool = False


@dataclass(frozen=True)
class Together:
    """Calls that the model makes in one answer."""

    uses: tuple[Use, ...]


@dataclass(frozen=True)
class Compact:
    """From here on the model knows the summary in place of what was before; `keeps_answer`: and the last answer too."""

    summary: str
    keeps_answer: bool = False


@dataclass(frozen=True)
class Helper:
    """A subagent with a session of its own."""

    task: str
    steps: tuple["Step", ...]
    report: str


@dataclass(frozen=True)
class Command:
    """What a person gives the client itself to do: a slash command in Claude Code, a shell command in Codex."""

    words: str


@dataclass(frozen=True)
class Rewind:
    """The last prompt and all after it are taken back."""


Step = Prompt | Think | Say | Use | Together | Compact | Helper | Command | Rewind


@dataclass(frozen=True)
class Case:
    """A conversation with a name."""

    name: str
    steps: tuple[Step, ...]
