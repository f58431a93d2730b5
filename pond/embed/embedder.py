"""The seam: an opened model turns texts into vectors, each checked before anybody gets to see it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from pond.embed.faults import BadVectors
from pond.embed.model import Model

if TYPE_CHECKING:  # takes a while to import
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]  # one row a text


class Encoder(Protocol):
    """What runs a model: gives one row for each text, of a length that never changes."""

    at_once: int  # texts that it takes in one call, at most

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors: ...


class Embedder:
    """An opened model. Its methods may be called from several threads."""

    def __init__(self, model: Model, encoder: Encoder) -> None:
        self.model, self._encoder = model, encoder
        self.label, self.at_once = model.label, encoder.at_once
        self._dimensions = model.dimensions

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has; where nobody said, the first answer does."""
        return self._dimensions or int(self.passages(["dimensions"]).shape[1])

    def query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question, of length one."""
        vector: NDArray[np.float32] = self._vectors([self.model.query_prefix + text], query=True)[0]
        return vector

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts that are to be found, in their order, each of length one."""
        return self._vectors([self.model.passage_prefix + text for text in texts])

    def _vectors(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        import numpy as np

        found = np.asarray(self._encoder.encode(texts, query=query), dtype=np.float32)
        if found.ndim != 2 or len(found) != len(texts):
            raise BadVectors(self.model.name, f"expected {len(texts)} vectors, found {len(found)}")
        found = self._cut(found)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise BadVectors(self.model.name, "expected numbers, found a vector of zeros, infinity or NaN")
        vectors: Vectors = found / lengths
        return vectors

    def _cut(self, found: Vectors) -> Vectors:
        wanted = self._dimensions or found.shape[1]
        if found.shape[1] < wanted or (found.shape[1] > wanted and self.model.dimensions is None):
            raise BadVectors(self.model.name, f"expected {wanted} dimensions, found {found.shape[1]}")
        self._dimensions = wanted
        return found[:, :wanted]


@lru_cache(maxsize=2)
def opened(model: Model) -> Embedder:
    """Return a model that is ready; the same one again where it is asked for again. This is what takes time."""
    return Embedder(model, _encoder(model))


def _encoder(model: Model) -> Encoder:
    match model.kind:
        case "onnx":
            from pond.embed.onnx import OnnxEncoder

            return OnnxEncoder(model)
        case "fastembed":
            from pond.embed.fast import FastembedEncoder

            return FastembedEncoder(model)
        case "endpoint":
            from pond.embed.endpoint import EndpointEncoder

            return EndpointEncoder(model)
