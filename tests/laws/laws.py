"""The laws every adapter keeps, each a function that raises AssertionError on the session file that breaks it."""

import base64
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from jsonschema import Draft202012Validator

from pond._locate import schema_dir
from pond.codec.finding import FoundSource
from pond.codec.paths import beside, captures
from pond.codec.registry import adapter
from pond.codec.report import Report
from pond.codec.verify import verify_job
from pond.diagnostics.diagnostic import SourceFault
from pond.lang.context import Reading
from pond.lang.fields import PART_TYPES, ROLES
from pond.model.equal import first_difference, same
from pond.model.json_text import Json, JsonObject, NotJson, decode_strictly
from pond.model.validate import validate
from tests.laws.corpus import SessionFile
from tests.laws.passage import canonical_text, read, restore, restore_text, strict_values, to_canonical

Law = Callable[[SessionFile], None]


# --- nothing is lost ------------------------------------------------------------------------------------------------


def direct_road_is_lossless(file: SessionFile) -> None:
    """Read and written back in one go, the file is value-equal to its source."""
    _equal(strict_values(file.path.read_bytes()), restore(file.path, file.client).values)


def canonical_road_is_lossless(file: SessionFile) -> None:
    """Written as canonical text and restored from it, the file and those next to it are equal to their source."""
    restored = restore_text(canonical_text(file.path, file.client), file.client)
    _equal(strict_values(file.path.read_bytes()), restored.values)
    there = dict(beside(file.path, adapter(file.client).module.BESIDE))
    assert restored.beside.keys() == there.keys()
    for name, path in there.items():
        data, back = path.read_bytes(), restored.beside[name]
        assert data == back or _equal(strict_values(data), strict_values(back)), f"{name} came back changed"
    _equal([*adapter(file.client).listed(file.path)], restored.listed)


def verify_agrees(file: SessionFile) -> None:
    """`pond verify` finds every record equal and nothing to say about it."""
    verdict = verify_job(FoundSource(file.path, str(file.path)), file.client)
    assert verdict.equal == verdict.records > 0
    assert [d for d in verdict.report.diagnostics if d.code == "verify-different"] == []


def _equal(source: list[Json], restored: list[Json]) -> bool:
    assert len(source) == len(restored), f"{len(source)} records became {len(restored)}"
    for number, (left, right) in enumerate(zip(source, restored, strict=True), 1):
        assert same(left, right), f"record {number}: {first_difference(left, right)}"
    return True


# --- identity -------------------------------------------------------------------------------------------------------


def converting_twice_gives_the_same_bytes(file: SessionFile) -> None:
    """Ids and everything else follow from the source alone, not from time, luck or an earlier run."""
    assert to_canonical(file.path, file.client) == to_canonical(file.path, file.client)


def a_prefix_gives_a_subset(file: SessionFile) -> None:
    """A shorter version of the log gives the first rows of the longer one, under the same ids and with equal content.

    Two facts of a session may not be in its first lines yet. Without its id it is another session, or none. The
    session's start, once known, is also the time of records without one: such a row differs in `timestamp` alone.
    """
    whole = read(file.path, file.client)
    if whole.session["options"]["pond"].get("form") == "document":
        return  # a document is rewritten as a whole; it has no prefix
    lines = file.path.read_bytes().split(b"\n")
    tail = captures(file.path, adapter(file.client).module.FILES)["_tail"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, tail)
        path.parent.mkdir(parents=True, exist_ok=True)
        for cut in _cuts(len(lines)):
            path.write_bytes(b"\n".join(lines[:cut]))
            if strict_values(path.read_bytes()):
                _compare_prefix(path, file.client, whole.session, whole.groups)


