"""The matrix as a table, for the terminal and for docs/clients.md."""

import re
from collections.abc import Iterable
from pathlib import Path

from tests.clients.install import CLAUDE, CODEX
from tests.clients.matrix import Cell

PAGE = Path(__file__).resolve().parents[2] / "docs" / "clients.md"
COLUMNS = (("claude", "claude"), ("codex", "codex"), ("claude", "codex"), ("codex", "claude"))
_BEGIN, _END = "<!-- begin: written by `python -m tests.clients --write-docs` -->", "<!-- end -->"


def table(cells: Iterable[Cell]) -> str:
    """Return a table in Markdown: one row per case, one column per direction; problems are listed below it."""
    by_case: dict[str, dict[tuple[str, str], Cell]] = {}
    for cell in cells:
        by_case.setdefault(cell.case, {})[cell.source, cell.target] = cell
    width = max((len(case) for case in by_case), default=4)
    heads = [f"{source} -> {target}" for source, target in COLUMNS]
    lines = [_line("case".ljust(width), heads), _line("-" * width, ["-" * len(head) for head in heads])]
    notes: list[str] = []
    for case, found in by_case.items():
        words = [_word(found.get(column), notes) for column in COLUMNS]
        lines.append(_line(case.ljust(width), [word.ljust(len(head)) for word, head in zip(words, heads, strict=True)]))
    return "\n".join([*lines, "", *(f"{number}. {note}" for number, note in enumerate(notes, start=1))])


def _line(first: str, words: list[str]) -> str:
    return f"| {' | '.join([first, *words])} |"


def _word(cell: Cell | None, notes: list[str]) -> str:
    """Return a cell's word, and put what is to be said of it among the notes."""
    if cell is None:
        return "-"
    if not cell.reasons and not cell.notes:
        return "yes"
    said = "; ".join(cell.reasons[:3] + cell.notes)
    if said not in notes:
        notes.append(said)
    return f"{'no' if cell.reasons else 'yes'} ({notes.index(said) + 1})"


def write_page(cells: list[Cell], refused: int, controls: int) -> None:
    """Put the table between the marks of docs/clients.md."""
    text = PAGE.read_text(encoding="utf-8")
    good = sum(not cell.reasons for cell in cells)
    head = (
        f"Claude Code {CLAUDE.version}, Codex {CODEX.version}: {good} of {len(cells)} cells are good; "
        f"{refused} of {controls} damaged sessions were refused."
    )
    body = f"{_BEGIN}\n\n{head}\n\n{table(cells)}\n{_END}"
    changed, count = re.subn(f"{re.escape(_BEGIN)}.*?{re.escape(_END)}", lambda _: body, text, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"{PAGE} does not have the two marks")
    PAGE.write_text(changed, encoding="utf-8")
