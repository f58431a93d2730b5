"""A portable conversation as Codex's own rows."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pond.lang.runtime import CARRIED, LISTED
from pond.model.json_text import Json, JsonObject, encode_plain
from pond.model.marks import ABSENT, AS, FILE, POND
from pond.portable import origin
from pond.portable.blocks import is_address, is_image
from pond.portable.conversation import ASSISTANT, TOOL, USER, Compaction, Heading, Rewound, Said, Title
from pond.portable.inserted import WRITER, is_tagged, left_out, tagged
from pond.portable.loss import Losses
from pond.portable.lowering import Group, Lowering
from pond.portable.outline import of
from pond.portable.shown import DISPLAY

from .called import called
from .compiled import Block, Kind
from .listed import FILE as LIST
from .outline import CodexOutline

_PROVIDER = "openai"  # what the client uses if its settings name none
_HALF = re.compile("[\ud800-\udfff]")
# Marks are read and never written to: one object for all rows of a label.
_CARRY: JsonObject = {AS: CARRIED}
_USER, _ASSISTANT, _CALL, _CUSTOM, _OUTPUT = (
    {AS: label, ABSENT: ["payload.id"]}
    for label in (
        Kind.response_item_message_user,
        Kind.response_item_message_assistant,
        Kind.response_item_function_call,
        Kind.response_item_custom_tool_call,
        Kind.response_item_function_call_output_,
    )
)


class CodexLowering(Lowering):
    """One item per row, as the client writes them: what the model sees, and beside it what the screen shows."""

    deepest = 8

    def __init__(self, heading: Heading, losses: Losses) -> None:
        super().__init__(heading, losses)
        self._asked: list[int] = []  # user messages written in each live turn
        self._listed = False  # the list shows the first such event, and no session without one
        self._unlisted: Group | None = None  # the event of the first message, which nobody may have typed
        self._ordinal: int | None = None
        self._custom: set[str] = set()  # open calls whose arguments are plain text
        self._called: dict[str, JsonObject] = {}  # open calls, for the screen
        self._title: Title | None = None
        self._named = ""  # what the client's own list calls the session

    @staticmethod
    def path_of(heading: Heading) -> str:
        day, _, clock = heading.created_at.partition("T")
        stamp = f"{day}T{clock[:8].replace(':', '-')}"
        return f"sessions/{day.replace('-', '/')}/rollout-{stamp}-{heading.id}.jsonl"

    def open(self, branch: str | None) -> list[Group]:
        heading = self.heading
        payload: JsonObject = {"timestamp": heading.created_at, "originator": WRITER, "cli_version": "0.0.0"}
        payload["model_provider"] = _whole(heading.provider) or _PROVIDER
        if heading.parent and heading.spawned:
            payload["source"] = {"subagent": {"thread_spawn": {"parent_thread_id": heading.parent, "depth": 1}}}
            payload |= {"parent_thread_id": heading.parent, "thread_source": "subagent"}
            if heading.name:
                payload["agent_nickname"] = _whole(heading.name)
        elif heading.parent:
            payload["forked_from_id"] = heading.parent
        if branch:
            payload["git"] = {"branch": _whole(branch)}
        if _whole(heading.project) is not heading.project:
            payload["cwd"] = _whole(heading.project)
        opening = [[_row(Kind.session_meta, heading.created_at, {"payload": payload})]]
        if heading.note:
            opening.append(_shown(heading.created_at, {"type": "agent_message", "message": _whole(heading.note)}))
        return opening

    def said(self, item: Said) -> list[Group]:
        role, parts = item.role, item.parts
        if role == ASSISTANT:
            if len(parts) == 1:
                return self._answer(parts[0], item)
            return [group for part in parts for group in self._answer(part, item)]
        if role == TOOL:
            return [group for part in parts for group in self._result(part, item)]
        return self._user(item)

    def _user(self, item: Said) -> list[Group]:
        if item.human:
            self._asked.append(0)
        if self._asked:
            self._asked[-1] += 1
        parts = [self._user_part(part, item) for part in item.parts]
        groups = [_item(_USER, USER, item.time, {}, parts)]
        if item.human or self._unlisted is None:
            texts = [part["text"] for part in parts if part["type"] == "text"]
            text = "\n".join([text for text in texts if not is_tagged(text)] or texts)
            self._unlisted = _event(item.time, {"type": "user_message", "message": text, "images": []})
        if item.human:
            self._listed = True
            groups.append(self._unlisted)
        return groups

    def _user_part(self, part: JsonObject, item: Said) -> JsonObject:
        if part["type"] == "text":
            part["text"] = self._whole(part["text"], part, item)
        elif is_image(part):
            if is_address(part["data"]):
                part["options"] = {POND: {AS: Block.input_image_2}}
        else:
            kind = part["media_type"]
            self.losses.add("file-left-out", item.id, part["id"], item.line, kind, len(part["data"]))
            note = tagged(left_out(f"a file ({part.get('file_name', kind)})"), self.heading.source_agent)
            return {"kind": "part", "id": part["id"], "type": "text", "text": note, "options": {}}
        return part

    def _answer(self, part: JsonObject, item: Said) -> list[Group]:
        kind = part["type"]
        if kind == "tool_call":
            params = part["params"]
            custom = type(params) is str
            if custom:
                self._custom.add(part["call_id"])
            whole = _whole_value(params)
            if whole is not params:
                self.losses.add("text-changed", item.id, part["id"], item.line, "arguments")
                part["params"] = whole
            self._called[part["call_id"]] = part
            return [_item(_CUSTOM if custom else _CALL, ASSISTANT, item.time, {}, (part,))]
        if kind == "text":
            text = part["text"] = self._whole(part["text"], part, item)
            shown = _event(item.time, {"type": "agent_message", "message": text})
            return [_item(_ASSISTANT, ASSISTANT, item.time, {}, (part,)), shown]
        if kind == "reasoning":
            # Shown but not sent: the service would want a proof that only its own reasoning has.
            text = part["text"]
            self.losses.add("reasoning-not-sent", item.id, part["id"], item.line, "", len(text))
            payload: JsonObject = {"type": "agent_reasoning", "text": self._whole(text, part, item)}
            if part["options"]:
                payload["options"] = part["options"]
                if item.model:
                    payload["model"] = item.model
            return [_event(item.time, payload)]
        self.losses.add("file-left-out", item.id, part["id"], item.line, part["media_type"], len(part["data"]))
        return []

    def _result(self, part: JsonObject, item: Said) -> list[Group]:
        """Return the output of a call; and for the screen, which shows no call of another client, the two together."""
        result = part["result"]
        if type(result) is str:
            part["result"] = self._whole(result, part, item)
        else:
            part["result"] = [self._content(inner, part, item) for inner in result]
        payload: JsonObject = {"type": "function_call_output"}
        if part["call_id"] in self._custom:
            self._custom.discard(part["call_id"])
            payload["type"] = "custom_tool_call_output"
        if part["is_failure"]:
            payload["success"] = False
        output = _item(_OUTPUT, TOOL, item.time, payload, (part,))
        call = self._called.pop(part["call_id"], None)
        if call is None:
            return [output]
        return [output, _shown(item.time, called(call, part, _whole(self.heading.source_agent)))]

    def _content(self, inner: JsonObject, part: JsonObject, item: Said) -> JsonObject:
        if inner["type"] == "text":
            return {"type": "input_text", "text": self._whole(inner["text"], part, item)}
        media_type, data = inner["media_type"], inner["data"]
        if is_image(inner):
            url = data if is_address(data) else f"data:{media_type};base64,{data}"
            return {"type": "input_image", "image_url": url}
        self.losses.add("file-left-out", item.id, part["id"], item.line, media_type, len(data))
        return {"type": "input_text", "text": left_out(f"a file ({media_type})")}

    def _whole(self, text: str, part: JsonObject, item: Said) -> str:
        """Return the text without half characters: Codex silently drops a row that holds one."""
        if text.isascii():
            return text
        whole = _whole(text)
        if whole is not text:
            self.losses.add("text-changed", item.id, part["id"], item.line)
        return whole

    def title(self, item: Title) -> list[Group]:
        self._title = item  # the last one counts
        return []

    def close(self) -> list[Group]:
        """Return what the client needs to list the session, and the line that names it: no row of a rollout does."""
        found = [self._unlisted] if self._unlisted is not None and not self._listed else []
        title = self._title
        if title is None or title.text == self._named or self.heading.spawned:
            return found
        source = {"id": self.heading.id, "thread_name": _whole(title.text), "updated_at": title.time}
        row = _row(LISTED, title.time, source)
        row["options"][POND][FILE] = LIST
        return [*found, [row]]

    def aside(self, payload: JsonObject, time: str) -> Group:
        return [_row(CARRIED, time, {"type": origin.KIND, "payload": payload})]

    def follow(self, events: Group) -> None:
        source = of(events[0]["options"], "source")
        if type(source) is dict and (named := CodexOutline.title_of(source)) is not None:
            self._named = named
        ordinal = of(events[0]["options"], "source", "ordinal")
        if type(ordinal) is int:
            self._ordinal = ordinal

    def number(self, group: Group) -> None:
        if (
            self._ordinal is not None and group[0]["options"][POND][AS] != LISTED
        ):  # a paginated log continues: its last row must say its position
            self._ordinal += 1
            group[0]["options"]["source"]["ordinal"] = self._ordinal

    def compaction(self, item: Compaction) -> list[Group]:
        self._asked = []
        summary = _whole(item.summary)
        if summary is not item.summary:
            self.losses.add("text-changed", item.id, what="summary")
        copies = [copy for said in item.kept for copy in self._copies(said)]
        summed_up = _message(USER, [{"type": "input_text", "text": summary}])
        history = [*copies, summed_up] if item.kept_first else [summed_up, *copies]
        source: JsonObject = {"payload": {"replacement_history": history}}
        row = _row(Kind.compacted, item.time, source)
        row["content"] = summary
        return [[row]]

    def _copies(self, said: Said) -> list[JsonObject]:
        """Return a kept message as items of a replacement history."""
        kind = "output_text" if said.role == ASSISTANT else "input_text"
        texts = [{"type": kind, "text": _whole(part["text"])} for part in said.parts if part["type"] == "text"]
        return [_message(said.role, texts)] if texts and said.role in (USER, ASSISTANT) else []

    def rewound(self, item: Rewound) -> list[Group]:
        if not item.turns:
            return []
        messages = sum(self._asked[-item.turns :])
        del self._asked[-item.turns :]
        return [_event(item.time, {"type": "thread_rolled_back", "num_turns": messages})]


def _whole(text: str) -> str:
    """Return the text with its half characters replaced; the same text where it has none."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return _HALF.sub("\ufffd", text)
    return text