def _cuts(count: int) -> list[int]:
    return sorted({1, count // 4, count // 2, count * 3 // 4, count - 1} - {0, count})


def _compare_prefix(path: Path, client: str, session: JsonObject, groups: list[list[JsonObject]]) -> None:
    try:
        shorter = read(path, client)
    except SourceFault as fault:
        if [d.code for d in fault.diagnostics] != ["source-no-id"]:
            raise
        return
    if shorter.session["id"] != session["id"]:
        assert session["id"] not in set(_strings(strict_values(path.read_bytes()))), "the id was there to be found"
        return
    same_start = shorter.session.get("created_at") == session.get("created_at")
    for few, many in zip(shorter.groups, groups, strict=False):
        left, right = (few, many) if same_start else (_timeless(few), _timeless(many))
        assert same(left, right), f"{first_difference(left, right)} in a prefix"


def _timeless(events: list[JsonObject]) -> list[JsonObject]:
    return [{key: value for key, value in event.items() if key != "timestamp"} for event in events]


def keys_are_unique(file: SessionFile) -> None:
    """No two rows of a session share a key, however often the source repeats an id."""
    rows = read(file.path, file.client).rows
    counts = Counter((row["kind"], row.get("message_id"), row["id"]) for row in rows)
    assert [key for key, count in counts.items() if count > 1] == []


# --- form -----------------------------------------------------------------------------------------------------------


def events_come_in_order(file: SessionFile) -> None:
    """The session comes first, then each message directly followed by its parts, records in the order of the log."""
    text = canonical_text(file.path, file.client)
    session, *rows = [decode_strictly(line, _twice) for line in text.splitlines()]
    assert session["kind"] == "session"
    message: JsonObject = {}
    position = 0
    last = -1
    for row in rows:
        assert row["session_id"] == session["id"]
        if row["kind"] == "message":
            message, position = row, 0
            seq = row["options"]["pond"].get("seq", last)
            assert seq >= last
            last = seq
        else:
            assert row["kind"] == "part"
            assert row["message_id"] == message["id"]
            assert row["id"] == f"{message['id']}:{position}"
            position += 1


def every_part_has_a_provenance(file: SessionFile) -> None:
    """Each part says who wrote it, and a tool's output is never taken for conversation."""
    for part in read(file.path, file.client).parts:
        assert part["provenance"] in ("conversational", "injected")
        assert part["type"] != "tool_result" or part["provenance"] == "injected"


def events_fit_the_schema(file: SessionFile) -> None:
    """Each event is what the published schema says, and together they are what `validate` demands."""
    events = read(file.path, file.client).events
    for event in events:
        _validator(_definition(event)).validate(event)
    assert validate(events) == []


def _definition(event: JsonObject) -> str:
    if event["kind"] == "session":
        return "Session"
    kinds, value = (ROLES, event["role"]) if event["kind"] == "message" else (PART_TYPES, event["type"])
    return next(name for name, kind in kinds.items() if kind == value)


@cache
def _validator(definition: str) -> Draft202012Validator:
    # Naming the definition outright is ten times faster than letting `oneOf` try all of them.
    schema = decode_strictly((schema_dir() / "canonical.schema.json").read_bytes(), _twice)
    return Draft202012Validator({**schema, "$ref": f"#/$defs/{definition}"})


def _twice(key: str) -> None:
    raise AssertionError(f"key {key!r} written twice")


# --- nothing is stored twice ----------------------------------------------------------------------------------------

_LONG = 24
# What the model itself demands in several places: ids and the references back to them, the project, the times, the
# words of the vocabulary (`kind`, `role`, `type`, a generic media type), the client's name.
_REFERENCES = frozenset(
    (
        "id", "session_id", "message_id", "parent_session_id", "parent_message_id", "project", "created_at",
        "timestamp", "kind", "role", "type", "media_type", "source_agent",
    )
)  # fmt: skip
# Marks that name things: the mapping kind, the message repeated, the place of a file.
_NAMING_MARKS = frozenset(("as", "repeat_of", "path", "file", "map"))
_BY_PATH = frozenset(("spelling", "shape", "weave"))  # marks whose keys name places in the record


def nothing_is_stored_twice(file: SessionFile) -> None:
    """A text of 24 characters or more occurs in canonical at most as often as in the source.

    Not counted are `_REFERENCES`, `_NAMING_MARKS`, the keys of `_BY_PATH` and the name of a tool result's call, which
    is in another record. A text cut at a provenance boundary counts as the one it was. The source's texts are its
    strings and keys, the values that a string of JSON spells, the texts of one list together (instructions are one
    text), a data URL's payload, name and content of the files beside the session, and what the client's list says about
    it.
    """
    source = Counter(text for value in _source_values(file) for text in _texts(value))
    stored = Counter(text for text in _stored(read(file.path, file.client).events) if len(text) >= _LONG)
    assert {text[:100]: count for text, count in stored.items() if count > source[text]} == {}


def _source_values(file: SessionFile) -> Iterator[Json]:
    yield from strict_values(file.path.read_bytes())
    yield from adapter(file.client).listed(file.path)
    for _, path in beside(file.path, adapter(file.client).module.BESIDE):
        data = path.read_bytes()
        yield path.name
        yield base64.b64encode(data).decode("ascii")
        yield from strict_values(data) if path.suffix == ".json" else ()


def _texts(value: Json) -> Iterator[str]:
    for text in _strings(value):
        yield text
        if text.startswith("data:") and "," in text:
            yield text.split(",", 1)[1]
        if text.lstrip()[:1] in ("{", "[", '"'):
            try:
                spelt = decode_strictly(text.encode("utf-8", "surrogatepass"), lambda _: None)
            except (NotJson, UnicodeError):
                continue
            yield from _strings(spelt)
    for items in _lists(value):
        texts = [item["text"] for item in items if type(item) is dict and type(item.get("text")) is str]
        if len(texts) > 1:
            yield "".join(texts)


def _stored(events: list[JsonObject]) -> Iterator[str]:
    text = ""
    for event in events:
        own = {key: value for key, value in event.items() if key not in _REFERENCES}
        pond = own["options"].get("pond", {})
        marks = {k: [*v.values()] if k in _BY_PATH else v for k, v in pond.items() if k not in _NAMING_MARKS}
        own["options"] = {**own["options"], "pond": marks}
        if event.get("type") == "tool_result":
            own.pop("name", None)
        run = own.pop("text", "")
        if not pond.get("joined"):
            yield text
            text = ""
        text += run
        yield from _strings(own)
    yield text


def _strings(value: Json) -> Iterator[str]:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if type(item) is str:
            yield item
        elif type(item) is list:
            waiting.extend(item)
        elif type(item) is dict:
            waiting.extend(item)
            waiting.extend(item.values())


def _lists(value: Json) -> Iterator[list[Json]]:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if type(item) is list:
            yield item
            waiting.extend(item)
        elif type(item) is dict:
            waiting.extend(item.values())


# --- passes ---------------------------------------------------------------------------------------------------------


def passes_leave_records_alone(file: SessionFile) -> None:
    """What a pass sees it leaves as it is: lowering what it lifted gives the same records."""
    observer = adapter(file.client).observer()
    if observer is None:
        return
    declared = set(adapter(file.client).module.FACTS)
    before = strict_values(file.path.read_bytes())
    for number, record in enumerate(strict_values(file.path.read_bytes())):
        if type(record) is dict:
            facts = observer.observe(record)
            assert set(facts) <= declared
            assert same(record, before[number]), f"record {number + 1} was changed"


# --- the seam -------------------------------------------------------------------------------------------------------


def records_need_no_file(file: SessionFile) -> None:
    """A record read by itself, with no file, offset or line behind it, gives the same parts as in its file."""
    whole = read(file.path, file.client)
    if whole.session["options"]["pond"].get("form") == "document":
        return
    context = Reading(whole.session["id"], whole.session["project"], whole.session.get("created_at"))
    observer = adapter(file.client).observer()
    groups = iter(whole.groups)
    for record in strict_values(file.path.read_bytes()):
        group = next(groups)
        if type(record) is not dict:
            continue
        if observer is not None:
            context.facts = observer.observe(record)
        events = adapter(file.client).module.read(record, context)
        if group[0]["options"]["pond"]["as"] != "repeat":
            assert same(_contents(events), _contents(group))


def _contents(events: list[JsonObject]) -> list[JsonObject]:
    dropped = ("id", "message_id", "session_id")
    return [{k: v for k, v in event.items() if k not in dropped} for event in events if event["kind"] == "part"]


# --- faults ---------------------------------------------------------------------------------------------------------


def reading_reports_no_error(file: SessionFile) -> None:
    """A file of nothing but JSON lines is read without an error, whatever the values in it."""
    report: Report = read(file.path, file.client).report
    assert [d for d in report.diagnostics if d.severity == "error" and d.code != "source-duplicate-key"] == []
