"""A session file that grows: read up to a cut, continued from its checkpoint, compared with a reading of the whole."""

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pond.codec.openfile import OpenFile
from pond.codec.opening import open_input
from pond.codec.paths import beside, captures
from pond.codec.reader import BESIDE
from pond.codec.registry import CANONICAL, adapter
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.codec.resume import Checkpoint, Continuation
from pond.codec.source import NeedsWhole
from pond.diagnostics.diagnostic import SourceFault
from pond.model.equal import first_difference, same
from pond.model.json_text import JsonObject
from tests.laws.corpus import SessionFile

Groups = list[list[JsonObject]]


@dataclass(frozen=True)
class Part:
    """What one reading gave: the row, the events of each record, the checkpoint, and what was reported."""

    row: JsonObject
    groups: Groups
    checkpoint: Checkpoint | None
    report: Report

    @property
    def log(self) -> Groups:
        """The groups that come from the log, without the files beside it."""
        return [group for group in self.groups if group[0]["options"].get("pond", {}).get("as") != BESIDE]

    def then(self, rest: "Part") -> "Part":
        """Return what is known when the rest is read, too."""
        report = Report()
        report.add(self.report)
        report.add(rest.report)
        return Part(self.row, [*self.log, *rest.groups], rest.checkpoint, report)

    @property
    def ids(self) -> list[str]:
        return [event["id"] for group in self.groups for event in group if event["kind"] == "message"]


def read_part(
    path: Path, client: str, continuation: Continuation | None = None, known: JsonObject | None = None
) -> Part:  # fmt: skip
    """Read a session file, from the beginning or from a checkpoint on; `known` is the row that is stored of it."""
    report = Report()
    with open(path, "rb") as file:
        request = ConversionRequest(CANONICAL, client)
        found = open_input(OpenFile(file, str(path), path), request, report, continuation, known, checkpointed=True)
        (session,) = found.sessions
        groups = [*session.groups]
        return Part(session.row, groups, session.origin.checkpoint(), report)


def go_on(path: Path, client: str, earlier: Part, also_known: Iterable[str] = ()) -> Part:
    """Read the rest of a file that grew since, with a checkpoint that was stored in between."""
    assert earlier.checkpoint is not None
    checkpoint = Checkpoint.from_json(json.loads(json.dumps(earlier.checkpoint.as_json())))
    return read_part(path, client, Continuation(checkpoint, earlier.row, [*earlier.ids, *also_known]))


@contextmanager
def growing(file: SessionFile) -> Iterator[Path]:
    """Give an empty file at its place in the client's layout, with what is next to it."""
    module = adapter(file.client).module
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, captures(file.path, module.FILES)["_tail"])
        path.parent.mkdir(parents=True, exist_ok=True)
        for name, other in beside(file.path, module.BESIDE):
            place = path.parent / name.replace("{stem}", path.stem)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(other, place)
        yield path


