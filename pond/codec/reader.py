"""Source -> canonical events, record by record: the Session first, then each Message followed by its Parts."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xxhash

from pond.codec.document import is_document_name
from pond.codec.facts import filled_in, gather, own_id, project_of
from pond.codec.paths import beside
from pond.codec.registry import Adapter
from pond.codec.report import Report
from pond.codec.source import LineBlock, Source, whole_line
from pond.codec.tool_names import names_back
from pond.diagnostics.diagnostic import SourceFault
from pond.lang.context import NO_PROJECT, Reading
from pond.lang.runtime import LISTED
from pond.model.bounds import MAX_TEXT, bound
from pond.model.equal import fingerprint
from pond.model.json_text import (
    NOT_PLAIN,
    Json,
    JsonObject,
    NotJson,
    Numeral,
    decode,
    decode_plain,
    encode,
    encode_plain,
)
from pond.model.marks import AS, FILE, MAP, POND, SEQ

if TYPE_CHECKING:  # a conversion needs no checkpoint
    from pond.codec.prompts import Prompts

_NUMBERS = (int, float, Numeral)
VALUE, BESIDE = "value", "beside"
_digest = xxhash.xxh3_64_digest


# Gets a carried record and its line, which is plain JSON; returns whether that was all there is to do.
Taker = Callable[[JsonObject, bytes], bool]


class Calls(dict[str, str]):
    """The names of the tool calls seen so far, by their ids; knows which were asked for: those have a result."""

    def __init__(self, calls: dict[str, str] | None = None) -> None:
        super().__init__(calls or {})
        self.answered: set[str] = set()

    def get(self, call: str, default: Any = None) -> Any:
        self.answered.add(call)
        return super().get(call, default)


class SessionReading(Reading):
    """A session that is read from a source: knows which ids came before, and where."""

    def __init__(self, session: JsonObject, source: Source, report: Report) -> None:
        super().__init__(own_id(session), project_of(session), session.get("created_at"))
        self.source, self.report = source, report
        self.number = 0
        self.line = b""
        self.carried: Taker | None = None  # takes carried records as text, before anything is made of them
        self._proved = -1  # the number of a line that was already checked for duplicate keys
        self._versions: dict[str, dict[bytes, str]] = {}  # ids that occurred more than once: content -> message id

    def identify(self, own: str, record: JsonObject) -> str | None:
        # The same id again: an equal record is a repeat, a different one gets its own key (adapter-integrity-dedup).
        versions = self._versions.get(own)
        if versions is None:
            versions = self._versions[own] = self._first_version(own)
        print_ = fingerprint(decode(self.line, _ignore))
        if print_ in versions:
            self.report.repeats += 1
            self.repeated = versions[print_]
            return None
        name = versions[print_] = f"{own}~{len(versions) + 1}"
        self.seen[hash(name)] = self.place
        return name

    def _first_version(self, own: str) -> dict[bytes, str]:
        """Return the first record with an id, by its content; nothing equals one that cannot be read."""
        try:
            return {fingerprint(decode(self.source.line_at(self.seen[hash(own)]), _ignore)): own}
        except NotJson:
            return {b"": own}

    def is_new(self, message_id: object) -> bool:
        """Tell whether a record's own id occurs for the first time, and remember where."""
        if type(message_id) is not str or not message_id:
            return True
        return self.seen.setdefault(hash(message_id), self.place) == self.place

    def place_of(self, message_id: str) -> int:
        """Return the place of the record with this message id in the source."""
        return self.seen[hash(message_id)]

    def derive(self, record: JsonObject) -> str:
        digest, derived = _digest(self.line), self._derived
        if digest in derived:
            return super().derive(record)
        derived.add(digest)
        return digest.hex()

    def derived(self) -> int:
        """Return how many ids were made from content."""
        return len(self._derived) + sum(self._derived_again.values()) - len(self._derived_again)

    def text_of(self, record: JsonObject) -> bytes:
        return self.line

    def note(self, code: str, path: str, message: str) -> None:
        self.report.error(code, message, self.source.name, self.number, path)

    def decode(self) -> Json:
        """Return the value of the line, or raise NotJson; a duplicate key is reported."""
        self._proved = self.number
        return decode(self.line, self._duplicate)

    def prove(self) -> None:
        """Look for duplicate keys in the line, unless that was already done."""
        if self._proved != self.number:
            self.decode()

    def _duplicate(self, key: str) -> None:
        what = f"`{key}` is a duplicate key; only the last value is kept"
        self.report.error("source-duplicate-key", what, self.source.name, self.number)

    def drift(self, code: str, kind: str, names: Iterable[str]) -> None:
        self.report.unnamed_all([f"{kind}.{name}" for name in names] or [kind])


