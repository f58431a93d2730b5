"""Where a session's fields come from, as its mapping says, prepared for one kind of file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import NamedTuple

from pond.lang.conversions import CONVERSIONS
from pond.lang.runtime import OWN, Origin, at
from pond.model.json_text import Json

_HOLE = re.compile(r"\{([^{}]+)\}")


class WantedValue(NamedTuple):
    """A value of the first record that has it."""

    number: int  # its number in the plan
    fields: tuple[str, ...]  # the fields it may fill
    keys: tuple[str, ...]  # the path to it in a record
    of: str | None  # the kind of its records
    own: bool  # only the session's own records count
    read: Callable[[Json, str | None], tuple[Json, ...] | None] | None
    words: tuple[bytes, ...]  # texts that such records contain, and the keys


class FieldOrigins:
    """Where a session's fields come from, for files of one client whose paths have the same captures.

    Which origin fills a field depends on which captures and values exist, not on their content. So this is worked out
    once for all files that are alike in that respect: most files of a store.
    """

    def __init__(self, module: ModuleType, captured: tuple[str, ...]) -> None:
        self.module = module
        self._captured = frozenset(captured)
        wanted: dict[Origin | str, tuple[Origin, list[str]]] = {}
        for name, key, origin in self._record_origins():
            wanted.setdefault(key, (origin, []))[1].append(name)
        self._numbers = {key: number for number, key in enumerate(wanted)}
        self._all = tuple(_want(number, *want) for number, want in enumerate(wanted.values()))
        self._wanted = {frozenset[int](): self._all}
        self._origins: dict[frozenset[int], tuple[tuple[str, Origin, int], ...]] = {}

    def _record_origins(self) -> Iterator[tuple[str, Origin | str, Origin]]:
        for name, origins in self.module.SESSION:
            for origin in origins:
                if origin.where is not None and origin.where not in self._captured:
                    continue
                if origin.first is not None:
                    yield name, origin, origin
                elif origin.template is not None:
                    holes = _HOLE.findall(origin.template)
                    if all(h[5:] in self._captured for h in holes if h.startswith("path.")):
                        for hole in holes:
                            if not hole.startswith("path."):
                                yield name, hole, Origin(None, None, tuple(hole.split(".")), None, None, None)

    def wanted(self, found: dict[int, str]) -> tuple[WantedValue, ...]:
        """Return the values that can still matter when these are found."""
        known = frozenset(found)
        if known not in self._wanted:
            session = dict(self.module.SESSION)
            self._wanted[known] = tuple(
                want
                for key, want in zip(self._numbers, self._all, strict=True)
                if want.number not in known
                and not all(self._settled(key, session[name], known) for name in want.fields)
            )
        return self._wanted[known]

    def origins(self, found: dict[int, str]) -> tuple[tuple[str, Origin, int], ...]:
        """Return, for each field that can be filled, its name, the best origin, and the number of its value."""
        known = frozenset(found)
        if known not in self._origins:
            best = (
                (name, next((o for o in origins if self._gives(o, known)), None))
                for name, origins in self.module.SESSION
            )
            self._origins[known] = tuple((name, o, self._numbers.get(o, -1)) for name, o in best if o is not None)
        return self._origins[known]

    def is_own(self, record: Json, path: dict[str, str], found: dict[int, str]) -> bool:
        """Tell whether a record is the session's own, given what it and earlier ones say; it may name no session."""
        named = at(record, *self.module.OWN_KEYS)
        if type(named) is not str:
            return True
        owner = next(((origin, number) for name, origin, number in self.origins(found) if name == OWN), None)
        return owner is None or self.value(*owner, path, found) == named

    def value(self, origin: Origin, number: int, path: dict[str, str], found: dict[int, str]) -> str:
        """Return the value of an origin, given the number of its value."""
        return found[number] if origin.first is not None else self._text(origin, path, found)

    def _text(self, origin: Origin, path: dict[str, str], found: dict[int, str]) -> str:
        """Return what a capture or a template gives."""
        if origin.capture is not None:
            return path[origin.capture]
        assert origin.template is not None
        return _HOLE.sub(
            lambda hole: path[hole[1][5:]] if hole[1].startswith("path.") else found[self._numbers[hole[1]]],
            origin.template,
        )

    def _settled(self, key: Origin | str, origins: tuple[Origin, ...], known: frozenset[int]) -> bool:
        """Tell whether a better origin already filled the field this one is for."""
        for origin in origins:
            if origin == key or (origin.template and type(key) is str and "{" + key + "}" in origin.template):
                return False
            if self._gives(origin, known):
                return True
        return False

    def _gives(self, origin: Origin, known: frozenset[int]) -> bool:
        """Tell whether an origin gives its field a value; a value from a path or a record is never empty."""
        if origin.where is not None and origin.where not in self._captured:
            return False
        if origin.capture is not None:
            return origin.capture in self._captured
        if origin.template is not None:
            return origin.template != "" and all(
                hole[5:] in self._captured if hole.startswith("path.") else self._numbers.get(hole) in known
                for hole in _HOLE.findall(origin.template)
            )
        return self._numbers.get(origin) in known


@cache
def field_origins(module: ModuleType, captured: tuple[str, ...]) -> FieldOrigins:
    """Return the plan for files of a client whose paths have these captures."""
    return FieldOrigins(module, captured)


def _want(number: int, origin: Origin, fields: list[str]) -> WantedValue:
    keys, of = origin.first or (), origin.of
    needle = of if of is not None and "/" not in of else keys[-1]
    read = CONVERSIONS[origin.conversion].read if origin.conversion is not None else None
    words = tuple(b'"' + word.encode() + b'"' for word in (needle, *keys))
    return WantedValue(number, tuple(fields), keys, of, origin.own, read, words)
