"""Did everything reach the model? What is expected, what was sent, what was reported lost go in; reasons come out."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.clients.expected import Item
from tests.clients.wire import Atom, Request

_SURROGATE = re.compile("[\ud800-\udfff]")
_CUT = re.compile(r"…\d+ (?:tokens|chars) truncated…")  # Codex shortens long outputs when it resumes
_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_FILLERS = {"No response requested."}  # what Claude Code puts where a prompt was left without an answer
_ROLES = {"human": "user", "model": "assistant"}

Loss = dict[str, Any]  # one line of a loss report

# Which kinds of loss may excuse that something did not arrive. An entry of another kind about the same message says
# that it arrived in another form, and excuses nothing.
EXCUSES: dict[str, set[str]] = {
    "human": {"broken"},
    "model": {"broken"},
    "thinking": {"broken", "reasoning-left-out", "reasoning-not-sent"},
    "call": {"broken", "call-renamed"},
    "image": {"broken", "file-left-out"},
}


@dataclass(frozen=True)
class Missing:
    """An expected item that the request does not hold, or not where it belongs."""

    item: Item
    why: str

    def __str__(self) -> str:
        return f"{self.item.kind} {_short(self.item)}: {self.why}"


def missing(expected: Sequence[Item], atoms: Sequence[Atom]) -> list[Missing]:
    """Return what is not in the request, in the order of the session; texts and calls must come in that order too."""
    found: list[Missing] = []
    place = (0, 0)  # the atom, and the character in it, where the next item is looked for
    results = {atom.id: atom for atom in atoms if atom.kind == "result"}
    for item in expected:
        if item.kind == "image":
            continue
        spot = _find(item, atoms, place)
        if spot is None:
            why = "not in the request" if _find(item, atoms, (0, 0)) is None else "out of order"
            found.append(Missing(item, why))
            continue
        # Thinking may be moved to the front of its message; it does not push the others on.
        place = place if item.kind == "thinking" else spot
        if item.kind == "call":
            fault = _result_fault(item, results.get(atoms[spot[0] - 1].id))
            found += [Missing(item, fault)] if fault else []
    return found


def _find(item: Item, atoms: Sequence[Atom], place: tuple[int, int]) -> tuple[int, int] | None:
    """Return where the search continues after the first fit at or after `place`, or None."""
    start, offset = place
    for index in range(start, len(atoms)):
        atom = atoms[index]
        if item.kind in _ROLES and atom.kind == "text" and atom.role == _ROLES[item.kind]:
            wanted = legible(item.text)
            at = legible(atom.text).find(wanted, offset if index == start else 0)
            if at >= 0:
                return index, at + len(wanted)
        elif item.kind == atom.kind and _fits(item, atom):
            return index + 1, 0
    return None


def _fits(item: Item, atom: Atom) -> bool:
    """Tell whether a thought or a call is the expected one."""
    if item.kind == "thinking":
        return legible(item.text) in legible(atom.text)
    return _same_tool(item.name, atom.name) and _same(item.arguments, atom.arguments)


def _same_tool(name: str, sent: str) -> bool:
    """Compare names of tools; one of another client may be sent as that of a server, because so it is shown."""
    return sent == name or (sent.startswith("mcp__") and sent.endswith("__" + _NOT_IN_A_NAME.sub("_", name)))


def _same(wanted: Any, sent: Any) -> bool:
    """Compare arguments; a free text may be wrapped in an object, because the Messages protocol wants one."""
    if isinstance(wanted, str) and isinstance(sent, dict):
        return wanted in sent.values()
    return legible(json.dumps(wanted, sort_keys=True, ensure_ascii=False)) == legible(
        json.dumps(sent, sort_keys=True, ensure_ascii=False)
    )


def _result_fault(item: Item, sent: Atom | None) -> str | None:
    if sent is None:
        return "its call has no result in the request"
    if item.result is not None and not _tells(legible(sent.text), legible(item.result).strip()):
        return f"its result is another: {sent.text[:60]!r}"
    return None


def _tells(sent: str, wanted: str) -> bool:
    """Tell whether a result says what it has to, in full or with its middle cut by the client itself."""
    head, *rest = _CUT.split(sent)
    if len(rest) != 1:
        return wanted in sent
    return wanted.startswith(head.strip()) and wanted.endswith(rest[0].strip())


def miscounts(expected: Sequence[Item], atoms: Sequence[Atom], losses: Iterable[Loss] = ()) -> list[str]:
    """Compare the numbers of calls, results and pictures: more than there were is as wrong as fewer without a loss."""
    entries, found = list(losses), []
    for kind in ("call", "result", "image"):
        items = [item for item in expected if item.kind == (kind if kind == "image" else "call")]
        least = sum(not _excused(item, entries) for item in items)
        sent = sum(atom.kind == kind for atom in atoms)
        if not least <= sent <= len(items):
            found.append(f"{sent} {kind}s in the request, {len(items)} in the session")
    return found


def invented(expected: Sequence[Item], atoms: Sequence[Atom]) -> list[str]:
    """Return the answers in a request that the session's model never gave."""
    said = {legible(item.text).strip() for item in expected if item.kind == "model"}
    spoken = [legible(atom.text).strip() for atom in atoms if atom.kind == "text" and atom.role == "assistant"]
    return [f"the model never said {text[:80]!r}" for text in spoken if text not in said | _FILLERS]


