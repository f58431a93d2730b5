"""Commands killed at points spread over their work, and what they leave behind; here ingest, the others beside."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pond.config.settings import Ingest, Settings
from pond.diagnostics.diagnostic import PondError
from pond.intake.ingest import ingest
from pond.intake.request import Request
from pond.sessions.lake import opened
from pond.sessions.tables import MESSAGES, PARTS, TABLES
from pond.substrate import predicate, read
from pond.substrate.store import Store
from tests.cli.command import command, environment
from tests.lake import kill
from tests.lake.logs import Logs
from tests.lake.sound import Content, content, differences, duplicates, unsound

ROWS = 100  # a commit: many commits in little work
LAKE = "lake"  # in the folder of a point
_BOTH = '"$@" & "$@" & wait'


@dataclass(frozen=True)
class Scenario:
    """What is killed, on which lake, and what the lake holds when it is run to its end.

    Each point has a folder of its own: the lake is in it, and whatever else the command writes.
    """

    name: str
    words: Callable[[Path], list[str]]
    whole: Content
    template: Path | None = None  # a lake to begin with
    before: Content | None = None
    after: Content | None = None  # what it holds when it was run again, where the sources are not the same by then
    beside: Callable[[Path], list[str]] | None = None  # runs at the same time, and is not killed
    again: Callable[[Path], object] = lambda lake: None
    amiss: Callable[[Path], list[str]] | None = None  # says what is wrong right after, where it is not an ingest
    ended: Callable[[Path], list[str]] = lambda lake: []  # says what else is wrong in the end


@dataclass(frozen=True)
class Outcome:
    """One point: how much was done, what was visible right after, and what was wrong then and in the end."""

    killed: bool
    share: float
    sessions: int
    wrong: list[str]


def settings(lake: Path | str, storage: dict[str, str] | None = None) -> Settings:
    return Settings(lake=str(lake), storage=storage or {}, ingest=Ingest(rows_per_commit=ROWS))


def take_in(lake: Path, *inputs: Path) -> None:
    """Ingest in this process."""
    summary = ingest(settings(lake), Request([(str(path), None) for path in inputs], processes=1))
    assert not summary.report.errors, summary.report.diagnostics


def filled(logs: Logs, place: Path) -> Path:
    """Make a lake of all the files, which are complete; the first such lake is built, the others are copies of it."""
    template = logs.root.parent / "filled"
    if not template.exists():
        assert not logs.short()
        take_in(template, logs.root)
    shutil.copytree(template, place)
    return place


def ingesting(*inputs: Path, jobs: int = 1) -> Callable[[Path], list[str]]:
    """Return the command that ingests, for each lake."""
    return lambda lake: command(["ingest", *inputs, "--lake", lake, "--jobs", str(jobs)])


def variables(**more: str) -> dict[str, str]:
    return environment(POND_INGEST_ROWS_PER_COMMIT=str(ROWS), **more)


# --- what is killed --------------------------------------------------------------------------------------------------


def fresh(logs: Logs, room: Path, jobs: int = 1) -> Scenario:
    """A lake's first ingest."""
    whole = content(opened_at(filled(logs, room / "whole")))
    name = "first ingest" if jobs == 1 else f"first ingest, {jobs} readers"
    return Scenario(name, ingesting(logs.root, jobs=jobs), whole, again=lambda lake: take_in(lake, logs.root))


def growing(logs: Logs, room: Path, seed: int) -> Scenario:
    """An ingest of files that have grown, and of new ones, into a lake that knows the others."""
    logs.shorten(seed)
    take_in(room / "short", logs.root)
    logs.grow()
    filled(logs, room / "grown")
    return Scenario(
        "ingest of grown files", ingesting(logs.root), content(opened_at(room / "grown")), room / "short",
        content(opened_at(room / "short")), again=lambda lake: take_in(lake, logs.root),
    )  # fmt: skip


