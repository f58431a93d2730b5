"""Measure pond against its promises: `python -m tests.bench`. Ratios only: seconds mean little elsewhere."""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from pond.config.process import Role, become
from tests.bench import again, embedding, ingesting, processes, querying, speed, stored, survival
from tests.bench.figures import Figure, table
from tests.bench.lakes import EVERY_DAY, FULL, Lakes

LAKE = (
    "ingest",
    "ingest-rows",
    "ingest-memory",
    "ingest-again",
    "ingest-grown",
    "get",
    "sql-join",
    "sql-group",
    "size",
)
NAMES = (*speed.DIRECTIONS, "memory", "jobs", "start-up", survival.NAME, embedding.NAMED, *LAKE)


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "--mb", type=float, default=100, help="size of the invented corpus, both clients together (100)"
    )
    parser.add_argument("--mem-mb", type=float, help="size of the one long file whose conversion is watched (200)")
    parser.add_argument("--full", action="store_true", help="watch a file of 1000 MB; a lake of 2000 MB")
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many counts (3)")
    parser.add_argument("--only", choices=NAMES, action="append", help="measure this alone; may be given again")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a promise is not kept")
    return parser.parse_args(words)


def run(options: argparse.Namespace) -> list[Figure]:
    """Measure what was asked for, cheapest preparation first."""
    names = options.only or NAMES
    long_file = options.mem_mb or (1000 if options.full else 200)
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="pond-bench-") as temporary:
        directory = Path(temporary)
        figures += speed.measure(names, options.mb, options.rounds, directory)
        if "memory" in names:
            figures += processes.memory(long_file, directory)
        if "jobs" in names:
            figures += processes.jobs(options.mb, options.rounds, directory)
        if survival.NAME in names:
            figures += survival.survival(min(options.mb, 4), directory)
        if "start-up" in names:
            figures += processes.start_up(options.rounds)
        if embedding.NAMED in names:
            figures += embedding.speed(options.rounds, directory)
        figures += _lake(names, Lakes(FULL if options.full else EVERY_DAY, directory), options.rounds)
    return figures


def _lake(names: Sequence[str], lakes: Lakes, rounds: int) -> list[Figure]:
    """Measure what was asked for of the lake; the size comes last, since it optimises the lake that others measure."""
    work: dict[str, Callable[[], list[Figure]]] = {
        "ingest": lambda: ingesting.speed(lakes, rounds),
        "ingest-rows": lambda: ingesting.per_row(lakes, rounds),
        "ingest-memory": lambda: ingesting.memory(lakes),
        "ingest-again": lambda: again.unchanged(lakes, rounds),
        "ingest-grown": lambda: again.grown(lakes, rounds),
        "get": lambda: stored.get(lakes, rounds),
        "sql-join": lambda: querying.join(lakes, rounds),
        "sql-group": lambda: querying.group(lakes, rounds),
        "size": lambda: stored.size(lakes),
    }
    figures: list[Figure] = []
    for name in LAKE:
        if name in names:
            print(f"measuring {name}", file=sys.stderr)  # the large lake takes minutes
            figures += work[name]()
    return figures


def main(words: list[str]) -> int:
    """Print the table; write the JSON; return the exit code."""
    become(Role.COMMAND)  # the figures are those of commands
    options = _arguments(words)
    figures = run(options)
    print(table(figures))
    if options.json:
        found = {"corpus_mb": options.mb, "figures": [figure.as_json() for figure in figures]}
        options.json.write_text(json.dumps(found, indent=2) + "\n")
    return int(options.check and not all(figure.met for figure in figures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
