"""Stories: files that grow in any order, beside their neighbours, interrupted and repeated, come back as they are.

`make stories` tells many more of them, with a new seed each time.
"""

import os
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pond.codec.registry import clients
from pond.config.settings import Settings
from pond.intake.ingest import ingest
from pond.intake.request import Request
from pond.lake.through_lake import Take, Wish, through_lake
from pond.substrate import write
from tests.laws.corpus import capture_files, fixture_files, quick, sample_files
from tests.size import share, size

STORIES = int(os.environ.get("POND_STORIES") or size(5, 1))
SEED = int(os.environ.get("POND_SEED", "0"))
STEPS = 4


def told(files: list[Path], seed: int, take: Take = ingest) -> None:
    """Raise AssertionError where a record of these files does not come back from the lake."""
    assert files
    for path, verdict in through_lake(files, Wish(steps=STEPS, seed=seed), take):
        different = [d.message for d in verdict.report.diagnostics if d.code == "verify-different"]
        assert (verdict.equal, different) == (verdict.records, []), f"seed {seed}: {path}"


def seeds() -> list[int]:
    return [SEED + number for number in range(STORIES)]


@pytest.mark.rule("model-lossless-projection")
@pytest.mark.parametrize("seed", seeds())
@pytest.mark.parametrize("client", clients())
def test_the_fixtures_of_a_client_grow_together(client: str, seed: int) -> None:
    told([file.path for file in fixture_files() if file.client == client], seed)


@pytest.mark.parametrize("seed", seeds())
def test_samples_grow_together(samples_dir: Path, seed: int) -> None:
    told([file.path for file in quick(sample_files(samples_dir))], seed)


@pytest.mark.parametrize("seed", seeds())
def test_captures_grow_together(captures_dir: Path, seed: int) -> None:
    told([file.path for file in quick(capture_files(captures_dir))], seed)


@pytest.mark.rule("adapter-integrity-additive-sync")
@pytest.mark.parametrize("seed", seeds())
def test_files_that_share_an_id_grow_together(tmp_path: Path, seed: int) -> None:
    files = share([file.path for file in fixture_files() if file.path.suffix == ".jsonl"], 16)
    twins = [_twin(file, tmp_path) for file in files if len(file.read_bytes().splitlines()) > 2]
    told([*files, *twins], seed)


def _twin(file: Path, folder: Path) -> Path:
    """Return a copy of a file, in another home, that went another way: a line in its midst is missing."""
    place = folder.joinpath(*file.absolute().parts[1:])
    place.parent.mkdir(parents=True, exist_ok=True)
    lines = file.read_bytes().splitlines(keepends=True)
    del lines[len(lines) // 2]
    place.write_bytes(b"".join(lines))
    return place


class Stopped(BaseException):
    """Ends a run in the midst of its writing, as a signal does."""


def _stopping(calls: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return what makes a function give up when some of them were called so often together."""
    left = calls

    def wrap(step: Callable[..., Any]) -> Callable[..., Any]:
        def stop(*arguments: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                raise Stopped
            return step(*arguments, **options)

        return stop

    return wrap


@pytest.mark.rule("adapter-integrity-additive-sync")
@pytest.mark.parametrize("seed", seeds())
def test_runs_that_are_interrupted_and_repeated_lose_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)

    def take(settings: Settings, request: Request) -> None:
        with monkeypatch.context() as patched:
            wrap = _stopping(chance.randint(1, 8))
            for name in ("insert", "replace", "correct"):
                patched.setattr(write, name, wrap(getattr(write, name)))
            with suppress(Stopped):
                ingest(settings, request)
        ingest(settings, request)

    told(share([file.path for file in fixture_files()], 33), seed, take)
