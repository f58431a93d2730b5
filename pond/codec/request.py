"""What a caller wants for every session that is converted or restored."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConversionRequest:
    """For which client to write, and how. It never changes."""

    to: str
    client: str | None = None  # that wrote the input; None: detect it
    project: str | None = None  # for a session whose source names none
    on_loss: str = "warn"
    keep_origin: bool = False
    paths: tuple[tuple[str, str], ...] = ()  # directories, and their new names
