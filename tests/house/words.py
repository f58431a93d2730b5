"""The prose of the project: pages and comments, and what is checked in them."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tests.house.tree import ROOT, files

WIDTH = 120
GLOSSARY = Path("docs/glossary.md")

# Phrases that sound translated, and what to write instead.
BANNED = {
    r"\b(?:go|goes|going|went|gone) on\b": "continue",
    r"\b(?:come|comes|came|coming) to (?:its|an|their) end\b": "finish, or: was interrupted",
    r"\basks? the network\b": "use the network",
    r"\bis known to no\b": "no … knows it",
    r"\b(?:stand|stands|stood) twice\b": "duplicate",
    r"\b(?:stand|stands|stood) (?:in(?! for\b)|at|between|beside|under|nowhere|behind|there)\b": "is",
    r"\b(?:lie|lies|lay) (?:in|at|below|beside|under|there)\b": "is",
    r"\bbegins? so\b": "begins with",
    r"\bas long as only one\b": "a unique prefix",
    r"\bwithout a word\b": "silently",
    r"\bin silence\b": "silently",
    r"\broads?\b": "path, or: way",
    r"\botherwise than\b": "not as, or: differently from",
    r"\banew\b": "again",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\bbut for\b": "except for",
    r"\bbe it\b": "even if it is",
    r"\bin earnest\b": "for real work",
    r"\b(?:hold|holds|held|holding) (?:\w+ ){0,4}against\b": "compare with",
    r"\bone (?:JSONL? )?(?:file|function|rule|record|folder|line|table) a (?!second\b)\w+": "one … per …",
    r"\bwhoever\b": "anyone who, or: the reader, the caller",
    r"\bkept for people only\b": "is shown to you, not sent to the model",
    r"\b(?:nobody|nothing|none) (?:\w+ ){0,2}but that\b": "but",
}

_FENCE = re.compile(r"^\s*(?:```|~~~)")
_ITEM = re.compile(r"^(\s*)(?:[-*+]|\d+[.)])\s")
_EXEMPT = re.compile(r"^\s*(?:\||#|\[[^\]]+\]:)")
_CODE = re.compile(r"`[^`]*`")
_LINK = re.compile(r"\]\([^)]*\)")


def pages() -> list[Path]:
    """List the pages of the project that people write and read."""
    return [name for name in files() if name.suffix == ".md" and "golden" not in name.parts]


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a page that are prose, with their numbers: no code, no tables, no headings."""
    fenced = listed = False
    for number, line in enumerate(text.splitlines(), 1):
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced or not line.strip():
            continue
        else:
            listed = bool(_ITEM.match(line)) or (listed and line.startswith(" "))
            if not _EXEMPT.match(line) and (listed or not line.startswith("    ")):
                yield number, line


def too_long(line: str) -> bool:
    """Tell whether a line is over the width although it has a place to break: not inside code or an address."""
    if len(line) <= WIDTH:
        return False
    solid = _CODE.sub(lambda code: "x" * len(code[0]), line)
    text = _ITEM.sub(lambda item: "x" * len(item[0]), solid.lstrip())
    indent = len(line) - len(line.lstrip())
    return " " in text[: WIDTH - indent + 1]


def terms() -> dict[str, re.Pattern[str]]:
    """Return the terms of the glossary, each with a pattern of its forms."""
    headings = re.findall(r"^## (.+)$", (ROOT / GLOSSARY).read_text(encoding="utf-8"), re.MULTILINE)
    return {term: re.compile(rf"\b{term}s?\b(?! out\b)", 0 if term == "Part" else re.IGNORECASE) for term in headings}


def used_terms(text: str) -> list[str]:
    """Return the terms of the glossary that a page uses in its prose."""
    said = _CODE.sub("", _LINK.sub("]", "\n".join(line for _, line in prose(text))))
    return [term for term, pattern in terms().items() if pattern.search(said)]


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield the comments and docstrings of a module with the lines they begin at."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            first = node.body[0]
            assert isinstance(first, ast.Expr)
            assert isinstance(first.value, ast.Constant)
            yield first.lineno, str(first.value.value)


def banned(text: str) -> list[str]:
    """Return the banned phrases of a text, each with what to write instead."""
    said = " ".join(_CODE.sub("", text).replace("\n#", "\n").split())
    found = ((re.search(phrase, said, re.IGNORECASE), better) for phrase, better in BANNED.items())
    return [f"'{match[0]}': write '{better}'" for match, better in found if match]
