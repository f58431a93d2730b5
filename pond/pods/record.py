"""A pod as the bytes of its file, and back. What the schema does not name is kept: a later version may know it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, cast

# Loaded here although it takes a while: the first to need it holds the lock of a pod, and others wait.
from pydantic import ValidationError

from pond.model import _generated
from pond.model.json_text import EVENT_DEPTH, JsonObject, NotJson, decode, encode, encode_line
from pond.pods import names
from pond.pods.faults import BadName, Corrupt, NameTaken

if TYPE_CHECKING:
    from pond.types import Pod

VERSION = 1
MOST_BYTES = 16 << 20


def blank(name: str) -> Pod:
    """Return the record of a pod of which nothing is known but its name."""
    return {"version": VERSION, "name": name, "children": [], "reclaimed": [], "notices_due": [], "peers": []}


def written(pod: Pod) -> bytes:
    """Return the text of a record."""
    return encode_line(pod)


def same(one: Pod, other: Pod) -> bool:
    """Tell whether two records are the same to the last digit; for Python 1, 1.0 and true are equal."""
    return encode(one) == encode(other)


def read(data: bytes, name: str) -> Pod:
    """Return the record in a pod's file; raise Corrupt where it is none, or another pod's."""

    def twice(key: str) -> None:
        raise Corrupt(name, f"has the key `{key}` twice")

    if len(data) > MOST_BYTES:
        raise Corrupt(name, f"has more than {MOST_BYTES} bytes")
    try:
        value = decode(data, twice, EVENT_DEPTH)
    except NotJson as error:
        raise Corrupt(name, f"is not JSON: {error}") from None
    if reason := misfit(value):
        raise Corrupt(name, f"does not fit its schema: {reason}")
    pod = cast("Pod", value)
    if pod["name"] != name and names.folded(pod["name"]) == names.folded(name):
        raise NameTaken(f"there is a pod `{pod['name']}`, and this file system cannot tell `{name}` from it")
    if pod["name"] != name:
        raise Corrupt(name, f"belongs to another pod, `{pod['name']}`")
    return pod


def misfit(value: object) -> str | None:
    """Return what is wrong with a value as a pod's record; None where nothing is."""
    try:
        _generated.Pod.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        return f"`{'.'.join(map(str, first['loc'])) or '$'}`: {first['msg'].lower()}"
    assert isinstance(value, dict)
    return _odd_name(value) or _twice(value)


def _odd_name(pod: JsonObject) -> str | None:
    try:
        for name in (*(child["name"] for child in pod["children"]), *pod["peers"]):
            names.checked(name)
    except BadName as error:
        return str(error)
    return None


def _twice(pod: JsonObject) -> str | None:
    name, count = next(iter(Counter(child["name"] for child in pod["children"]).most_common(1)), ("", 0))
    return f"{count} children are called `{name}`" if count > 1 else None
