"""What a run measured, beside what is promised, as a table and as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Figure:
    """One measured value and its promised limit; without one it is stated only."""

    name: str
    value: float
    unit: str
    limit: float | None
    at_least: bool
    detail: dict[str, float] = field(default_factory=dict)

    @property
    def met(self) -> bool:
        if self.limit is None:
            return True
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    @property
    def promise(self) -> str:
        return "none" if self.limit is None else f"{'>=' if self.at_least else '<='} {self.limit:g} {self.unit}"

    def as_json(self) -> dict[str, object]:
        """Return the figure with its verdict; details are rounded as the table is."""
        return {
            "name": self.name,
            "value": round(self.value, 3),
            "unit": self.unit,
            "limit": self.limit,
            "at_least": self.at_least,
            "met": self.met,
            "detail": {name: round(value, 3) for name, value in self.detail.items()},
        }


def table(figures: Sequence[Figure]) -> str:
    """Return one line per figure: name, value, limit, verdict, and what is behind the value."""
    rows = [("figure", "measured", "promised", "met", "detail")]
    for figure in figures:
        detail = ", ".join(f"{name} {value:.3g}" for name, value in figure.detail.items())
        measured = f"{figure.value:.2f} {figure.unit}" if figure.value < 100 else f"{figure.value:.0f} {figure.unit}"
        rows.append((figure.name, measured, figure.promise, "yes" if figure.met else "NO", detail))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
