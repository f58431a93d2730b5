"""Many texts at once: batches of like length, on all cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, NamedTuple

from pond.embed.faults import BadVectors

if TYPE_CHECKING:
    from pond.embed.embedder import Embedder, Vectors

# Texts in one batch by the length of the longest: a batch costs what its longest text costs, and above a few
# thousand tokens nothing is gained by more.
_SIZES = ((400, 16), (1600, 8))
_LEAST = 4


class Batch(NamedTuple):
    """The places of some texts and their vectors; or of one text that the model gave no vector for, and why."""

    places: list[int]
    vectors: Vectors | None
    refused: BadVectors | None = None


def embedded(embedder: Embedder, texts: Sequence[str], threads: int) -> Iterator[Batch]:
    """Yield the vectors of all texts, batch by batch, as they are done; raise what the model raises.

    A text that the model cannot take is given back without a vector.
    """
    batches = batched(texts, embedder.at_once)
    with ThreadPoolExecutor(threads, "embed") as pool:
        running: set[Future[list[Batch]]] = set()
        try:
            for places in batches:
                running.add(pool.submit(_batch, embedder, texts, places))
                if len(running) > threads:  # one more than are at work, so that nobody waits
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    for each in done:
                        yield from each.result()
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for each in done:
                    yield from each.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def batched(texts: Sequence[str], most: int) -> Iterator[list[int]]:
    """Yield the places of texts of like length, the longest first: so no core is left with a long one at the end."""
    order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
    while order:
        longest = len(texts[order[0]])
        size = min(most, next((size for limit, size in _SIZES if longest <= limit), _LEAST))
        yield order[:size]
        order = order[size:]


def _batch(embedder: Embedder, texts: Sequence[str], places: list[int]) -> list[Batch]:
    try:
        return [Batch(places, embedder.passages([texts[place] for place in places]))]
    except BadVectors as fault:
        if len(places) == 1:
            return [Batch(places, None, fault)]
    return [each for place in places for each in _batch(embedder, texts, [place])]
