"""Embedding a lake against the bare network on the same batches, in CPU time; and the memory it takes."""

import random
import resource
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pond.embed import registry
from pond.embed.bulk import batched
from pond.embed.embedder import opened
from pond.embed.onnx import OnnxEncoder
from pond.lake.embedding import embed
from tests.bench.figures import Figure
from tests.bench.words import prose
from tests.embed.fetch import MODELS, NAME, fetch
from tests.embed.lakes import filled, store_at

NAMED = "embed"
MESSAGES = 1000  # a window of the embedding: the same batches in both
THREADS = 2
LEAST = 0.9
_LONGEST = 3000  # letters
_MEGABYTE = 1 << 10  # of kilobytes, in which the system counts


def speed(rounds: int, directory: Path) -> list[Figure]:
    """Return the share of the bare network's speed that embedding reaches, the lake included."""
    fetch()
    model = registry.find(MODELS, NAME)
    texts = _texts()
    filled(directory / "lake", MESSAGES, text=lambda number: texts[number])
    opened(model).query("warm")
    bare, whole = [], []
    for number in range(rounds):
        copy = Path(shutil.copytree(directory / "lake", directory / f"lake-{number}"))
        encoder = OnnxEncoder(model)
        feeds = [encoder.fed([texts[place] for place in places]) for places in batched(texts, encoder.at_once)]
        bare.append(_cpu(lambda encoder=encoder, feeds=feeds: _run(encoder, feeds)))  # type: ignore[misc]
        store = store_at(copy)
        whole.append(_cpu(lambda store=store: embed(store, model, threads=THREADS)))  # type: ignore[misc]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MEGABYTE
    detail = {"texts per CPU s": MESSAGES / min(whole), "bare": MESSAGES / min(bare), "peak MB": peak}
    return [Figure(NAMED, min(bare) / min(whole), "of the network", LEAST, at_least=True, detail=detail)]


def _texts() -> list[str]:
    """Return messages of many lengths: most are a line or two, some fill a page."""
    dice = random.Random(1)
    whole = prose(dice, 200_000)
    lengths = [min(_LONGEST, int(dice.lognormvariate(5.5, 1))) for _ in range(MESSAGES)]
    starts = [dice.randrange(len(whole) - _LONGEST) for _ in lengths]
    return [whole[start : start + length] or "x" for start, length in zip(starts, lengths, strict=True)]


def _run(encoder: OnnxEncoder, feeds: list[dict[str, Any]]) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        for _ in pool.map(encoder.run, feeds):
            pass


def _cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began
