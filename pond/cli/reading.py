"""Sessions and messages as lines to read: what was said, and each tool call on one line with its outcome."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from pond.cli.pages import is_said
from pond.cli.show import size
from pond.cli.terminal import Piece, fitted
from pond.cli.times import clock
from pond.cli.tools import call_text, outcome, result_text
from pond.diagnostics.visible import in_line, visible
from pond.model.json_text import Json, JsonObject, encode
from pond.model.marks import says_again

Line = list[Piece]
_ROLES = {"user": "cyan", "assistant": "green"}
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_MOST_SUBAGENTS = 5
_IN_A_PIPE = 160  # columns of a tool call where there is no terminal


def comes(session: JsonObject) -> str:
    """Return how a session comes from its parent, in words before the parent's id."""
    return _COMES.get(session.get("lineage_kind", ""), "child of")


_COMES = {"spawn": "spawned by", "fork": "forked from", "continuation": "continues"}


def heading(session: JsonObject, subagents: Iterable[JsonObject] = ()) -> Iterator[Line]:
    """Yield which session it is, where it comes from, and what it started."""
    facts = [session["id"], session["source_agent"], session["project"]]
    yield [("session", "bold"), *((f"  {in_line(fact)}", "") for fact in facts)]
    if "created_at" in session:
        yield [("started", "bold"), (f"  {clock(session['created_at'])[:16]}", "")]
    if "parent_session_id" in session:
        yield [("origin", "bold"), (f"   {comes(session)} {_command(session['parent_session_id'])}", "")]
    found = list(subagents)
    for child in found[:_MOST_SUBAGENTS]:
        title = f"  {in_line(child['title'])}" if "title" in child else ""
        yield [("child", "bold"), (f"    {_command(child['id'])}{title}", "")]
    if len(found) > _MOST_SUBAGENTS:
        rest = len(found) - _MOST_SUBAGENTS
        yield [("child", "bold"), (f"    {rest} more: pond list --parent {_quoted(session['id'])}", "")]


class Conversation:
    """Messages as a conversation; what stands above a message need not be said again."""

    def __init__(self, results: Mapping[str, JsonObject], columns: int | None) -> None:
        self._results, self._columns = results, columns or _IN_A_PIPE
        self._role, self._day = "", ""

    def lines(self, message: JsonObject) -> Iterator[Line]:
        """Yield what there is to read of a message; nothing where it only keeps books."""
        shown = list(self._shown(message))
        if not shown:
            return
        if is_said(message) or message["role"] != self._role:
            yield [("", "")]
            yield self._title(message)
        yield from shown

    def _title(self, message: JsonObject) -> Line:
        time = clock(message["timestamp"])[:16] if "timestamp" in message else ""
        day, _, hour = time.partition(" ")
        shown = hour if day == self._day else time
        self._role, self._day = message["role"], day or self._day
        id = message["id"][:8] if _UUID.fullmatch(message["id"]) else in_line(message["id"])
        return [
            (message["role"], _ROLES.get(message["role"], "bold")),
            (f"  {shown}" if shown else "", "dim"),
            (f"  {id}", "dim"),
        ]

    def _shown(self, message: JsonObject) -> Iterator[Line]:
        if message["role"] == "system":
            if is_said(message):
                yield [(visible(message["content"]), "")]
            return
        if says_again(message["options"]) or message["role"] == "tool":
            return
        for part in message["content"]:
            match part["type"]:
                case "text" if part["provenance"] == "conversational" and part["text"].strip():
                    yield [(visible(part["text"].strip("\n")), "")]
                case "file":
                    yield [(f"  [{file_text(part)}]", "dim")]
                case "tool_call":
                    yield self._call(part)

    def _call(self, part: JsonObject) -> Line:
        result = self._results.get(part.get("call_id", ""))
        failed = result is not None and result["is_failure"]
        told = f" -> {outcome(result)}" if result is not None else ""
        name = in_line(part["name"])
        room = max(20, self._columns - len(name) - len(told) - 4)
        text = fitted(call_text(part["params"]), room).rstrip()
        return [(f"  {name}  {text}".rstrip(), "dim"), (told, "red" if failed else "dim")]


