"""A portable conversation as Claude Code's own records."""

from __future__ import annotations

import re

from pond.lang.runtime import CARRIED
from pond.model.json_text import MAX_DEPTH, JsonObject, encode, nests_deeper
from pond.model.marks import ABSENT, AS, POND, SHAPE
from pond.portable import origin
from pond.portable.blocks import PDF, is_address, is_image
from pond.portable.conversation import ASSISTANT, TOOL, USER, Compaction, Heading, Rewound, Said, Title
from pond.portable.inserted import left_out, tagged
from pond.portable.loss import Losses
from pond.portable.lowering import Group, Lowering, as_uuid, uuid_of
from pond.portable.outline import of
from pond.portable.shown import DISPLAY, renamed

from .compiled import Block, Kind
from .outline import ClaudeCodeOutline
from .tools import shown_name

_IMAGES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
_NOT_IN_A_SLUG = re.compile(r"[^A-Za-z0-9]")
_LONGEST_SLUG = 200
# Levels of a call's arguments: they are inside record, message, content and block; their innermost value is one too.
_DEEPEST_INPUT = MAX_DEPTH - 5
# Marks are read and never written to: one object for all records of a kind.
_USER: JsonObject = {AS: Kind.user}
_PLAIN: JsonObject = {AS: Kind.user, SHAPE: {"message.content": "string"}}
_ASSISTANT: JsonObject = {AS: Kind.assistant}
_CARRY: JsonObject = {AS: CARRIED, ABSENT: ["uuid", "timestamp", "cwd"]}


