"""What is done with a store: converted every way, verified, stored in the lake in steps and restored again."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from pond.config.settings import Settings
from pond.sessions import load
from pond.sessions.lake import opened
from tests.foreign.accounting import unaccounted
from tests.foreign.road import CLIENTS, OTHER, convert, scratch
from tests.fuzz.oracle import Line, Told, begins, lines, missing, told
from tests.fuzz.running import Ran, Run, crash_of
from tests.fuzz.stores import File, Store
from tests.lake.sound import content, differences, duplicates
from tests.laws.passage import read

_CANONICAL = ".canonical.jsonl"
_MOST = 3  # lines about one file
_ARCHIVED = 0.25  # of the lakes: to check an archive takes as long as all the rest


@dataclass(frozen=True)
class Source:
    """A session file of the store as the independent reader sees it."""

    file: File
    name: str  # as commands are given it
    lines: list[Line]
    native: list[Line]  # as its client has it, where that is known

    @property
    def records(self) -> int:
        return sum(line.value is not None for line in self.lines)


class Crashed(Exception):
    """A command ended in a way that leaves nothing to compare."""


class Journey:
    """One store and everything that is done with it. Each method yields what is wrong."""

    def __init__(self, store: Store, room: Path, run: Run, dice: Random, jobs: int = 1) -> None:
        self.store, self.room, self.dice, self.jobs = store, room, dice, jobs
        self.root = room / "store"
        self.root.mkdir()
        self._run = run
        self.sources = [_source(file, self.root) for file in store.files]
        self._wrong: list[str] = []
        self._clients: dict[str, str] = {}  # by place: whose the records are, as the canonical text says

    def run(self, *words: object) -> Ran:
        """Run a command; keep what is wrong with the way it ended; a crash ends the sequence."""
        ran = self._run(*words)
        self._wrong += ran.wrong()
        if ran.crash:
            raise Crashed
        return ran

    def wrong(self) -> list[str]:
        """Do everything; return what is wrong."""
        for road in (self._lake, self._canonical, self._native, self._foreign, self._verified):
            with contextlib.suppress(Crashed):
                for each in road():
                    self._wrong.append(f"{road.__name__[1:]}: {each}")
        return self._wrong

    # --- convert -----------------------------------------------------------------------------------------------------

    def _canonical(self) -> Iterator[str]:
        """To canonical text, and from there to each client's own files."""
        middle = self.room / "canonical"
        ran = self.run("convert", self.root, "--to", "canonical", "-o", middle, "--json", "--jobs", self.jobs)
        about = told(ran.faults)
        events = {line.value for made in middle.rglob(f"*{_CANONICAL}") for line in _read(made)}
        for source in self.sources:
            made = middle / _canonical_place(source.file.place)
            if source.file.is_canonical:
                yield from _events_lost(source, events, about[source.name])
            elif made.is_file():
                self._clients[source.file.place] = json.loads(made.read_bytes().split(b"\n", 1)[0])["source_agent"]
            elif source.lines and not about[source.name].whole:
                yield f"{source.file.place!r}: no canonical text, and nobody says why"
        yield from self._untold(about)
        for client in CLIENTS:
            back = self.room / f"back-{client}"
            again = self.run("convert", middle, "--to", client, "-o", back, "--json", "--jobs", self.jobs)
            for source in self._of(client):
                made, later = back / source.file.place, told(again.faults)
                if not later[str(made)].whole:  # another session of the store may be there already
                    between = later[str(middle / _canonical_place(source.file.place))]
                    yield from _compared(source, made, about[source.name], between)

    def _untold(self, about: dict[str, Told]) -> Iterator[str]:
        """Name what looks like a session, cannot be read, and was silently skipped."""
        for place, _ in self.store.odd:
            path = self.root / place
            if not path.is_dir() and not path.is_file() and str(path) not in about:
                yield f"{place!r}: is no file, and nobody says so"

    def _native(self) -> Iterator[str]:
        """To each client: its own files natively, those of the others in its dialect."""
        for client in CLIENTS:
            out = self.room / f"to-{client}"
            ran = self.run("convert", self.root, "--to", client, "-o", out, "--json", "--jobs", self.jobs)
            about = told(ran.faults)
            for source in self._of(client):
                made = out / source.file.place
                if not about[str(made)].whole:
                    yield from _compared(source, made, about[source.name])

    def _foreign(self) -> Iterator[str]:
        """To the other client, each alone: what was said, called and returned is there, or a loss names it."""
        for source in self.sources:
            client = self._clients.get(source.file.place)
            if client not in OTHER:
                continue
            with scratch() as folder:
                try:
                    yield from _carried_over(source, client, folder)
                except Exception as error:
                    yield f"{source.file.place!r}: {crash_of(error)}"

    def _of(self, client: str) -> Iterator[Source]:
        return (source for source in self.sources if self._clients.get(source.file.place) == client)  # canonical: none

    # --- verify ------------------------------------------------------------------------------------------------------

    def _verified(self) -> Iterator[str]:
        """The project's own proof finds what it should, and nothing that came back otherwise."""
        ran = self.run("verify", self.root, "--json")
        first = {fault["file"]: fault for fault in reversed(ran.faults) if fault["code"] == "verify-different"}
        for name, fault in first.items():
            yield f"{name!r}: line {fault.get('line')}: {fault['message'][:200]}"

    # --- the lake ----------------------------------------------------------------------------------------------------

    def _lake(self) -> Iterator[str]:
        """In steps, as files grow; then all of it out again, and through an archive."""
        lake = self.room / "lake"
        about = self._ingested(lake)
        for source in self.sources:
            os.utime(source.name)  # a date is no content
        again = self.run("ingest", self.root, "--lake", lake, "--json", "--jobs", self.jobs)
        if any(again.summary.get("new", {}).values()):
            yield f"a second ingest finds {again.summary['new']} new"
        yield from duplicates(opened(Settings(lake=str(lake))))
        yield from self._restored(lake, about)
        self.run("status", "--lake", lake, "--json")
        listed = self.run("list", "--lake", lake, "--json").summary.get("sessions", [])
        for each in listed[:_MOST]:
            self.run("get", "--lake", lake, "--json", "--", each["id"])
        for client in (*CLIENTS, "canonical"):
            self.run("restore", "--all", "--to", client, "-o", self.room / f"lake-{client}", "--lake", lake, "--json")
        if self.dice.random() < _ARCHIVED:
            yield from self._archived(lake)

    def _ingested(self, lake: Path) -> dict[str, Told]:
        """Let the files grow, and ingest each time; return what was told of lines that were complete by then."""
        about: dict[str, Told] = {}
        sizes = {file.place: _sizes(file, self.dice) for file in self.store.files}
        self.store.write(self.root)
        for step in range(2, -1, -1):
            for file in self.store.files:
                self._write(file, sizes[file.place][step])
            ran = self.run("ingest", self.root, "--lake", lake, "--json", "--jobs", self.jobs)
            for source in self.sources:
                complete = source.file.data[: sizes[source.file.place][step]].count(b"\n") + (step == 0)
                now = told(ran.faults)[source.name]
                before = about.get(source.file.place, Told())
                known = before.lines | {line for line in now.lines if line <= complete}
                about[source.file.place] = Told(known, now.whole, before.counted + now.counted)
        return about

    def _write(self, file: File, size: int) -> None:
        path = self.root / file.place
        if size or not file.data:
            self.store.write_file(self.root, file, size)
        else:
            path.unlink(missing_ok=True)

    def _restored(self, lake: Path, about: dict[str, Told]) -> Iterator[str]:
        """Each file's records are the beginning of some restored session, and each restored session is some file's."""
        all_at_once = self.run("restore", "--all", "-o", self.room / "restored", "--lake", lake, "--json")
        ways = [all_at_once, *self._one_by_one(lake, all_at_once)]
        written = [each for ran in ways for each in ran.summary.get("written", [])]
        sessions = {each["path"]: _read(Path(each["path"])) for each in written}
        refused = "".join(json.dumps(ran.faults) for ran in ways[1:])
        for source in self.sources:
            place, owed = source.file.place, about[source.file.place]
            if not source.file.readable and not owed.whole:
                yield f"{place!r}: cannot be read, and nobody says so"
            if not source.native or not source.file.readable:
                continue
            if any(begins(source.native, found, owed) for found in sessions.values()):
                continue
            named = owed.whole or _stem(place) in refused
            if source.file.sound or not named:
                yield f"{place!r}: {len(source.native)} records are not restored{', which is told' if named else ''}"
        loose = [source.file.data for source in self.sources if source.file.is_canonical and not source.file.sound]
        for each in written:
            path, found = each["path"], sessions[each["path"]]
            if any(_own_stem(each).encode() in data for data in loose):
                continue  # what a damaged canonical text says, it says
            if all([*missing(source.native, found, about[source.file.place])] for source in self.sources):
                yield f"{path!r}: {len(found)} restored records are no file's"

    def _one_by_one(self, lake: Path, ran: Ran) -> Iterator[Ran]:
        """Restore what could not be restored beside the others: two sessions may have one name."""
        there = {each["session"] for each in ran.summary.get("written", [])}
        left = [row["id"] for row in load.sessions(opened(Settings(lake=str(lake))), None) if row["id"] not in there]
        for number, id in enumerate(left):
            yield self.run("restore", "--lake", lake, "-o", self.room / f"alone-{number}", "--json", "--", id)

    def _archived(self, lake: Path) -> Iterator[str]:
        archive, copy = self.room / "lake.pond", self.room / "copy"
        if self.run("export", "-o", archive, "--lake", lake, "--json").code:
            yield "export fails"
            return
        ran = self.run("import", archive, "--lake", copy, "--json")
        if ran.code:
            yield f"import of what was exported fails: {ran.err[:200]}"
            return
        for each in differences(content(opened(Settings(lake=str(copy)))), content(opened(Settings(lake=str(lake)))))[
            :3
        ]:
            yield f"import: {each}"


