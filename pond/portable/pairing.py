"""Calls and their results, side by side: the order every model service asks for, with each repair named.

A service wants the results of an answer's calls before anything else. Clients write them down as they come: out of
order, late, twice, or not at all. At most one turn is held back, while a result may still come.
"""

from __future__ import annotations

import re
from typing import TypeGuard

import xxhash

from pond.model.json_text import JsonObject
from pond.portable.conversation import ASSISTANT, TOOL, USER, Item, Said, Title
from pond.portable.inserted import OPENING, STUB, tagged
from pond.portable.loss import Losses

_LONGEST_ID = 64
_ID = re.compile(rf"[A-Za-z0-9_-]{{1,{_LONGEST_ID}}}")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]")


_Open = tuple[JsonObject, Said]


class Pairing:
    """Takes items in the order of the log and gives them back in an order with every result after its call."""

    def __init__(self, losses: Losses, agent: str) -> None:
        self._losses, self._agent = losses, agent
        self._open: dict[str, list[_Open]] = {}  # source call id -> calls that wait for a result, oldest first
        self._answering = False  # a result of this answer has come already
        self._waiting: list[Item] = []  # what came while calls were open
        self._turning = False  # a person's message is among them
        self._used: set[int] = set()  # call ids given out, as hashes
        self._names: set[str] = set()  # of tools, found fit
        self.begun = False  # there was a message before

    @property
    def asking(self) -> bool:
        """Tell whether a call waits for its result."""
        return bool(self._open)

    def passes(self, item: Item) -> TypeGuard[Said]:
        """Take the next item if it can be passed on at once and alone, as most can; tell whether. If not, `push` it."""
        if type(item) is not Said or self._waiting or not self.begun:
            return False
        role = item.role
        if role == ASSISTANT:
            if self._answering and self._open:
                return False
            for part in item.parts:
                if part["type"] == "tool_call":
                    self._answering = False
                    self._ask(part, item)
            return True
        if role == USER:
            return not self._open
        return len(item.parts) == 1 and self._answers(item.parts[0])

    def push(self, item: Item) -> list[Item]:
        """Take the next item; return what can be passed on now."""
        if type(item) is Said:
            if item.role == TOOL:
                return self._answer(item)
            if self._open and (self._waiting or item.role != ASSISTANT or self._answering):
                return self._wait(item)
            return self._take(item)  # nothing is open, or the same answer continues
        if not self._open or type(item) is Title:
            return [item]
        return [*self._close(), *self.push(item)]

    def _wait(self, item: Said) -> list[Item]:
        if self._turning and (item.role == ASSISTANT or item.human):
            return [*self._close(), *self.push(item)]  # the model was asked again: no result will come any more
        self._waiting.append(item)
        self._turning = self._turning or item.human
        return []

    def end(self) -> list[Item]:
        """Return what is left; a call that nobody answered was interrupted, and says so."""
        return [*self._close(), *self.end()] if self._open else []

    # --- one item ---

    def _take(self, item: Said) -> list[Item]:
        if item.role == ASSISTANT:
            for part in item.parts:
                if part["type"] == "tool_call":
                    self._answering = False
                    self._ask(part, item)
        if self.begun:
            return [item]
        self.begun = True
        return [item] if item.role == USER else [self._opening(item), item]

    def _opening(self, item: Said) -> Said:
        self._losses.add("opening-note", item.id, line=item.line)
        return _note(item, tagged(OPENING, self._agent))

    def _ask(self, call: JsonObject, said: Said) -> None:
        """Give a call an id that every service takes and no other call has."""
        own = given = call["call_id"]
        # Most ids are identifiers, which is quickly told.
        if not (own.isidentifier() and own.isascii() and len(own) <= _LONGEST_ID) and not _ID.fullmatch(own):
            given = _made_id(said.id, call["id"])
        used = self._used
        while (number := hash(given)) in used:
            given = _made_id(given, call["id"])
        used.add(number)
        name = call["name"]
        if name not in self._names:
            if _NAME.fullmatch(name):
                self._names.add(name)
            else:
                call["name"] = _NOT_IN_A_NAME.sub("_", name)[:128] or "unnamed"
        if given != own or name != call["name"]:
            self._losses.add("call-renamed", said.id, call["id"], said.line, f"{name} {own}".strip())
        call["call_id"] = given
        self._open.setdefault(own or given, []).append((call, said))

    def _answer(self, item: Said) -> list[Item]:
        """Send results after their calls; one whose call is not open becomes text, or waits with the rest."""
        own: list[JsonObject] = []
        strays: list[JsonObject] = []
        for part in item.parts:
            (own if self._answers(part) else strays).append(part)
        found: list[Item] = []
        if own:
            found.append(Said(TOOL, item.id, item.time, item.line, own))
        if strays and self._waiting:
            self._waiting.append(Said(TOOL, item.id, item.time, item.line, strays))
            strays = []
        if not self._open:
            found += self._replay()
        for part in strays:
            found += self._as_text(part, item)
        return found

    def _answers(self, result: JsonObject) -> bool:
        """Give a result to the oldest open call with its id, open no longer; tell whether there is one."""
        call_id = result["call_id"]
        waiting = self._open.get(call_id)
        if not waiting:
            return False
        call, _ = waiting.pop(0)
        if not waiting:
            del self._open[call_id]
        result["call_id"], result["name"] = call["call_id"], call["name"]
        self._answering = True
        return True

    def _all_open(self) -> list[_Open]:
        return [call for waiting in self._open.values() for call in waiting]

    def _as_text(self, part: JsonObject, item: Said) -> list[Item]:
        self._losses.add("result-as-text", item.id, part["id"], item.line, str(part["name"] or ""))
        result = part["result"]
        texts = [tagged(result, self._agent)] if type(result) is str and result else []
        files = []
        for inner in result if type(result) is list else ():
            if inner["type"] == "text":
                texts.append(tagged(inner["text"], self._agent))
            else:
                files.append({**inner, "kind": "part", "id": part["id"], "options": {}})
        parts = [_text(text, part["id"]) for text in texts]
        return self.push(Said(USER, item.id, item.time, item.line, [*parts, *files])) if parts or files else []

    # --- what was held back ---

    def _close(self) -> list[Item]:
        """Give every open call a note in place of its result, then continue with what waited."""
        stubs: list[JsonObject] = []
        last: Said | None = None
        for call, said in self._all_open():
            last = said
            self._losses.add("result-missing", said.id, call["id"], said.line, call["name"])
            stubs.append({
                "kind": "part", "id": call["id"], "type": "tool_result", "call_id": call["call_id"],
                "name": call["name"], "result": STUB, "is_failure": True, "options": {},
            })  # fmt: skip
        self._open.clear()
        assert last is not None
        return [Said(TOOL, last.id, last.time, last.line, stubs), *self._replay()]

    def _replay(self) -> list[Item]:
        waited, self._waiting, self._turning = self._waiting, [], False
        found: list[Item] = []
        for item in waited:
            found += [item] if self.passes(item) else self.push(item)
        return found


def _note(item: Said, text: str) -> Said:
    return Said(USER, item.id, item.time, item.line, [_text(text, "")])


def _text(text: str, part_id: str) -> JsonObject:
    return {"kind": "part", "id": part_id, "type": "text", "text": text, "options": {}}


def _made_id(*names: str) -> str:
    return "call_" + xxhash.xxh3_64_hexdigest("/".join(names).encode("utf-8", "surrogatepass"))
