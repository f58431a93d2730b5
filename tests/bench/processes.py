"""What only a process of its own can show: peak memory, two processes against one, and the cost of starting."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.bench.corpus import CLIENTS, one_file, store
from tests.bench.figures import Figure
from tests.bench.speed import OTHER
from tests.bench.watch import POND, watched

MEMORY_LIMIT, JOBS_LIMIT, START_LIMIT = 200.0, 1.7, 2.5


def memory(megabytes: float, directory: Path) -> list[Figure]:
    """Measure the peak of converting one long file of each client: to its own form, canonical, back, to the other."""
    detail: dict[str, float] = {}
    for client in CLIENTS:
        file = one_file(client, megabytes, directory)  # too long to be kept between runs
        canonical, native = directory / f"{client}.canonical.jsonl", directory / f"{client}.jsonl"
        runs = {"own": (file, client, native), "to canonical": (file, "canonical", canonical)}
        runs["from canonical"] = (canonical, client, directory / f"{client}.back.jsonl")
        runs["foreign"] = (file, OTHER[client], directory / f"{client}.foreign.jsonl")
        for name, (source, to, out) in runs.items():
            words = [*POND, "convert", str(source), "--to", to, "-o", str(out)]
            detail[f"{client} {name}"] = watched(words).largest
        for made in (file, *(out for _, _, out in runs.values())):
            made.unlink()
    return [
        Figure(f"memory of {megabytes:g} MB", max(detail.values()), "MB", MEMORY_LIMIT, at_least=False, detail=detail)
    ]


def jobs(megabytes: float, rounds: int, directory: Path) -> list[Figure]:
    """Measure by the clock how much faster two processes convert a store than one."""
    best: dict[tuple[str, int], float] = {}
    for _ in range(rounds):
        for client in CLIENTS:
            for count in (1, 2):
                out = directory / f"jobs-{count}"
                words = [*POND, "convert", str(store(client, 2 * megabytes)), "--to", client, "-o", str(out)]
                taken = watched([*words, "--jobs", str(count)]).wall
                best[client, count] = min(best.get((client, count), float("inf")), taken)
                shutil.rmtree(out)
    detail = {client: best[client, 1] / best[client, 2] for client in CLIENTS}
    detail["two busy loops"] = two_busy_loops()
    one, two = (sum(best[client, count] for client in CLIENTS) for count in (1, 2))
    return [Figure("two processes", one / two, "x one", JOBS_LIMIT, at_least=True, detail=detail)]


def two_busy_loops() -> float:
    """Return how much two busy processes get done in the time of one: less than 2 where others use the machine too."""
    spin = [sys.executable, "-S", "-c", "for _ in range(10_000_000): pass"]
    start = time.perf_counter()
    subprocess.run(spin, check=True)
    one = time.perf_counter() - start
    start = time.perf_counter()
    for process in [subprocess.Popen(spin), subprocess.Popen(spin)]:
        process.wait()
    return 2 * one / (time.perf_counter() - start)


def start_up(rounds: int) -> list[Figure]:
    """Measure the CPU time of small commands against importing the command-line library alone."""
    commands = {"import typer": [sys.executable, "-c", "import typer"], "--help": [*POND, "--help"]}
    for client in CLIENTS:
        commands[client] = [*POND, "convert", str(one_file(client, 0.1)), "--to", "canonical"]
    best = dict.fromkeys(commands, float("inf"))
    for _ in range(rounds * 4):
        for name, words in commands.items():
            best[name] = min(best[name], watched(words).cpu)
    base = best.pop("import typer")
    detail = {name: seconds / base for name, seconds in best.items()}
    worst = max(detail[client] for client in CLIENTS)
    return [Figure("convert of 100 KB", worst, "x import typer", START_LIMIT, at_least=False, detail=detail)]
