"""Spec rules: those listed in docs/spec-rules.md, and those cited in the tree."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.house.tree import ROOT, files

LIST = Path("docs/spec-rules.md")
EXCLUDED = "Kept without a test of its own"

_ENTRY = re.compile(r"- `(?P<id>[a-z0-9-]+)` - (?P<text>.+\.)")
_TOPIC = r"(?:model|adapter|lance|session|search|wire)"
# A name of three words or more is taken for a citation anywhere in a comment. One of two words
# ("adapter-level", "session-wide") is one only where a rule is usually cited: before a colon, or alone in brackets.
_CITED = re.compile(
    rf"(?<![\w.`/-])`?(?P<long>{_TOPIC}(?:-[a-z0-9]+){{2,}})(?![\w./-]*[/_=(])"
    rf"|#\s*(?P<before_colon>{_TOPIC}-[a-z0-9]+):\s"
    rf"|\((?P<in_brackets>{_TOPIC}-[a-z0-9]+)\)"
)
_MAY_CITE = re.compile(rf"{_TOPIC}-[a-z0-9]")
_LINE_COMMENT = {".map": "#", ".toml": "#", ".lark": "//"}


@dataclass(frozen=True)
class Citation:
    """A rule id and the place that cites it."""

    rule: str
    file: Path
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line} cites {self.rule}"


def listed(text: str) -> dict[str, dict[str, str]]:
    """Read the page: heading -> rule id -> its sentence."""
    page: dict[str, dict[str, str]] = {}
    entries: dict[str, str] = {}
    for number, line in enumerate(_unwrapped(text), start=1):
        if line.startswith("## "):
            entries = page.setdefault(line.removeprefix("## ").split(" (")[0], {})
        elif line.startswith("- "):
            entry = _ENTRY.fullmatch(line)
            assert entry, f"{LIST}: entry in line {number}, unwrapped: expected: - `rule-id` - One sentence."
            assert entry["id"] not in entries, f"{LIST}: `{entry['id']}` is listed twice"
            entries[entry["id"]] = entry["text"]
    return page


def _unwrapped(text: str) -> list[str]:
    """Return the lines of a page, with each wrapped entry in one line."""
    return re.sub(r"\n  +(?=\S)", " ", text).splitlines()


def marked(source: str, file: Path) -> Iterator[Citation]:
    """Find `pytest.mark.rule("...")` in Python source, without importing it."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(attr="rule", value=ast.Attribute(attr="mark")), args=arguments):
                for argument in arguments:
                    assert isinstance(argument, ast.Constant), f"{file}:{node.lineno}: name the rule as plain text"
                    yield Citation(str(argument.value), file, node.lineno)


def commented(source: str, file: Path) -> Iterator[Citation]:
    """Find rules cited in comments, docstrings and `rule="..."` arguments of one file."""
    passages = _python_passages(source) if file.suffix == ".py" else _line_comments(source, _LINE_COMMENT[file.suffix])
    for line, text in passages:
        for match in _CITED.finditer(text):
            yield Citation(next(filter(None, match.groups())), file, line)


def _python_passages(source: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text), lineno=line)):
                yield line, text
            case ast.keyword(arg="rule", value=ast.Constant(value=str(text), lineno=line)):
                yield line, f"({text})"


def _line_comments(source: str, mark: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(source.splitlines(), start=1):
        _, found, text = line.partition(mark)
        if found:
            yield number, f"#{text}"


def all_marked() -> list[Citation]:
    """List what the tests say they defend."""
    tests = [file for file in files() if file.parts[0] == "tests" and file.suffix == ".py"]
    return [citation for file in tests for citation in marked((ROOT / file).read_text(), file)]


def all_commented() -> list[Citation]:
    """List what code and mappings cite. Files that are broken on purpose (tests/lang/errors) have their own tests."""
    cited = [file for file in files() if file.suffix == ".py" or file.suffix in _LINE_COMMENT]
    texts = {file: (ROOT / file).read_text() for file in cited if file.suffix == ".py" or file.parts[0] != "tests"}
    # Most files cite nothing; there is no need to find out what in them is a comment.
    return [citation for file, text in texts.items() if _MAY_CITE.search(text) for citation in commented(text, file)]
