"""Small wrong versions of a mapping or of a conversion: each says one thing less, or another."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lark import Lark, Token, Tree

from pond.lang import parse as language
from pond.lang.fields import PART_TYPES, fields_of

# Constructs that can be left out, and what to call that.
_DELETED = {
    "claim": "claim", "implied": "implied", "lookup": "lookup", "rest_of": "rest", "keeps": "keeps", "block": "block",
    "kind": "kind", "carries": "carries", "when": "condition", "span_between": "span", "span_wrap": "span",
    "span_prefix": "span", "span_exact": "span", "span_when": "span", "fact": "session field", "part": "part",
    "observed": "observed", "given": "given", "left": "left",
}  # fmt: skip
_OTHER_CONVERSION = {"rfc3339": "epoch_ms", "epoch_ms": "rfc3339", "epoch_s": "epoch_ms"}


@dataclass(frozen=True)
class Mutant:
    """One change to one file: what it is, where, and the whole text after it."""

    file: Path
    line: int
    change: str
    text: str

    def __str__(self) -> str:
        return f"{self.file.name}:{self.line}: {self.change}"


@cache
def _grammar() -> Lark:
    grammar = Path(language.__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", propagate_positions=True, keep_all_tokens=True)


def of_mapping(file: Path, text: str) -> Iterator[Mutant]:
    """Yield every single-rule change of a mapping, in the order of the file."""
    found = [m for node in _nodes(_grammar().parse(text)) for m in _of_node(file, text, node)]
    yield from sorted(found, key=lambda mutant: mutant.line)


def _nodes(tree: Tree[Token], owner: str = "") -> Iterator[tuple[Tree[Token], str]]:
    """Yield each node with the canonical type its rules fill."""
    for child in tree.children:
        if isinstance(child, Tree):
            yield child, owner
            yield from _nodes(child, _filled(child) or owner)


def _filled(node: Tree[Token]) -> str:
    match str(node.data):
        case "block" | "part":
            (kind,) = node.find_data("part_type")
            return _names(kind)[-1]
        case "kind":
            return _names(node)[0]
        case "otherwise":
            return "SystemMessage"
    return ""


def _names(node: Tree[Token]) -> list[str]:
    return [str(child) for child in node.children if isinstance(child, Token) and child.type == "NAME"]


def _of_node(file: Path, text: str, found: tuple[Tree[Token], str]) -> Iterator[Mutant]:
    node, owner = found
    name, start, end = (
        str(node.data),
        node.meta.start_pos if node.children else 0,
        node.meta.end_pos if node.children else 0,
    )
    if not node.children:
        return
    line = node.meta.line
    said = " ".join(text[start:end].split("{")[0].split())
    if name in _DELETED:
        yield Mutant(file, line, f"drop {_DELETED[name]}: {said}", text[:start] + text[end:])
    match name:
        case "conversational" | "injected":
            other = "injected" if name == "conversational" else "conversational"
            yield Mutant(file, line, f"{name} -> {other}", text[:start] + other + text[end:])
        case "by_spans":
            yield Mutant(file, line, f"{said} -> conversational", text[:start] + "conversational" + text[end:])
        case "conversion":
            other = _OTHER_CONVERSION.get(str(node.children[0]), "")
            before = text[:start] if other else re.sub(r"as\s*$", "", text[:start])
            yield Mutant(
                file, line, f"as {said} -> {f'as {other}' if other else 'as it is'}", before + other + text[end:]
            )
        case "claim":
            yield from _renamed(file, text, node, owner)


def _renamed(file: Path, text: str, claim: Tree[Token], owner: str) -> Iterator[Mutant]:
    """Yield the claim sent to another field that takes the same type, or to a bag where there is none."""
    for target in claim.find_data("target"):
        start, end = target.meta.start_pos, target.meta.end_pos
        name = text[start:end]
        known = fields_of(owner)
        if name in known and owner in PART_TYPES:
            alike = [n for n, f in known.items() if not f.positional and n != name and f.type == known[name].type]
        else:
            alike = []
        other = alike[0] if alike else "options.mutant.x"
        yield Mutant(file, target.meta.line, f"fill {other} instead of {name}", text[:start] + other + text[end:])


# By file: words, and what to put in their place.
CONVERSION_CHANGES = {
    "instants.py": (
        ('"microseconds" if when.microsecond % 1000 else "milliseconds"', '"milliseconds"'),
    ),
    "conversions.py": (
        ('found = instant(value) if type(value) is str else None', "found = value if type(value) is str else None"),
        ('return "text"', "return NO_SPELLING"),
        ("(NotJson, _Duplicate, UnicodeEncodeError)", "(NotJson, UnicodeEncodeError)"),
        ("raise _Duplicate(key)", "return None"),
        ("return {\"text\": value}", "return NO_SPELLING"),
        ("NO_SPELLING if len(lengths) == (1 if values[0] else 0) else lengths", "NO_SPELLING"),
        ("start += length", "start += 0"),
        ('f"data:{values[0]};base64,{values[1]}"', 'f"data:{values[0]};{values[1]}"'),
        ("NO_SPELLING if type(printed) is type(value) and printed == value else value", "NO_SPELLING"),
        ("return values[0] if spelling is NO_SPELLING else spelling", "return values[0]"),
        ("round(moment.timestamp() * per_second)", "int(moment.timestamp()) * per_second"),
        ("type(value) is not int and type(value) is not float", "not isinstance(value, int | float)"),
    ),
}  # fmt: skip


def of_conversions(file: Path, text: str) -> Iterator[Mutant]:
    """Yield a handful of wrong conversions; one whose words are no longer there is an error, not a pass."""
    for before, after in CONVERSION_CHANGES[file.name]:
        if text.count(before) != 1:
            raise LookupError(f"{file}: `{before}` occurs {text.count(before)} times; update tests/mutation/mutants.py")
        at = text.index(before)
        line = text.count("\n", 0, at) + 1
        yield Mutant(file, line, f"{before} -> {after or 'nothing'}", text.replace(before, after))
