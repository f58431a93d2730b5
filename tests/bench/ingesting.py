"""What bringing a corpus into a lake costs: against its limit, against peers, per row, and in memory."""

import os
import shutil

from pond.config.load import load
from tests.bench import limit
from tests.bench.corpus import CLIENTS, one_file
from tests.bench.figures import Figure
from tests.bench.lakes import NO_FILE, Ingested, Lakes, ingest
from tests.bench.processes import two_busy_loops
from tests.bench.watch import Taken

SPEED_LIMIT, ROW_LIMIT, MEMORY_LIMIT = 0.33, 1.5, 600.0
# Measured for these peers once, on another corpus of 577 MB and another machine: facts for comparison, not a race.
PEERS_MB, PEER_CPU = 577, {"deja-vu": 75.6, "agentsview": 352.0}
PEER_MEMORY = {"deja-vu MB": 984.0, "agentsview MB": 192.0}


def speed(lakes: Lakes, rounds: int) -> list[Figure]:
    """Measure ingest into a new lake against its limit, in turn; the best of both counts."""
    runs = [lakes.large_lake]
    rows, bare = lakes.directory / "rows", lakes.directory / "bare"
    limit.keep_rows(runs[0].lake, load({}, os.environ | NO_FILE).ingest.rows_per_commit, rows)
    limits = []
    for number in range(rounds):
        if number:
            runs.append(ingest(lakes.large, lakes.fresh("again")))
        limits.append(limit.measure(lakes.large, rows, bare))
    shutil.rmtree(rows)
    lakes.fresh("again")
    return [_against_limit(runs, limits), _beside_peers(runs)]


def _against_limit(runs: list[Ingested], limits: list[dict[str, tuple[float, float]]]) -> Figure:
    wall, cpu = min(run.taken.wall for run in runs), min(run.taken.cpu for run in runs)
    least_wall, least_cpu = (min(sum(each[clock] for each in found.values()) for found in limits) for clock in (0, 1))
    detail = {"CPU": least_cpu / cpu, "cores used": max(run.taken.cpu / run.taken.wall for run in runs)}
    detail |= {"MB/s": runs[0].megabytes / wall, "limit MB/s": runs[0].megabytes / least_wall}
    detail |= {"rows": runs[0].rows, "rows/s": runs[0].rows / wall, "CPU s": cpu, "limit CPU s": least_cpu}
    detail["limit decode CPU s"] = min(found["decode"][1] for found in limits)
    detail["two busy loops"] = two_busy_loops()
    name = f"ingest of {runs[0].megabytes:.0f} MB"
    return Figure(name, least_wall / wall, "x limit", SPEED_LIMIT, at_least=True, detail=detail)


def _beside_peers(runs: list[Ingested]) -> Figure:
    scaled = PEERS_MB / runs[0].megabytes
    seconds = min(run.taken.cpu for run in runs) * scaled
    best = min(PEER_CPU.values())
    detail = {"CPU s": seconds, "and indexing": runs[0].indexing * scaled} | {
        f"{name} CPU s": peer for name, peer in PEER_CPU.items()
    }
    detail |= {"MB": max(run.taken.peaks for run in runs)} | PEER_MEMORY
    return Figure(f"ingest per {PEERS_MB} MB", seconds / best, "x best peer", 1.0, at_least=False, detail=detail)


def per_row(lakes: Lakes, rounds: int) -> list[Figure]:
    """Measure what the same files cost in a small lake and in a large one, without what starting costs."""
    nothing = _least(lakes, None, 2 * rounds)
    small, large = (_least(lakes, into, rounds) for into in (lakes.small_lake, lakes.million_lake))
    detail = {"small lake rows": lakes.small_lake.rows, "CPU s in small": small.cpu, "CPU s in large": large.cpu}
    detail |= {"CPU s of start": nothing.cpu, "wall": large.wall / small.wall}
    ratio = (large.cpu - nothing.cpu) / (small.cpu - nothing.cpu)
    name = f"row at {lakes.million_lake.rows / 1000:.0f} k rows"
    return [Figure(name, ratio, "x in small lake", ROW_LIMIT, at_least=False, detail=detail)]


def _least(lakes: Lakes, into: Ingested | None, rounds: int) -> Taken:
    """Return the cheapest of several runs of the slice into a copy of a lake; of nearly nothing, into none."""
    runs = []
    for _ in range(rounds):
        copy = lakes.fresh("copy")
        if into is not None:
            shutil.copytree(into.lake, copy)
        runs.append(ingest(lakes.slice if into is not None else one_file(CLIENTS[0], 0.001), copy).taken)
    lakes.fresh("copy")
    return min(runs, key=lambda taken: taken.cpu)


def memory(lakes: Lakes) -> list[Figure]:
    """Measure the peak of all processes of an ingest: of the corpus, of one long file, of many short ones."""
    runs = {f"{lakes.scale.corpus:g} MB": lakes.large_lake}
    for client in CLIENTS:
        long = one_file(client, lakes.scale.long, lakes.directory)  # too long to be kept between runs
        runs[f"one {client} file"] = ingest(long, lakes.fresh("long"))
        long.unlink()
    runs[f"{lakes.scale.files} files"] = lakes.tiny_lake
    lakes.fresh("long")
    detail: dict[str, float] = {}
    for name, run in runs.items():
        detail |= {name: run.taken.together, f"{name}, sum of peaks": run.taken.peaks}
    peak = max(run.taken.together for run in runs.values())
    return [Figure("memory of ingest", peak, "MB", MEMORY_LIMIT, at_least=False, detail=detail)]
