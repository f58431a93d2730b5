"""What two runs of a client tell: the reasons against a cell, and the remarks on it."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.clients.client import WORD
from tests.clients.expected import Item
from tests.clients.isolation import Room
from tests.clients.judge import Loss, Missing, invented, miscounts, missing, service_problems, unnamed
from tests.clients.mock_model import CALL_ID, DONE, TURN
from tests.clients.resuming import Resumed
from tests.clients.wire import Atom, Request

Neutral = Callable[[Any], Any]

# Notes that a client adds where it is started in another directory than before.
_MOVED = ("<system-reminder>\n# Environment update", "<environment_context>")


@dataclass
class Verdict:
    """Without reasons the cell is good; notes say what a reader should know of it all the same."""

    reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def judge(
    expected: list[Item], resumed: Resumed, losses: list[Loss], original: Resumed | None, same: Neutral
) -> Verdict:
    """Judge a resumed session; what the client leaves out of its own unconverted file is not pond's fault."""
    opening = _alike(resumed.opening, same)
    if opening is None:
        return Verdict([f"the prompt never reached the model: {resumed.ending()}"])
    wanted = [
        replace(item, text=same(item.text), arguments=same(item.arguments), result=same(item.result))
        for item in expected
    ]
    found = Verdict()
    before = _alike(original.opening, same) if original else None
    own = set(_faults(wanted, before, losses)) if before else set[str]()
    if before is not None and _history(opening) != _history(before):
        found.reasons.append("the request is not the one that the unconverted file leads to")
    absent = missing(wanted, opening.atoms)
    found.notes += _remarks(absent, own, losses)
    found.reasons += [fault for fault in _faults(wanted, opening, losses) if fault not in own]
    found.reasons += _new_turn(resumed)
    found.reasons += _later(wanted, _alike(resumed.later, same), absent)
    return found


def neutral(room: Room, old: Path | None) -> Neutral:
    """Return a function that makes directory names equal in any JSON value: sessions are moved, rooms are new each
    time.
    """
    named = [str(path) for path in (room.work, old, room.root) if path is not None]
    spellings = [spelled for name in named for spelled in (name, name.replace("/", "-"))]

    def same(value: Any) -> Any:
        if isinstance(value, str):
            for spelled in spellings:
                value = value.replace(spelled, "<here>")
        elif isinstance(value, dict):
            return {key: same(each) for key, each in value.items()}
        elif isinstance(value, list):
            return [same(each) for each in value]
        return value

    return same


def _alike(asked: Request | None, same: Neutral) -> Request | None:
    if asked is None:
        return None
    atoms = [replace(atom, text=same(atom.text), arguments=same(atom.arguments)) for atom in asked.atoms]
    return replace(asked, atoms=tuple(atoms))


def _history(asked: Request) -> list[Atom]:
    return [atom for atom in asked.atoms if not atom.text.startswith(_MOVED)]


def _faults(expected: list[Item], asked: Request, losses: list[Loss]) -> Iterator[str]:
    """Yield what is missing, what is miscounted, what was never said, and what a real service would refuse."""
    yield from map(str, unnamed(missing(expected, asked.atoms), losses))
    yield from miscounts(expected, asked.atoms, losses)
    yield from invented(expected, asked.atoms)
    yield from (f"a real service would refuse: {each}" for each in service_problems(asked))


def _remarks(absent: list[Missing], own: set[str], losses: list[Loss]) -> Iterator[str]:
    """Yield how much is missing without being pond's fault."""
    fresh = [each for each in absent if str(each) not in own]
    if len(fresh) < len(absent):
        yield f"the client itself leaves out {len(absent) - len(fresh)}, of the unconverted file too"
    silent = unnamed(fresh, losses)
    named = Counter(each.item.kind for each in fresh if each not in silent)
    if named:
        words = ", ".join(f"{count} {kind}" for kind, count in sorted(named.items()))
        yield f"not sent, and named in the loss report: {words}"


def _new_turn(resumed: Resumed) -> Iterator[str]:
    """Yield what is wrong with the new turn and its tool call."""
    if any(run.code != 0 for run in resumed.runs):
        yield f"a run did not end well: {resumed.ending()}"
    answering = resumed.answering.atoms if resumed.answering else ()
    results = [atom.text for atom in answering if atom.kind == "result" and atom.id == CALL_ID]
    if not any(WORD in text for text in results):
        yield f"the new turn's tool result did not come back: {results}"


def _later(expected: list[Item], asked: Request | None, known: list[Missing]) -> Iterator[str]:
    """Yield what is wrong when the session is resumed by its id, after the new turn."""
    if asked is None:
        yield "resumed by its id, the session did not reach the model"
        return
    turn = [Item("human", TURN), Item("model", DONE)]
    said = {str(each) for each in known}
    lost = [each for each in missing([*expected, *turn], asked.atoms) if str(each) not in said]
    yield from (f"after a turn: {each}" for each in lost)
