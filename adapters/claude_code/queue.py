"""Claude Code's queue of prompts: which records move one into it or out of it, and how."""

from __future__ import annotations

import re

from pond.lang.runtime import CARRIED
from pond.model.json_text import JsonObject
from pond.portable.queue import Queued

from .compiled import Kind

KIND = "queue-operation"
LABEL = Kind.queue_operation_content  # the label of rows that hold the prompt itself
_MOVES = {"dequeue": Queued("leaves"), "remove": Queued("leaves"), "popAll": Queued("taken back")}
_COMMAND = re.compile(r"\s*/[\w:.-]+(?!\S)")  # a path has more slashes


def queues(label: str, residue: JsonObject) -> bool:
    """Tell whether a record moves prompts into or out of the queue."""
    return label == LABEL or (label == CARRIED and residue.get("type") == KIND)


def queued(residue: JsonObject, text: str) -> Queued:
    """Return what happens to the prompt of a record that `queues`."""
    # Whether it was sent during a turn or as the next one makes no difference.
    operation = residue.get("operation")
    moved = _MOVES.get(operation) if type(operation) is str else None
    return moved or Queued("enters", _COMMAND.match(text) is not None)
