"""What a lake holds: its size beside its sources', and what reading one session costs. As a program it reads one."""

import json
import sys
import time
from pathlib import Path

from pond.sessions import load
from pond.sessions.stored_text import from_stored
from pond.sessions.tables import MESSAGES
from pond.substrate import read
from tests.bench.corpus import CLIENTS, store
from tests.bench.figures import Figure
from tests.bench.lakes import Lakes, ingest, opened, optimize, size_of
from tests.bench.watch import watched

SIZE_LIMIT, GET_LIMIT = 0.5, 3.0
_INDEXES = "_indices"
_CLIENT_MB = 100  # at most, of each client alone
_WARM = 5


def size(lakes: Lakes) -> list[Figure]:
    """Measure the bytes of optimised lakes against those of their sources: both clients together, and each alone."""
    whole = lakes.large_lake
    detail = {"before": size_of(whole.lake) / whole.megabytes}
    optimize(whole.lake)
    mixed = size_of(whole.lake) / whole.megabytes
    detail["of it indexes"] = _indexes(whole.lake) / whole.megabytes
    for client in CLIENTS:
        source = store(client, min(_CLIENT_MB, lakes.scale.corpus / len(CLIENTS)))
        alone = ingest(source, lakes.fresh(client))
        optimize(alone.lake)
        detail[client] = size_of(alone.lake) / alone.megabytes
        detail[f"{client} indexes"] = _indexes(alone.lake) / alone.megabytes
        lakes.fresh(client)
    return [Figure("size of the lake", mixed, "x sources", SIZE_LIMIT, at_least=False, detail=detail)]


def _indexes(lake: Path) -> float:
    return sum(size_of(folder) for folder in lake.rglob(_INDEXES))


def get(lakes: Lakes, rounds: int) -> list[Figure]:
    """Measure reading the same session from a large lake and from a small one, warm and in a new process."""
    few, large = lakes.few_lake, lakes.large_lake
    session = middle(few.lake)
    best: dict[str, tuple[float, float]] = {}
    for _ in range(rounds):
        for size, lake in (("few", few.lake), ("large", large.lake)):
            for name, taken in _read_in_new_process(lake, session).items():
                key = f"{name} {size}"
                wall, cpu = best.get(key, taken)
                best[key] = min(wall, taken[0]), min(cpu, taken[1])
    detail: dict[str, float] = {"messages": large.messages, "messages in the small one": few.messages}
    for name in ("fresh", "warm"):
        wall, cpu = (best[f"{name} large"][clock] / best[f"{name} few"][clock] for clock in (0, 1))
        detail |= {f"{name} CPU": cpu, f"{name} wall": wall, f"{name} CPU ms": best[f"{name} large"][1] * 1000}
    worst = max(detail["fresh CPU"], detail["warm CPU"])
    return [Figure("get of a session", worst, "x in small lake", GET_LIMIT, at_least=False, detail=detail)]


def middle(lake: Path) -> str:
    """Return the session that as many sessions are longer than as are shorter."""
    counts: dict[str, int] = {}
    for id in read.rows(opened(lake), MESSAGES, ["session_id"])["session_id"].to_pylist():
        counts[id] = counts.get(id, 0) + 1
    return from_stored(sorted(counts, key=lambda id: (counts[id], id))[len(counts) // 2])


def _read_in_new_process(lake: Path, session: str) -> dict[str, tuple[float, float]]:
    """Return seconds by the clock and of CPU: of a process that reads it once, and of reading it again."""
    words = [sys.executable, "-m", "tests.bench.stored", str(lake), session]
    fresh, warm = watched([*words, "0"]), watched([*words, str(_WARM)])
    wall, cpu = json.loads(warm.output)
    return {"fresh": (fresh.wall, fresh.cpu), "warm": (wall, cpu)}


def main(lake: str, session: str, again: str) -> None:
    """Read a session once, then again as often as asked; print the best of those."""
    tables = opened(Path(lake))
    best = (float("inf"), float("inf"))
    for _ in range(1 + int(again)):
        start = time.perf_counter(), time.process_time()
        assert load.session(tables, session) is not None
        assert sum(len(group) for group in load.groups(tables, session)) > 0
        best = min(best[0], time.perf_counter() - start[0]), min(best[1], time.process_time() - start[1])
    print(json.dumps(best))


if __name__ == "__main__":
    main(*sys.argv[1:])
