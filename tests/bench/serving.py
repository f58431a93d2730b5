"""Measure a server against the operations it calls: `python -m tests.bench.serving`. CPU seconds, in one run."""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path
from typing import Any

import pyarrow as pa

from pond.config.process import Role, become
from pond.config.settings import Settings
from pond.model.json_text import JsonObject
from pond.operations.get import get
from pond.operations.search import search
from pond.operations.service import Service
from pond.operations.sync import UPDATE_INDEXES, SyncRequest, sync
from pond.sessions.rows import Rows, session_row
from pond.sessions.writing import prepare, write_rows, write_sessions
from tests.bench.figures import Figure, table
from tests.bench.watch import POND, watched
from tests.operations import invented
from tests.transports.server import Server, asked, serving

PER_SESSION = 100  # messages
CONNECTIONS = (1, 16, 64)
_TURN = 20  # requests in process, then as many over HTTP
_TICKS = os.sysconf("SC_CLK_TCK")
_JSON = {"content-type": "application/json"}


# --- what is measured on ---------------------------------------------------------------------------------------------


def _word(number: int) -> str:
    return "".join("bdfgklmnprstvz"[number // 5**at % 14] + "aeiou"[number // 14**at % 5] for at in range(3))


def _sentence(chance: random.Random) -> str:
    # Few words are common and many are rare, as in any text.
    return " ".join(_word(int(chance.paretovariate(0.6)) % 20_000) for _ in range(25))


def _session(number: int) -> list[JsonObject]:
    chance, id = random.Random(number), f"bench-{number:06}"
    events: list[JsonObject] = [invented.session(id, project=f"/srv/project-{number % 50}")]
    for at in range(PER_SESSION):
        role = "assistant" if at % 2 else "user"
        events += invented.said(id, f"{id}-{at}", _sentence(chance), role, at=at)
    return events


def fill(place: Path, messages: int) -> None:
    """Make a lake of so many messages, with its indexes."""
    service = Service(Settings(lake=str(place)))
    store = service.writing()
    prepare(store)
    sessions = [_session(number) for number in range(messages // PER_SESSION)]
    for begin in range(0, len(sessions), 200):
        made = [_rows(events) for events in sessions[begin : begin + 200]]
        messages_, parts = (pa.Table.from_batches(each) for each in zip(*made, strict=True))
        write_rows(store, messages_, parts, {})
        write_sessions(
            store, [session_row(events[0], 1_800_000_000_000_000) for events in sessions[begin : begin + 200]]
        )
    sync(service, SyncRequest(only=UPDATE_INDEXES))


def _rows(events: list[JsonObject]) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    rows = Rows(events[0])
    for at in range(1, len(events), 2):
        rows.take(events[at : at + 2])
    return rows.flush()


def _asked(kind: str, number: int, messages: int) -> JsonObject:
    chance = random.Random(number)
    if kind == "search":
        words = " ".join(_word(int(chance.paretovariate(0.6)) % 20_000) for _ in range(3))
        return {"protocol_version": 1, "query": words}
    return {"protocol_version": 1, "session_id": f"bench-{chance.randrange(messages // PER_SESSION):06}"}


# --- reading ---------------------------------------------------------------------------------------------------------


def cpu_of(process: int, with_forks: bool = False) -> float:
    """Return the CPU seconds that a process has taken, with those of its children that have ended if asked."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11 : 15 if with_forks else 13])) / _TICKS


@dataclass
class Load:
    """What some connections did."""

    answers: list[float] = field(default_factory=list)  # seconds that each took
    errors: int = 0
    cpu: float = 0.0  # of the server

    def percentile(self, share: float) -> float:
        return sorted(self.answers)[min(len(self.answers) - 1, int(share * len(self.answers)))]

    def __iadd__(self, other: "Load") -> "Load":
        self.answers += other.answers
        self.errors += other.errors
        self.cpu += other.cpu
        return self

    @property
    def each(self) -> float:
        return self.cpu / max(1, len(self.answers))


def load(server: Server, connections: int, bodies: Iterator[tuple[str, bytes]], until: Callable[[int], bool]) -> Load:
    """Send requests over connections that stay open, each the next when it has an answer, until it is enough.

    It ends earlier where no request is left.
    """
    done, lock = Load(), threading.Lock()
    before = cpu_of(server.process.pid)

    def work() -> None:
        connection = server.connection()
        while True:
            with lock:
                following = None if until(len(done.answers)) else next(bodies, None)
            if following is None:
                break
            path, body = following
            begun = time.perf_counter()
            answer = asked(connection, "POST", path, body, **_JSON)
            with lock:
                done.answers.append(time.perf_counter() - begun)
                done.errors += answer.status != 200 or b'"rejected":[{' in answer.content
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done.cpu = cpu_of(server.process.pid) - before
    return done


def reading(server: Server, place: Path, kind: str, requests: int, messages: int) -> Iterator[Figure]:
    """Compare an operation over HTTP with the same in process.

    They take turns of a few requests each: what else the machine does slows down both alike.
    """
    service = Service(Settings(lake=str(place)))
    run: Callable[[Service, Any], object] = search if kind == "search" else get
    wanted = [_asked(kind, number, messages) for number in range(requests)]
    bodies = [(f"/v1/{kind}", json.dumps(each).encode()) for each in wanted]
    for each in wanted[:10]:
        run(service, each)
    load(server, 64, cycle(bodies), lambda sent: sent >= 100)  # every thread has opened the lake by then
    for connections in CONNECTIONS:
        alone, done, turn = 0.0, Load(), max(_TURN, 2 * connections)
        for begin in range(0, requests, turn):
            before = time.process_time()
            for each in wanted[begin : begin + turn]:
                run(service, each)
            alone += time.process_time() - before
            done += load(server, connections, iter(bodies[begin : begin + turn]), lambda _: False)
        yield _compared(f"{kind}, {connections} connections", alone / requests, done)


def _compared(name: str, alone: float, done: Load) -> Figure:
    detail = {
        "in process ms": alone * 1000, "server ms": done.each * 1000, "errors": done.errors,
        "p50 ms": done.percentile(0.5) * 1000, "p99 ms": done.percentile(0.99) * 1000,
    }  # fmt: skip
    return Figure(name, alone / done.each, "of in process", 0.8, True, detail)


# --- writing ---------------------------------------------------------------------------------------------------------


def _singles(session: str) -> Iterator[JsonObject]:
    chance = random.Random(session)
    yield invented.session(session)
    for at in count():
        yield from invented.said(session, f"{session}-{at}", _sentence(chance), at=at % 1000)


class _Senders:
    """Gives each connection the next event of a session of its own."""

    def __init__(self, prefix: str) -> None:
        self._prefix, self._own = prefix, threading.local()
        self._numbers = count()

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        return self

    def __next__(self) -> tuple[str, bytes]:
        if not hasattr(self._own, "events"):
            self._own.events = _singles(f"{self._prefix}-{next(self._numbers)}")
        body = {"protocol_version": 1, "events": [next(self._own.events)]}
        return "/v1/ingest", json.dumps(body).encode()


def bare(place: Path, connections: int, groups: int) -> float:
    """Return the CPU seconds of one event where groups of rows are committed and nothing else is done."""
    store = Service(Settings(lake=str(place))).writing()
    sessions = [list(_first(f"bare-{number}", groups + 2)) for number in range(connections)]
    batches = [_rows(events) for events in sessions]
    write_sessions(store, [session_row(events[0], 1_800_000_000_000_000) for events in sessions])
    waiting = []
    for group in range(groups):  # each session's next row: of some it is a message, of the others a part
        messages = [batch.slice(group // 2, 1) for at, (batch, _) in enumerate(batches) if (group + at) % 2 == 0]
        parts = [batch.slice(group // 2, 1) for at, (_, batch) in enumerate(batches) if (group + at) % 2 == 1]
        waiting.append((pa.Table.from_batches(messages), pa.Table.from_batches(parts)))
    before = time.process_time()
    for messages_, parts_ in waiting:
        write_rows(store, messages_, parts_, {})
    return (time.process_time() - before) / (groups * connections)


def _first(session: str, events: int) -> Iterator[JsonObject]:
    found = _singles(session)
    yield from (next(found) for _ in range(events + 1 - events % 2))


def _after(seconds: float) -> Callable[[int], bool]:
    end = time.monotonic() + seconds
    return lambda _: time.monotonic() > end


def writing(server: Server, place: Path, seconds: float) -> Iterator[Figure]:
    """Compare one event a request with the bare commits of such rows, and count what is left behind."""
    copy = place.parent / "bare"
    shutil.copytree(place, copy)
    alone = bare(copy, 16, 40)
    for connections in CONNECTIONS:
        enough = _after(seconds if connections == 16 else seconds / 4)
        done = load(server, connections, _Senders(f"live-{connections}"), enough)
        detail = {
            "bare ms": alone * 1000, "server ms": done.each * 1000, "errors": done.errors, "events": len(done.answers),
            "p50 ms": done.percentile(0.5) * 1000, "p99 ms": done.percentile(0.99) * 1000,
        }  # fmt: skip
        limit = 0.5 if connections == 16 else 0.0
        yield Figure(f"ingest, {connections} connections", alone / done.each, "of bare commits", limit, True, detail)
        if connections == 16:
            tables = server.get("/v1/stats").json["tables"]
            left = {each["name"]: float(each["fragments"]) for each in tables}
            yield Figure("fragments afterwards", sum(left.values()), "fragments", 60, False, left)


# --- memory, and commands --------------------------------------------------------------------------------------------


def memory(server: Server, messages: int, seconds: float) -> Iterator[Figure]:
    """Watch the memory of a server under mixed load: the second half of the time against the first."""
    seen: list[float] = []
    end = time.monotonic() + seconds
    senders = _Senders("soak")

    def bodies() -> Iterator[tuple[str, bytes]]:
        for number in count():
            kind = ("search", "get", "ingest")[number % 3]
            if kind == "ingest":
                yield next(senders)
            else:
                yield f"/v1/{kind}", json.dumps(_asked(kind, number, messages)).encode()

    def watch() -> None:
        while time.monotonic() < end:
            seen.append(_resident(server.process.pid))
            time.sleep(0.5)

    watching = threading.Thread(target=watch)
    watching.start()
    done = load(server, 16, bodies(), lambda _: time.monotonic() > end)
    watching.join()
    half = len(seen) // 2
    first, second = max(seen[half // 2 : half]), max(seen[half:])
    detail = {
        "MB, second quarter": first,
        "MB, second half": second,
        "requests": len(done.answers),
        "errors": done.errors,
    }
    yield Figure("memory under load", second / first, "of before", 1.1, False, detail)


def _resident(process: int) -> float:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _kept_ready(server: Server) -> int:
    """Return the process that a server keeps for commands, the first of a session of its own."""
    number = server.process.pid
    children = map(int, Path(f"/proc/{number}/task/{number}/children").read_text().split())
    return next(child for child in children if os.getsid(child) == child)


def commands(server: Server, place: Path, rounds: int) -> Iterator[Figure]:
    """Compare `pond search` through a running server with the start of Python itself; its fork counts, too."""
    environment = {"XDG_CONFIG_HOME": "/nonexistent", "XDG_RUNTIME_DIR": str(place.parent / "run")}
    words = [*POND, "search", _word(3), "--lake", str(place)]
    python = min(watched([sys.executable, "-c", "pass"]).cpu for _ in range(rounds))
    ready = _kept_ready(server)
    before = cpu_of(ready, with_forks=True)
    command = min(watched(words, environment).cpu for _ in range(rounds))
    fork = (cpu_of(ready, with_forks=True) - before) / rounds
    alone = min(watched(words, environment | {"XDG_RUNTIME_DIR": "/nonexistent"}).cpu for _ in range(rounds))
    detail = {
        "python ms": python * 1000, "command ms": command * 1000, "fork ms": fork * 1000,
        "without a server ms": alone * 1000,
    }  # fmt: skip
    yield Figure("pond search through a server", (command + fork) / python, "of bare Python", 5, False, detail)


def run(options: argparse.Namespace, place: Path) -> Iterator[Figure]:
    """Measure everything on one lake and one server."""
    print(f"making a lake of {options.messages} messages", file=sys.stderr)
    fill(place, options.messages)
    with serving(place) as server:
        for kind in ("get", "search"):
            yield from reading(server, place, kind, options.requests, options.messages)
        yield from commands(server, place, 15)
        yield from writing(server, place, options.seconds)
        yield from memory(server, options.messages, options.soak)


def main(words: Sequence[str]) -> int:
    """Print the figures as they come, then the table."""
    become(Role.SERVER)
    parser = argparse.ArgumentParser(prog="python -m tests.bench.serving", description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000, help="of the lake (100,000)")
    parser.add_argument("--requests", type=int, default=300, help="of each kind (300)")
    parser.add_argument("--seconds", type=float, default=60, help="of ingest over 16 connections (60)")
    parser.add_argument("--soak", type=float, default=600, help="seconds of mixed load (600)")
    options = parser.parse_args(words)
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="pb-") as temporary:
        for figure in run(options, Path(temporary) / "lake"):
            print(f"{figure.name}: {figure.value:.2f} {figure.unit}", file=sys.stderr)
            figures.append(figure)
    print(table(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