# --- whole -----------------------------------------------------------------------------------------------------------


def whole_lines(message: JsonObject) -> Iterator[Line]:
    """Yield everything that a message has; nothing if it is empty."""
    shown = list(_whole(message))
    if shown:
        yield [("", "")]
        yield _full_title(message, "---")
        yield from shown


def _full_title(message: JsonObject, mark: str) -> Line:
    time = f"  {clock(message['timestamp'])}" if "timestamp" in message else ""
    return [
        (f"{mark} {message['role']}", _ROLES.get(message["role"], "bold")),
        (f"{time}  {in_line(message['id'])}", "dim"),
    ]


def _whole(message: JsonObject) -> Iterator[Line]:
    if type(message["content"]) is str:
        if message["content"].strip():
            yield [(visible(message["content"]), "")]
        return
    if says_again(message["options"]):
        yield [("[the same prompt as above, as the client recorded it again]", "dim")]
        return
    for part in message["content"]:
        yield from _whole_part(part)


def _whole_part(part: JsonObject) -> Iterator[Line]:
    content = _content(part)
    plain = part["type"] == "text" and part["provenance"] == "conversational"
    if not plain and (content.strip() or part["type"] not in ("text", "reasoning")):
        yield [(f"[{_label(part)}]", "red" if part.get("is_failure") else "dim")]
    if content.strip():
        yield [(visible(content), "")]


def _label(part: JsonObject) -> str:
    if part["type"] == "file":
        return file_text(part)
    added = "added by the client: " if part["type"] == "text" else ""
    failed = " failed" if part.get("is_failure") else ""
    return in_line(" ".join([added + part["type"].replace("_", " "), part.get("name", "")])) + failed


def file_text(part: JsonObject) -> str:
    """Return what a file is: its kind, its name and how large it is."""
    kind = part["media_type"].partition("/")[0]
    names = [kind if kind in ("image", "audio", "video") else "file", part.get("file_name", ""), part["media_type"]]
    return in_line(" ".join(filter(None, names))) + f", {size(len(part['data']) * 3 // 4)}"


def _content(part: JsonObject) -> str:
    """Return what a part says, as text; a file only says what it is."""
    if part["type"] == "tool_result":
        return result_text(part.get("result", ""))
    for name in ("text", "params", "reason"):
        if name in part:
            return _text(part[name])
    return ""


def _text(value: Json) -> str:
    return value if type(value) is str else encode(value).decode()


# --- one message -----------------------------------------------------------------------------------------------------


def message_lines(response: JsonObject) -> Iterator[Line]:
    """Yield a message between its neighbours."""
    message = response["message"]
    yield from heading(response["session"])
    for neighbour in response["before"]:
        yield from chain([[("", "")]], _summary(neighbour))
    yield from chain([[("", "")], _full_title(message, "===")], _whole(message))
    if response["parts_remaining"]:
        last = f": --after {_quoted(message['content'][-1]['id'])}" if message["content"] else ""
        yield from ([("", "")], [(f"… {response['parts_remaining']} more parts{last}", "dim")])
    for neighbour in response["after"]:
        yield from chain([[("", "")]], _summary(neighbour))


def _summary(message: JsonObject) -> Iterator[Line]:
    yield _full_title(message, "---")
    if message["text"]:
        yield [(visible(message["text"]), "")]
    if message.get("again"):
        yield [("[the same prompt as above, as the client recorded it again]", "dim")]
    for part in message["parts_summary"]:
        # What a text part says stands above already, unless the client put it there.
        if part["type"] != "text" or part["provenance"] == "injected":
            added = "added by the client: " if part["type"] == "text" else ""
            words = [part["type"].replace("_", " "), *(part[name] for name in ("name", "media_type") if name in part)]
            yield [(f"[{in_line(added + ' '.join(words))}, {size(part['size_bytes'])}]", "dim")]


def _command(id: str) -> str:
    return f"pond get {_quoted(id)}"


def _quoted(id: str) -> str:
    return in_line(shlex.quote(id))
