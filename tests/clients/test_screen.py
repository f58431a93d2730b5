"""The terminal in memory shows what a real one would."""

import pytest

from tests.clients.screen import Screen


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("one\r\ntwo", "one\ntwo"),
        ("\x1b[2J\x1b[Hone\x1b[2;3Hx", "one\n  x"),
        ("abc\x1b[2Dx", "axc"),
        ("a\x1b[3Cb", "a   b"),
        ("abc\r\x1b[K", ""),
        ("\x1b[31mred\x1b[0m\x1b]0;title\x07!", "red!"),
        ("\u679c\u9171\b\bx", "\u679cx"),
        ("one\x1b[?1049hother\x1b[?1049l two", "one two"),
        ("abcdefgh\x1b[1;1H\x1b[2P", "cdefgh"),
    ],
)
def test_what_is_written_is_shown(written: str, shown: str) -> None:
    screen = Screen(4, 20)
    screen.feed(written)
    assert screen.text() == shown


def test_what_scrolls_away_is_kept_and_a_cut_sequence_waits() -> None:
    screen = Screen(2, 20)
    for piece in ("one\r\ntwo\r\nthr", "ee\x1b[", "1;2r\x1b[2;1H\nfour"):
        screen.feed(piece)
    assert screen.text().splitlines() == ["one", "two", "three", "four"]


def test_a_question_is_answered() -> None:
    said: list[bytes] = []
    Screen(4, 20, said.append).feed("ab\x1b[6n\x1b[c")
    assert said == [b"\x1b[1;3R", b"\x1b[?62;c"]
