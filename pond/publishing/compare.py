"""Compares two versions of a type, keyword by keyword: what pond reads may widen, what it sends may narrow."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pond.model.json_text import JsonObject
from pond.publishing.breaks import Break, Side, pointer

_LOWER, _UPPER = ("minLength", "minItems", "minimum"), ("maxLength", "maxItems", "maximum")
# What a validator ignores, besides everything that begins with `x-`.
_REMARKS = ("description", "title", "$comment", "examples", "default", "deprecated")
# Keywords with a rule below; a change of any other is a break.
_JUDGED = (
    *_LOWER, *_UPPER, "pattern", "properties", "required", "additionalProperties", "dependentRequired", "items",
    "oneOf", "discriminator", "$ref", "const", "type",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Comparison:
    """The types of both versions, for references."""

    old: Mapping[str, JsonObject]
    new: Mapping[str, JsonObject]

    def breaks(self, old: JsonObject, new: JsonObject, at: str, side: Side) -> Iterator[Break]:
        """Yield what changed in one schema, with its place."""
        form = _form(old)
        if form != _form(new):
            yield from self._retyped(old, new, at, side)
            return
        yield from _other_keywords(old, new, at)
        yield from _limits(old, new, at, side)
        if rule := _RULES.get(form):
            yield from rule(self, old, new, at, side)

    def _retyped(self, old: JsonObject, new: JsonObject, at: str, side: Side) -> Iterator[Break]:
        read_fits = self._fits(old, self.old, new, self.new)
        sent_fits = self._fits(new, self.new, old, self.old)
        if (Side.READ in side and not read_fits) or (Side.SENT in side and not sent_fits):
            yield Break(at, f"was {_said(old)}, is {_said(new)}")

    def _fits(
        self, narrow: JsonObject, below: Mapping[str, JsonObject], wide: JsonObject, above: Mapping[str, JsonObject]
    ) -> bool:  # fmt: skip
        """Return whether every value of one schema is a value of the other; a doubt counts as no."""
        if isinstance(narrow.get("$ref"), str) and narrow.get("$ref") == wide.get("$ref"):
            return True
        wide = _resolved(wide, above)
        if not _bare(wide):
            return True  # anything goes
        if any(self._fits(narrow, below, each, above) for each in wide.get("oneOf", ())):
            return True
        narrow = _resolved(narrow, below)
        if narrow.get("type") == "integer" and wide.get("type") == "number":
            narrow = {**narrow, "type": "number"}
        return _bare(narrow) == _bare(wide)

    def _object(self, old: JsonObject, new: JsonObject, at: str, side: Side) -> Iterator[Break]:
        yield from self._fields(old.get("properties", {}), new.get("properties", {}), at, side)
        yield from _required(old, new, at, side)
        yield from _needs(old, new, at, side)
        yield from self._others(old.get("additionalProperties", True), new.get("additionalProperties", True), at, side)

    def _fields(self, old: JsonObject, new: JsonObject, at: str, side: Side) -> Iterator[Break]:
        for name, body in old.items():
            here = pointer(at, "properties", name)
            if name in new:
                yield from self.breaks(body, new[name], here, side)
            else:
                yield Break(here, "the field is gone")

    def _others(self, old: object, new: object, at: str, side: Side) -> Iterator[Break]:
        here = pointer(at, "additionalProperties")
        match old, new:
            case dict(), dict():
                yield from self.breaks(old, new, here, side)
            case True, False if Side.READ in side:
                yield Break(here, "no longer takes other fields")
            case False, True if Side.SENT in side:
                yield Break(here, "may now have other fields")
            case _ if isinstance(old, dict) != isinstance(new, dict):
                yield Break(here, f"was {json.dumps(old)}, is {json.dumps(new)}")

    def _array(self, old: JsonObject, new: JsonObject, at: str, side: Side) -> Iterator[Break]:
        yield from self.breaks(old.get("items", {}), new.get("items", {}), pointer(at, "items"), side)

    def _choice(self, old: JsonObject, new: JsonObject, at: str, side: Side) -> Iterator[Break]:
        if old.get("discriminator") != new.get("discriminator"):
            yield Break(pointer(at, "discriminator"), "members are told apart by something else")
        before, after = ({_said(each): None for each in body["oneOf"]} for body in (old, new))
        here = pointer(at, "oneOf")
        if Side.READ in side:
            yield from (Break(here, f"no longer takes {each}") for each in before if each not in after)
        if Side.SENT in side:
            yield from (Break(here, f"may now be {each}") for each in after if each not in before)

    def _same(self, old: JsonObject, new: JsonObject, at: str, _: Side) -> Iterator[Break]:
        if _said(old) != _said(new):
            yield Break(at, f"was {_said(old)}, is {_said(new)}")


_Rule = Callable[[Comparison, JsonObject, JsonObject, str, Side], Iterator[Break]]
_RULES: dict[str, _Rule] = {
    "object": Comparison._object,
    "array": Comparison._array,
    "oneOf": Comparison._choice,
    "const": Comparison._same,
}


def _form(body: JsonObject) -> str:
    """Return what decides which rule compares a schema: schemas of different forms are different types."""
    if "$ref" in body:
        return str(body["$ref"])
    return next((each for each in ("oneOf", "const") if each in body), str(body.get("type", "any")))


def _resolved(body: JsonObject, definitions: Mapping[str, JsonObject]) -> JsonObject:
    while isinstance(target := body.get("$ref"), str):
        body = definitions.get(target.rpartition("/")[2], {"not": {}})
    return body


def _is_remark(keyword: str) -> bool:
    return keyword in _REMARKS or keyword.startswith("x-")


def _bare(body: JsonObject) -> JsonObject:
    return {key: value for key, value in body.items() if not _is_remark(key)}


def _said(body: JsonObject) -> str:
    """Return a schema in a few words."""
    match body:
        case {"$ref": str(target)}:
            return f"`{target.rpartition('/')[2]}`"
        case {"const": value}:
            return json.dumps(value)
        case {"type": "array", "items": dict(items)}:
            return f"a list of {_said(items)}"
        case {"oneOf": list(members)}:
            return "one of " + ", ".join(map(_said, members))
        case {"type": str(name)}:
            return name
        case _:
            return "any value"


def _other_keywords(old: JsonObject, new: JsonObject, at: str) -> Iterator[Break]:
    for keyword in sorted({*old, *new}):
        if not _is_remark(keyword) and keyword not in _JUDGED and old.get(keyword) != new.get(keyword):
            yield Break(pointer(at, keyword), f"was {json.dumps(old.get(keyword))}, is {json.dumps(new.get(keyword))}")


def _limits(old: JsonObject, new: JsonObject, at: str, side: Side) -> Iterator[Break]:
    for keyword in (*_LOWER, *_UPPER, "pattern"):
        before, after = old.get(keyword), new.get(keyword)
        if before != after and (
            (Side.READ in side and not _within(keyword, before, after))
            or (Side.SENT in side and not _within(keyword, after, before))
        ):
            yield Break(pointer(at, keyword), f"was {_limit(before)}, is {_limit(after)}")


def _within(keyword: str, limit: float | None, wider: float | None) -> bool:
    """Return whether a value within one limit is also within the other."""
    if wider is None:
        return True
    if limit is None or keyword == "pattern":
        return False
    return limit >= wider if keyword in _LOWER else limit <= wider


def _limit(value: object) -> str:
    return "not limited" if value is None else json.dumps(value)


def _required(old: JsonObject, new: JsonObject, at: str, side: Side) -> Iterator[Break]:
    before, after = old.get("required", ()), new.get("required", ())
    if Side.READ in side:
        for name in [each for each in after if each not in before]:
            what = "is required now" if name in old.get("properties", {}) else "is a new field, and required"
            yield Break(pointer(at, "required"), f"`{name}` {what}")
    if Side.SENT in side:
        kept = [each for each in before if each in new.get("properties", {})]
        yield from (Break(pointer(at, "required"), f"`{name}` may be absent now") for name in kept if name not in after)


def _needs(old: JsonObject, new: JsonObject, at: str, side: Side) -> Iterator[Break]:
    before, after = (
        {(name, each) for name, all_ in body.get("dependentRequired", {}).items() for each in all_}
        for body in (old, new)
    )
    if old.get("additionalProperties") is False:  # what a new field needs asks nothing of those who do not have it
        after = {(name, other) for name, other in after if name in old.get("properties", {})}
    here = pointer(at, "dependentRequired")
    if Side.READ in side:
        yield from (Break(here, f"`{name}` needs `{other}` now") for name, other in sorted(after - before))
    if Side.SENT in side:
        yield from (Break(here, f"`{name}` may stand without `{other}`") for name, other in sorted(before - after))
