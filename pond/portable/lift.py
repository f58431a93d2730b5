"""Canonical events -> items of a portable conversation, record by record; what is left out is named."""

from __future__ import annotations

from collections.abc import Callable

from pond.lang.runtime import CARRIED, LISTED
from pond.model.json_text import Json, JsonObject
from pond.model.marks import AS, FILE, POND, WEAVE, label_of, marks_of
from pond.portable.blocks import PDF, portable_result
from pond.portable.conversation import ASSISTANT, TOOL, USER, Compaction, Item, Rewound, Said, Title
from pond.portable.inserted import STUBS, is_tagged, tagged, untagged, without_halves
from pond.portable.leftover import left_over, name_and_size
from pond.portable.loss import Losses
from pond.portable.outline import Compact, Echo, Note, Outline, Recall, Record
from pond.portable.pairing import Pairing
from pond.portable.queue import Prompt, Queue, Queued
from pond.portable.shown import is_display, source_names

EPOCH = "1970-01-01T00:00:00.000Z"
_ROLES = (USER, ASSISTANT, TOOL)
_APART = frozenset(
    (CARRIED, "value", "repeat", "beside", LISTED)
)  # labels of records that no kind of the mapping wrote
_MESSAGE_OWN, _PART_OWN = frozenset((POND, "source")), frozenset((POND,))
_NOTHING: list[Item] = []  # for the many records that say nothing; read only


SideText = Callable[[str], str | None]


def nothing_beside(name: str) -> str | None:
    """Return no text: nobody knows of a file beside the session."""
    return None


