"""Proof on real files that the lake keeps them: they grow into a scratch lake, and what is restored is compared."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pond.codec.registry import clients
from pond.codec.report import Report
from pond.codec.verify import Verdict, compare
from pond.codec.writer import SideFile
from pond.codec.writing import write_native
from pond.config.settings import Settings
from pond.diagnostics.diagnostic import PondError
from pond.intake.ingest import ingest
from pond.intake.request import Request
from pond.intake.sources import SOURCE, State, source_id
from pond.lake.growing import Growing, story
from pond.model.json_text import JsonObject
from pond.restore.stored import stored_session
from pond.sessions import ledger, load
from pond.sessions.lake import opened
from pond.substrate.store import Store

STEPS = 3
Take = Callable[[Settings, Request], object]  # stores sources in a lake


@dataclass(frozen=True, slots=True)
class Wish:
    """How to put files through the lake."""

    client: str | None = None
    project: str | None = None
    steps: int = STEPS
    seed: int = 0


def through_lake(files: list[Path], wish: Wish, take: Take = ingest) -> Iterator[tuple[Path, Verdict]]:
    """Yield each file with the verdict on its records, after it grew into a lake beside all the others."""
    with tempfile.TemporaryDirectory(prefix="pond-") as folder:
        settings = Settings(lake=str(Path(folder, "lake")))
        growing = story(files, Path(folder, "files"), wish.steps, wish.seed)
        chance = random.Random(wish.seed)
        for step in range(wish.steps):
            for each in growing:
                each.write(step)
            for some in _in_turns(growing, step, chance):
                inputs = [(str(each.copy), wish.client) for each in some]
                take(settings, Request(inputs, wish.project, processes=1))
        yield from _verdicts(opened(settings), growing)


def _in_turns(growing: list[Growing], step: int, chance: random.Random) -> Iterator[list[Growing]]:
    """Yield the existing files in random order, some of them in a later run than the others."""
    there = [each for each in growing if each.sizes[step]]
    chance.shuffle(there)
    half = chance.randint(0, len(there))
    yield from (some for some in (there[:half], there[half:]) if some)


# --- comparing -------------------------------------------------------------------------------------------------------


def _verdicts(store: Store, growing: list[Growing]) -> Iterator[tuple[Path, Verdict]]:
    states: dict[str, State] = {id: State.from_json(note) for id, note in ledger.notes(store, SOURCE).items()}
    longest: dict[str, int] = {}  # session -> records of its longest source
    for state in states.values():
        for session_id in state.sessions:
            longest[session_id] = max(state.records, longest.get(session_id, 0))
    for each in growing:
        noted = states.get(source_id(each.copy))
        further = noted is not None and any(longest[id] > noted.records for id in noted.sessions)
        yield each.source, _verdict(store, each, noted, further)


def _verdict(store: Store, each: Growing, state: State | None, further: bool) -> Verdict:
    """Compare a file with what its sessions hold; `further`: another file of the session continues after this one."""
    verdict = Verdict(report=Report(files=1))
    if state is None:
        verdict.report.error("source-unreadable", "the lake has no note of it", str(each.source))
        return verdict
    verdict.client = state.client or verdict.client
    for problem in state.problems:
        verdict.report.error(problem["code"], problem["message"], str(each.source), problem.get("line", 0))
    if state.client not in clients():
        return verdict  # canonical text has no client's records
    with tempfile.TemporaryFile() as restored:
        side: list[SideFile] = []
        for session_id in state.sessions:
            row = load.session(store, session_id)
            if row is None:
                verdict.report.error("verify-different", f"session `{session_id}` is not stored", str(each.source))
                continue
            side += _restored(store, row, restored, verdict.report)
        compare(each.source, verdict, restored, side, further=further)
    return verdict


def _restored(store: Store, row: JsonObject, out: BinaryIO, report: Report) -> list[SideFile]:
    try:
        return write_native(stored_session(store, row), out, report, row["id"]).beside
    except PondError as error:
        report.diagnostics += error.diagnostics
        return []
