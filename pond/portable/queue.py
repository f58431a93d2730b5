"""Prompts that a person typed while the model was busy. Each is said once: in a row of its own, or when it was sent."""

from __future__ import annotations

from dataclasses import dataclass

from pond.lang.runtime import CARRIED
from pond.model.json_text import JsonObject
from pond.portable.loss import Losses
from pond.portable.outline import Queued, Record


@dataclass(slots=True, eq=False)
class Prompt:
    """What waits: the events of its record; none where the client only notes that there is something."""

    events: list[JsonObject]
    line: int
    words: str
    command: bool  # for the client itself
    sent: bool = False  # the client took it out of the queue, and said which
    said: bool = False  # a row of its own came before it was taken out

    @property
    def human(self) -> bool:
        return any(part.get("provenance") == "conversational" for part in self.events)


class Queue:
    """The prompts of a session that wait, oldest first.

    A client that sends one most often writes it down in a row of its own, but not always, and perhaps before it notes
    that the prompt left the queue. It need not note which one left: the rows that follow tell. And it writes such notes
    at once, where other rows wait to be written: what stands after a note may be older.
    """

    def __init__(self, losses: Losses) -> None:
        self.prompts: list[Prompt] = []
        self.due: str | None = None  # when the last of those left that no answer followed yet
        self._unnamed = 0  # how many of them without a word which
        self._words: set[int] = set()  # of all prompts so far, as hashes: most rows say none of them
        self._moves: set[int] = set()  # what happened to which prompt when, as hashes: resumed files tell it again
        self._losses = losses

    def move(self, note: Queued, record: Record) -> None:
        """Take a record that puts a prompt into the queue or takes some out."""
        events = [] if record.label == CARRIED else record.events
        prompt = Prompt(events, record.line, _words_of(events), note.command)
        move = hash((note.how, record.time, prompt.words))
        if prompt.words and move in self._moves:
            self._name("repeat", [prompt])
            return
        self._moves.add(move)
        if note.how == "enters":
            self._add(prompt)
        elif note.how == "taken back":
            self._take_back(prompt)
        elif self._leave(prompt):
            self.due = record.time

    def _add(self, prompt: Prompt) -> None:
        self.prompts.append(prompt)
        self._words.add(hash(prompt.words))

    def _leave(self, prompt: Prompt) -> bool:
        """Note that a prompt left; tell whether a message that says it is still to come."""
        if not prompt.words:
            self._name("empty", [prompt])
            return self._leave_unnamed()
        waiting = [one for one in self.prompts if not one.sent and one.words == prompt.words]
        if waiting:
            self._name("repeat", [prompt])
            prompt = waiting[0]
        else:
            self._add(prompt)
        prompt.sent = True
        if prompt.said:
            self._drop([prompt])
        return not prompt.said

    def _leave_unnamed(self) -> bool:
        if said := [one for one in self.prompts if one.said]:
            self._drop(said[:1])
        elif self._unnamed < sum(not one.sent for one in self.prompts):
            self._unnamed += 1
            return True
        return False

    def _take_back(self, prompt: Prompt) -> None:
        """Forget prompts that went back to where the person types: those that are named, or all of the person's."""
        waiting = [one for one in self.prompts if not one.sent and not one.said]
        if prompt.words:
            back = [one for one in waiting if one.words == prompt.words][:1] or _said_in(prompt.words, waiting)
        else:
            back = [one for one in waiting if one.human]
        self._drop(back)
        self._name("not-sent", back)
        self._name("repeat" if back else "not-sent", [prompt])

    def hear(self, events: list[JsonObject]) -> None:
        """Take a message, which may say a prompt; several that were sent at once are lines of one message."""
        words = _words_of(events)
        if not words:
            return
        found: list[Prompt] = []
        if hash(words) in self._words:
            same = [one for one in self.prompts if one.words == words and not one.said]
            found = ([one for one in same if one.sent] or same)[:1]
        if not found and self.due is not None:
            found = _said_in(words, self._taken())
        files = _files_in(events)
        found = [one for one in found if _files_in(one.events) <= files]  # words alone do not say a picture
        self._name("repeat", found)
        for one in found:
            if one.sent or self._unnamed:
                self._unnamed -= not one.sent
                self._drop([one])
            else:
                one.said = True

    def answered(self, time: str) -> list[Prompt]:
        """Return the prompts that were sent before the model said something, and that no message says; forget them."""
        if self.due is None or time <= self.due:
            return []
        taken = self._taken()
        self._drop(taken)
        self.due, self._unnamed = None, 0
        return self._for_the_model(taken)

    def left(self) -> list[Prompt]:
        """Return what is left when the session ends: a person's words, though nobody answered them."""
        taken = self._taken()
        waiting = [one for one in self.prompts if not one.said]
        self._name("not-sent", [one for one in waiting if not one.human and one not in taken])
        return self._for_the_model([one for one in waiting if one.human or one in taken])

    def _taken(self) -> list[Prompt]:
        """Return the prompts that left; where nobody says which, the oldest."""
        found, unnamed = [], self._unnamed
        for one in self.prompts:
            if one.sent or unnamed:
                unnamed -= not one.sent
                found.append(one)
        return found

    def _for_the_model(self, prompts: list[Prompt]) -> list[Prompt]:
        self._name("not-sent", [one for one in prompts if one.command])
        return [one for one in prompts if one.events and not one.command]

    def _drop(self, prompts: list[Prompt]) -> None:
        gone = set(prompts)
        self.prompts[:] = [one for one in self.prompts if one not in gone]

    def _name(self, kind: str, prompts: list[Prompt]) -> None:
        for one in prompts:
            for part in one.events[1:] or one.events:
                own = part["id"] if part["kind"] == "part" else ""
                size = len(part["text"]) if type(part.get("text")) is str else 0
                self._losses.add(kind, one.events[0]["id"], own, one.line, size=size)


def _words_of(events: list[JsonObject]) -> str:
    """Return what tells one prompt from another: a person's words, else the harness's, else a picture."""
    own = whole = picture = ""
    for part in events:
        text, data = part.get("text"), part.get("data")
        if type(text) is str:
            whole += text
            if part.get("provenance") == "conversational":
                own += text
        elif type(data) is str:
            picture = picture or data
    return own.strip() or whole.strip() or picture


def _files_in(events: list[JsonObject]) -> int:
    return sum(part.get("type") == "file" for part in events)


def _said_in(words: str, prompts: list[Prompt]) -> list[Prompt]:
    """Return the prompts whose words stand in others as whole lines."""
    lines = f"\n{words}\n"
    return [one for one in prompts if one.words and f"\n{one.words}\n" in lines]
