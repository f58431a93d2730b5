"""CPU time of the codec in one process, against the fastest JSON library doing nothing useful with the same bytes."""

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

import orjson

from pond.codec.convert import Order, Session, open_input, uncollected, write_canonical, write_native
from pond.codec.report import Report
from pond.codec.source import BUFFER, open_regular
from pond.diagnostics.diagnostic import SourceFault
from tests.bench.corpus import CLIENTS, store
from tests.bench.figures import Figure

LIMITS = {"round-trip": 0.5, "to-canonical": 0.5, "from-canonical": 0.5, "foreign": 0.4}
DIRECTIONS = tuple(LIMITS)
OTHER = {"claude-code": "codex", "codex": "claude-code"}


def decode_and_encode(file: Path) -> None:
    """Do the least any converter must do: read each line, decode it, encode it."""
    with file.open("rb") as lines:
        for line in lines:
            orjson.dumps(orjson.loads(line))


def convert(file: Path, to: str, out: BinaryIO) -> None:
    """Convert one file by the calls that `pond convert` makes."""
    report = Report()
    with uncollected(), open_regular(file) as source:
        for session in open_input(source, str(file), file, Order(to), report).sessions:
            write(session, to, out, report)
    assert report.errors == 0, report.faults[:3]


def write(session: Session, to: str, out: BinaryIO, report: Report) -> None:
    """Write one session in the form asked for."""
    if to == "canonical":
        write_canonical(session, out)
    else:
        try:
            write_native(session, out, report, "memory")
        except SourceFault as fault:  # the shortest files of the corpus hold no message to go on from
            if fault.diagnostics[0].code != "foreign-empty":
                raise


def _canonical_store(client: str, natives: Sequence[Path], directory: Path) -> list[Path]:
    """Write each session as canonical text, where this run can read it."""
    files = []
    for number, native in enumerate(natives):
        files.append(directory / f"{client}-{number}.jsonl")
        with files[-1].open("wb") as out:
            convert(native, "canonical", out)
    return files


def _convert_and_forget(file: Path, to: str) -> None:
    """Convert one file and throw the result away, as `decode_and_encode` does with its own."""
    with open(os.devnull, "wb", BUFFER) as out:
        convert(file, to, out)


def _keep_best(work: Callable[[Path], object], files: Sequence[Path], best: dict[Path, float]) -> None:
    """Do the work on each file once; keep how long it took where that is the least so far."""
    for file in files:
        start = time.process_time()
        work(file)
        best[file] = min(best.get(file, float("inf")), time.process_time() - start)


def measure(names: Sequence[str], megabytes: float, rounds: int, directory: Path) -> list[Figure]:
    """Measure the directions in `names`; each round does everything once, so that all share the machine's moods."""
    wanted = [name for name in DIRECTIONS if name in names]
    if not wanted:
        return []
    best: dict[
        tuple[str, str], dict[Path, float]
    ] = {}  # by the file: a machine that others use is seldom quiet for long
    size: dict[tuple[str, str], int] = {}
    natives = {client: sorted(store(client, megabytes / len(CLIENTS)).rglob("*.jsonl")) for client in CLIENTS}
    canonical = {
        client: _canonical_store(client, natives[client], directory) if "from-canonical" in wanted else []
        for client in CLIENTS
    }
    for _ in range(rounds):
        for client in CLIENTS:
            work: dict[str, tuple[Callable[[Path], object], Sequence[Path]]] = {
                "native bytes": (decode_and_encode, natives[client]),
                "canonical bytes": (decode_and_encode, canonical[client]),
                "round-trip": (partial(_convert_and_forget, to=client), natives[client]),
                "to-canonical": (partial(_convert_and_forget, to="canonical"), natives[client]),
                "from-canonical": (partial(_convert_and_forget, to=client), canonical[client]),
                "foreign": (partial(_convert_and_forget, to=OTHER[client]), natives[client]),
            }
            for name, (function, files) in work.items():
                if name in wanted or name.endswith("bytes"):
                    key = (client, name)
                    _keep_best(function, files, best.setdefault(key, {}))
                    size[key] = sum(file.stat().st_size for file in files)
    seconds = {key: sum(of_files.values()) for key, of_files in best.items()}
    return [_figure(name, seconds, size) for name in wanted]


def _figure(name: str, best: dict[tuple[str, str], float], size: dict[tuple[str, str], int]) -> Figure:
    base = "canonical bytes" if name == "from-canonical" else "native bytes"
    detail = {client: best[client, base] / best[client, name] for client in CLIENTS}
    detail["MB/s"] = sum(size[client, name] for client in CLIENTS) / 1e6 / sum(best[client, name] for client in CLIENTS)
    detail["orjson MB/s"] = (
        sum(size[client, base] for client in CLIENTS) / 1e6 / sum(best[client, base] for client in CLIENTS)
    )
    whole = sum(best[client, base] for client in CLIENTS) / sum(best[client, name] for client in CLIENTS)
    return Figure(name, whole, "x orjson", LIMITS[name], at_least=True, detail=detail)
