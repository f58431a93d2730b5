"""The settings of a run for a person or a script: secrets stay hidden, their source does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pond.config.kinds import OptionTable
from pond.config.settings import SETTINGS, Settings

MASK: Final = "***"
_SECRET: Final = ("secret", "key", "token", "password", "credential", "sas")


@dataclass(frozen=True, slots=True)
class ShownSetting:
    """One setting: its value, its text for a person, and its source."""

    name: str
    value: Any
    text: str
    source: str


def rows(settings: Settings) -> Iterator[ShownSetting]:
    """Yield every setting in the order of its declaration, with a row for each option of a table."""
    for path, setting in SETTINGS.items():
        value: Any = settings
        for name in path:
            value = getattr(value, name)
        if isinstance(setting.kind, OptionTable) and value:
            shown = {name: _masked(name, text) if setting.kind.secret else text for name, text in value.items()}
            yield from (_row(f"{setting.name}.{name}", text, "", settings) for name, text in shown.items())
        else:
            yield _row(setting.name, value, setting.unset, settings)


def as_text(value: Any, unset: str) -> str:
    """Return a value as text for a person; `unset` is shown for what is not set."""
    match value:
        case None:
            return unset
        case list() | tuple() | dict():
            return ", ".join(value) or "none"
    return str(value)


def _row(name: str, value: Any, unset: str, settings: Settings) -> ShownSetting:
    return ShownSetting(name, value, as_text(value, unset), settings.sources[name])


def _masked(name: str, value: str) -> str:
    return MASK if any(word in name for word in _SECRET) else value
