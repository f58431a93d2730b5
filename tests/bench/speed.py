"""CPU time of the codec in one process, against the fastest JSON library doing nothing useful with the same bytes."""

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

import orjson

from pond.codec.convert import towards
from pond.codec.files import BUFFER, open_regular
from pond.codec.openfile import OpenFile
from pond.codec.opening import open_input
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.codec.session import SessionStream
from pond.codec.writing import write_session
from pond.config.process import gc_paused
from pond.diagnostics.diagnostic import SourceFault
from tests.bench.corpus import CLIENTS, store
from tests.bench.figures import Figure

LIMITS = {"round-trip": 0.5, "to-canonical": 0.5, "from-canonical": 0.5, "foreign": 0.4}
DIRECTIONS = tuple(LIMITS)
OTHER = {"claude-code": "codex", "codex": "claude-code"}
# By client and work, the least time of each file: a machine that others use, too, is seldom quiet for long.
Best = dict[tuple[str, str], dict[Path, float]]


def decode_and_encode(file: Path) -> None:
    """Do the least any converter must do: read each line, as pond reads it, decode it, encode it."""
    with open_regular(file) as lines:
        for line in lines:
            orjson.dumps(orjson.loads(line))


def convert(file: Path, to: str, out: BinaryIO) -> None:
    """Convert one file by the calls that `pond convert` makes."""
    report = Report()
    with gc_paused(), open_regular(file) as source:
        for session in open_input(OpenFile(source, str(file), file), ConversionRequest(to), report).sessions:
            write(towards(ConversionRequest(to), session, report, str(file)), to, out, report)
    assert report.errors == 0, report.faults[:3]


def write(session: SessionStream, to: str, out: BinaryIO, report: Report) -> None:
    """Write one session in the form asked for."""
    try:
        write_session(session, to, out, report, "memory")
    except SourceFault as fault:  # the shortest files of the corpus hold no message to continue from
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
    natives = {client: sorted(store(client, megabytes / len(CLIENTS)).rglob("*.jsonl")) for client in CLIENTS}
    canonical = {
        client: _canonical_store(client, natives[client], directory) if "from-canonical" in wanted else []
        for client in CLIENTS
    }
    best: Best = {}
    with open(os.devnull, "wb", BUFFER) as out:  # results are thrown away, as the limit throws its own away
        for client in [*CLIENTS] * rounds:
            _once(client, wanted, natives[client], canonical[client], out, best)
    return [_figure(name, best) for name in wanted]


def _once(
    client: str, wanted: Sequence[str], natives: Sequence[Path], canonical: Sequence[Path], out: BinaryIO, best: Best
) -> None:  # fmt: skip
    work: dict[str, tuple[Callable[[Path], object], Sequence[Path]]] = {
        "native bytes": (decode_and_encode, natives),
        "canonical bytes": (decode_and_encode, canonical),
        "round-trip": (partial(convert, to=client, out=out), natives),
        "to-canonical": (partial(convert, to="canonical", out=out), natives),
        "from-canonical": (partial(convert, to=client, out=out), canonical),
        "foreign": (partial(convert, to=OTHER[client], out=out), natives),
    }
    for name, (function, files) in work.items():
        if name in wanted or name.endswith("bytes"):
            _keep_best(function, files, best.setdefault((client, name), {}))


def _figure(name: str, best: Best) -> Figure:
    base = "canonical bytes" if name == "from-canonical" else "native bytes"
    seconds = {key: sum(of_files.values()) for key, of_files in best.items()}
    size = sum(file.stat().st_size for client in CLIENTS for file in best[client, name])
    ours, limit = sum(seconds[client, name] for client in CLIENTS), sum(seconds[client, base] for client in CLIENTS)
    detail = {client: seconds[client, base] / seconds[client, name] for client in CLIENTS}
    detail |= {"MB/s": size / 1e6 / ours, "orjson MB/s": size / 1e6 / limit}
    return Figure(name, limit / ours, "x orjson", LIMITS[name], at_least=True, detail=detail)
