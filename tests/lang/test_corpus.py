"""What the grammar makes of a text: each file is a mapping, a line of dashes, and its tree."""

from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from pond.diagnostics.span import Span
from pond.lang import ast
from pond.lang.parse import parse
from tests.lang.engines import HERE

FILES = sorted((HERE / "corpus").glob("*.txt"))
DASHES = "\n" + "-" * 20 + "\n"


def tree(node: object, depth: int = 0) -> str:
    """Return a node as an s-expression: what is empty or only says where it stood is left out."""
    match node:
        case ast.Path(keys=keys):
            return ".".join(key if key.isidentifier() else _quoted(key) for key in keys)
        case ast.Name(text=text):
            return text
        case ast.Value(value=value):
            return _quoted(value) if isinstance(value, str) else str(value).lower().replace("none", "null")
        case tuple():
            return "[" + " ".join(tree(item, depth) for item in node) + "]"
        case str():
            return _quoted(node)
    assert is_dataclass(node)
    parts, below = [], []
    for field in fields(node):
        value = getattr(node, field.name)
        value = True if isinstance(value, Span) and field.name != "span" else value
        if field.name in ("span", "text", "file") or value is None or value == () or value is False:
            continue
        if field.name in ("items", "blocks", "left", "kinds", "rules", "session", "spans", "carries") and isinstance(
            value, tuple
        ):
            below += [tree(item, depth + 1) for item in value]
        elif isinstance(value, ast.Otherwise):
            below.append(tree(value, depth + 1))
        else:
            parts.append(f"{field.name}={tree(value, depth) if not isinstance(value, bool | int) else value}")
    inside = " ".join([type(node).__name__, *parts])
    return f"({inside}" + "".join(f"\n{'  ' * (depth + 1)}{item}" for item in below) + ")"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_tree_is_as_written(path: Path) -> None:
    source, _, expected = path.read_text(encoding="utf-8").partition(DASHES)
    assert tree(parse(source, "x.map")) == expected.rstrip("\n")


def test_spans_point_at_what_they_are_about() -> None:
    text = 'client "x" {\n  "say" => UserMessage {\n    a."b c" <-> options.x.y as json_text\n  }\n}\n'
    (kind,) = parse(text, "x.map").kinds
    claim = kind.items[0]
    assert isinstance(claim, ast.Claim)
    assert claim.conversion is not None
    lines = text.splitlines()
    for span, words in (
        (claim.source.span, 'a."b c"'),
        (claim.targets[0].span, "options.x.y"),
        (claim.conversion.name.span, "json_text"),
        (kind.messages[0].span, "UserMessage"),
        (kind.names[0].span, '"say"'),
    ):
        assert lines[span.line - 1][span.column - 1 : span.column - 1 + span.length] == words
