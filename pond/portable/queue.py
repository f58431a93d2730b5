"""Prompts that a person typed while the model was busy. Each is said once: in a row of its own, or when it was sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import xxhash

from pond.model.json_text import JsonObject


@dataclass(slots=True)
class Queued:
    """A record that moves prompts into or out of the queue for a busy model; its own text, if any, is the prompt's."""

    how: Literal["enters", "leaves", "taken back"]  # what leaves is sent
    command: bool = False  # the client itself takes it


@dataclass(slots=True, eq=False)
class Prompt:
    """What waits: its words, and the events of its record; none where the client only notes that there is something."""

    words: str
    files: int
    human: bool
    command: bool  # for the client itself
    events: list[JsonObject]
    line: int = 0
    sent: bool = False  # the client took it out of the queue, and said which
    said: bool = False  # a row of its own came before it was taken out

    @classmethod
    def of(cls, events: list[JsonObject], command: bool = False, line: int = 0) -> Prompt:
        """Return the prompt that a record's events say."""
        human = any(part.get("provenance") == "conversational" for part in events)
        return cls(_words_of(events), _files_in(events), human, command, events, line)


Naming = Callable[[str, list[Prompt]], None]


def _unnamed(kind: str, prompts: list[Prompt]) -> None:
    """Ignore what becomes of prompts."""


