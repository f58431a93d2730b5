"""A file that is no longer the one that was read is noticed, at the same cost whatever its size."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pond.codec.fingerprint import beside_state, fingerprint

SMALL, LARGE = 180 << 10, 3 << 20
_LINES = b"".join(b'{"line":%d,"text":"%s"}\n' % (n, b"x" * (n % 90)) for n in range(60_000))


def _print(path: Path, data: bytes, end: int) -> str:
    path.write_bytes(data)
    with path.open("rb") as file:
        return fingerprint(file, end)


@given(end=st.integers(1, SMALL), change=st.data())
def test_any_byte_of_a_small_prefix_counts(
    tmp_path_factory: pytest.TempPathFactory, end: int, change: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("small") / "log"
    at = change.draw(st.integers(0, end - 1))
    other = bytearray(_LINES[:end])
    other[at] ^= 1
    assert _print(path, _LINES[:end], end) != _print(path, bytes(other), end)


@pytest.mark.parametrize("at", [0, 65_535, LARGE - 65_536, LARGE - 1, 65_536, LARGE - 65_537])
def test_a_byte_in_a_window_of_a_large_prefix_counts(tmp_path: Path, at: int) -> None:
    data = bytearray(_LINES[: LARGE + 500])
    before = _print(tmp_path / "log", bytes(data), LARGE)
    data[at] ^= 1
    assert _print(tmp_path / "log", bytes(data), LARGE) != before


def test_a_large_prefix_with_a_line_less_or_shorter_is_another(tmp_path: Path) -> None:
    data = _LINES[: LARGE + 500]
    before = _print(tmp_path / "log", data, LARGE)
    for start in range(0, LARGE - 1_000, LARGE // 40):
        line = data.index(b"\n", start) + 1
        without = data[:line] + data[data.index(b"\n", line) + 1 :]
        assert _print(tmp_path / "log", without, LARGE) != before
    assert _print(tmp_path / "log", data[: LARGE - 1], LARGE) != before
    assert _print(tmp_path / "log", data, LARGE - 1) != before


def test_the_length_itself_counts(tmp_path: Path) -> None:
    assert _print(tmp_path / "log", b"{}\n", 3) != _print(tmp_path / "log", b"{}\n", 4)


def test_what_comes_after_does_not_count(tmp_path: Path) -> None:
    for end in (0, 100, SMALL, LARGE):
        assert _print(tmp_path / "log", _LINES[:end], end) == _print(tmp_path / "log", _LINES, end)


@pytest.mark.parametrize("end", [185 << 10, 1 << 20, 10 << 30])
def test_the_cost_does_not_grow(tmp_path: Path, end: int, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def pread(handle: int, size: int, at: int) -> bytes:
        read.append(size)
        return b""

    with (tmp_path / "log").open("w+b") as file:
        monkeypatch.setattr(os, "pread", pread)
        fingerprint(file, end)
    assert (len(read), sum(read)) == (16, 184 << 10)


def test_the_position_does_not_move(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(_LINES[:1000])
    with (tmp_path / "log").open("rb") as file:
        file.seek(7)
        fingerprint(file, 500)
        assert file.tell() == 7


def test_files_beside_a_session_have_a_state(tmp_path: Path) -> None:
    path, patterns = tmp_path / "a.jsonl", ("{stem}.meta.json", "{stem}/results/*")
    assert beside_state(path, patterns) == ""
    states = [""]
    (tmp_path / "a" / "results").mkdir(parents=True)
    file = tmp_path / "a" / "results" / "one"
    file.write_bytes(b"1")
    os.utime(file, ns=(5, 5))
    states.append(beside_state(path, patterns))
    os.utime(file, ns=(5, 6))
    states.append(beside_state(path, patterns))
    file.write_bytes(b"12")
    os.utime(file, ns=(5, 6))
    states.append(beside_state(path, patterns))
    file.rename(file.with_name("two"))
    states.append(beside_state(path, patterns))
    (tmp_path / "a.meta.json").write_bytes(b"{}")
    states.append(beside_state(path, patterns))
    assert len(set(states)) == len(states)
    assert beside_state(path, patterns) == states[-1]