class ClaudeCodeLowering(Lowering):
    """Records in a chain; one `message.id` for each answer; a result right after its call."""

    def __init__(self, heading: Heading, losses: Losses) -> None:
        super().__init__(heading, losses)
        self._tip: str | None = None  # the last record of the chain
        self._starts: list[str | None] = []  # the tip of the chain when each live turn began
        self._answer = ""  # message.id of the answer being written
        self._title = ""  # what the client's own records call the session
        self._off = False  # the chain continues from before the last record
        self._own = heading.id + "\0"  # what the names of its records begin with
        child = heading.spawned and heading.parent is not None
        self._common: JsonObject = {"isSidechain": child, "userType": "external"}
        if child:
            self._common |= {"agentId": _agent_id(heading), "sessionId": heading.parent}

    @staticmethod
    def path_of(heading: Heading) -> str:
        folder = f"projects/{slug(heading.project)}"
        if heading.spawned and heading.parent:
            return f"{folder}/{heading.parent}/subagents/agent-{_agent_id(heading)}.jsonl"
        return f"{folder}/{heading.id}.jsonl"

    @staticmethod
    def folder_of(project: str) -> str:
        return slug(project)

    def open(self, branch: str | None) -> list[Group]:
        if branch:
            self._common["gitBranch"] = branch
        return [self._note()] if self.heading.note else []

    def _note(self) -> Group:
        """Return the line that says where the session comes from; a notice is shown but not sent."""
        note = as_uuid(self.heading.id, "note")
        source = {
            "parentUuid": None, **self._common, "subtype": "informational", "level": "notice", "isMeta": False,
            POND: DISPLAY,
        }  # fmt: skip
        event = _carrier(note, self.heading.created_at, {"source": source, POND: {AS: Kind.system}})
        event["content"] = self.heading.note
        self._tip = note
        return [event]

    def said(self, item: Said) -> list[Group]:
        role = item.role
        if role == ASSISTANT:
            return self._answered(item)
        self._answer = ""
        if role == TOOL:
            for part in item.parts:
                if type(part["result"]) is list:
                    part["result"] = [self._block(inner, part, item) for inner in part["result"]]
            return [self._row(item, TOOL, item.parts, _USER, {})]
        if item.human:
            self._starts.append(self._tip)
        parts = [self._user_part(part, item) for part in item.parts]
        plain = len(parts) == 1 and parts[0]["type"] == "text"
        return [self._row(item, USER, parts, _PLAIN if plain else _USER, {})]

    def _answered(self, item: Said) -> list[Group]:
        parts: list[JsonObject] = []
        tools: dict[str, str] = {}  # call id -> the tool's own name
        signed = False
        for part in item.parts:
            kind = part["type"]
            if kind == "tool_call":
                parts.append(self._called(part, item))
                own = part["name"]
                part["name"] = shown_name(own, part["params"], self.heading.source_agent)
                if part["name"] != own:
                    tools[part["call_id"]] = own
            elif kind == "reasoning" and not of(part["options"], "anthropic", "signature"):
                self.losses.add("reasoning-left-out", item.id, part["id"], item.line, "", len(part["text"]))
            elif kind == "file":
                self.losses.add("file-left-out", item.id, part["id"], item.line, part["media_type"], len(part["data"]))
            else:
                signed = signed or kind == "reasoning"
                parts.append(part)
        if not parts:
            return []
        if not self._answer:
            self._answer = "msg_" + as_uuid(self.heading.id, item.id, parts[0]["id"]).replace("-", "")[:24]
        message: JsonObject = {"id": self._answer, "type": "message"}
        if item.model and signed:  # the client asks for any other model again, and says that it cannot have it
            message["model"] = item.model
        row = self._row(item, ASSISTANT, parts, _ASSISTANT, {"anthropic": message})
        if tools:
            row[0]["options"]["source"][POND] = renamed(tools)
        return [row]

    def _called(self, part: JsonObject, item: Said) -> JsonObject:
        """Return a tool call whose arguments are an object that the record has room for."""
        params = part["params"]
        if nests_deeper(params, _DEEPEST_INPUT):
            self.losses.add("arguments-as-text", item.id, part["id"], item.line, part["name"])
            part["params"] = {"input": encode(params).decode()}
        elif type(params) is not dict:
            self.losses.add("arguments-wrapped", item.id, part["id"], item.line, part["name"])
            part["params"] = {"input": params}
        return part

    def _block(self, inner: JsonObject, part: JsonObject, item: Said) -> JsonObject:
        """Return a content block of a tool result."""
        if inner["type"] == "text":
            return {"type": "text", "text": inner["text"]}
        label, kind, data = _file_label(inner), inner["media_type"], inner["data"]
        if label:
            name, _, how = label.partition("/")
            source = {"type": "url", "url": data} if how == "url" else _base64(kind, data)
            return {"type": name, "source": source}
        self.losses.add("file-left-out", item.id, part["id"], item.line, kind, len(data))
        return {"type": "text", "text": left_out(f"a file ({kind})")}

    def _user_part(self, part: JsonObject, item: Said) -> JsonObject:
        if part["type"] != "file" or (label := _file_label(part)) == Block.image:
            return part
        if label:
            part["options"] = {POND: {AS: label}}
            return part
        kind = part["media_type"]
        self.losses.add("file-left-out", item.id, part["id"], item.line, kind, len(part["data"]))
        note = tagged(left_out(f"a file ({part.get('file_name', kind)})"), self.heading.source_agent)
        return {"kind": "part", "id": part["id"], "type": "text", "text": note, "options": {}}

    def _row(
        self, item: Said | Compaction, role: str, parts: list[JsonObject], marks: JsonObject, options: JsonObject
    ) -> Group:
        """Return one record, linked to the tip of the chain; the caller hands over `options`."""
        uuid = uuid_of(f"{self._own}{role}\0{item.id}\0{parts[0]['id']}")
        options["source"] = {"parentUuid": self._tip, **self._common}
        options[POND] = marks
        self._tip, self._off = uuid, False
        return [{"kind": "message", "role": role, "id": uuid, "timestamp": item.time, "options": options}, *parts]

    def _uuid(self, role: str, item: Said | Compaction, parts: list[JsonObject]) -> str:
        return uuid_of(f"{self._own}{role}\0{item.id}\0{parts[0]['id']}")

    def title(self, item: Title) -> list[Group]:
        if item.text == self._title:
            return []  # so it is called already
        source = {"type": "custom-title", "customTitle": item.text}
        return [[_carrier(item.id, item.time, {"source": source, POND: _CARRY})]]

    def close(self) -> list[Group]:
        if not self._off or self._tip is None:
            return []
        source = {"type": "last-prompt", "leafUuid": self._tip}  # else the client continues from the last record
        return [[_carrier("", "", {"source": source, POND: _CARRY})]]

    def aside(self, payload: JsonObject, time: str) -> Group:
        return [_carrier("", time, {"source": {"type": origin.KIND, "payload": payload}, POND: _CARRY})]

    def follow(self, events: Group) -> None:
        residue = of(events[0]["options"], "source")
        if type(residue) is not dict:
            return
        self._title = ClaudeCodeOutline.title_of(residue) or self._title
        if "parentUuid" in residue and residue.get("isSidechain") is not True:
            self._tip = events[0]["id"].partition("~")[0]

    def number(self, group: Group) -> None:
        """Leave it as it is: records link to each other, nobody counts them."""

    def compaction(self, item: Compaction) -> list[Group]:
        boundary = as_uuid(self.heading.id, "boundary", item.id)
        text: JsonObject = {"kind": "part", "id": item.id, "type": "text", "text": item.summary, "options": {}}
        kept = [uuid for said in item.kept if (uuid := self._kept(said)) is not None]
        anchor = boundary if item.kept_first else self._uuid(USER, item, [text])
        source: JsonObject = {
            "parentUuid": None, "logicalParentUuid": self._tip, **self._common,
            "subtype": "compact_boundary", "level": "info", "isMeta": False,
        }  # fmt: skip
        if kept:
            preserved = {"anchorUuid": anchor, "uuids": kept, "allUuids": kept}
            source["compactMetadata"] = {"preservedMessages": preserved}
        event = _carrier(boundary, item.time, {"source": source, POND: {AS: Kind.system}})
        event["content"] = "Conversation compacted"
        self._tip, self._starts, self._answer = boundary, [], ""
        summary = self._row(item, USER, [text], _PLAIN, {})
        summary[0]["options"]["source"] |= {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}
        return [[event], summary]

    def _kept(self, said: Said) -> str | None:
        """Return the record above a compaction with a message that outlives it."""
        parts = [part for part in said.parts if part["type"] != "reasoning"]
        return self._uuid(said.role, said, parts) if parts and said.role != TOOL else None

    def rewound(self, item: Rewound) -> list[Group]:
        if item.turns:
            self._tip, self._off = self._starts[-item.turns], True
            del self._starts[-item.turns :]
        self._answer = ""
        return []


