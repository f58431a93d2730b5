"""What hooks told the model: rows of Claude Code that hold context, not bookkeeping."""

from __future__ import annotations

from pond.model.json_text import Json, JsonObject
from pond.portable.conversation import USER, Said
from pond.portable.inserted import tagged
from pond.portable.outline import Record, of, text_of

CLIENT = "claude-code"
_TELLING = ("SessionStart", "UserPromptSubmit")  # the events whose hooks tell the model what they print
_KINDS = ("hook_additional_context", "hook_success", "hook_blocking_error")


def text_heard(record: JsonObject) -> str:
    """Return what a hook told the model; empty for any other record, and for hooks that only people see."""
    attachment = record.get("attachment")
    if type(attachment) is not dict or attachment.get("type") not in _KINDS:
        return ""
    if attachment["type"] == "hook_success" and not (record.get("rendered") or _tells(attachment)):
        return ""
    if attachment["type"] == "hook_blocking_error":
        return text_of(attachment, "blockingError", "blockingError") or ""
    content: Json = attachment.get("content")
    lines = content if type(content) is list else [content]
    return "\n".join(line for line in lines if type(line) is str and line.strip())


def _tells(attachment: JsonObject) -> bool:
    return attachment.get("hookEvent") in _TELLING


def hook_said(record: Record) -> Said | None:
    """Return what a hook told the model as context; None where it told it nothing."""
    text = text_heard(record.residue)
    if not text:
        return None
    hook = text_of(record.residue, "attachment", "hookName") or str(of(record.residue, "attachment", "hookEvent") or "")
    part: JsonObject = {
        "kind": "part", "id": record.id, "type": "text", "text": tagged(text, CLIENT, hook=hook), "options": {},
    }  # fmt: skip
    return Said(USER, record.id, record.time, record.line, [part])
