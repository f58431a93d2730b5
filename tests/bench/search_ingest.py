"""What is derived for search costs an ingest: `pond ingest` against the same with nothing derived, in turn."""

import sys
from pathlib import Path

from tests.bench.figures import Figure
from tests.bench.lakes import NO_FILE, Lakes, Scale
from tests.bench.watch import POND, watched

LIMIT = 1.15
_MEGABYTES = 48
_UNDERIVED = [sys.executable, "-m", "tests.bench.underived"]
_SCALE = Scale(corpus=_MEGABYTES, slice=1, small=0, million=0, few=0, grown=0, long=0, files=0)


def ingest(directory: Path, rounds: int) -> list[Figure]:
    """Measure the CPU time of all processes; the best of several rounds counts."""
    lakes = Lakes(_SCALE, directory)
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, pond in (("derived", POND), ("nothing derived", _UNDERIVED)):
            words = [*pond, "ingest", str(lakes.large), "--lake", str(lakes.fresh("derived")), "--json"]
            best[name] = min(best.get(name, float("inf")), watched(words, NO_FILE).cpu)
    lakes.fresh("derived")
    detail = {f"{name} CPU s": seconds for name, seconds in best.items()}
    ratio = best["derived"] / best["nothing derived"]
    return [Figure(f"ingest of {_MEGABYTES} MB", ratio, "x without terms", LIMIT, at_least=False, detail=detail)]
