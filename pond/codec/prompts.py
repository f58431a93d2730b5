"""Prompts that a client writes down more than once: the first row is the prompt, the others are marked.

The first, because a file grows: what a row is must not depend on later rows (adapter-integrity-additive-sync). Every
row stays; only reading, counting and searching skip those that say a prompt `again`.
"""

from __future__ import annotations

from types import ModuleType

from pond.codec.registry import Adapter, part_of
from pond.model.json_text import JsonObject
from pond.model.marks import AGAIN, AS, POND
from pond.portable.queue import Prompt, Queue, says_no_more, text_in

_LARGEST = 1 << 16  # characters of a saved state; a session with more to remember is read from its start


def prompts_of(owner: Adapter) -> Prompts | None:
    """Return the marker of a session's prompts; None if its client keeps no queue."""
    module = part_of(owner, "queue")
    return Prompts(module) if module is not None else None


class Prompts:
    """Sees the events of each record in turn, and marks messages that repeat what an earlier one said."""

    def __init__(self, client: ModuleType) -> None:
        self._client, self._queue = client, Queue(forgets=False)
        self._label, self._waiting = client.LABEL, self._queue.prompts

    def mark(self, events: list[JsonObject]) -> list[JsonObject]:
        """Mark the record's message if it only repeats prompts; return the events."""
        head = events[0]
        role = head["role"]
        if role == "user":
            marks = head["options"][POND]
            if marks[AS] == self._label:
                if self._moves(events, marks[AS]):
                    marks[AGAIN] = True
            elif self._waiting and self._says(events):
                marks[AGAIN] = True
        elif role == "system" and self._waiting:  # a row without a prompt can only move one that waits
            self._moves(events, head["options"][POND][AS])
        return events

    def _moves(self, events: list[JsonObject], label: str) -> bool:
        residue = events[0]["options"].get("source")
        if type(residue) is not dict or not self._client.queues(label, residue):
            return False
        note = self._client.queued(residue, text_in(events))
        prompt = Prompt.of(events, note.command)
        return self._queue.move(note.how, prompt, str(events[0].get("timestamp") or "")) and prompt.human

    def _says(self, events: list[JsonObject]) -> bool:
        found = self._queue.hear(events) or self._queue.hear_command(events)
        if not found and Prompt.of(events).human:
            # Somebody typed again: nothing more comes from prompts that left earlier, and the same words later are a
            # new prompt.
            self._queue.forget_taken()
        return bool(found) and found[0].human and says_no_more(events, found)

    def state(self) -> JsonObject | None:
        """Return what is remembered; None if that is too much to keep."""
        state = self._queue.state()
        size = sum(len(words) for words, *_ in state["waiting"]) + 16 * len(state["moves"])
        return state if size <= _LARGEST else None

    def restore(self, state: JsonObject) -> None:
        """Continue from what `state` returned."""
        self._queue.restore(state)
