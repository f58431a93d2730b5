"""What a person sees: the list of sessions and the session itself, read from the screen of the real client."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.clients.client import Client
from tests.clients.expected import Item, rows
from tests.clients.isolation import Room
from tests.clients.mock_model import AGAIN, serving
from tests.clients.terminal import running

ROWS, COLUMNS = 400, 220
_START = 60  # characters of a prompt that a list shows where a session has no title
_MOST = 60  # pieces from the end of a long session that are looked for
_SOUND = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Seen:
    """Two screens of a client, as text."""

    list: str
    session: str


def look(client: Client, room: Room, identity: str, last: str) -> Seen:
    """Read the list of sessions, and the session up to the words `last`, in the home that a room has."""
    with serving(client.call) as model:
        command, environment = client.at_terminal(room, model.url, None)
        with running(command, environment, room.work, 60, COLUMNS) as terminal:
            terminal.wait(lambda text: "resume" in text.lower() and "loading" not in text.lower(), 40)
            listed = terminal.screen.text()
        command, environment = client.at_terminal(room, model.url, identity)
        with running(command, environment, room.work, ROWS, COLUMNS) as terminal:
            terminal.wait(lambda text: heard(last) in heard(text), 40)
            return Seen(listed, terminal.screen.text())


def use(client: Client, room: Room) -> None:
    """Let the client work in a home before anything is put there."""
    with serving(client.call) as model:
        command, environment = client.begin(room, model.url, AGAIN)
        done = room.run(command, environment)
    assert done.code == 0, done.stderr


def heard(text: str) -> str:
    """Return the letters and digits of a text: what lines, frames and marks of a screen leave of it."""
    return _SOUND.sub("", text)


def listed_as(title: str, expected: Sequence[Item], session: Path) -> list[str]:
    """Return what a list may show of a session: its title; without one, how a prompt begins, even before a summary."""
    prompts = [item.text for item in expected if item.kind == "human"]
    found = rows(session)
    typed = [row["message"]["content"] for row in found if row.get("type") == "user" and not row.get("isMeta")]
    typed += [row["payload"]["message"] for row in found if row.get("payload", {}).get("type") == "user_message"]
    words = [*prompts[:1], *(text for text in typed[:1] if isinstance(text, str))]
    return [title] if title else [text.strip()[:_START] for text in words] or [""]


def faults(
    seen: Seen, expected: Sequence[Item], names: Sequence[str], source: Client, target: Client, summed_up: bool = False
) -> Iterator[str]:  # fmt: skip
    """Yield what a person does not see, or not in its order; `names` are what the list may show."""
    if not any(heard(name) in heard(seen.list) for name in names):
        yield f"the list does not show {names[0]!r}"
    for words in ("could not be restored", "No conversation found"):
        if words in seen.session:
            yield f"the screen says {words!r}"
    shown, place = heard(seen.session), 0
    # Claude Code shows nothing from before a summary.
    if not summed_up and heard(f"[pond] This history was copied from {source.name} session") not in shown:
        yield "nothing says where the session comes from"
    for item in [item for item in expected if item.kind in ("human", "model", "call")][-_MOST:]:
        wanted = target.shown_call(item, source) if item.kind == "call" else (item.text,)
        found = [at + len(heard(text)) for text in wanted if (at := shown.find(heard(text), place)) >= 0]
        if found:
            place = min(found)
        else:
            why = "out of order" if any(heard(text) in shown for text in wanted) else "not on the screen"
            yield f"{item.kind} {wanted[0][:70]!r}: {why}"


def visible(expected: Sequence[Item], session: Path) -> list[Item]:
    """Return what a screen shows of a session: a summary is for the model, and so is what is not sent."""
    summaries = [heard(text) for text in _summaries(session)]
    return [item for item in expected if not any(heard(item.text) == each for each in summaries if each)]


def is_summed_up(session: Path) -> bool:
    """Tell whether a summary stands for a part of a session."""
    return any(_summaries(session))


def _summaries(session: Path) -> Iterator[str]:
    for row in rows(session):
        payload = row.get("payload")
        if row.get("type") == "compacted" and isinstance(payload, dict):
            yield str(payload.get("message", ""))
        elif row.get("isCompactSummary"):
            content = row["message"]["content"]
            yield content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
