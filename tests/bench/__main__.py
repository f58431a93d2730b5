"""Measure pond against its promises: `python -m tests.bench`. Ratios only: seconds mean little elsewhere."""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.bench import processes, speed, survival
from tests.bench.figures import Figure, table

NAMES = (*speed.DIRECTIONS, "memory", "jobs", "start-up", survival.NAME)


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "--mb", type=float, default=100, help="size of the invented corpus, both clients together (100)"
    )
    parser.add_argument("--mem-mb", type=float, help="size of the one long file whose conversion is watched (200)")
    parser.add_argument("--full", action="store_true", help="watch a file of 1000 MB")
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
    return figures


def main(words: list[str]) -> int:
    """Print the table; write the JSON; return the exit code."""
    options = _arguments(words)
    figures = run(options)
    print(table(figures))
    if options.json:
        found = {"corpus_mb": options.mb, "figures": [figure.as_json() for figure in figures]}
        options.json.write_text(json.dumps(found, indent=2) + "\n")
    return int(options.check and not all(figure.met for figure in figures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
