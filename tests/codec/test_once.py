"""A source is opened once, detected once and gathered once in each process, whatever the command."""

import builtins
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import pond.codec.files
import pond.codec.opening
import pond.codec.reader
from pond.cli.main import main
from pond.codec.detect import detect
from pond.codec.facts import gather
from tests.cli.sessions import CLAUDE_CODE, CODEX, dumps, session_id


class Count:
    """How often each file was opened, detected and gathered since somebody asked."""

    def __init__(self) -> None:
        self.opened: Counter[Path] = Counter()
        self.detected: Counter[Path | None] = Counter()
        self.gathered: Counter[Path | None] = Counter()

    def take(self) -> list[dict[Any, int]]:
        """Return the counts, and start again."""
        counters: tuple[Counter[Any], ...] = (self.opened, self.detected, self.gathered)
        found = [dict(each) for each in counters]
        for each in counters:
            each.clear()
        return found


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> Count:
    counted = Count()

    def open_counted(path: Path, *more: Any, **how: Any) -> Any:
        counted.opened[Path(path)] += 1
        return builtins.open(path, *more, **how)

    def detect_counted(source: Any) -> Any:
        counted.detected[source.path] += 1
        return detect(source)

    def gather_counted(module: Any, source: Any, project: Any) -> Any:
        counted.gathered[source.path] += 1
        return gather(module, source, project)

    monkeypatch.setattr(pond.codec.files, "open", open_counted, raising=False)
    monkeypatch.setattr(pond.codec.opening, "detect", detect_counted)
    monkeypatch.setattr(pond.codec.reader, "gather", gather_counted)
    return counted


def _family(folder: Path) -> list[Path]:
    """Write a session and one that it spawned; return their files."""
    files = []
    for seed, parent in (("mother", None), ("daughter", "mother")):
        first, *rest = CODEX.records(session_id(seed), 3)
        if parent is not None:
            spawn = {"thread_spawn": {"parent_thread_id": session_id(parent), "depth": 1}}
            first["payload"] |= {"parent_thread_id": session_id(parent), "source": {"subagent": spawn}}
        files.append(CODEX.file(folder, session_id(seed), dumps([first, *rest])))
    return files


def _once(*files: Path) -> list[dict[Path, int]]:
    return [dict.fromkeys(files, 1)] * 3


@pytest.mark.parametrize("target", ["codex", "canonical", "claude-code"])
def test_convert_of_a_directory(target: str, count: Count, tmp_path: Path) -> None:
    """Natively, to canonical and to another client; a stream and a directory."""
    files = [*_family(tmp_path / "in"), CLAUDE_CODE.session(tmp_path / "in", "other")]
    assert main(["convert", str(tmp_path / "in"), "--to", target, "-o", f"{tmp_path}/out/", "--jobs", "1"]) == 0
    # The new id of a subagent names its parent's last record: the end of the parent's file is read for it.
    counts = _once(*files)
    if target == "claude-code":
        opened, detected, gathered = counts
        counts = [{**opened, files[0]: 2}, detected, {**gathered, files[0]: 2}]
    assert count.take() == counts
    assert len([*(tmp_path / "out").rglob("*.jsonl")]) == 3


@pytest.mark.parametrize("target", ["codex", "canonical", "claude-code"])
@pytest.mark.parametrize("output", ["out/", "out/one.jsonl", None])
def test_convert_of_one_file(target: str, output: str | None, count: Count, tmp_path: Path) -> None:
    """Where it goes to another client, its children are looked at, once, too; a stream only asks who they are."""
    mother, daughter = _family(tmp_path / "in")
    words = ["-o", f"{tmp_path}/{output}"] if output is not None else []
    assert main(["convert", str(mother), "--to", target, "--jobs", "1", *words]) == 0
    come_along = [daughter] if target == "claude-code" else []
    opened, detected, gathered = count.take()
    once = dict.fromkeys([mother, *come_along], 1)
    read_again = come_along and output is not None  # the daughter's new id names the last record of her mother's file
    assert opened == (once | {mother: 2} if read_again else once)
    assert gathered == opened
    assert detected == (once if output is not None else {mother: 1})  # whose child it is says whose file it is


def test_convert_of_canonical_text(count: Count, tmp_path: Path) -> None:
    """It is nobody's file, so nothing is gathered: each session has its row."""
    _family(tmp_path / "in")
    main(["convert", str(tmp_path / "in"), "--to", "canonical", "-o", f"{tmp_path}/text/"])
    count.take()
    for target in ("codex", "claude-code"):
        assert main(["convert", f"{tmp_path}/text", "--to", target, "-o", f"{tmp_path}/{target}/", "--jobs", "1"]) == 0
        once = dict.fromkeys([*(tmp_path / "text").rglob("*.jsonl")], 1)
        assert count.take() == [once, once, {}]


def test_a_beginning_in_another_file_is_one_more_reading(count: Count, tmp_path: Path) -> None:
    """A fork of Codex leaves its beginning to another session, which is read for it as well as for itself."""
    own, other = session_id("twig"), session_id("trunk")
    first, *rest = CODEX.records(own, 1)
    first["payload"] |= {"forked_from_id": other, "history_base": {"thread_id": other, "end_ordinal_exclusive": 99}}
    twig = CODEX.file(tmp_path / "in", own, dumps([first, *rest]))
    trunk = CODEX.session(tmp_path / "in", "trunk")
    assert main(["convert", str(tmp_path / "in"), "--to", "claude-code", "-o", f"{tmp_path}/out", "--jobs", "1"]) == 0
    opened, detected, gathered = count.take()
    assert (opened, gathered) == ({twig: 1, trunk: 2}, {twig: 1, trunk: 2})
    assert detected == {twig: 1, trunk: 1}


def test_verify(count: Count, tmp_path: Path) -> None:
    """The independent reader reads the same open file a second time: that is what it is for."""
    files = _family(tmp_path / "in")
    assert main(["verify", str(tmp_path / "in")]) == 0
    assert count.take() == _once(*files)


def test_ingest(count: Count, tmp_path: Path) -> None:
    """New, unchanged, grown, and unchanged again."""
    (mother, _) = files = _family(tmp_path / "in")
    words = ["ingest", str(tmp_path / "in"), "--lake", str(tmp_path / "lake"), "--jobs", "1"]
    assert main(words) == 0
    assert count.take() == _once(*files)
    assert main(words) == 0
    assert count.take() == [{}, {}, {}]
    whole = mother.read_bytes()
    mother.write_bytes(whole + whole.splitlines(keepends=True)[-1].replace(b'"timestamp":"2026', b'"timestamp":"2027'))
    assert main(words) == 0
    opened, detected, gathered = count.take()
    assert (opened, detected, gathered) == ({mother: 1}, {}, {mother: 1})  # whose it is, the lake has noted
    assert main(words) == 0
    assert count.take() == [{}, {}, {}]


def test_ingest_of_a_contested_id(count: Count, tmp_path: Path) -> None:
    """A source that was rewritten is read again: its records decide whether it still holds the same session."""
    file = CODEX.session(tmp_path / "in", "contested")
    words = ["ingest", str(tmp_path / "in"), "--lake", str(tmp_path / "lake"), "--jobs", "1"]
    assert main(words) == 0
    count.take()
    file.write_bytes(file.read_bytes().replace(b"2026", b"2025"))
    assert main(words) == 0
    opened, _, gathered = count.take()
    assert opened[file] > 1
    assert opened == gathered
