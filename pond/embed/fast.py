"""A model that only fastembed knows how to run: one with tasks, or of static vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pond.embed.faults import BadVectors, Broken, NotInstalled, first_line
from pond.embed.model import Model

if TYPE_CHECKING:
    from pond.embed.embedder import Vectors


class FastembedEncoder:
    """Runs a model of fastembed's own list, from its folder alone: nothing is fetched."""

    at_once = 16

    def __init__(self, model: Model) -> None:
        try:
            from fastembed import TextEmbedding
        except ImportError as error:
            raise NotInstalled(error.name or "fastembed") from None
        self._name = model.name
        try:
            self._model = TextEmbedding(
                model.name, specific_model_path=str(model.folder), threads=1, providers=["CPUExecutionProvider"],
                local_files_only=True,
            )  # fmt: skip
        except Exception as error:
            raise Broken(model.name, f"its files cannot be read: {first_line(error)}") from error

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return one row a text, as fastembed makes it: some models tell questions from texts by themselves."""
        import numpy as np

        make = self._model.query_embed if query else self._model.passage_embed
        try:
            return np.array(list(make(list(texts))), dtype=np.float32)
        except Exception as error:
            raise BadVectors(self._name, f"the network fails: {first_line(error)}") from error
