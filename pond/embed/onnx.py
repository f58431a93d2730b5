"""A model of this machine: its tokenizer and its network, run by onnxruntime.

fastembed makes the same vectors of the same files (a test compares them), but takes four times as long to import.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pond.embed.faults import BadVectors, Broken, NotInstalled, first_line
from pond.embed.folder import TOKENIZER, tokenizer_facts
from pond.embed.model import Model, Pooling

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pond.embed.embedder import Vectors

# Tokens of a text that count, if no setting says how many: the beginning says what a message is about, and more of
# it makes a vaguer vector (decision 0029).
_ENOUGH = 160
_CHARACTERS = 16  # read of a text for each token that counts: what follows cannot reach the vector
_QUIET = 3  # errors only
Result = TypeVar("Result")


class OnnxEncoder:
    """Runs a network on the calling thread alone: several threads may call it at once, and share its memory."""

    at_once = 16

    def __init__(self, model: Model) -> None:
        assert model.folder is not None
        self._model, folder = model, model.folder
        facts = tokenizer_facts(folder, model.name)
        self._tokens = min(model.max_tokens or _ENOUGH, facts.max_tokens)
        self._tokenizer = _read(model, lambda: _tokenizer(folder / TOKENIZER, self._tokens, facts.pad))
        self._session = _read(model, lambda: _session(folder / model.file))
        self._inputs = {each.name for each in self._session.get_inputs()}

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return what the network makes of each text, pooled into one row."""
        try:
            feed = self.fed(texts)
            return _pooled(self.run(feed), feed["attention_mask"], self._model.pooling)
        except Exception as error:  # whatever the libraries raise: the network may not take what its tokenizer gives
            raise BadVectors(self._model.name, f"the network fails: {first_line(error)}") from error

    def fed(self, texts: Sequence[str]) -> dict[str, NDArray[np.int64]]:
        """Return texts as the network takes them: their tokens, filled up to the longest."""
        import numpy as np

        found = self._tokenizer.encode_batch([text[: self._tokens * _CHARACTERS] for text in texts])
        ids = np.array([each.ids for each in found], dtype=np.int64)
        mask = np.array([each.attention_mask for each in found], dtype=np.int64)
        return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}

    def run(self, feed: dict[str, NDArray[np.int64]]) -> Any:
        """Return what the network says of each token, or of each text."""
        return self._session.run(None, {name: values for name, values in feed.items() if name in self._inputs})[0]


def _pooled(output: Any, mask: NDArray[np.int64], pooling: Pooling) -> Vectors:
    """Return one row a text: of what the network says of each token, or of each text itself."""
    import numpy as np

    if output.ndim == 2:
        return np.asarray(output, dtype=np.float32)
    if pooling == "cls":
        return np.asarray(output[:, 0], dtype=np.float32)
    if pooling == "last":
        return np.asarray(output[np.arange(len(output)), mask.sum(axis=1) - 1], dtype=np.float32)
    weights = mask[:, :, None].astype(np.float32)
    return np.asarray((output * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9), dtype=np.float32)


def _read(model: Model, make: Callable[[], Result]) -> Result:
    """Return what is made of a model's files: libraries in other languages raise whatever they like over bad ones."""
    try:
        return make()
    except ImportError as error:
        raise NotInstalled(error.name or "onnxruntime") from None
    except Exception as error:
        raise Broken(model.name, f"its files cannot be read: {first_line(error)}") from error


def _tokenizer(path: Path, tokens: int, pad: str) -> Any:
    # Threads are ours: one that the library starts by itself would compete with them.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from tokenizers import Tokenizer

    made = Tokenizer.from_file(str(path))
    made.enable_truncation(max_length=tokens)
    made.enable_padding(pad_id=made.token_to_id(pad) or 0, pad_token=pad)
    return made


def _session(path: Path) -> Any:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _QUIET
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