def _carrier(message_id: str, time: str, options: JsonObject) -> JsonObject:
    return {"kind": "message", "role": "system", "id": message_id, "timestamp": time, "content": "", "options": options}


def _file_label(part: JsonObject) -> str | None:
    """Return the block that holds a file; None if there is none for it."""
    if is_address(part["data"]):
        return Block.image_url if is_image(part) else Block.document_url if part["media_type"] == PDF else None
    if part["media_type"] in _IMAGES:
        return Block.image
    return Block.document_base64 if part["media_type"] == PDF else None


def _base64(media_type: str, data: str) -> JsonObject:
    return {"type": "base64", "media_type": media_type, "data": data}


def _agent_id(heading: Heading) -> str:
    return "a" + heading.id.replace("-", "")[:16]


def slug(path: str) -> str:
    """Return the folder name Claude Code makes of a working directory."""
    # The client counts in UTF-16: a character outside the basic plane is two dashes.
    name = _NOT_IN_A_SLUG.sub(lambda found: "--" if found[0] > "\uffff" else "-", path)
    return name if len(name) <= _LONGEST_SLUG else f"{name[:_LONGEST_SLUG]}-{_base36(_java_hash(path))}"


def _java_hash(text: str) -> int:
    code = 0
    units = text.encode("utf-16-le", "surrogatepass")
    for low, high in zip(units[::2], units[1::2], strict=True):
        code = (code * 31 + low + 256 * high) & 0xFFFFFFFF
    return abs(code - (1 << 32) if code >= 1 << 31 else code)


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits or "0"


LOWERING = ClaudeCodeLowering
