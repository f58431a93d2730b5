"""What a reviewer sees of a case: its canonical events in full, and one line for each record of the session files."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pond._locate import schema_dir
from pond.codec.finding import find_files
from pond.codec.report import Report
from pond.lang.fields import PART_TYPES, ROLES
from pond.lang.plan import CARRY
from pond.model.equal import same
from pond.model.json_text import Json, JsonObject, Numeral
from tests.laws.passage import Passage, read, restore_text, strict_values, to_canonical

MOST = 200  # characters of a text that are shown; the laws compare all of them
FIRST = 40
CHECKOUT = "<checkout>"


def canonical_view(folder: Path, client: str) -> str:
    """Return the canonical events of every session of a case: schema field order, two spaces, long texts cut."""
    events = [event for path in _sessions(folder) for event in read(path, client).events]
    return json.dumps([shown(_in_schema_order(e), folder) for e in events], indent=2, ensure_ascii=False) + "\n"


def native_view(folder: Path, client: str) -> str:
    """Return one line for each record, as it was read and written back; a file that comes back changed says so."""
    lines = [line for path in _sessions(folder) for line in _native_lines(path, folder, client)]
    return "\n".join(["# number, mapping kind, messages with their [parts]; ! marks an injected part", *lines, ""])


def _sessions(folder: Path) -> list[Path]:
    return list(find_files(folder, Report()))


def _native_lines(path: Path, folder: Path, client: str) -> Iterator[str]:
    passage = read(path, client)
    restored = restore_text(to_canonical(path, client), client)
    equal = same(strict_values(path.read_bytes()), restored.values)
    records = f"{len(passage.groups)} records"
    yield f"{path.relative_to(folder).as_posix()}: {records}, {'restored equal' if equal else 'RESTORED CHANGED'}"
    for what, count in sorted(passage.report.drift.items()):
        yield f"  not named by the mapping: {_brief(what)} ({count})"
    for fault in passage.report.faults:
        where = f":{fault.span.line}" if fault.span else ""
        yield f"  {fault.code}{where} {_brief(fault.path)} ({fault.count})"
    for name in restored.beside:
        yield f"  beside {name}"
    for entry in restored.listed:
        yield f"  listed {_brief(str(entry))}"
    for line in _record_lines(passage):
        yield f"  {line}"


def _record_lines(passage: Passage) -> Iterator[str]:
    for number, group in enumerate(passage.groups):
        kind = " ".join([group[0]["options"]["pond"]["as"], *_carried_kind(group[0])])
        yield f"{number:3} {kind:40} {' + '.join(_messages(group))}".rstrip()


def _carried_kind(carrier: JsonObject) -> list[str]:
    """Return what a carried record calls itself: its own type, and that of what it wraps."""
    source = carrier["options"].get("source") if carrier["options"]["pond"]["as"] == CARRY else None
    layers = [source, *source.values()] if type(source) is dict else []
    return [str(layer["type"]) for layer in layers if type(layer) is dict and "type" in layer][:2]


def _messages(group: list[JsonObject]) -> Iterator[str]:
    text = ""
    for event in group:
        if event["kind"] == "message":
            if text:
                yield text
            text = event["role"] + (f" {_brief(event['content'])}" if event.get("content") else "")
        else:
            mark = "" if event["provenance"] == "conversational" else "!"
            text += f" [{mark}{event['type']} {_brief(_heart(event))}]"
    yield text


def _heart(part: JsonObject) -> Json:
    for field in ("text", "params", "result", "data"):
        if field in part:
            name = f"{part['name']} " if "name" in part else ""
            return f"{name}{part[field]}"
    return part.get("call_id", "")


def _brief(value: Json) -> str:
    text = ascii(value)[1:-1]
    return text if len(text) <= FIRST else text[:FIRST] + "..."


def _in_schema_order(event: JsonObject) -> JsonObject:
    order = _fields(_definition(event))
    return {name: event[name] for name in order if name in event} | event


def _definition(event: JsonObject) -> str:
    if event["kind"] == "session":
        return "Session"
    kinds, value = (ROLES, event["role"]) if event["kind"] == "message" else (PART_TYPES, event["type"])
    return next(name for name, kind in kinds.items() if kind == value)


@cache
def _fields(definition: str) -> list[str]:
    schema: dict[str, Any] = json.loads((schema_dir() / "canonical.schema.json").read_text(encoding="utf-8"))
    return list(schema["$defs"][definition]["properties"])


def shown(value: Json, folder: Path) -> Json:
    """Return a value that prints on every machine alike, and in reasonable length."""
    if type(value) is dict:
        return {_text(key, folder): shown(item, folder) for key, item in value.items()}
    if type(value) is list:
        return [shown(item, folder) for item in value]
    if type(value) is Numeral:
        return f"<number {value}>"
    return _text(value, folder) if type(value) is str else value


def _text(text: str, folder: Path) -> str:
    text = text.replace(folder.as_posix(), CHECKOUT)
    text = "".join(f"<U+{ord(c):04X}>" if "\ud800" <= c <= "\udfff" else c for c in text)
    return text if len(text) <= MOST else f"{text[:MOST]}<... {len(text) - MOST} more characters>"
