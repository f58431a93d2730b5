"""How much of everything survives a way there and back: the share of all JSON values found again, as peers count."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pond.codec.batch import run_jobs
from pond.codec.finding import expand
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from tests.bench.corpus import CLIENTS, store
from tests.bench.figures import Figure
from tests.bench.speed import OTHER

BEST_PEER = 0.53  # claude-code -> codex -> claude-code, measured for the best of two converters that do both ways
NAME = "survival"


def leaves(value: Any) -> Iterator[str]:
    """Yield the values that hold no others, wherever they stand."""
    if isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield json.dumps(value)


def counted(folder: Path) -> Counter[str]:
    """Count the values of all session files below a folder."""
    found: Counter[str] = Counter()
    for path in folder.rglob("*.jsonl"):
        with path.open("rb") as lines:
            for line in lines:
                found.update(leaves(json.loads(line)))
    return found


def converted(source: Path, to: str, into: Path, *, keep_origin: bool = False) -> Path:
    """Convert a store, as `pond convert` does."""
    for _ in run_jobs(expand([str(source)], Report()), ConversionRequest(to, keep_origin=keep_origin), into, into, 1):
        pass
    return into


def share(before: Counter[str], after: Counter[str]) -> float:
    """Return which part of the values before is found after, each as often as it stood."""
    return (before & after).total() / before.total()


def survival(megabytes: float, directory: Path) -> list[Figure]:
    """Measure both clients there and back, plainly and with the origin kept."""
    detail: dict[str, float] = {}
    for client in CLIENTS:
        source = store(client, megabytes)
        before = counted(source)
        for keep, word in ((False, "plain"), (True, "origin kept")):
            there = converted(source, OTHER[client], directory / f"there-{client}-{keep}", keep_origin=keep)
            back = converted(there, client, directory / f"back-{client}-{keep}")
            detail[f"{client} {word}"] = share(before, counted(back))
    worst = min(value for name, value in detail.items() if name.endswith("kept"))
    return [Figure(NAME, worst, "of all values", BEST_PEER, at_least=True, detail=detail)]
