"""Measure this tree against another revision of it: `python -m tests.bench.against REVISION`.

Both run the same commands on the same files, in turns, each in a process of its own; CPU time counts. A ratio above 1
means that this tree is faster.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.bench.corpus import CLIENTS, store
from tests.bench.speed import OTHER
from tests.house.tree import ROOT

FIGURES = ("round-trip", "to-canonical", "from-canonical", "foreign", "ingest")


def _cpu(tree: Path, *words: str | Path) -> float:
    """Run a command of the tree's pond; return the CPU seconds it took."""
    # Both trees compile their modules once, also where somebody has told Python not to keep them.
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": ""}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "pond.cli.main", *map(str, words)], cwd=tree, env=environment, check=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _once(tree: Path, files: dict[str, tuple[Path, Path]], scratch: Path) -> dict[str, float]:
    """Do everything once; return the seconds of each figure."""
    seconds = dict.fromkeys(FIGURES, 0.0)
    for client, (native, canonical) in files.items():
        convert = {
            "round-trip": (native, client),
            "to-canonical": (native, "canonical"),
            "from-canonical": (canonical, client),
            "foreign": (native, OTHER[client]),
        }
        for name, (source, target) in convert.items():
            out = scratch / "out"
            seconds[name] += _cpu(tree, "convert", source, "--to", target, "-o", f"{out}/", "--jobs", "1")
            shutil.rmtree(out)
        seconds["ingest"] += _cpu(tree, "ingest", native, "--lake", scratch / "lake", "--jobs", "1")
        shutil.rmtree(scratch / "lake")
    return seconds


def compare(revision: str, megabytes: float, rounds: int) -> dict[str, float]:
    """Return, for each figure, the other revision's median over this one's."""
    with tempfile.TemporaryDirectory(prefix="pond-bench-") as folder:
        scratch, other = Path(folder), Path(folder, "other")
        subprocess.run(["git", "worktree", "add", "--detach", "-q", str(other), revision], cwd=ROOT, check=True)
        try:
            files = {client: (store(client, megabytes / len(CLIENTS)), scratch / client) for client in CLIENTS}
            for native, canonical in files.values():
                _cpu(ROOT, "convert", native, "--to", "canonical", "-o", f"{canonical}/")
            taken = [[_once(tree, files, scratch) for tree in (other, ROOT)] for _ in range(rounds)]
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(other)], cwd=ROOT, check=True)
    medians = [{name: statistics.median(each[side][name] for each in taken) for name in FIGURES} for side in (0, 1)]
    return {name: medians[0][name] / medians[1][name] for name in FIGURES}


def main(words: Sequence[str]) -> int:
    """Print the ratios."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.against", description=__doc__)
    parser.add_argument("revision", help="the revision to compare with")
    parser.add_argument("--mb", type=float, default=40, help="size of the invented corpus, both clients together (40)")
    parser.add_argument("--rounds", type=int, default=7, help="how often each is measured; the median counts (7)")
    options = parser.parse_args(words)
    for name, ratio in compare(options.revision, options.mb, options.rounds).items():
        print(f"{name:<16}{ratio:6.2f} x {options.revision}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