def cuts(data: bytes, most: int) -> list[int]:
    """Return where to cut a file: behind lines, before their line feeds and inside of them; all, or `most` lines'."""
    ends = [at for at, byte in enumerate(data, 1) if byte == 10]
    step = max(1, -(-len(ends) // most))
    places: set[int] = set()
    for number in range(0, len(ends), step):
        start, end = ends[number - 1] if number else 0, ends[number]
        places |= {end, end - 1, (start + end) // 2}
    return sorted(places - {0})


def every_cut_goes_on_exactly(file: SessionFile, most: int = 40) -> None:
    """Raise AssertionError if continuing from some cut does not give the whole, or is refused without need."""
    data = file.path.read_bytes()
    with growing(file) as path:
        path.write_bytes(data)
        whole = read_part(path, file.client)
        for cut in cuts(data, most) if whole.checkpoint is not None else ():
            path.write_bytes(data[:cut])
            earlier = read_if_any(path, file.client)
            path.write_bytes(data)
            if earlier is not None and not goes_on_exactly(path, file.client, earlier, whole, f"cut at {cut}"):
                assert only_the_whole_tells(earlier, whole), f"cut at {cut}: nothing stood in the way"


def follow(file: SessionFile, most: int = 40) -> tuple[int, int]:
    """Follow a file that grows from cut to cut; return how many steps continued from a checkpoint, and how many in all.

    Raises AssertionError if the rows collected on the way are not those of the whole.
    """
    data = file.path.read_bytes()
    resumed = steps = 0
    with growing(file) as path:
        path.write_bytes(data)
        whole = read_part(path, file.client)
        so_far: Part | None = None
        for cut in (*cuts(data, most), len(data)) if whole.checkpoint is not None else ():
            path.write_bytes(data[:cut])
            if so_far is not None and so_far.log:
                steps += 1
                try:
                    so_far = so_far.then(go_on(path, file.client, so_far))
                    resumed += 1
                    continue
                except NeedsWhole:
                    pass
            so_far = read_if_any(path, file.client)
        if so_far is not None:
            whole = read_part(path, file.client, known=so_far.row)
            _equal(so_far.groups, whole.groups, "followed to the end")
            assert so_far.checkpoint == whole.checkpoint
    return resumed, steps


def read_if_any(path: Path, client: str) -> Part | None:
    """Read a file from the beginning; None where there is nothing in it yet that says whose session it is."""
    try:
        return read_part(path, client)
    except SourceFault:
        return None


def goes_on_exactly(
    path: Path, client: str, earlier: Part, whole: Part, where: str, also_known: Iterable[str] = ()
) -> bool:  # fmt: skip
    """Tell whether a reading could continue; raise AssertionError if it did and gave something else than the whole."""
    try:
        rest = go_on(path, client, earlier, also_known)
    except NeedsWhole:
        return False
    _equal(rest.row, whole.row, where)
    if not same(earlier.row, whole.row):  # what is stored stands: the whole is read by it, too
        whole = read_part(path, client, known=earlier.row)
    both = earlier.then(rest)
    _equal(both.groups, whole.groups, where)
    assert both.checkpoint == whole.checkpoint, where
    assert both.report.records == whole.report.records, where
    assert both.report.repeats == whole.report.repeats, where
    assert both.report.drift == whole.report.drift, where
    told, again = _errors(whole.report), _errors(rest.report)
    assert again == told[len(told) - len(again) :], where
    return True


def only_the_whole_tells(earlier: Part, whole: Part) -> bool:
    """Tell, from the rows alone, whether continuing must be refused: they depend on what was before the cut."""
    before, after = earlier.log, whole.log[len(earlier.log) :]
    if not same(earlier.row, whole.row) or not same(before, whole.log[: len(before)]):
        return True
    own = [row["options"]["pond"] for group in after for row in group if row["kind"] == "message"]
    if {pond.get("repeat_of") or pond.get("id") for pond in own} & set(earlier.ids):
        return True
    answered = {call for kind, call in _calls(before) if kind == "tool_result"}
    met = {call for kind, call in _calls(before) if kind == "tool_call"} - answered
    for kind, call in _calls(after):
        if kind == "tool_call":
            met.add(call)
        elif call not in met:
            return True
    return False


def _calls(groups: Groups) -> list[tuple[str, str]]:
    """List the named calls and the results, in their order; a call without a name has none to give to its result."""
    parts = [part for group in groups for part in group if part.get("type") in ("tool_call", "tool_result")]
    return [(p["type"], p["call_id"]) for p in parts if "call_id" in p and (p["type"] == "tool_result" or "name" in p)]


def _equal(left: object, right: object, where: str) -> None:
    assert same(left, right), f"{where}: {first_difference(left, right)}"


def _errors(report: Report) -> list[tuple[str, int]]:
    return [(d.code, d.span.line) for d in report.diagnostics if d.severity == "error" and d.span is not None]