def then_growing(logs: Logs, room: Path, seed: int) -> Scenario:
    """A first ingest of files that have grown by the time it is run again."""
    filled(logs, room / "long")
    logs.shorten(seed)
    take_in(room / "short", logs.root)

    def again(lake: Path) -> None:
        logs.grow()
        take_in(lake, logs.root)
        logs.shorten(seed)

    long, short = content(opened_at(room / "long")), content(opened_at(room / "short"))
    return Scenario("ingest, then files grow", ingesting(logs.root), short, after=long, again=again)


def two_killed(logs: Logs, room: Path) -> Scenario:
    """Two first ingests of the same files, both killed."""
    one = fresh(logs, room)
    words = ingesting(logs.root)
    return Scenario(
        "two writers, both", lambda lake: ["sh", "-c", _BOTH, "sh", *words(lake)], one.whole, again=one.again
    )


def one_of_two_killed(logs: Logs, room: Path) -> Scenario:
    """Two ingests of overlapping folders, one of which is killed while the other continues."""
    one = fresh(logs, room)
    folders = sorted(logs.root.iterdir())
    return Scenario(
        "two writers, one", ingesting(*folders[:2]), one.whole, beside=ingesting(*reversed(folders[1:])),
        again=one.again,
    )  # fmt: skip


# --- killing ---------------------------------------------------------------------------------------------------------


def measure(scenario: Scenario, room: Path) -> kill.Ending:
    """Run it to its end, to know how much work it is."""
    place = room / "measured"
    ending = _run(scenario, place, None)
    assert ending.code == 0, ending.output
    shutil.rmtree(place)
    return ending


def crashes(scenario: Scenario, room: Path, measured: kill.Ending, count: int, seed: int) -> Iterator[Outcome]:
    """Kill it at `count` points, and look at the lake right after, and once it was run again."""
    for number, point in enumerate(kill.points(measured, count, seed)):
        place = room / f"point-{number}"
        lake = place / LAKE
        ending = _run(scenario, place, point)
        wrong = _unsound(scenario, lake)
        sessions = read.count(opened_at(lake), TABLES[0])
        wrong += _run_again(scenario, lake)
        wrong += [f"after: {each}" for each in _differing(opened_at(lake), scenario.after or scenario.whole)]
        wrong += [f"after: {each}" for each in scenario.ended(lake)]
        yield Outcome(ending.killed, min(1.0, ending.done / max(1, measured.done)), sessions, wrong)
        shutil.rmtree(place)


def _unsound(scenario: Scenario, lake: Path) -> list[str]:
    if scenario.amiss is not None:
        return scenario.amiss(lake)
    return unsound(opened_at(lake), scenario.whole, scenario.before)


def _run_again(scenario: Scenario, lake: Path) -> list[str]:
    """Do what a person would do now; that it is refused is harm like any other."""
    try:
        scenario.again(lake)
    except (PondError, AssertionError) as error:
        return [f"run again: {error}"]
    return []


def _differing(store: Store, whole: Content) -> list[str]:
    return duplicates(store) + differences(content(store), whole) + _missed_by_index(store, whole)


def _missed_by_index(store: Store, whole: Content) -> list[str]:
    """Name the sessions whose rows a question by session does not find: it is answered by an index."""
    found = []
    for (id,) in whole["sessions"]:
        for table in (MESSAGES, PARTS):
            there = sum(key[0] == id for key in whole[table.name])
            if read.count(store, table, predicate.equals("session_id", id)) != there:
                found.append(f"{table.name}: the index does not find all of {id}")
    return found


def _run(scenario: Scenario, place: Path, point: kill.Point | None) -> kill.Ending:
    lake, scratch = place / LAKE, place / "scratch"
    scratch.mkdir(parents=True)  # temporary files are work that can be seen, and go with the rest
    if scenario.template is not None:
        shutil.copytree(scenario.template, lake)
    around = variables(TMPDIR=str(scratch))
    beside = None
    if scenario.beside is not None:
        nothing = subprocess.DEVNULL
        beside = subprocess.Popen(scenario.beside(lake), env=around, stdin=nothing, stdout=nothing, stderr=nothing)
    try:
        return kill.run(scenario.words(lake), kill.Tree(place), point, around)
    finally:
        if beside is not None:
            assert beside.wait(kill.LIMIT) == 0


def opened_at(lake: Path) -> Store:
    return opened(settings(lake))
