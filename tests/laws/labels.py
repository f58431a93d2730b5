"""What clients say themselves about whose words a text is, and what pond makes of the text when they do not say it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pond.model.json_text import Json, JsonObject, NotJson, decode, encode_line
from tests.laws.corpus import SessionFile
from tests.laws.passage import read

TYPED, HARNESS = "typed", "harness"
_ASIDE = ("internal_chat_message_metadata_passthrough", "content_item_kinds")
_FRAMES = ("shell.user_command", "realtime_conversation.delegation")  # hold both
_OTHERS = ("task-notification", "peer", "coordinator", "channel", "auto-continuation", "observer", "observer-activity")


@dataclass
class Judged:
    """How many texts the client labels, and which of them pond takes for the opposite when the label is hidden."""

    labelled: Counter[str] = field(default_factory=Counter)
    mistaken: dict[str, list[str]] = field(default_factory=lambda: {TYPED: [], HARNESS: []})

    def __str__(self) -> str:
        lines = [f"{self.labelled[TYPED]} typed texts, {self.labelled[HARNESS]} of the harness"]
        for label, texts in self.mistaken.items():
            lines += [f"  {label}, and taken for the opposite: {text!r}" for text in texts]
        return "\n".join(lines)

    def take(self, label: str | None, said: list[JsonObject]) -> None:
        """Judge one text, as the Parts that it was cut into."""
        if label is None or not said:
            return
        self.labelled[label] += 1
        own = [part["text"] for part in said if part["provenance"] == "conversational" and part["text"].strip()]
        # An editor's block beside a person's words is no mistake, so of what was typed something has to be left.
        if bool(own) != (label == TYPED):
            self.mistaken[label].append("".join(own or [part["text"] for part in said])[:100])


def judged(files: Iterable[SessionFile], folder: Path, *, hide: bool = True) -> Judged:
    """Read every file, as a rule with the labels hidden, and compare."""
    found = Judged()
    for number, file in enumerate(files):
        if file.path.suffix == ".jsonl":
            _judge(file, folder / str(number) / file.path.name, found, hide)
    return found


def _judge(file: SessionFile, hidden: Path, found: Judged, hide: bool) -> None:
    lines = [line for line in file.path.read_bytes().splitlines(keepends=True) if _value(line) is not None]
    records = [_value(line) for line in lines]
    labels = _LABELS[file.client](records)
    for record in records if hide else ():
        if type(record) is dict:
            _HIDE[file.client](record)
    hidden.parent.mkdir(parents=True)
    hidden.write_bytes(b"".join(map(encode_line, records)))
    for group in read(hidden, file.client).groups:
        said, texts = labels.get(_of(group[0]["options"], "pond", "seq"), []), [*_texts(group)]
        if len(said) == 1:  # of all that the record holds
            texts = [[part for parts in texts for part in parts]]
        if len(said) == len(texts):
            for label, parts in zip(said, texts, strict=True):
                found.take(label, [part for part in parts if part["type"] == "text"])


def _value(line: bytes) -> Json:
    try:
        return decode(line.strip(), lambda _: None)
    except NotJson:
        return None


def _texts(group: list[JsonObject]) -> Iterator[list[JsonObject]]:
    """Yield the Parts of each item of a person's record: one, or several where its text was cut."""
    parts: list[JsonObject] = []
    for event in group:
        if event["kind"] == "part" and group[0]["role"] == "user":
            if parts and not event["options"].get("pond", {}).get("joined"):
                yield parts
                parts = []
            parts.append(event)
    if parts:
        yield parts


def _of(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if type(value) is dict else None
    return value


def _claude(records: list[Json]) -> dict[int, list[str | None]]:
    return {number: [_claude_label(record)] for number, record in enumerate(records)}


def _claude_label(record: Json) -> str | None:
    if _of(record, "type") not in ("user", "attachment"):
        return None
    kind = _of(record, "origin", "kind") or _of(record, "attachment", "origin", "kind")
    if kind in _OTHERS or True in (record.get("isMeta"), record.get("isCompactSummary")):
        return HARNESS
    return TYPED if kind == "human" else None


def _hide_claude(record: JsonObject) -> None:
    for holder in (record, record.get("attachment")):
        for name in ("origin", "isMeta", "isCompactSummary", "commandMode", "promptSource"):
            if type(holder) is dict:
                holder.pop(name, None)


def _codex(records: list[Json]) -> dict[int, list[str | None]]:
    began = next((_of(record, "payload", "source", "subagent") for record in records), None)
    unattended = began is not None and _of(began, "thread_spawn") is None
    labels: dict[int, list[str | None]] = {}
    for number, record in enumerate(records):
        kinds = _of(record, "payload", *_ASIDE)
        if unattended:
            labels[number] = [HARNESS]
        elif type(kinds) is list and len(_of(record, "payload", "content")) == len(kinds):
            labels[number] = [_codex_label(kind) for kind in kinds]
    return labels


def _codex_label(kind: object) -> str | None:
    if type(kind) is not str or kind == "unknown" or kind in _FRAMES:
        return None
    return TYPED if kind.startswith("user.") else HARNESS


def _hide_codex(record: JsonObject) -> None:
    aside = _of(record, "payload", _ASIDE[0])
    if type(aside) is dict:
        aside.pop(_ASIDE[1], None)
    if record.get("type") == "session_meta" and type(record.get("payload")) is dict:
        record["payload"].pop("source", None)


_LABELS = {"claude-code": _claude, "codex": _codex}
_HIDE = {"claude-code": _hide_claude, "codex": _hide_codex}
