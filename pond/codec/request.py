"""What a caller wants for every session that is converted or restored."""

from __future__ import annotations

from dataclasses import dataclass

from pond.codec.registry import client_named


@dataclass(frozen=True, slots=True)
class ConversionRequest:
    """For which client to write, and how. It never changes."""

    to: str
    client: str | None = None  # that wrote the input; None: detect it
    project: str | None = None  # for a session whose source names none
    on_loss: str = "warn"
    keep_origin: bool = False
    paths: tuple[tuple[str, str], ...] = ()  # directories, and their new names
    note: bool = True  # say in the session where it comes from
    provider: str = ""  # of models, that the target is set up for; empty: its own

    def __post_init__(self) -> None:
        object.__setattr__(self, "to", client_named(self.to))
        object.__setattr__(self, "client", client_named(self.client))