class _Again(Reading):
    """Reads one record a second time, under the id it already has; nothing is reported twice."""

    def __init__(self, first: SessionReading, message_id: str) -> None:
        super().__init__(first.session_id, first.project, first.anchor)
        self._message_id = message_id
        self.calls = first.calls

    def identify(self, own: str, record: JsonObject) -> str | None:
        return self._message_id


def _nothing_known(_: JsonObject) -> JsonObject:
    return {}


def _ignore(_: str) -> None:
    """Duplicate keys of a line were reported when it was first read."""


class SessionReader:
    """One session in a source, ready to be streamed."""

    def __init__(
        self,
        adapter: Adapter,
        source: Source,
        report: Report,
        project: str | None = None,
        checkpointed: bool = False,
        known: JsonObject | None = None,
    ) -> None:
        self.adapter, self.source, self.report = adapter, source, report
        self.session = gather(adapter.module, source, project)
        # Stored records were read with these facts, so the following ones must be too.
        self._facts = self.session if known is None else filled_in(known, self.session)
        self.context = SessionReading(self._facts, source, report)
        self.basis = self._basis()
        self.checkpointed = checkpointed
        if checkpointed:
            self.context.calls = Calls()
        self.observer = adapter.observer()
        self.taken, self.ended = 0, False  # how many records, and whether that was the last
        self.fault = 0  # the number of the last line that is not JSON
        self._extra = self._beside()

    @cached_property
    def prompts(self) -> Prompts | None:
        """Marks prompts that the client writes down more than once; not needed on the way back to the client."""
        from pond.codec.prompts import prompts_of

        return prompts_of(self.adapter)

    def _basis(self) -> str:
        """Return a digest of everything besides the records that decides how they are read."""
        context = self.context
        project = None if context.project is NO_PROJECT else context.project
        facts = [self.session["options"][POND][MAP], context.session_id, project, context.anchor]
        return xxhash.xxh3_64_hexdigest(encode(facts))

    def _beside(self) -> list[tuple[str, Path]]:
        """Put the JSON files beside the session into its row; return the others, which become messages."""
        others: list[tuple[str, Path]] = []
        values: JsonObject = {}
        for name, path in beside(self.source.path, self.adapter.module.BESIDE) if self.source.path else ():
            if is_document_name(path.name):
                try:
                    values[name] = decode(path.read_bytes().strip(), _ignore)
                    continue
                except (NotJson, OSError):
                    pass
            others.append((name, path))
        if values:
            self.session["options"]["source"] = {"beside": values}
        return others

    def records(self, *, back: bool = False) -> Iterator[list[JsonObject]]:
        """Yield the canonical events of each record, in the order of the log; then those of the files beside it.

        If the records are on their way `back` to their own client, the caller has the context `prove` every line that
        is not as long as its output. Carried records are first offered to `carried`: a record that is passed on as text
        can lose nothing, so it needs no proof.
        """
        source, report = self.source, self.report
        module = self.adapter.module
        reader_of, carries, observed = module.reader_of, module.CARRIES, module.OBSERVED
        unsettled, settle = module.UNSETTLED, module.settle
        observe = self.observer.observe if self.observer is not None else _nothing_known
        mark = self.prompts.mark if not back and self.prompts is not None else None
        context = self.context
        carried = context.carried
        decoded, limit = source.take_values(), MAX_TEXT
        seq = self.taken
        for first, places, block in self._blocks():
            for number, place, line in zip(count(first), places, block, strict=False):
                context.place = place
                context.number = number
                context.line = line
                context.seq = seq
                # What was decoded to detect the client need not be decoded again.
                if not decoded or (record := decoded.pop(place, NOT_PLAIN)) is NOT_PLAIN:
                    record = decode_plain(line)
                elif line[-2:] != b"}\n":
                    record = NOT_PLAIN
                plain = record is not NOT_PLAIN
                if not plain:
                    whole = whole_line(line)
                    if whole is None:
                        continue
                    cut = line[-1:] != b"\n"
                    context.line = line = whole
                    record = self._exactly(cut)
                    if type(record) is not dict:
                        if record is not NOT_PLAIN:
                            report.unnamed("(not an object)")
                            seq += 1
                            value = _bounded(record, context) if len(line) > limit else record
                            yield [_carry_value(value, context)]
                        continue
                read = reader_of(record)
                if read in observed:
                    context.facts = observe(record)
                    if read in unsettled:
                        read = settle(read, record, context.facts)
                if plain:
                    if read in carries and carried is not None and len(line) <= limit and carried(record, line):
                        seq += 1
                        continue
                    if not (back or encode_plain(record) == line) and (record := self._exactly()) is NOT_PLAIN:
                        continue
                if len(line) > limit:
                    record = _bounded(record, context)
                try:
                    events = read(record, context)
                except NotJson as error:  # its id came before, and on the second look it is too deep
                    self._fault(error)
                    continue
                seq += 1
                if POND in record:
                    events = names_back(events, record, context.calls)
                yield events if mark is None else mark(events)
        report.records += seq - self.taken
        self.taken, self.ended = seq, True
        for name, path in self._extra:
            try:
                yield _carry_file(name, path.read_bytes(), context)
            except OSError as error:
                report.error("source-unreadable", str(error.strerror).lower(), str(path))
        for entry in self.adapter.listed(source.path):
            yield [_carry_entry(entry, self.adapter.list_name, context)]

    def file_beside(self, name: str) -> bytes | None:
        """Return what a file that becomes a message after all records holds; None where it cannot be read."""
        path = next((path for own, path in self._extra if own == name), None)
        try:
            return path.read_bytes() if path is not None else None
        except OSError:
            return None  # told when its turn comes

    def _exactly(self, cut: bool = False) -> Json:
        """Return the exact value of the line being read; NOT_PLAIN if it has none, which is reported.

        A line that is `cut`, without a line feed, is the last one: its writer may not be finished.
        """
        try:
            value = self.context.decode()
            if cut and self.checkpointed and type(value) in _NUMBERS:
                # Of all JSON text only a number can continue and become another value: `1` may become `1.5`.
                raise NotJson("source-not-json", "cut off: a number without a line end behind it may go on")
            return value
        except NotJson as error:
            self._fault(error)
            self.report.cut_off = (error.code, self.source.name, self.fault) if cut else None
            return NOT_PLAIN

    def _fault(self, error: NotJson) -> None:
        self.fault = self.context.number
        self.report.error(error.code, str(error), self.source.name, self.fault)

    def _blocks(self) -> Iterator[LineBlock]:
        return self.source.blocks()

    def reached(self) -> tuple[int, int]:
        """Return the place and the line of the record being read."""
        return self.context.place, self.context.number

    def recall(self, message_id: str) -> list[JsonObject]:
        """Return the events of an earlier record, read again from its place."""
        record = decode(self.source.line_at(self.context.place_of(message_id)), _ignore)
        events: list[JsonObject] = self.adapter.module.read(record, _Again(self.context, message_id))
        return names_back(events, record, self.context.calls) if POND in record else events


