"""A model tested on sentences whose meaning is plain."""

from __future__ import annotations

import time
from dataclasses import dataclass

from pond.embed.embedder import Embedder, opened
from pond.embed.faults import Broken
from pond.embed.folder import hash_of
from pond.embed.model import Model

_QUESTION = "How do I reset my password?"
_ANSWER = "To change a password that you forgot, open the settings and choose a new one."
_OTHER = "The bread rises for two hours before it is baked."
_SAME = 0.95  # cosine of a text alone and beside others; whole numbers in a network make a small difference
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Checked:
    """What a test found."""

    name: str
    dimensions: int
    opened_in: float  # seconds
    texts_per_second: float
    near: float  # cosines of the question with a text that answers it, and with one that does not
    far: float


def check(model: Model) -> Checked:
    """Open a model and embed a few sentences; raise where its files or its vectors are not as they should be."""
    if model.sha256 and model.folder and hash_of(model.folder / model.file) != model.sha256:
        raise Broken(model.name, f"its file `{model.file}` has changed since it was added")
    opened.cache_clear()
    began = time.monotonic()
    embedder = opened(model)
    dimensions, ready = embedder.dimensions, time.monotonic()
    near, far = _compared(embedder)
    if near <= far:
        raise Broken(model.name, f"a text that does not answer a question is as near to it ({far:.2f}) as one that does"
                                 f" ({near:.2f})", help="check its pooling and prefixes")  # fmt: skip
    return Checked(model.name, dimensions, ready - began, _speed(embedder), near, far)


def _compared(embedder: Embedder) -> tuple[float, float]:
    question, (answer, other) = embedder.query(_QUESTION), embedder.passages([_ANSWER, _OTHER])
    alone = embedder.passages([_ANSWER])[0]
    if float(alone @ answer) < _SAME:
        raise Broken(embedder.model.name, "a text has another vector alone than beside others")
    return float(question @ answer), float(question @ other)


def _speed(embedder: Embedder) -> float:
    texts = [_QUESTION, _ANSWER, _OTHER] * (embedder.at_once // 3)
    began = time.monotonic()
    for _ in range(_ROUNDS):
        embedder.passages(texts)
    return len(texts) * _ROUNDS / max(time.monotonic() - began, 1e-9)
