"""What the matrix has to know of a client: how its store lies on disk, how it is started, what its sessions say."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path

from tests.clients.expected import Item
from tests.clients.isolation import Room
from tests.clients.mock_model import Call
from tests.clients.script import Case

PEBBLE, WORD = "pebble.txt", "basalt-4711"


class Client(ABC):
    """A real client. A store is a directory as the client has it below HOME: `<root>/<folder>/…`."""

    name: str  # as `pond convert --to` takes it
    short: str  # as the captures and the table name it
    root: str  # the directory below HOME
    folder: str  # the part of it that holds the sessions
    call: Call  # the tool call of the new turn: it reads PEBBLE

    @abstractmethod
    def write(self, case: Case, store: Path, work: Path) -> None:
        """Write a case as a store of this client."""

    @abstractmethod
    def sessions(self, store: Path) -> Mapping[str, Path]:
        """Return the sessions of a store that can be resumed, by id; the children of others are not among them."""

    @abstractmethod
    def children(self, store: Path) -> list[Path]:
        """Return the files of the subagents in a store."""

    @abstractmethod
    def read(self, session: Path) -> list[Item]:
        """Return what has to reach the model when the session is resumed."""

    @abstractmethod
    def settle(self, store: Path, work: Path) -> None:
        """Move a captured store to another work directory, as far as the place of its files tells of it."""

    @abstractmethod
    def command(self, room: Room, url: str, prompt: str, session: str | None) -> tuple[list[str], dict[str, str]]:
        """Return command and environment that resume a session by its id, or the newest, and ask `prompt`."""

    def set_up(self, room: Room) -> dict[str, str]:
        """Return what pond is told of the client's home, which holds its settings."""
        return {}

    @abstractmethod
    def title(self, session: Path) -> str:
        """Return what a person called the session; empty where nobody did."""

    @abstractmethod
    def begin(self, room: Room, url: str, prompt: str) -> tuple[list[str], dict[str, str]]:
        """Return command and environment that begin a session of the client's own."""

    @abstractmethod
    def at_terminal(self, room: Room, url: str, session: str | None) -> tuple[list[str], dict[str, str]]:
        """Return command and environment that show a session on a screen, or the list to choose one from."""

    @abstractmethod
    def shown_call(self, item: Item, source: "Client") -> tuple[str, ...]:
        """Return what the screen may show of a call of another client's session: its name, or that it failed."""

    def place(self, store: Path, room: Room) -> None:
        """Put a store, and what else its home holds, into the HOME of a room; the times of its files stay."""
        target = room.home / self.root
        target.mkdir(parents=True, exist_ok=True)
        for path in store.iterdir():
            path.rename(target / path.name)