class Queue:
    """The prompts of a session that wait, oldest first.

    A client that sends one most often writes it down in a row of its own, but not always, and perhaps before it notes
    that the prompt left the queue. It need not note which one left: the rows that follow tell. And it writes such notes
    at once, where other rows wait to be written: what comes after a note may be older.
    """

    def __init__(self, name: Naming = _unnamed, *, forgets: bool = True) -> None:
        self.prompts: list[Prompt] = []
        self.due: str | None = None  # when the last of those left that no answer followed yet
        self._unnamed = 0  # how many of them left without a note which
        self._words: set[int] = set()  # of all prompts so far, as hashes: most rows say none of them
        self._moves: set[str] = set()  # what happened to which prompt when, as digests: resumed files tell it again
        self._forgets = forgets  # what was taken back was never said; else it may still come, as the person sends it
        self._name = name  # hears which prompts are a `repeat` of others, or were `not-sent`

    def move(self, how: str, prompt: Prompt, time: str) -> bool:
        """Take a record that puts a prompt into the queue or takes some out; tell whether it says some once more."""
        move = _digest(how, time, prompt.words)
        if prompt.words and move in self._moves:
            self._name("repeat", [prompt])
            return True
        self._moves.add(move)
        if how == "enters":
            self._add(prompt)
            return False
        if how == "taken back":
            return self._take_back(prompt, time)
        known = bool(prompt.words) and bool(self._waiting(prompt.words))
        if self._leave(prompt):
            self.due = time
        return known

    def _add(self, prompt: Prompt) -> None:
        self.prompts.append(prompt)
        self._words.add(hash(prompt.words))

    def _leave(self, prompt: Prompt) -> bool:
        """Note that a prompt left; tell whether a message that says it is still to come."""
        if not prompt.words:
            self._name("empty", [prompt])
            return self._leave_unnamed()
        if waiting := self._waiting(prompt.words):
            self._name("repeat", [prompt])
            prompt = waiting[0]
        else:
            self._add(prompt)
        prompt.sent = True
        if prompt.said:
            self._drop([prompt])
        return not prompt.said

    def _waiting(self, words: str) -> list[Prompt]:
        return [one for one in self.prompts if not one.sent and one.words == words]

    def _leave_unnamed(self) -> bool:
        if said := [one for one in self.prompts if one.said]:
            self._drop(said[:1])
        elif self._unnamed < sum(not one.sent for one in self.prompts):
            self._unnamed += 1
            return True
        return False

    def _take_back(self, prompt: Prompt, time: str) -> bool:
        """Let prompts go back to where the person types: those that are named, or all of the person's; tell of any."""
        waiting = [one for one in self.prompts if not one.sent and not one.said]
        if prompt.words:
            back = [one for one in waiting if one.words == prompt.words][:1] or _said_in(prompt.words, waiting)
        else:
            back = [one for one in waiting if one.human]
        if self._forgets:
            self._drop(back)
        for one in back:
            one.sent, self.due = True, time
        self._name("not-sent", back)
        self._name("repeat" if back else "not-sent", [prompt])
        return bool(back)

    def hear(self, events: list[JsonObject]) -> list[Prompt]:
        """Take a message, and return the prompts it says; several that were sent at once are lines of one message."""
        words = _words_of(events)
        if not words:
            return []
        found: list[Prompt] = []
        if hash(words) in self._words:
            same = [one for one in self.prompts if one.words == words and not one.said]
            found = ([one for one in same if one.sent] or same)[:1]
        if not found and self.due is not None:
            found = _said_in(words, self._taken())
        files = _files_in(events)
        found = [one for one in found if one.files <= files]  # words alone do not say a picture
        self._name("repeat", found)
        self._say(found)
        return found

    def hear_command(self, events: list[JsonObject]) -> list[Prompt]:
        """Take the row of a command, which has its arguments only, and return the prompt that it comes from."""
        words = _words_of(events)
        found = [one for one in self.prompts if one.command and not one.said and words and _arguments(one) == words][:1]
        self._say(found)
        return found

    def _say(self, prompts: list[Prompt]) -> None:
        for one in prompts:
            if one.sent or self._unnamed:
                self._unnamed -= not one.sent
                self._drop([one])
            else:
                one.said = True

    def answered(self, time: str) -> list[Prompt]:
        """Return the prompts that were sent before the model said something, and that no message says; forget them."""
        if self.due is None or time <= self.due:
            return []
        return self._for_the_model(self.forget_taken())

    def forget_taken(self) -> list[Prompt]:
        """Forget the prompts that left and that no message says; return them."""
        taken = self._taken()
        self._drop(taken)
        self.due, self._unnamed = None, 0
        return taken

    def left(self) -> list[Prompt]:
        """Return what is left when the session ends: a person's words, though nobody answered them."""
        taken = self._taken()
        waiting = [one for one in self.prompts if not one.said]
        self._name("not-sent", [one for one in waiting if not one.human and one not in taken])
        return self._for_the_model([one for one in waiting if one.human or one in taken])

    def _taken(self) -> list[Prompt]:
        """Return the prompts that left; if no note says which, the oldest."""
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

    def state(self) -> JsonObject:
        """Return all that is remembered of the prompts, except for their events, as JSON."""
        waiting = [[one.words, one.files, one.human, one.command, one.sent, one.said] for one in self.prompts]
        return {"waiting": waiting, "due": self.due, "unnamed": self._unnamed, "moves": sorted(self._moves)}

    def restore(self, state: JsonObject) -> None:
        """Continue from what `state` gave."""
        for words, files, human, command, sent, said in state["waiting"]:
            self._add(Prompt(words, files, human, command, [], 0, sent, said))
        self.due, self._unnamed, self._moves = state["due"], state["unnamed"], set(state["moves"])


def text_in(events: list[JsonObject]) -> str:
    """Return a record's text parts as one text."""
    return "".join([e["text"] for e in events if e.get("type") == "text" and type(e.get("text")) is str])


def says_no_more(events: list[JsonObject], prompts: list[Prompt]) -> bool:
    """Tell whether a message says these prompts and nothing else."""
    if len(prompts) == 1 and prompts[0].command:
        return True
    mine = sorted(filter(None, map(str.strip, _words_of(events).splitlines())))
    theirs = sorted(filter(None, (line.strip() for one in prompts for line in one.words.splitlines())))
    return mine == theirs and _files_in(events) == sum(one.files for one in prompts)


def _digest(*texts: str) -> str:
    return xxhash.xxh3_64_hexdigest("\0".join(texts).encode("utf-8", "surrogatepass"))


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


def _arguments(command: Prompt) -> str:
    return command.words.partition(" ")[2].strip()


def _files_in(events: list[JsonObject]) -> int:
    return sum(part.get("type") == "file" for part in events)


def _said_in(words: str, prompts: list[Prompt]) -> list[Prompt]:
    """Return the prompts whose words are whole lines of others."""
    lines = f"\n{words}\n"
    return [one for one in prompts if one.words and f"\n{one.words}\n" in lines]
