"""Members of JSON text, set and removed in place: comments, order and layout of everything else stay as they are."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,\]}/]+', re.DOTALL)
_UNIT = re.compile(r"^([ \t]+)\S", re.MULTILINE)


class NotJson(ValueError):
    """Text that is not JSON, not even with comments and commas too many."""


@dataclass(slots=True)
class _Node:
    """A value and where it stands; of an object, its members: where each begins, and its value."""

    begin: int
    end: int
    value: Any
    members: dict[str, tuple[int, _Node]]


def parsed(text: str) -> Any:
    """Return the value of JSON text; comments and trailing commas are let pass."""
    return _root(text).value


def with_member(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with a member set; objects on the way are made where they are missing."""
    if not text.strip():
        return _written(_nested(path, value), "", "  ", "\n") + "\n"
    ends, unit = "\r\n" if "\r\n" in text else "\n", _unit(text)
    node, depth = _root(text), 0
    while depth < len(path) and path[depth] in node.members:
        node, depth = node.members[path[depth]][1], depth + 1
    if depth == len(path):
        if node.value == value:
            return text
        return _replaced(text, node, value, unit, ends)
    if not isinstance(node.value, dict):
        raise NotJson(f"`{'.'.join(path[:depth]) or 'the file'}` is no object")
    return _inserted(text, node, path[depth], _nested(path[depth + 1 :], value), unit, ends)


def without_member(text: str, path: Sequence[str]) -> str:
    """Return the text without a member; one that is not there is no member to remove."""
    *above, name = path
    node = _root(text)
    for step in above:
        if step not in node.members:
            return text
        node = node.members[step][1]
    return _removed(text, node, name) if name in node.members else text


def _nested(path: Sequence[str], value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value


def _unit(text: str) -> str:
    found = _UNIT.search(text)
    return found[1] if found else "  "


def _written(value: Any, indent: str, unit: str, ends: str) -> str:
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return f"{ends}{indent}".join(lines)


def _replaced(text: str, node: _Node, value: Any, unit: str, ends: str) -> str:
    line = text[text.rfind("\n", 0, node.begin) + 1 : node.begin]
    indent = line[: len(line) - len(line.lstrip())]
    return text[: node.begin] + _written(value, indent, unit, ends) + text[node.end :]


def _inserted(text: str, node: _Node, name: str, value: Any, unit: str, ends: str) -> str:
    line = text[text.rfind("\n", 0, node.begin) + 1 : node.begin]
    outer = line[: len(line) - len(line.lstrip())]
    inner = outer + unit
    content = text[node.begin + 1 : node.end - 1]
    member = f"{json.dumps(name)}: {_written(value, inner, unit, ends)}"
    if node.members:
        last = max(each.end for _, each in node.members.values())
        gap = _SPACE.match(text, last)
        comma = "" if gap is not None and text[gap.end() : gap.end() + 1] == "," else ","
        kept = len(content.rstrip()) + node.begin + 1
        if "\n" not in content:
            return text[:last] + f", {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" + text[last:]
        return text[:last] + comma + text[last:kept] + f"{ends}{inner}{member}" + text[kept:]
    kept = len(content.rstrip()) + node.begin + 1
    return text[:kept] + f"{ends}{inner}{member}{ends}{outer}" + text[node.end - 1 :]


def _removed(text: str, node: _Node, name: str) -> str:
    begin, member = node.members[name]
    others = [each for key, (_, each) in node.members.items() if key != name]
    end = member.end
    after = _SPACE.match(text, end)
    if after is not None and text[after.end() : after.end() + 1] == ",":
        end = after.end() + 1
    elif before := [each.end for each in others if each.end <= begin]:
        comma = text.find(",", max(before))
        text, shift = text[:comma] + text[comma + 1 :], 1
        begin, end = begin - shift, end - shift
    line = text.rfind("\n", 0, begin)
    if line >= 0 and not text[line:begin].strip():
        begin = line  # its whole line goes
        begin -= text[begin - 1 : begin] == "\r"
    return text[:begin] + text[end:]


# --- reading ----------------------------------------------------------------------------------------------------------


def _root(text: str) -> _Node:
    node = _value(text, _skip(text, 0))
    if text[_skip(text, node.end) :]:
        raise NotJson("something stands after the end")
    return node


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int) -> _Node:
    opening = text[at : at + 1]
    if opening == "{":
        return _object(text, at)
    if opening == "[":
        return _array(text, at)
    found = _SCALAR.match(text, at)
    try:
        if found is None:
            raise NotJson(f"nothing readable in line {text.count(chr(10), 0, at) + 1}")
        return _Node(at, found.end(), json.loads(found[0], strict=False), {})
    except ValueError:
        raise NotJson(f"nothing readable in line {text.count(chr(10), 0, at) + 1}") from None


def _object(text: str, begin: int) -> _Node:
    members: dict[str, tuple[int, _Node]] = {}
    at = _skip(text, begin + 1)
    while text[at : at + 1] != "}":
        name = _value(text, at)
        colon = _skip(text, name.end)
        if not isinstance(name.value, str) or text[colon : colon + 1] != ":":
            raise NotJson(f"expected a member in line {text.count(chr(10), 0, at) + 1}")
        value = _value(text, _skip(text, colon + 1))
        members[name.value] = at, value
        at = _next(text, value.end, "}")
    return _Node(begin, at + 1, {name: each.value for name, (_, each) in members.items()}, members)


def _array(text: str, begin: int) -> _Node:
    values: list[Any] = []
    at = _skip(text, begin + 1)
    while text[at : at + 1] != "]":
        value = _value(text, at)
        values.append(value.value)
        at = _next(text, value.end, "]")
    return _Node(begin, at + 1, values, {})


def _next(text: str, at: int, closing: str) -> int:
    at = _skip(text, at)
    if text[at : at + 1] == ",":
        return _skip(text, at + 1)
    if text[at : at + 1] != closing:
        raise NotJson(f"expected `,` or `{closing}` in line {text.count(chr(10), 0, at) + 1}")
    return at
