"""What a caller wishes of every session that is converted or restored."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConversionRequest:
    """For which client to write, and how. Nothing in it changes on the way."""

    to: str
    client: str | None = None  # that wrote the input; None: detect it
    project: str | None = None  # of a session whose source names none
    on_loss: str = "warn"
    keep_origin: bool = False
    paths: tuple[tuple[str, str], ...] = ()  # directories, and what they are to be called