def legible(text: str) -> str:
    """Return a text with lone surrogates replaced, as every client sends them."""
    return _SURROGATE.sub("\ufffd", text)


def unnamed(absent: Iterable[Missing], losses: Iterable[Loss]) -> list[Missing]:
    """Return what is missing although no entry of the loss report says so of it."""
    entries = list(losses)
    return [each for each in absent if not _excused(each.item, entries)]


def _excused(item: Item, losses: Iterable[Loss]) -> bool:
    """Tell whether an entry both speaks of the item's message and reports that kind of thing as lost."""
    return any(loss.get("kind") in EXCUSES[item.kind] and item.names & _ids(loss) for loss in losses)


def _ids(loss: Loss) -> set[str]:
    """Return the ids of messages that an entry speaks of; a part's id is its message's with a number."""
    ids = {str(loss[key]) for key in ("message", "part") if loss.get(key)}
    return ids | {each.rsplit(":", 1)[0] for each in ids}


def service_problems(asked: Request) -> list[str]:
    """Return what a real model service would object to; the mock takes anything."""
    found = _pairs(asked.atoms)
    if asked.protocol == "messages":
        found += _messages_problems(asked.body.get("messages") or [])
    else:
        found += [f"a call id of {len(a.id)} characters" for a in asked.atoms if a.kind == "call" and len(a.id) > 64]
    names = {atom.name for atom in asked.atoms if atom.kind == "call"}
    return found + [f"a tool name like {name!r}" for name in sorted(names) if not _TOOL_NAME.fullmatch(name)]


def _pairs(atoms: Sequence[Atom]) -> list[str]:
    found, open_calls, seen = [], dict[str, str](), set[str]()
    for atom in atoms:
        if atom.kind == "call":
            found += [f"two tool calls with the id {atom.id}"] if atom.id in seen else []
            seen.add(atom.id)
            open_calls[atom.id] = atom.name
        elif atom.kind == "result" and open_calls.pop(atom.id, None) is None:
            found.append(f"{'two results for' if atom.id in seen else 'a result without'} the tool call {atom.id}")
    return found + [f"the tool call {each} ({name}) has no result" for each, name in open_calls.items()]


def _messages_problems(messages: Sequence[dict[str, Any]]) -> list[str]:
    """Return what the Messages protocol forbids."""
    found = [] if messages and messages[0].get("role") == "user" else ["the first message is not from the user"]
    waiting: set[str] = set()
    for message in messages:
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])
        found += [] if blocks else [f"an empty message ({message.get('role')})"]
        answered = {block.get("tool_use_id") for block in blocks if block.get("type") == "tool_result"}
        found += [f"the result of {each} does not follow at once" for each in sorted(waiting - answered)]
        waiting = {str(block.get("id")) for block in blocks if block.get("type") == "tool_use"}
        found += [fault for block in blocks if (fault := _block_fault(block))]
    return found


def _block_fault(block: dict[str, Any]) -> str | None:
    match block.get("type"):
        case "text" if not str(block.get("text", "")).strip():
            return "an empty text"
        case "thinking" if not block.get("signature"):
            return "thinking without a signature"
        case "tool_use" if not isinstance(block.get("input"), dict):
            return f"the input of {block.get('id')} is no object"
        case "tool_use" if not _TOOL_NAME.fullmatch(str(block.get("id"))):
            return f"a call id like {block.get('id')!r}"
    return None


def _short(item: Item) -> str:
    text = f"{item.name}({json.dumps(item.arguments)})" if item.kind == "call" else repr(item.text)
    return text if len(text) <= 70 else f"{text[:60]}… ({len(text)} characters)"
