"""Names, labels and paths in the checker's messages."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from pond.diagnostics.span import Span
from pond.lang import ast
from pond.lang.plan import Condition, Keys, PartPlan

Known: TypeAlias = dict[Keys, frozenset[str]]
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
ITEM_WORDS = {"part", "generic", "executed_by", "keeps"}  # keys with these names must be quoted
HOLE = re.compile(r"\{([^{}]+)\}")


def nearest(word: str, words: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, list(words), 1)
    return f"did you mean `{close[0]}`?" if close else ""


def label_of(name: str, when: Iterable[ast.Test], given: ast.Name | None = None) -> str:
    return name + "".join(f"/{condition_word(test)}" for test in when) + (f"/{given.text}" if given else "")


def nested(keys: Keys, other: Keys) -> bool:
    shorter = min(len(keys), len(other))
    return keys[:shorter] == other[:shorter]


def claimed_paths(items: Iterable[ast.Item]) -> Iterator[tuple[Keys, Span]]:
    """Yield the source paths that these rules claim, without those of their Parts."""
    for item in items:
        if isinstance(item, ast.Claim | ast.Implied | ast.Parts):
            yield item.source.keys, item.source.span


def condition_word(test: ast.Test) -> str:
    if test.op == "in":
        # Only the first value names the kind: adding one to the list must not rename what is already stored.
        return str(test.values[0].value) + ("+" if len(test.values) > 1 else "")
    return test.path.keys[-1] if test.op == "has" else f"no-{test.path.keys[-1]}"


def unique(label: str, taken: set[str]) -> str:
    name, number = label, 1
    while name in taken:
        number += 1
        name = f"{label}#{number}"
    taken.add(name)
    return name


def containers_of(paths: Iterable[Keys]) -> tuple[Keys, ...]:
    found = {path[:depth] for path in paths for depth in range(1, len(path))}
    return tuple(sorted(found, key=lambda keys: (len(keys), keys)))


def labelled(part: PartPlan, label: str, literal: str | None, conditions: tuple[Condition, ...], line: int) -> PartPlan:
    return PartPlan(
        label, part.part, part.message, part.provenance, part.spans, part.rules, part.implied, part.facts,
        part.constants, part.known, literal, conditions, line,
    )  # fmt: skip


def condition_of(test: ast.Test) -> Condition:
    """Return a test with its values resolved."""
    return Condition(test.path.keys, test.op, tuple(v.value for v in test.values))
