"""What to ingest, and the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pond.codec.registry import client_named
from pond.codec.report import Report
from pond.intake.sources import Change
from pond.model.json_text import JsonObject


@dataclass(frozen=True, slots=True)
class Request:
    """What to ingest: files, folders or `-`; each may name the client whose store it is."""

    inputs: Sequence[tuple[str, str | None]]
    project: str | None = None
    dry_run: bool = False
    live: bool = False  # the sources are being written: a cut-off last line may still be completed
    processes: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", [(path, client_named(client)) for path, client in self.inputs])


@dataclass(slots=True)
class Summary:
    """What an ingest did."""

    files: dict[str, int] = field(default_factory=lambda: {change.value: 0 for change in Change})
    bytes: int = 0
    new_sessions: int = 0
    new_messages: int = 0
    new_parts: int = 0
    unfinished: int = 0  # files whose last line is still being written
    erased: int = 0  # sessions left out because they were erased
    known: list[JsonObject] = field(default_factory=list)  # problems of unchanged files, reported when those were read
    report: Report = field(default_factory=Report)


Tick = Callable[[int, int, str], None]  # bytes done, bytes in total, and what was counted so far
