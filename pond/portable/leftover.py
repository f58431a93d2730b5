"""Items of a conversation's lists that no rule of the mapping claims. They stay in the record and become no Part."""

from __future__ import annotations

from pond.lang.runtime import MISSING, kind_of
from pond.model.json_text import Json, JsonObject
from pond.model.marks import POND, WEAVE, marks_of
from pond.portable.blocks import as_text
from pond.portable.outline import of, text_of

_LEFT = "r"  # in the mark `weave`: the item is still in the record
_LONGEST_NAME = 80


def left_over(options: JsonObject) -> list[Json]:
    """Return the items that a message's marks say are still in its record; MISSING for one that is not found there."""
    weave = marks_of(options).get(WEAVE)
    found: list[Json] = []
    for path, order in weave.items() if type(weave) is dict else ():
        if type(order) is str and _LEFT in order:
            found += _items(options, path.split("."), order.count(_LEFT))
    return found


def _items(options: JsonObject, path: list[str], count: int) -> list[Json]:
    """Return the list at a path of the record: in the residue, or where the rest of an object on the way is kept."""
    bags = [of(bag, *path[start:]) for name, bag in options.items() if name != POND for start in range(len(path))]
    return next((items for items in bags if type(items) is list and len(items) == count), [MISSING] * count)


def name_and_size(item: Json) -> tuple[str, int]:
    """Return what an item is, and how long it is as JSON."""
    if item is MISSING:
        return "an item", 0
    return (text_of(item, "type") or kind_of(item))[:_LONGEST_NAME], len(as_text(item))
