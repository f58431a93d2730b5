"""A model as the registry describes it: where it runs, and what belongs to making vectors with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

Kind = Literal["onnx", "fastembed", "endpoint"]
Pooling = Literal["mean", "cls", "last"]
KINDS: tuple[Kind, ...] = get_args(Kind)
POOLINGS: tuple[Pooling, ...] = get_args(Pooling)


@dataclass(frozen=True, slots=True)
class Model:
    """One model. `onnx` and `fastembed` have a folder on this machine, `endpoint` an address.

    `dimensions` is how many numbers of each vector are kept; None keeps all. Only a model that was trained for it
    allows a cut.
    """

    name: str
    kind: Kind = "onnx"
    folder: Path | None = None
    file: str = ""  # of the network, within the folder
    endpoint: str = ""
    key: str | None = field(default=None, repr=False)  # what the endpoint wants to hear
    timeout: float = 60.0  # seconds for one request to the endpoint
    dimensions: int | None = None
    pooling: Pooling = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int | None = None
    license: str = ""
    languages: str = ""
    sha256: str = ""  # of the network's file, where it was noted
    full_dimensions: int | None = None  # of the vectors before any cut, where it was noted

    @property
    def label(self) -> str:
        """The name that vectors are stored under: a cut one is another model."""
        return self.name if self.dimensions is None else f"{self.name}@{self.dimensions}"