def _events_lost(source: Source, there: set[bytes | None], about: Told) -> Iterator[str]:
    """Say which events of a canonical text are silently gone.

    A reported event takes its message along, and a reported session everything after it.
    """
    if about.whole:
        return
    text = source.file.data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    told_of = {id for number in about.lines for id in _ids(text[number - 1])}
    told_lines = about.lines | _behind_sessions(text, about.lines)
    lost = [line for line in source.lines if line.value not in there and line.number not in told_lines]
    lost = [line for line in lost if line.value is None or not told_of.intersection(_ids(text[line.number - 1]))]
    for line in lost[about.counted :][:_MOST]:
        yield f"{source.file.place!r}: line {line.number} is gone, and nobody says so"


def _behind_sessions(text: list[bytes], told: set[int]) -> set[int]:
    """Return the lines after a reported session, up to the next one."""
    behind, left_out = set(), False
    for number, line in enumerate(text, 1):
        if b'"kind":"session"' in line:
            left_out = number in told
        elif left_out:
            behind.add(number)
    return behind


def _ids(event: bytes) -> set[str]:
    """Return what an event is part of: its message, and for a session all that follows."""
    try:
        value = json.loads(event)
        return {str(value[name]) for name in ("id", "message_id", "session_id") if name in value}
    except (ValueError, TypeError, RecursionError):
        return set()


