"""`make torture`: hundreds of crashes, crowds of writers, a storage full of faults; prints tables, exits 1 on harm."""

import argparse
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from pond.sessions.lake import opened
from pond.sessions.tables import SESSIONS
from pond.substrate import read
from tests.cli.command import command, environment, pond
from tests.lake import commands, crash, kill
from tests.lake.crowd import crowd
from tests.lake.logs import Logs, logs
from tests.lake.proxy import Fault, Plan, proxying
from tests.lake.s3 import Store, serving
from tests.lake.searching import searched_meanwhile
from tests.lake.sound import Content, content, differences, unsound
from tests.pods import crash as pods

Build = Callable[[Logs, Path], crash.Scenario]
CRASHES: list[tuple[int, Build]] = [
    (80, crash.fresh),
    (50, lambda logs, room: crash.fresh(logs, room, jobs=2)),
    (70, lambda logs, room: crash.growing(logs, room, seed=1)),
    (30, lambda logs, room: crash.then_growing(logs, room, seed=2)),
    (25, crash.two_killed),
    (25, crash.one_of_two_killed),
    # At some points the work is over before the blow falls: these leave two hundred of each.
    (220, commands.optimizing),
    (220, commands.erasing),
    (220, commands.exporting),
    (130, commands.importing),
    (90, lambda logs, room: commands.importing_more(logs, room, seed=3)),
]
PODS = 300  # points of each kind of work: at a third of them it is over before the blow falls
REMOTE, CROWDS, PROCESSES = 30, 3, 8
SHARES = (0.1, 0.2, 0.3)
_KINDS = [fault for fault in Fault if fault is not Fault.DELAY]
_MOST = 10  # lines about one kind of harm


