"""Base64 payloads leave the JSON of a row, as bytes, and come back exactly.

A *location* says where a payload was and what to put there again: `[path, length, spelling]`, the path a list of keys
and indexes, the length in bytes; locations are in the order of their bytes. Locations are JSON themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from pond.model.json_text import Json
from pond.sessions import base64_text

LEAST = 512  # characters: shorter ones gain less than their location costs

Location: TypeAlias = list[Json]


class Packed(NamedTuple):
    """A value with empty strings for its payloads, their bytes one after another, and where they belong."""

    value: Json
    data: bytes
    locations: list[Location]


def pack(value: Json) -> Packed | None:
    """Take every payload out of a copy of `value`; None if there is none."""
    locations: list[Location] = []
    emptied = _take_out(value, base64_text.read, locations)
    if not locations:
        return None
    chunks = [data for _, data, _ in locations]
    return Packed(emptied, b"".join(chunks), [[path, len(data), spelling] for path, data, spelling in locations])


def unpack(value: Json, data: bytes, locations: list[Location]) -> Json:
    """Put the payloads back: `unpack(*pack(value))` equals `value`. Changes `value` itself."""
    start = 0
    for path, length, spelling in locations:
        value = _put(value, path, base64_text.write(data[start : start + length], spelling))
        start += length
    return value


def texts_at(value: Json, locations: list[Location]) -> list[str]:
    """Return the payloads of a whole value, as text: before packing or after unpacking."""
    return [_at(value, location[0]) for location in locations]


# --- payloads that stand elsewhere too -------------------------------------------------------------------------------


def pack_known(value: Json, known: Mapping[str, tuple[int, int]]) -> tuple[Json, list[Location]] | None:
    """Take every text out of a copy of `value` that is packed elsewhere; None if there is none.

    `known` says where a text is packed: the number of the Part, and of the payload within it. The location of such a
    text is `[path, part, payload]`. Clients repeat a payload beside the content that the model sees.
    """
    locations: list[Location] = []
    emptied = _take_out(value, known.get, locations)
    return (emptied, locations) if locations else None


def unpack_known(value: Json, locations: list[Location], texts: Mapping[tuple[int, int], str]) -> Json:
    """Put back the texts that `pack_known` took out, given each part and payload. Changes `value` itself."""
    for path, part, payload in locations:
        value = _put(value, path, texts[part, payload])
    return value


# --- walking ---------------------------------------------------------------------------------------------------------


def _take_out(value: Json, take: Callable[[str], tuple[Json, Json] | None], locations: list[Location]) -> Json:
    """Return `value` with an empty string for each long text that `take` accepts; `value` itself if there is none.

    A location is the path and what `take` returned. Keys are noted only on the way back from a find: most values hold
    none.
    """
    kind = type(value)
    if kind is str:
        taken = take(value) if len(value) >= LEAST else None
        if taken is None:
            return value
        locations.append([[], *taken])
        return ""
    if kind is not dict and kind is not list:
        return value
    emptied = None
    for key, member in value.items() if kind is dict else enumerate(value):
        if type(member) is str and len(member) < LEAST:
            continue
        before = len(locations)
        rest = _take_out(member, take, locations)
        if rest is not member:
            emptied = value.copy() if emptied is None else emptied
            emptied[key] = rest
            for location in locations[before:]:
                location[0].insert(0, key)
    return value if emptied is None else emptied


def _put(value: Json, path: list[str | int], text: str) -> Json:
    if not path:
        return text
    _at(value, path[:-1])[path[-1]] = text
    return value


def _at(value: Json, path: list[str | int]) -> Json:
    for key in path:
        value = value[key]
    return value