def _bounded(record: Json, context: Reading) -> Json:
    """Return a record of a very long line without its longest texts, and report that."""
    return bound(record, MAX_TEXT, lambda size: context.note("source-truncated", "$", f"{size} bytes replaced"))


def _carry_value(value: Json, context: Reading) -> JsonObject:
    """Return the message that carries a line which is JSON but not an object."""
    event: JsonObject = {
        "kind": "message",
        "role": "system",
        "id": context.derive({}),
        "session_id": context.session_id,
    }
    if context.anchor is not None:
        event["timestamp"] = context.anchor
    event["content"] = ""
    event["options"] = {"source": value, POND: {SEQ: context.seq, AS: VALUE}}
    return event


def _carry_file(name: str, data: bytes, context: Reading) -> list[JsonObject]:
    """Return the message and file Part of a file beside the session: output too large for the log."""
    # The id holds the content's hash: a changed file becomes a second row and never replaces the first.
    message_id = f"beside/{name}/{xxhash.xxh3_64_hexdigest(data)}"
    head: JsonObject = {"kind": "message", "role": "user", "id": message_id, "session_id": context.session_id}
    if context.anchor is not None:
        head["timestamp"] = context.anchor
    head["options"] = {POND: {AS: BESIDE, FILE: name}}
    part: JsonObject = {
        "kind": "part", "id": f"{message_id}:0", "session_id": context.session_id, "message_id": message_id,
        "type": "file", "media_type": mimetypes.guess_type(name)[0] or "application/octet-stream",
        "file_name": name.rsplit("/", 1)[-1],
        "data": base64.b64encode(data).decode("ascii"), "provenance": "injected", "options": {},
    }  # fmt: skip
    return [head, part]


def _carry_entry(entry: JsonObject, name: str, context: Reading) -> JsonObject:
    """Return the message that carries a line about the session from the client's list of sessions."""
    # The id holds the content's hash: a later line becomes one more row.
    message_id = f"{LISTED}/{name}/{xxhash.xxh3_64_hexdigest(encode(entry))}"
    event: JsonObject = {"kind": "message", "role": "system", "id": message_id, "session_id": context.session_id}
    if context.anchor is not None:
        event["timestamp"] = context.anchor
    event["content"] = ""
    event["options"] = {"source": entry, POND: {AS: LISTED, FILE: name}}
    return event


def empty(source: Source) -> bool:
    """Tell whether a source holds no line at all."""
    try:
        return not source.first_lines()
    except SourceFault:
        return False