def _whole_value(value: Json) -> Json:
    """Return a value without half characters in its texts; the same value where it has none."""
    return value if encode_plain(value) is not None else _made_whole(value)  # the encoder refuses halves


def _made_whole(value: Json) -> Json:
    if type(value) is str:
        return _whole(value)
    # Loops, not comprehensions: those take a second frame per level, and arguments may be as deep as a record.
    same = True
    if type(value) is dict:
        members: JsonObject = {}
        for key, member in value.items():
            whole_key, whole = _whole(key), _made_whole(member)
            same = same and whole_key is key and whole is member
            members[whole_key] = whole
        return value if same else members
    if type(value) is list:
        items: list[Json] = []
        for item in value:
            whole = _made_whole(item)
            same = same and whole is item
            items.append(whole)
        return value if same else items
    return value


def _message(role: str, content: list[JsonObject]) -> JsonObject:
    return {"type": "message", "role": role, "content": content}


def _row(label: str, time: str, source: JsonObject) -> JsonObject:
    return {
        "kind": "message", "role": "system", "id": "", "timestamp": time, "content": "",
        "options": {"source": source, POND: {AS: label}},
    }  # fmt: skip


def _item(marks: JsonObject, role: str, time: str, payload: JsonObject, parts: Iterable[JsonObject]) -> Group:
    options = {"source": {"payload": payload}, POND: marks}
    return [{"kind": "message", "role": role, "id": "", "timestamp": time, "options": options}, *parts]


def _event(time: str, payload: JsonObject) -> Group:
    options = {"source": {"type": "event_msg", "payload": payload}, POND: _CARRY}
    return [{"kind": "message", "role": "system", "id": "", "timestamp": time, "content": "", "options": options}]


def _shown(time: str, payload: JsonObject) -> Group:
    """Return a row that is there for the screen only."""
    group = _event(time, payload)
    group[0]["options"]["source"][POND] = DISPLAY
    return group


LOWERING = CodexLowering
