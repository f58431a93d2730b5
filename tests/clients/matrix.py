"""One cell of the matrix: a session of one client, converted with `pond`, resumed twice by the real target client."""

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path

from tests.clients import children, looking
from tests.clients.client import PEBBLE, WORD, Client
from tests.clients.conversion import ConversionFailed, convert
from tests.clients.expected import Item, NotASession, rows
from tests.clients.isolation import Room
from tests.clients.jsonl import date
from tests.clients.looking import Seen, listed_as, look, use, visible
from tests.clients.resuming import Resumed, resume
from tests.clients.verdict import Verdict, judge, neutral

Damage = Callable[[Client, Path], None]  # (client, converted store): break it


@dataclass(frozen=True)
class Source:
    """Where a row's session comes from: `write(client, store, work)` makes it; `old` is a captured work directory."""

    name: str
    write: Callable[[Client, Path, Path], None]
    old: Path | None = None


@dataclass(frozen=True)
class Trial:
    """One conversion of one row: what is converted, by whom it was written, for whom it shall be, and where it runs."""

    row: Source
    source: Client
    target: Client
    room: Room
    damage: Damage | None = None
    looks: tuple[str, ...] = ()  # homes in which the screen is read: fresh, used

    @property
    def store(self) -> Path:
        return self.room.root / "source"


@dataclass
class Cell:
    """The verdict on a trial, over all sessions of its store."""

    case: str
    source: str
    target: str
    reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0


def judge_cell(trial: Trial) -> Cell:
    """Convert a store, let the target client resume each of its sessions, and say what is wrong."""
    cell = Cell(trial.row.name, trial.source.short, trial.target.short)
    start = time.monotonic()
    (trial.room.work / PEBBLE).write_text(f"{WORD}\n", encoding="utf-8")
    try:
        trial.row.write(trial.source, trial.store, trial.room.work)
        for path in trial.store.rglob("*.jsonl"):
            date(path)
        for identity, path in trial.source.sessions(trial.store).items():
            found = _judge_session(trial, identity, path)
            cell.reasons += found.reasons
            cell.notes += found.notes
    except (NotASession, ConversionFailed) as fault:
        cell.reasons.append(str(fault))
    cell.seconds = round(time.monotonic() - start, 1)
    return cell


def _judge_session(trial: Trial, identity: str, path: Path) -> Verdict:
    """Judge one session of a store; the store is converted again for each, because resuming changes it."""
    expected = trial.source.read(path)
    converted, losses = convert(trial.store, trial.source, trial.target, trial.room, trial.row.old)
    wanted, written = trial.source.sessions(trial.store), trial.target.sessions(converted)
    found_as = {each: came_to_be(each, written) for each in wanted}
    if sorted(found_as.values()) != sorted(written):
        return Verdict([f"the converted store holds the sessions {sorted(written)}, not {sorted(wanted)}"])
    own = found_as[identity]
    faults = list(children.faults(trial.source.children(trial.store), trial.target.children(converted)))
    if trial.damage is not None:
        trial.damage(trial.target, converted)
    if trial.row.old is not None:
        _make_newest(written[own])
    foreign = trial.source is not trial.target
    seen = list(_seen(trial, path, expected, converted, own)) if foreign and trial.looks else []
    resumed = resume(trial.target, converted, trial.room, own)
    # A damaged store has to be noticed by what is missing, as a foreign one would be: without a comparison.
    native = trial.source is trial.target and trial.damage is None
    original = _resume_original(trial, identity) if native else None
    found = judge(expected, resumed, losses, original, neutral(trial.room, trial.row.old))
    return Verdict([*faults, *found.reasons, *seen], found.notes)


def _seen(trial: Trial, path: Path, expected: list[Item], converted: Path, own: str) -> Iterator[str]:
    """Yield what a person does not see, in a home that is new and in one that the client has worked in."""
    items = visible(expected, path)
    said = [item.text for item in items if item.kind in ("human", "model")]
    same = neutral(trial.room, trial.row.old)
    for which in trial.looks:
        inner = trial.room.another()
        home = inner.home / trial.target.root
        if which == "used":
            use(trial.target, inner)
            convert(trial.store, trial.source, trial.target, trial.room, trial.row.old, into=home)
        else:
            shutil.copytree(converted, home)
        here = Seen(*map(same, astuple(look(trial.target, inner, own, said[-1] if said else ""))))
        moved = [replace(item, text=same(item.text), result=same(item.result)) for item in items]
        names = [same(name) for name in listed_as(trial.source.title(path), items, path)]
        summed_up = looking.is_summed_up(path)
        for fault in looking.faults(here, moved, names, trial.source, trial.target, summed_up):
            yield f"{which} home: {fault}"
        if os.environ.get("POND_SCREENS"):
            keep = Path(os.environ["POND_SCREENS"])
            name = f"{trial.row.name}-{trial.target.short}-{which}".replace(" ", "_").replace(":", "")
            (keep / f"{name}.txt").write_text(f"{here.list}\n=====\n{here.session}\n", encoding="utf-8")
        shutil.rmtree(inner.home, ignore_errors=True)


def came_to_be(identity: str, written: Mapping[str, Path]) -> str:
    """Return the id that a session has after its conversion: its own, or that of the file that names it as origin."""
    if identity in written:
        return identity
    for own, path in written.items():
        if any(row.get("type") == "pond_origin" and _names(row.get("payload"), identity) for row in rows(path)):
            return own
    return identity


def _names(value: object, identity: str) -> bool:
    if isinstance(value, dict):
        return any(_names(each, identity) for each in value.values())
    return value == identity


def _make_newest(session: Path) -> None:
    """Let a captured session be the newest: a script's turns take no time, so that its files are of the same second."""
    soon = time.time() + 10
    os.utime(session, (soon, soon))


def _resume_original(trial: Trial, identity: str) -> Resumed:
    """Resume the unconverted session."""
    copy = trial.room.root / "original"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(trial.store, copy)
    if trial.row.old is not None:
        trial.source.settle(copy, trial.room.work)
        _make_newest(trial.source.sessions(copy)[identity])
    return resume(trial.source, copy, trial.room, identity)
