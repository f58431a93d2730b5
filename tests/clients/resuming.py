"""A placed store, resumed by the real client: the newest session with a new turn, then the same session by its id."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.clients.client import Client
from tests.clients.isolation import Room, Run
from tests.clients.mock_model import AGAIN, CALL_ID, TURN, serving
from tests.clients.wire import Request


@dataclass(frozen=True)
class Resumed:
    """What came of two runs: the request that opens the new turn, the one with its tool's result, and the last."""

    runs: tuple[Run, ...]
    opening: Request | None
    answering: Request | None
    later: Request | None

    def ending(self) -> str:
        """Return how the runs ended, for a reader who looks for the cause."""
        said = [f"code {run.code}: {(run.stderr.strip() or run.stdout.strip())[-300:]}" for run in self.runs]
        return " | ".join(said)


def resume(client: Client, store: Path, room: Room, identity: str) -> Resumed:
    """Move a store into a HOME of its own and resume it there."""
    inner = room.another()
    client.place(store, inner)
    runs = []
    with serving(client.call) as model:
        for prompt, session in ((TURN, None), (AGAIN, identity)):
            command, environment = client.command(inner, model.url, prompt, session)
            runs.append(inner.run(command, environment))
    asked = [each for each in model.requests if each.has_tools]
    turn = [each for each in asked if each.asks(TURN)]
    called = [each for each in turn if any(atom.id == CALL_ID for atom in each.atoms)]
    opening = [each for each in turn if each not in called]
    shutil.rmtree(inner.home, ignore_errors=True)
    return Resumed(tuple(runs), _first(opening), _first(called), _first([each for each in asked if each.asks(AGAIN)]))


def _first(requests: list[Request]) -> Request | None:
    return requests[0] if requests else None