def main() -> int:
    """Do everything, or the share of it that was asked for; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.lake.torture", description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="do this share of the points only")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", choices=sorted(PARTS), help="do this part only")
    given = parser.parse_args()
    warnings.filterwarnings("ignore", "lance is not fork-safe")  # only commands are forked here, and they start fresh
    harm: list[str] = []
    with tempfile.TemporaryDirectory(prefix="pond-torture-") as directory:
        sources = logs(Path(directory) / "logs")
        for part in [PARTS[given.part]] if given.part else PARTS.values():
            harm += part(sources, Path(directory), given.share, given.seed)
    print("\n".join(harm[:_MOST]) if harm else "nothing lost, nothing twice, nothing wrong")
    return 1 if harm else 0


def _crashes(sources: Logs, directory: Path, share: float, seed: int) -> list[str]:
    """Kill each kind of work at many points."""
    print("kill -9                   points  killed  by tenths of the work              sessions seen  harm  seconds")
    harm: list[str] = []
    for number, (count, build) in enumerate(CRASHES):
        room = directory / f"crash-{number}"
        room.mkdir()
        began = time.monotonic()
        sources.grow()
        scenario = build(sources, room)
        measured = crash.measure(scenario, room)
        outcomes = list(crash.crashes(scenario, room, measured, max(1, round(count * share)), seed))
        wrong = [f"{scenario.name}: {each}" for outcome in outcomes for each in outcome.wrong]
        _row(scenario.name, outcomes, wrong, time.monotonic() - began)
        harm += wrong
    return harm


def _pods(_: Logs, directory: Path, share: float, seed: int) -> list[str]:
    """Kill changes and restores of pods; what is counted here as seen are pods."""
    harm: list[str] = []
    for number, build in enumerate((pods.changing, pods.restoring)):
        room = directory / f"pods-{number}"
        room.mkdir()
        began, work = time.monotonic(), build(room)
        outcomes = list(pods.crashes(work, room, max(1, round(PODS * share)), seed))
        wrong = [f"{work.name}: {each}" for outcome in outcomes for each in outcome.wrong]
        _row(work.name, outcomes, wrong, time.monotonic() - began)
        harm += wrong
    return harm


def _row(name: str, outcomes: list[crash.Outcome], wrong: list[str], seconds: float) -> None:
    tenths = [0] * 10
    for outcome in outcomes:
        tenths[min(9, int(outcome.share * 10))] += outcome.killed
    seen = sorted(outcome.sessions for outcome in outcomes)
    killed = sum(outcome.killed for outcome in outcomes)
    spread = " ".join(f"{each:2d}" for each in tenths)
    sessions = f"{seen[0]:5}..{seen[-1]:<6}"
    print(
        f"{name:24}  {len(outcomes):6}  {killed:6}  {spread:33}  {sessions}  {len(wrong):4}  {seconds:7.0f}", flush=True
    )


def _remote_crashes(sources: Logs, directory: Path, share: float, seed: int) -> list[str]:
    """Kill first ingests into a bucket; the requests that came show how far one is."""
    sources.grow()
    whole, began = _whole(sources, directory / "remote-whole"), time.monotonic()
    outcomes: list[crash.Outcome] = []
    with serving() as port, proxying(port) as proxy:

        def run(store: Store, point: kill.Point | None) -> kill.Ending:
            proxy.exchanges.clear()
            through = store.through(proxy.server_port)
            words = command(["ingest", sources.root, "--lake", store.uri, "--jobs", "1"])
            return kill.run(words, lambda: len(proxy.exchanges), point, environment(**_variables(through)))

        measured = run(Store(port, "measured"), None)
        for number, point in enumerate(kill.points(measured, max(1, round(REMOTE * share)), seed)):
            store = Store(port, f"crash-{number}")
            ending = run(store, point)
            lake = opened(crash.settings(store.uri, store.storage_options))
            wrong, sessions = unsound(lake, whole), read.count(lake, SESSIONS)
            wrong += [f"after: {each}" for each in _completed(sources, store, whole)]
            outcomes.append(crash.Outcome(ending.killed, min(1.0, ending.done / measured.done), sessions, wrong))
    wrong = [f"bucket: {each}" for outcome in outcomes for each in outcome.wrong]
    _row("first ingest, bucket", outcomes, wrong, time.monotonic() - began)
    return wrong


def _crowds(sources: Logs, directory: Path, share: float, seed: int) -> list[str]:
    """Let many processes write one lake, here and in a bucket."""
    print(f"{PROCESSES} writers at once        runs  gave up  harm  seconds")
    harm: list[str] = []
    whole = _whole(sources, directory / "crowd-whole")
    with serving() as port:
        for place in ("a directory", "a bucket"):
            began, given_up, wrong = time.monotonic(), 0, list[str]()
            runs = max(1, round(CROWDS * share))
            for run in range(runs):
                bucket = Store(port, f"crowd-{run}")
                local = crash.settings(directory / f"crowd-{run}")
                settings = local if place == "a directory" else crash.settings(bucket.uri, bucket.storage_options)
                result = crowd(sources, settings, PROCESSES, whole, seed + run)
                given_up += result.conflicts
                wrong += [f"{place}: {each}" for each in result.wrong]
                wrong += [
                    f"{place}: {done.err}" for done in result.ended if done.code and "lake-conflict" not in done.err
                ]
            print(f"{place:23}  {runs:5}  {given_up:7}  {len(wrong):4}  {time.monotonic() - began:7.0f}", flush=True)
            harm += wrong
    return harm


def _searches(sources: Logs, directory: Path, share: float, seed: int) -> list[str]:
    """Search a lake while many processes write it and another compacts it."""
    print("searches meanwhile      runs  answers  grew  harm  seconds")
    harm: list[str] = []
    for run in range(max(1, round(CROWDS * share))):
        began, room = time.monotonic(), directory / f"searches-{run}"
        room.mkdir()
        result = searched_meanwhile(room, max(12, round(60 * share)), seed + run)
        figures = f"{result.searches:7}  {result.grew:4}  {len(result.wrong):4}  {time.monotonic() - began:7.0f}"
        print(f"{PROCESSES} writers, compaction  {run + 1:4}  {figures}", flush=True)
        harm += result.wrong
    return harm


def _faults(sources: Logs, directory: Path, share: float, seed: int) -> list[str]:
    """Ingest through a proxy that spoils a share of the answers; then once more, without it."""
    print("spoilt answers       requests  spoilt  exit  harm  seconds")
    harm: list[str] = []
    whole = _whole(sources, directory / "fault-whole")
    with serving() as port, proxying(port) as proxy:
        for number, spoilt in enumerate(SHARES[: max(1, round(len(SHARES) * share))]):
            began, straight = time.monotonic(), Store(port, f"faults-{number}")
            proxy.exchanges.clear()
            with proxy.spoiling(Plan(dict.fromkeys(_KINDS, spoilt / len(_KINDS)), seed)):
                code, wrong = _through(sources, straight.through(proxy.server_port))
            settings = crash.settings(straight.uri, straight.storage_options)
            wrong += unsound(opened(settings), whole) + list(_completed(sources, straight, whole))
            done, total, seconds = sum(proxy.faults().values()), len(proxy.exchanges), time.monotonic() - began
            print(
                f"{spoilt:4.0%} of all answers  {total:8}  {done:6}  {code:4}  {len(wrong):4}  {seconds:7.0f}",
                flush=True,
            )
            harm += wrong
    return harm


def _through(sources: Logs, store: Store) -> tuple[int, list[str]]:
    done = pond("ingest", sources.root, "--lake", store.uri, "--jobs", "1", variables=_variables(store))
    typed = done.code == 0 or [fault.code for fault in done.errors] in (["lake-unavailable"], ["lake-conflict"])
    return done.code, [] if typed else [f"exit {done.code}: {done.err}"]


def _completed(sources: Logs, store: Store, whole: Content) -> Iterator[str]:
    done = pond("ingest", sources.root, "--lake", store.uri, "--jobs", "1", variables=_variables(store))
    if done.code:
        yield f"exit {done.code}: {done.err}"
    yield from differences(content(opened(crash.settings(store.uri, store.storage_options))), whole)


def _variables(store: Store) -> dict[str, str]:
    options = {f"POND_STORAGE_{name.upper()}": value for name, value in store.storage_options.items()}
    return {"POND_INGEST_ROWS_PER_COMMIT": str(crash.ROWS), **options}


def _whole(sources: Logs, place: Path) -> Content:
    """Return what one undisturbed process makes of the sources."""
    sources.grow()
    crash.take_in(place, sources.root)
    return content(opened(crash.settings(place)))


PARTS = {
    "kill": _crashes, "pods": _pods, "remote": _remote_crashes, "crowds": _crowds, "searches": _searches,
    "faults": _faults,
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main())