def _carried_over(source: Source, client: str, folder: Path) -> Iterator[str]:
    path = Path(source.name)
    made = convert(path, OTHER[client], folder / "out", client)
    if not made.files:
        if not made.report.diagnostics:
            yield f"{source.file.place!r}: no session for {OTHER[client]}, and nobody says why"
        return
    passage = read(path, client)
    if not any("history_base" in str(message) for message in passage.messages[:1]):  # it would begin in another file
        for each in unaccounted(passage, made)[:_MOST]:
            yield f"{source.file.place!r}: to {OTHER[client]}: {each[:300]}"


def _sizes(file: File, dice: Random) -> tuple[int, int, int]:
    """Return how long a file is at each step, last step first: cut at line ends, inside of lines, or not there yet."""
    whole = len(file.data)
    if not file.place.endswith(".jsonl") or not file.readable or file.is_canonical:
        return whole, whole, whole  # no client appends to it
    later, earlier = sorted((_cut(file.data, dice), _cut(file.data, dice)), reverse=True)
    return whole, later, earlier


def _cut(data: bytes, dice: Random) -> int:
    at = dice.choice([0, len(data), *[dice.randint(0, len(data))] * 3])
    return at if dice.random() < 0.4 else data.rfind(b"\n", 0, at) + 1


def _canonical_place(place: str) -> str:
    return place if place.endswith(_CANONICAL) else os.path.splitext(place)[0] + _CANONICAL


def _own_stem(written: dict[str, str]) -> str:
    """Return the name that a restored file has by itself; a second one of the same name has an id behind it."""
    own = written["session"].partition("~")[0].replace("/", "_")
    return _stem(written["path"]).partition(f"-{own}~")[0]


def _stem(place: str) -> str:
    return os.path.basename(place).split(".", 1)[0]


def _source(file: File, root: Path) -> Source:
    found = lines(file.data, file.place)
    return Source(file, str(root / file.place), found, lines(file.native) if file.native is not None else found)


def _read(path: Path) -> list[Line]:
    return lines(path.read_bytes(), path.name)


def _compared(source: Source, made: Path, about: Told, between: Told | None = None) -> Iterator[str]:
    """Compare what was written for a file; a sound file has to come back, a damaged one may be refused."""
    between = between or Told()  # what is told of the canonical text has the line numbers of that
    both = Told(about.lines, about.whole, about.counted + between.counted + len(between.lines))
    refused = both.whole or between.whole
    if not made.is_file():
        if source.file.sound or not refused:
            yield f"{source.file.place!r}: not written{', which is told' if refused else ', and nobody says why'}"
        return
    found = list(missing(source.lines, _read(made), both))
    for each in found[:_MOST]:
        yield f"{source.file.place!r}: {each}"
