"""Does the matrix say no? Converted stores are damaged, and each damage has to be noticed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.clients.cases import CASES
from tests.clients.client import Client
from tests.clients.expected import rows
from tests.clients.jsonl import write
from tests.clients.matrix import Damage

Row = dict[str, Any]
CASE = next(case for case in CASES if case.name == "tool call")


def _remove_answer(found: list[Row]) -> list[Row]:
    """Leave out the last answer, and whatever repeats it."""
    return [row for row in found if "fourteen shelves" not in json.dumps(row)]


def _remove_result(found: list[Row]) -> list[Row]:
    """Leave out what the tool gave back."""
    return [row for row in found if "14 shelves.txt" not in json.dumps(row)]


def _swap_answers(found: list[Row]) -> list[Row]:
    """Let the first and the last answer change places."""
    marks = {"I will count.": "There are fourteen shelves.", "There are fourteen shelves.": "I will count."}

    def swapped(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: swapped(each) for key, each in value.items()}
        if isinstance(value, list):
            return [swapped(each) for each in value]
        return marks.get(value, value) if isinstance(value, str) else value

    return [swapped(row) for row in found]


def _break_structure(found: list[Row]) -> list[Row]:
    """Leave all words, and take away what holds them together: parents, or the header."""
    return [
        {**row, "parentUuid": None} if "parentUuid" in row else row for row in found if row["type"] != "session_meta"
    ]


def _rows(change: Callable[[list[Row]], list[Row]]) -> Damage:
    def damage(client: Client, store: Path) -> None:
        (path,) = client.sessions(store).values()
        write(path, change(rows(path)))

    return damage


def _garbage(client: Client, store: Path) -> None:
    (path,) = client.sessions(store).values()
    path.write_bytes(b'\x00\xff{"this": is no session\n' * 20)


DAMAGES: dict[str, Damage] = {
    "an answer removed": _rows(_remove_answer),
    "a result removed": _rows(_remove_result),
    "answers swapped": _rows(_swap_answers),
    "structure broken": _rows(_break_structure),
    "garbage": _garbage,
}
