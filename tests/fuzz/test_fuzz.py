"""Whole stores, damaged in every way, and the instruments that judge what pond does with them.

`make fuzz` tests a million records, this file a few stores.
"""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.crew import Worker
from tests.fuzz.oracle import Told, begins, lines, missing, told
from tests.fuzz.roads import Journey
from tests.fuzz.running import Ran, in_process
from tests.fuzz.seeds import seeds
from tests.fuzz.stores import File, Store, build
from tests.size import size

SEED = 11


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = Worker(SEED)
    yield made
    made.close()


@pytest.mark.parametrize("number", range(size(20, 2)))
def test_no_store_costs_a_record_or_a_word(worker: Worker, number: int) -> None:
    outcome = worker.examine(number)
    assert outcome.wrong == [], outcome.kept
    assert outcome.records > 0


# --- the stores ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stores() -> Iterator[list[Store]]:
    """Return stores as `make fuzz` draws them, from the fixtures alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POND_SAMPLES", "")
        seeds.cache_clear()
        yield [build(Random(f"{SEED} {number}")) for number in range(50)]
    seeds.cache_clear()


def test_a_store_is_the_same_for_the_same_number(stores: list[Store]) -> None:
    assert build(Random(f"{SEED} 1")).files == stores[1].files != stores[2].files


def test_the_stores_hold_what_is_promised(stores: list[Store], tmp_path: Path) -> None:
    data = [file.data for store in stores for file in store.files]
    for trap in (b"1e400", b"NaN", b"-0.0", b"1e-05", b"7" * 5000, b"\\ud800", b"[" * 400, b"\x00", b"\r\n", b"\n\n"):
        assert any(trap in each for each in data), trap
    assert any(each.startswith(b"\xef\xbb\xbf") for each in data)
    assert any(each and not each.endswith(b"\n") for each in data)
    assert any(line.hides for each in data for line in lines(each))
    assert any(file.is_canonical for store in stores for file in store.files)
    assert any(not file.readable for store in stores for file in store.files)
    kinds = set()
    for number, store in enumerate(stores):
        store.write(tmp_path / str(number))
        kinds |= {_kind(tmp_path / str(number) / place) for place, _ in store.odd}
    assert kinds == {"dangling", "loop", "link", "pipe", "folder"}


def _kind(path: Path) -> str:
    if path.is_symlink():
        return "loop" if os.readlink(path) == path.name else "link" if path.exists() else "dangling"
    return "pipe" if path.is_fifo() else "folder"


def test_half_of_the_files_are_sound(stores: list[Store]) -> None:
    files = [file for store in stores for file in store.files]
    assert 0.35 < sum(file.sound for file in files) / len(files) < 0.75


# --- the independent reader ------------------------------------------------------------------------------------------


def _wrong(source: bytes, restored: bytes, about: Told | None = None) -> list[str]:
    return list(missing(lines(source), lines(restored), about or Told()))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b'{"a":1,"b":2}', b'{ "b" : 2, "a" : 1 }'),
        (b"[1e400]", b"[1.0E+400]"),
        (b"[1e9999999999999999999]", b"[10e9999999999999999998]"),
        (b'["\\ud83c\\udf3f"]', '["\U0001f33f"]'.encode()),
        (b"[1e2]", b"[100.0]"),
        (b"\n\n[1]\r\n", b"[1]"),
        (b"\xef\xbb\xbf[1]", b"[1]"),
    ],
)
def test_spelling_is_no_difference(one: bytes, other: bytes) -> None:
    assert _wrong(one, other) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"[1]", b"[1.0]"),
        (b"[-0.0]", b"[0.0]"),
        (b"[true]", b"[1]"),
        (b"[1e400]", b"[1e401]"),
        (b"[NaN]", b"[null]"),
        (b"[" + b"7" * 5000 + b"]", b"[" + b"7" * 4999 + b"8]"),
        (b"[1]\n[2]", b"[2]\n[1]"),
        (b"[1]\n[2]", b"[1]"),
        (b"[1]", b"[1]\n[1]"),
        (b'{"a":1,"a":2}', b'{"a":2}'),
        (b"[1]\n{", b"[1]"),
    ],
)
def test_a_difference_is_seen(one: bytes, other: bytes) -> None:
    assert _wrong(one, other) != []


def test_what_is_told_is_no_loss() -> None:
    faults = [
        {"file": "a", "line": 2, "code": "source-not-json", "severity": "error"},
        {"file": "a", "line": 3, "code": "source-type", "severity": "warning"},
        {"file": "b", "line": 1, "code": "source-unrecognised", "severity": "error"},
        {"file": "c", "line": 9, "code": "source-not-json", "severity": "error", "count": 3},
    ]
    about = told(faults)
    assert _wrong(b"[1]\n{\n[3]", b"[1]\n[3]", about["a"]) == []
    assert len(_wrong(b"[1]\n{\n[3]", b"[1]", about["a"])) == 1  # that a value was kept excuses nothing
    assert about["b"].whole
    assert len(_wrong(b"{\n{\n{", b"", about["c"])) == 1  # two are counted, not named


def test_a_copy_may_be_a_beginning() -> None:
    assert begins(lines(b"[1]"), lines(b"[1]\n[2]"), Told())
    assert not begins(lines(b"[1]\n[3]"), lines(b"[1]\n[2]"), Told())


# --- all commands ----------------------------------------------------------------------------------------------------


def _journey(files: list[File], room: Path, spoil: str) -> list[str]:
    """Put sound files through all commands, with one command that loses the last line of everything it writes."""

    def run(*words: object) -> Ran:
        ran = in_process(*words)
        if words[0] == spoil and "-o" in words:
            for file in Path(str(words[words.index("-o") + 1])).rglob("*.jsonl"):
                file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-1]))
        return ran

    return Journey(Store(files), room, run, Random(1)).wrong()


@pytest.mark.parametrize("spoil", ["convert", "restore"])
def test_a_command_that_loses_a_record_is_found_out(
    stores: list[Store], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: str
) -> None:
    logs = [file for store in stores for file in store.files if file.sound and file.place.endswith("0.jsonl")]
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # a command takes the signals of its process
    assert any("not restored" in each or "did not come back" in each for each in _journey(logs[:1], tmp_path, spoil))


def test_an_end_that_no_command_may_have_is_found_out() -> None:
    fault = {"code": "source-not-json", "severity": "error"}
    assert list(Ran(("ingest",), 3, b"", "").wrong()) == ["ingest: exit 3"]
    assert list(Ran(("ingest",), -1, b"", "", "KeyError in f: 'pond'").wrong()) == ["ingest: KeyError in f: 'pond'"]
    assert list(Ran(("ingest",), 0, json.dumps({"faults": [fault]}).encode(), "").wrong()) != []
    assert list(Ran(("ingest",), 1, json.dumps({"faults": []}).encode(), "").wrong()) != []


def test_a_crash_here_is_seen_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(words: list[str]) -> int:
        raise ZeroDivisionError("a mistake of ours")

    monkeypatch.setattr("tests.fuzz.running.main", fails)
    assert in_process("ingest").crash == "ZeroDivisionError in fails: a mistake of ours"


def test_a_process_that_dies_is_what_is_wrong() -> None:
    worker = Worker(SEED)
    process = worker._process = worker._started()
    process.kill()
    process.wait()
    assert worker.examine(0).wrong == ["the process died: exit -9"]
    worker.close()