class Lift:
    """One session on its way into a portable conversation."""

    def __init__(
        self, session: JsonObject, outline: Outline, losses: Losses, recall: Recall, pairing: Pairing,
        beside: SideText = nothing_beside,
    ) -> None:  # fmt: skip
        self.outline, self.losses = outline, losses
        self._beside = beside
        self._put_back: set[str] = set()  # files beside the session whose text is in results
        self._residue: Json = None  # of the record whose message is made
        losses.known = outline.known
        self._recall = recall
        self._agent = session["source_agent"]
        self.time = session.get("created_at") or EPOCH
        self._turns: list[str] = []  # the prompts that began the live turns
        self._title = ""
        self._queue, self._pairing = Queue(self._name_prompts), pairing
        self._prompts = self._queue.prompts
        self._record = Record([], "", {}, False, 0)
        self._watched_labels, self._inner, self._shapes = outline.watched_labels, outline.inner, losses.shapes
        self._makers: dict[tuple[Json, Json], Callable[[JsonObject, Said], JsonObject | None]] = {
            (USER, "text"): self._text,
            (USER, "file"): self._file,
            (ASSISTANT, "text"): self._text,
            (ASSISTANT, "file"): self._file,
            (ASSISTANT, "reasoning"): self._reasoning,
            (ASSISTANT, "tool_call"): self._call,
            (TOOL, "tool_result"): self._result,
        }

    def items(self, events: list[JsonObject], line: int) -> list[Item]:
        """Return what one record's events say; the outline's `thread` tells in which conversation."""
        head = events[0]
        options = head["options"]
        marks = marks_of(options)
        label = marks.get(AS, "")
        source = options.get("source")
        residue = source if type(source) is dict else {}
        if POND in residue and is_display(residue):
            return _NOTHING  # shows on the screen what another row says
        if label in _APART:
            return self._apart(events, label, residue, line)
        message_id = head["id"]
        if "~" in message_id and self._says_the_same(events):
            self.losses.add("repeat", message_id, line=line)
            return _NOTHING
        role = head.get("role")
        # Of records with a message and one part, only a user's can be a person's.
        human = role != ASSISTANT and (role == USER or len(events) > 2) and _is_human(events)
        # While prompts wait, what people say may be one of them, and an answer may follow some.
        if self._prompts and (human or role == USER or self._queue.due is not None) and label != self.outline.queue:
            sent = self._unqueued(events, role, residue)
            if sent:
                return [*sent, *self.items(events, line)]
        if WEAVE in marks:
            for what, size in map(name_and_size, left_over(options)):
                self.losses.add("block-left-out", message_id, line=line, what=what, size=size)
        note = None
        if self._watched_labels is None or label in self._watched_labels:
            note = self.outline.look(self._seen(events, label, residue, human, line))
        self._count_fields(label or str(role), residue, events)
        if note is not None:
            return self._noted(note, self._record)
        if human and self.outline.thread is None:
            self._turns.append(message_id)
        return self._one(events, role, line) if len(events) == 2 else [*self._messages(events, line)]

    def _seen(self, events: list[JsonObject], label: str, residue: JsonObject, human: bool, line: int) -> Record:
        """Return the record for the outline to look at: always the same one, which nobody keeps."""
        record = self._record
        record.events, record.label, record.residue, record.human, record.line = events, label, residue, human, line
        return record

    def _noted(self, note: Note, record: Record) -> list[Item]:
        if type(note) is Compact:
            if note.summary is None:
                self.losses.add("compaction-undone", record.id, line=record.line)
                return []
            self._turns = []
            kept = self._kept(note.kept)
            return [Compaction(note.summary, record.id, self._at(record.events[0]), kept, note.kept_first)]
        if type(note) is Queued:
            return self._queued(note, record)
        if type(note) is Echo:
            self._name_prompts("not-sent", [Prompt.of(record.events, line=record.line)])
            return []
        assert not isinstance(note, Compact | Queued | Echo)
        if type(note) is Rewound:
            return self._gone_back(note, record)
        if type(note) is Title:
            if note.text == self._title:
                return []
            self._title = note.text
        note.time = self.time if type(note) is Title else note.time or self.time
        return [note]

    def _gone_back(self, note: Rewound, record: Record) -> list[Item]:
        """Take turns back; a record that is more than a note of that begins the next turn."""
        if record.label == CARRIED:
            self._rewind(note, record.line)
            note.time = note.time or self.time
            return [note]
        if self.outline.thread is None:
            self._rewind(note, record.line)
            if record.human:
                self._turns.append(record.id)
        plain = self._messages(record.events, record.line)
        return [note, *self._kept(note.again), *plain]

    def _says_the_same(self, events: list[JsonObject]) -> bool:
        """Tell whether a record that came again under its id differs in bookkeeping only, as resumed files have it."""
        first, tilde, number = events[0]["id"].rpartition("~")
        if not (tilde and number.isdigit()):
            return False
        earlier = self._again(first)
        return bool(earlier) and _contents(events) == _contents(earlier)

    def _rewind(self, note: Rewound, line: int) -> None:
        """Name the turns that are taken back, each by the prompt that began it."""
        note.turns = min(note.turns, len(self._turns))
        for prompt in self._turns[len(self._turns) - note.turns :]:
            self.losses.add("rewound", prompt, line=line)
        del self._turns[len(self._turns) - note.turns :]
        self._turns += [message_id for message_id in note.again if _is_human(self._again(message_id))]

    def end(self) -> list[Item]:
        """Return what is true only because nothing follows."""
        left = self._released(self._queue.left())
        note = self.outline.finish()
        if note is None:
            return left
        self._rewind(note, 0)
        note.time = self.time
        return [*left, note, *self._kept(note.again)]

    # --- prompts that waited ---

    def _queued(self, note: Queued, record: Record) -> list[Item]:
        events = [] if record.label == CARRIED else record.events
        self._queue.move(note.how, Prompt.of(events, note.command, record.line), record.time)
        if record.label == CARRIED:
            self.losses.record(record.residue, self._inner)
        return _NOTHING

    def _name_prompts(self, kind: str, prompts: list[Prompt]) -> None:
        for one in prompts:
            for part in one.events[1:] or one.events:
                own = part["id"] if part["kind"] == "part" else ""
                size = len(part["text"]) if type(part.get("text")) is str else 0
                self.losses.add(kind, one.events[0]["id"], own, one.line, size=size)

    def _unqueued(self, events: list[JsonObject], role: Json, residue: JsonObject) -> list[Item]:
        """Return the prompts that were sent before this record and that no record has; this one may have some."""
        if role == ASSISTANT:
            # They go with the next request, which has the results of all calls.
            if not self._pairing.asking and not self.outline.is_aside(residue):
                time = events[0].get("timestamp")
                return self._released(self._queue.answered(time if type(time) is str else ""))
        elif not self.outline.is_aside(residue):
            self._queue.hear(events)
        return _NOTHING

    def _released(self, prompts: list[Prompt]) -> list[Item]:
        """Return prompts as what they are: a person's turns, perhaps in the middle of another."""
        found: list[Item] = []
        for prompt in prompts:
            if _is_human(prompt.events):
                self.outline.look(self._seen(prompt.events, "", {}, True, prompt.line))
                self._turns.append(prompt.events[0]["id"])
            found += self._messages(prompt.events, prompt.line)
        return found

    def _kept(self, kept: list[str] | list[Said]) -> list[Said]:
        """Return earlier messages again, as a compaction keeps them; their losses were named the first time."""
        known, self.losses = self.losses, Losses()
        found: list[Said] = []
        for one in kept:
            found += [one] if isinstance(one, Said) else self._messages(self._again(one), 0)
        self.losses = known
        return found

    def _again(self, message_id: str) -> list[JsonObject]:
        try:
            return self._recall(message_id)
        except (KeyError, StopIteration):
            return []  # a compaction may name messages that were never in this file

    # --- messages ---

    def _one(self, events: list[JsonObject], role: Json, line: int) -> list[Item]:
        """Return what a message and one part say, as most records are; `_messages` says the same, and takes longer."""
        head, part = events
        try:
            make = self._makers.get((role, part.get("type")))
        except TypeError:  # a role or a type that is no text
            make = None
        if make is None or part["kind"] != "part":
            return [*self._messages(events, line)]
        time = head.get("timestamp")
        if type(time) is str and time:
            self.time = time
        else:
            time = self._at(head)
        self._residue = head["options"].get("source")
        if role == ASSISTANT:
            said = Said(ASSISTANT, head["id"], time, line, [], False, self.outline.model)
        else:
            said = Said(role, head["id"], time, line, [])
        kept = make(part, said)
        if kept is None:
            return _NOTHING
        said.parts.append(kept)
        return [said]

    def _messages(self, events: list[JsonObject], line: int) -> list[Said]:
        found: list[Said] = []
        said: Said | None = None
        role = ""
        for event in events:
            if event["kind"] == "message":
                said = self._message(event, line)
                if said is not None:
                    role = said.role
                    found.append(said)
            elif said is not None:
                said = self._part(event, role, said, found)
            else:
                self._broken(event, line)
        return [said for said in found if said.parts or self._silent(said, events)]

    def _silent(self, said: Said, events: list[JsonObject]) -> bool:
        """Name a message without a part, which nothing else does; most are reasoning only its service can read."""
        options = events[0]["options"]
        if len(events) == 1:
            if self.outline.is_sealed(options):
                self.losses.add("reasoning-left-out", said.id, line=said.line)
            elif not left_over(options):  # those are named already
                self.losses.add("empty", said.id, line=said.line)
        return False

    def _message(self, event: JsonObject, line: int) -> Said | None:
        role = event.get("role")
        self._residue = event["options"].get("source")
        if role in _ROLES:
            model = self.outline.model if role == ASSISTANT else None
            return Said(role, event["id"], self._at(event), line, [], model=model)
        content = event.get("content")
        if role == "system":
            if content:
                size = len(content) if type(content) is str else 0
                self.losses.add("system-message", event["id"], line=line, size=size)
        else:
            self.losses.add("broken", event["id"], line=line, what=f"role {role!r}")
        return None

    def _part(self, part: JsonObject, role: str, said: Said, found: list[Said]) -> Said:
        """Put a part where it belongs; results inside an answer become a message of their own."""
        wanted = TOOL if part.get("type") == "tool_result" else role
        if wanted != said.role:
            said = Said(wanted, said.id, said.time, said.line, [], model=said.model)
            found.append(said)
        kind = part.get("type")
        make = self._makers.get((wanted, kind)) if type(kind) is str else None
        kept = make(part, said) if make is not None else self._broken(part, said.line)
        if kept is not None:
            said.parts.append(kept)
        return said

    def _text(self, part: JsonObject, said: Said) -> JsonObject | None:
        text = part.get("text")
        if type(text) is not str:
            return self._broken(part, said.line)
        if not text or text.isspace():
            self.losses.add("empty", said.id, part["id"], said.line)
            return None
        if part.get("provenance") != "conversational":
            return self._injected(text, part, said)
        if said.role == USER:
            said.human = True
        return {"kind": "part", "id": part["id"], "type": "text", "text": text, "options": {}}

    def _injected(self, text: str, part: JsonObject, said: Said) -> JsonObject | None:
        if said.role == ASSISTANT:
            self.losses.add("harness-message", said.id, part["id"], said.line, size=len(text))
            return None
        if untagged(text).lstrip().startswith(self.outline.renewed):
            self.losses.add("context-renewed", said.id, part["id"], said.line, size=len(text))
            return None
        if not is_tagged(text):  # else it says already who put it there
            whole = without_halves(text, self.outline.wraps)
            if whole != text:
                self.losses.add("tag-left-out", said.id, part["id"], said.line)
            if not whole:
                return None
            residue = self._residue
            file = self.outline.attached(residue) if type(residue) is dict else ""
            text = tagged(whole, self._agent, file=file)
        self.losses.add("context-marked", said.id, part["id"], said.line, size=len(text))
        return {"kind": "part", "id": part["id"], "type": "text", "text": text, "options": {}}

    def _reasoning(self, part: JsonObject, said: Said) -> JsonObject | None:
        text = part.get("text")
        if type(text) is not str:
            return self._broken(part, said.line)
        if not text or text.isspace():
            self.losses.add("reasoning-left-out", said.id, part["id"], said.line, what="no readable text")
            return None
        # A proof stays with it: a target of the same provider, or the way back, can use it.
        options = part["options"]
        proof = {space: held for space, held in options.items() if space not in _MESSAGE_OWN} if options else {}
        return {"kind": "part", "id": part["id"], "type": "reasoning", "text": text, "options": proof}

    def _file(self, part: JsonObject, said: Said) -> JsonObject | None:
        if not (_is_ascii(part.get("data")) and _is_ascii(part.get("media_type"))):
            return self._broken(part, said.line)
        conversational = part.get("provenance") == "conversational"
        said.human = said.human or (said.role == USER and conversational)
        if not conversational:
            self.losses.add("context-marked", said.id, part["id"], said.line, part["media_type"], _size(part))
        kept: JsonObject = {"kind": "part", "options": {}}
        for name in ("id", "type", "media_type", "data", "file_name"):
            if name in part:
                kept[name] = part[name]
        if label_of(part["options"]) in self.outline.document_labels:
            kept["media_type"] = PDF
        return kept

    def _call(self, part: JsonObject, said: Said) -> JsonObject | None:
        if type(part.get("name")) is not str:
            return self._broken(part, said.line)
        call_id = part.get("call_id")
        call_id = call_id if type(call_id) is str else ""
        name = source_names(self._residue).get(call_id)
        return {
            "kind": "part", "id": part["id"], "type": "tool_call", "name": name if type(name) is str else part["name"],
            "call_id": call_id, "params": part.get("params"), "options": {},
        }  # fmt: skip

    def _result(self, part: JsonObject, said: Said) -> JsonObject | None:
        call_id = part.get("call_id")
        result: Json = part.get("result")
        if type(result) is not str:
            result = portable_result(result)
        elif result in STUBS:
            return None  # ours: replaces a result that is not there
        else:
            result = self._put_together(result, part, said)
        return {
            "kind": "part", "id": part["id"], "type": "tool_result", "call_id": call_id if type(call_id) is str else "",
            "name": part.get("name"), "result": result, "is_failure": part.get("is_failure") is True,
            "options": {},
        }  # fmt: skip

    def _put_together(self, result: str, part: JsonObject, said: Said) -> str:
        """Return a tool's output; what the client moved to a file beside the session is taken from there."""
        name = self.outline.moved_output(result)
        moved = self._beside(name) if name is not None else None
        if name is None or moved is None:
            return result
        self._put_back.add(name)
        self.losses.add("output-put-back", said.id, part["id"], said.line, name.rpartition("/")[2], len(moved))
        return moved

    def _broken(self, part: JsonObject, line: int) -> JsonObject | None:
        """Name a part that does not have the shape of its type; nothing of it is passed on."""
        self.losses.add("broken", str(part.get("message_id", "")), str(part.get("id", "")), line, str(part.get("type")))
        return None

    def _at(self, event: JsonObject) -> str:
        time = event.get("timestamp")
        if type(time) is str and time:
            self.time = time
        else:
            self.losses.count("time-borrowed", "timestamp")
        return str(self.time)

    # --- what is no conversation ---

    def _apart(self, events: list[JsonObject], label: str, residue: JsonObject, line: int) -> list[Item]:
        """Name records that are no conversation, after a look at those that are carried whole."""
        if label in (CARRIED, LISTED):
            if self.outline.notices(residue):
                note = self.outline.look(self._seen(events, label, residue, False, line))
                if note is not None:
                    return self._noted(note, self._record)
            self.losses.record(residue, self._inner)
        elif label == "beside":
            moved = marks_of(events[0]["options"]).get(FILE)
            kind = "output-put-back" if type(moved) is str and moved in self._put_back else "side-file"
            for part in events[1:]:
                name, size = str(part.get("file_name", "")), _size(part)
                self.losses.add(kind, events[0]["id"], part["id"], what=name, size=size)
        else:
            self.losses.count("repeat" if label == "repeat" else "record", label)
        return _NOTHING

    def _count_fields(self, label: str, residue: JsonObject, events: list[JsonObject]) -> None:
        """Count the fields that stay behind, as one shape per record: most records of a kind have the same."""
        shape = [label, *residue]
        inner = residue.get(self._inner)
        if type(inner) is dict:
            shape += inner
        for event in events:
            if options := event["options"]:  # a part seldom has any
                own = _MESSAGE_OWN if event["kind"] == "message" else _PART_OWN
                for space in options:
                    if space not in own and type(options[space]) is dict:
                        shape += options[space]
        shapes, key = self._shapes, tuple(shape)
        count = shapes.get(key)
        if count is None:
            shapes[key] = [1]
        else:
            count[0] += 1  # looked up once: a shape is long


def _contents(events: list[JsonObject]) -> list[list[Json]]:
    """Return what the parts of a record say, without ids and residue, and what is no part."""
    parts = (event for event in events if event["kind"] == "part")
    return [left_over(events[0]["options"]), *([part.get(name) for name in ("type", *_SAYING)] for part in parts)]


_SAYING = ("text", "name", "params", "call_id", "result", "data")


def _is_human(events: list[JsonObject]) -> bool:
    """Tell whether a person wrote some of a record."""
    role: Json = None
    for event in events:
        if event["kind"] == "message":
            role = event.get("role")
        elif role == USER and event.get("provenance") == "conversational":
            text = event.get("text")
            if event.get("type") == "file" or (type(text) is str and text and not text.isspace()):
                return True
    return False


def _is_ascii(value: Json) -> bool:
    return type(value) is str and value.isascii()


def _size(part: JsonObject) -> int:
    data = part.get("data")
    return len(data) * 3 // 4 if type(data) is str else 0
