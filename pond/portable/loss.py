"""Every value that does not reach the target, as a typed entry: what, where, why and how much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pond.model.json_text import Json, JsonObject

CONTENT, CONTEXT, METADATA = "content", "context", "metadata"

# kind -> (class, what happened in few words, why). `content` is what people and the model said and did.
KINDS: dict[str, tuple[str, str, str]] = {
    "reasoning-left-out": (CONTENT, "reasoning left out", "the target takes only what its own provider signed"),
    "reasoning-not-sent": (
        CONTENT,
        "reasoning is shown to you, not sent to the model",
        "the target cannot prove it to its provider",
    ),
    "file-left-out": (CONTENT, "file left out; a note stands in its place", "the target has no place for it"),
    "block-left-out": (CONTENT, "content block left out", "the source's mapping does not say what it holds"),
    "text-changed": (CONTENT, "half characters replaced", "the target drops a row that holds one"),
    "result-as-text": (CONTENT, "tool result turned into text", "its call is not there, or was closed before"),
    "result-missing": (CONTENT, "interrupted tool call given a note for a result", "the source holds no result for it"),
    "call-renamed": (CONTENT, "tool call got another id or name", "the target does not take it, or it stands twice"),
    "arguments-wrapped": (CONTENT, "tool arguments put into an object", "the target takes objects only"),
    "arguments-as-text": (CONTENT, "tool arguments kept as text", "they are nested too deeply for the target's record"),
    "rewound": (CONTENT, "turns taken back", "they are in the output, off the conversation that goes on"),
    "compaction-undone": (CONTENT, "compaction not repeated", "its summary cannot be read outside its client"),
    "beginning-missing": (CONTENT, "earlier history is in another session", "which is not there"),
    "broken": (CONTENT, "not usable", "it does not have the shape of its type"),
    "children-left-out": (CONTENT, "child session left out", "one stream holds one session; use -o DIR/"),
    "opening-note": (CONTEXT, "a note put before the first answer", "the target needs a user message first"),
    "context-renewed": (CONTEXT, "context of the source's harness left out", "the target adds its own"),
    "context-marked": (CONTEXT, "injected text kept, marked as such", "it is no typed text"),
    "output-put-back": (CONTEXT, "tool output taken from the file it was moved to", "the target keeps no such files"),
    "tag-left-out": (CONTEXT, "tags around typed words left out", "the words themselves are there"),
    "harness-message": (CONTEXT, "words of the harness left out", "neither a person nor the model said them"),
    "system-message": (CONTEXT, "system message left out", "the target gives its own instructions"),
    "not-sent": (CONTEXT, "words for the client left out", "a command, or taken back before they were sent"),
    "side-file": (CONTEXT, "file beside the session left out", "the target keeps none"),
    "empty": (CONTEXT, "empty part left out", "the target refuses empty texts"),
    "record": (METADATA, "record left out", "bookkeeping of the source client"),
    "repeat": (METADATA, "repeated record left out", "the record it repeats is there"),
    "field": (METADATA, "field left out", "the target has no field for it"),
    "time-borrowed": (METADATA, "time taken from the record before", "the record has none, the target needs one"),
}  # fmt: skip


@dataclass(slots=True)
class Loss:
    """One entry. `message` and `part` are source ids; `what` names a field, record kind or file where there is one."""

    kind: str
    session: str
    message: str = ""
    part: str = ""
    what: str = ""
    file: str = ""
    line: int = 0
    count: int = 1
    size: int = 0

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file

    def as_json(self) -> JsonObject:
        """Return the entry as a report file has it."""
        weight, _, why = KINDS[self.kind]
        given: JsonObject = {"kind": self.kind, "class": weight, "session": self.session}
        for name in ("message", "part", "what", "where"):
            if value := getattr(self, name):
                given[name] = value
        given |= {"why": why, "count": self.count}
        if self.size:
            given["bytes"] = self.size
        return given


class Losses:
    """The entries of one session. Metadata of the same name is counted together, everything else has its own entry."""

    def __init__(self, session: str = "", file: str = "") -> None:
        self.session, self.file = session, file
        self._single: list[tuple[str, str, str, int, str, int, int]] = []  # what `add` was told
        self._counted: dict[tuple[str, str], Loss] = {}
        self.shapes: dict[tuple[str, ...], list[int]] = {}  # label and names of the fields of records -> how many came
        self._records: dict[tuple[Json, Json], int] = {}  # what records left out are about
        self.known: frozenset[str] = frozenset()  # fields that do reach the target

    def add(
        self, kind: str, message: str, part: str = "", line: int = 0, what: str = "", size: int = 0, count: int = 1
    ) -> None:  # fmt: skip
        """Name one thing that does not reach the target as it was."""
        self._single.append((kind, message, part, line, what, size, count))

    def count(self, kind: str, what: str, count: int = 1) -> None:
        """Name one of many alike."""
        entry = self._counted.get((kind, what))
        if entry is None:
            self._counted[kind, what] = Loss(kind, self.session, what=what, file=self.file, count=count)
        else:
            entry.count += count

    def record(self, residue: JsonObject, inner: str) -> None:
        """Name a record by its own type and that of what it wraps."""
        wrapped = residue.get(inner)
        key = residue.get("type"), wrapped.get("type") if type(wrapped) is dict else None
        try:
            self._records[key] = self._records.get(key, 0) + 1
        except TypeError:  # a type that is no text
            self.count("record", "(no type)")

    def all(self) -> Iterator[Loss]:
        """Yield every entry: what happened to single things in order, then what is counted."""
        for (label, *names), [count] in self.shapes.items():
            for name in names:
                if name not in self.known:
                    self.count("field", f"{label}: {name}", count)
        for key, count in self._records.items():
            self.count("record", "/".join(name for name in key if type(name) is str) or "(no type)", count)
        self.shapes.clear()
        self._records.clear()
        for kind, message, part, line, what, size, times in self._single:
            yield Loss(kind, self.session, message, part, what, self.file, line, times, size)
        yield from sorted(self._counted.values(), key=lambda loss: (loss.kind, loss.what))
