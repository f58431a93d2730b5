"""What a client sent to its model, in one form for both protocols: a flat list of texts, calls, results, pictures."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["text", "thinking", "call", "result", "image"]
Protocol = Literal["messages", "responses"]


@dataclass(frozen=True)
class Atom:
    """One piece of a request. `text` is a result's text too; `arguments` are a call's, decoded where they are JSON."""

    kind: Kind
    role: str
    text: str = ""
    id: str = ""
    name: str = ""
    arguments: Any = None


@dataclass(frozen=True)
class Request:
    """One request to the model: the body as it came, and the conversation in it (without system messages)."""

    protocol: Protocol
    body: dict[str, Any]
    atoms: tuple[Atom, ...]

    @property
    def has_tools(self) -> bool:
        """Tell a real turn from a side request (titles, summaries), which offers no tools."""
        items = self.body.get("input")
        listed = items if isinstance(items, list) else []
        return bool(self.body.get("tools")) or any(item.get("type") == "additional_tools" for item in listed)

    def asks(self, prompt: str) -> bool:
        """Tell whether the last thing a user said in this request is `prompt`."""
        texts = [atom.text for atom in self.atoms if atom.kind == "text" and atom.role == "user"]
        return bool(texts) and prompt in texts[-1]


def protocol_of(path: str) -> Protocol | None:
    """Return the protocol a request path belongs to, or None."""
    bare = path.split("?", 1)[0].rstrip("/")
    if bare.endswith("/messages"):
        return "messages"
    return "responses" if bare.endswith("/responses") else None


def request(protocol: Protocol, body: dict[str, Any]) -> Request:
    """Read a request's body."""
    atoms = _messages(body) if protocol == "messages" else _responses(body)
    return Request(protocol, body, tuple(atom for atom in atoms if atom.role not in ("system", "developer")))


def _blocks(content: Any) -> list[dict[str, Any]]:
    """Return message content as a list of blocks; a bare string is one text."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])


def _messages(body: dict[str, Any]) -> Iterator[Atom]:
    for message in body.get("messages") or []:
        role = str(message.get("role"))
        for block in _blocks(message.get("content")):
            match block.get("type"):
                case "text":
                    yield Atom("text", role, str(block.get("text", "")))
                case "thinking":
                    yield Atom("thinking", role, str(block.get("thinking", "")), id=str(block.get("signature") or ""))
                case "redacted_thinking":
                    yield Atom("thinking", role, id="redacted")
                case "tool_use":
                    yield Atom("call", role, "", str(block.get("id")), str(block.get("name")), block.get("input"))
                case "tool_result":
                    yield from _result(role, str(block.get("tool_use_id")), block.get("content"))
                case "image":
                    yield Atom("image", role)
                case other:
                    yield Atom("text", role, f"[{other}] {json.dumps(block)}")


def _responses(body: dict[str, Any]) -> Iterator[Atom]:
    items = body.get("input")
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items or []:
        kind = str(item.get("type") or "message")
        if kind == "message":
            role = str(item.get("role"))
            for part in _blocks(item.get("content")):
                if part.get("type") == "input_image":
                    yield Atom("image", role)
                else:
                    yield Atom("text", role, str(part.get("text") or part.get("refusal") or ""))
        elif kind == "reasoning":
            pieces = [*(item.get("summary") or []), *(item.get("content") or [])]
            texts = [str(piece.get("text", "")) for piece in pieces]
            yield Atom("thinking", "assistant", "\n".join(texts), id=str(item.get("encrypted_content") or ""))
        elif kind.endswith("_call_output"):
            yield from _result("tool", str(item.get("call_id")), item.get("output"))
        elif kind.endswith("_call"):
            name = str(item.get("name") or kind)
            arguments = _decoded(item.get("arguments", item.get("input", item.get("action"))))
            yield Atom("call", "assistant", "", str(item.get("call_id") or item.get("id")), name, arguments)
        elif kind != "additional_tools":
            yield Atom("text", str(item.get("role") or "other"), f"[{kind}] {json.dumps(item)}")


def _result(role: str, identity: str, content: Any) -> Iterator[Atom]:
    """Yield a result's text, then its pictures."""
    blocks = _blocks(content)
    pictures = [block for block in blocks if block.get("type") in ("image", "input_image")]
    texts = [str(block.get("text", "")) for block in blocks if "text" in block]
    yield Atom("result", role, "\n".join(texts), identity)
    yield from (Atom("image", role) for _ in pictures)


def _decoded(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
