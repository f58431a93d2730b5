"""Lines of Python, and the expressions that readers and writers share."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterable, Mapping
from keyword import iskeyword

from pond.lang.plan import Condition, Keys

CONSTANTS = "# constants"
NOTHING: Mapping[Keys, object] = {}


class PythonLines:
    """Lines of Python with an indentation level."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.level = 0
        self.constants: dict[str, str] = {}  # expression -> name; built once, at the top of the module

    def __call__(self, line: str = "") -> None:
        self.lines.append("    " * self.level + line if line else "")

    def constant(self, expression: str) -> str:
        """Return a module-level name for an expression that is the same for every record."""
        return self.constants.setdefault(expression, f"K{len(self.constants)}")

    def build(self, name: str, fields: Iterable[tuple[str, str]]) -> None:
        """Emit the making of an object with these fields: a copy of one that has everything constant.

        Setting an existing key costs less than adding it, so a copy is a third faster than a literal.
        """
        pairs = list(fields)
        form = ", ".join(f"{key!r}: {value if _is_constant(value) else None}" for key, value in pairs)
        self(f"{name} = {self.constant(f'{{{form}}}')}.copy()")
        for key, value in pairs:
            if not _is_constant(value):
                self(f"{name}[{key!r}] = {value}")

    def __str__(self) -> str:
        named = [f"{name} = {expression}" for expression, name in self.constants.items()]
        at = self.lines.index(CONSTANTS)
        return "\n".join(self.lines[:at] + named + self.lines[at + 1 :]) + "\n"

    def block(self, head: str) -> IndentedBlock:
        self(head)
        return IndentedBlock(self)


class IndentedBlock:
    def __init__(self, out: PythonLines) -> None:
        self.out = out

    def __enter__(self) -> None:
        self.out.level += 1

    def __exit__(self, *_: object) -> None:
        self.out.level -= 1


def _is_constant(expression: str) -> bool:
    """Tell whether an expression is a literal that every record can share."""
    try:
        return isinstance(literal_eval(expression), str | bool)
    except (ValueError, SyntaxError):
        return False


def word(label: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in label)


def identifiers(labels: Iterable[str]) -> dict[str, str]:
    """Return a Python name for each label, and the label by it; no two labels share one."""
    found: dict[str, str] = {}
    for label in dict.fromkeys(labels):
        name = word(label).lstrip("_")  # two underscores in front would make it private to its class
        name = name if name.isidentifier() else f"n{name}"
        while name in found or iskeyword(name):
            name += "_"
        found[name] = label
    return found


_PLAIN = re.compile(r"(?!X_)[A-Za-z0-9]+(_[A-Za-z0-9]+)*")  # keys that can be used unchanged in a variable's name


def variable_for(keys: Keys, base: str = "r") -> str:
    """Return the name of the variable that holds the object at `keys`; no two paths share one."""
    words = [key if _PLAIN.fullmatch(key) else "X_" + key.encode("utf-8", "surrogatepass").hex() for key in keys]
    return "__".join((base, *words))


def holds(condition: Condition, base: str, bound: dict[Keys, str] | None = None) -> str:
    """Return an expression with the meaning of `interpret.holds`; `bound` names variables that already hold values."""
    *way, last = condition.keys
    if bound and condition.keys in bound:
        value = bound[condition.keys]
    elif way or (condition.op == "in" and any(type(v) is int for v in condition.values)):
        value = f"at({base}, {', '.join(map(repr, condition.keys))})"
    else:
        value = f"{base}.get({last!r}, MISSING)"
    match condition.op:
        case "has":
            return f"{value} is not MISSING"
        case "no":
            return f"{value} is MISSING"
    texts = [v for v in condition.values if type(v) is str]
    tests = [f"{value} is {v}" for v in condition.values if v is None or type(v) is bool]
    tests += [f"(type({value}) is int and {value} == {v})" for v in condition.values if type(v) is int]
    if len(texts) == 1:
        tests.append(f"{value} == {texts[0]!r}")
    elif texts:
        tests.append(f"(type({value}) is str and {value} in {set_of(frozenset(texts))})")
    return tests[0] if len(tests) == 1 else f"({' or '.join(tests)})"


def set_of(names: frozenset[str]) -> str:
    return "{" + ", ".join(map(repr, sorted(names))) + "}" if names else "frozenset()"


def delete(keys: Keys, holders: dict[Keys, str]) -> str:
    if keys[:-1] in holders:
        return f"del {holders[keys[:-1]]}[{keys[-1]!r}]"
    return delete_at(keys, holders)


def delete_at(keys: Keys, holders: dict[Keys, str]) -> str:
    way, base = keys[:-1], holders.get(keys[:-1])
    if base is not None:
        return f"del {base}[{keys[-1]!r}]"
    steps = "".join(f"[{key!r}]" for key in way)
    return f"del {holders[()]}{steps}[{keys[-1]!r}]"


def missing(name: str) -> str:
    """Return the statement that marks a source key as absent."""
    return f"absent = [{name!r}] if absent is None else [*absent, {name!r}]"


def remember(marks: str, name: str, value: str) -> str:
    """Return the statement that keeps a spelling beside its value."""
    return f"{marks} = {{{name!r}: {value}}} if {marks} is None else {{**{marks}, {name!r}: {value}}}"


def proved_by(conditions: Iterable[Condition]) -> dict[Keys, object]:
    """Return the values at paths that are known if the conditions hold."""
    return {c.keys: c.values[0] for c in conditions if c.op == "in" and len(c.values) == 1}


def objects_proved_by(conditions: Iterable[Condition]) -> set[Keys]:
    """Return the paths at which there is an object if the conditions hold: they lead to something inside it."""
    return {c.keys[:n] for c in conditions if c.op != "no" for n in range(1, len(c.keys))}
