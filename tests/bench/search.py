"""Measure search: `python -m tests.bench.search`. How fast it is, in ratios, and how well it finds what is labelled."""

import argparse
import json
import sys
from pathlib import Path

from pond.config.process import Role, become
from tests.bench.figures import Figure, table

PARTS = ("speed", "vectors", "recall", "quality")


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.search", description=__doc__)
    parser.add_argument("--only", choices=PARTS, help="measure this part alone")
    parser.add_argument("--messages", type=int, metavar="N", help="in the lake that is searched for speed (100,000)")
    parser.add_argument("--full", action="store_true", help="a million of them, as promised")
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many counts (3)")
    parser.add_argument("--kept", type=Path, metavar="DIR", help="where lakes are kept (the temporary directory)")
    parser.add_argument("--sets", type=Path, metavar="DIR", help="labelled questions; without them no quality")
    parser.add_argument("--samples", type=Path, metavar="DIR", help="the sessions that they are about")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a promise is not kept")
    return parser.parse_args(words)


def run(options: argparse.Namespace) -> list[Figure]:
    """Measure what was asked for."""
    figures: list[Figure] = []
    if options.only in (None, "speed"):
        from tests.bench import search_speed

        figures += search_speed.measure(options.messages, options.full, options.kept, options.rounds)
    if options.only in (None, "vectors"):
        from tests.bench import search_hybrid

        figures += search_hybrid.measure(options.messages, options.full, options.kept, options.rounds)
    if options.only in (None, "recall"):
        from tests.bench import search_recall

        figures += search_recall.measure(options.full)
    if options.only in (None, "quality") and options.sets and options.samples:
        from tests.bench import search_quality

        figures += search_quality.measure(options.sets, options.samples)
    return figures


def main(words: list[str]) -> int:
    """Print the table; write the JSON; return the exit code."""
    become(Role.COMMAND)
    options = _arguments(words)
    figures = run(options)
    print(table(figures))
    if options.json:
        options.json.write_text(json.dumps([figure.as_json() for figure in figures], indent=2) + "\n")
    return int(options.check and not all(figure.met for figure in figures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
