"""Every spelling of base64 comes back letter for letter, and what is not base64 is not taken for it."""

import base64
import json
import random
import string
import uuid

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pond.sessions.base64_text import Spelling, read, write


def noise(length: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(length)


def plain(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def for_urls(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii")


def on_lines(text: str, width: int, end: str) -> str:
    return end.join(text[at : at + width] for at in range(0, len(text), width))


# --- what is taken ---------------------------------------------------------------------------------------------------

EVEN, ONE_OVER, TWO_OVER = noise(600), noise(601), noise(602)  # with no, two and one `=`
TEXT = plain(EVEN)
HIGH = b"\xff" * 602  # nothing but the last letters of the alphabet
SPELLINGS: list[tuple[str, bytes, Spelling | None]] = [
    (TEXT, EVEN, None),
    (plain(ONE_OVER), ONE_OVER, None),
    (plain(TWO_OVER), TWO_OVER, None),
    (plain(bytes(600)), bytes(600), None),
    (for_urls(EVEN), EVEN, {"url": True}),
    (plain(ONE_OVER)[:-2], ONE_OVER, {"pad": 0}),
    (plain(ONE_OVER)[:-1], ONE_OVER, {"pad": 1}),
    (plain(TWO_OVER)[:-1], TWO_OVER, {"pad": 0}),
    (plain(bytes(601))[:-3] + "P==", bytes(601), {"last": "P"}),
    (plain(bytes(601))[:-3] + "E==", bytes(601), {"last": "E"}),
    (plain(bytes(601))[:-3] + "B", bytes(601), {"pad": 0, "last": "B"}),
    (plain(bytes(602))[:-2] + "D=", bytes(602), {"last": "D"}),
    (plain(HIGH)[:-2] + "/=", HIGH, {"last": "/"}),
    (for_urls(HIGH)[:-2] + "_=", HIGH, {"url": True, "last": "/"}),
    (on_lines(TEXT, 76, "\n"), EVEN, {"lines": [76, "\n"]}),
    (on_lines(TEXT, 64, "\r\n"), EVEN, {"lines": [64, "\r\n"]}),
    (on_lines(TEXT, 76, "\r\n") + "\r\n", EVEN, {"lines": [76, "\r\n"], "tail": "\r\n"}),
    (on_lines(TEXT, 80, "\n") + "\n", EVEN, {"lines": [80, "\n"], "tail": "\n"}),  # the last line is a full one
    (on_lines(TEXT, 60, "\n  "), EVEN, {"lines": [60, "\n  "]}),
    (plain(ONE_OVER)[:-1] + "\n=", ONE_OVER, {"lines": [803, "\n"]}),
    ("\n " + TEXT + "\t\n", EVEN, {"head": "\n ", "tail": "\t\n"}),
    ("data:image/png;base64," + TEXT, EVEN, {"head": "data:image/png;base64,"}),
    (" Data:;charset=UTF-8;BASE64, " + TEXT, EVEN, {"head": " Data:;charset=UTF-8;BASE64, "}),
    ("data:a/b;name=é\ud800;base64," + TEXT, EVEN, {"head": "data:a/b;name=é\ud800;base64,"}),
    (f"{TEXT[:100]}\n{TEXT[100:333]} \t{TEXT[333:]}", EVEN, {"gaps": [[100, "\n"], [333, " \t"]]}),
    (EVEN.hex(), base64.b64decode(EVEN.hex()), None),
    ("x" * 512, base64.b64decode("x" * 512), None),
]


@pytest.mark.parametrize(("text", "data", "spelling"), SPELLINGS)
def test_a_spelling_is_read_and_written(text: str, data: bytes, spelling: Spelling | None) -> None:
    assert read(text) == (data, spelling)
    assert write(data, spelling) == text


def test_gaps_are_kept_while_they_are_few() -> None:
    pieces = [noise(30 + 3 * (at % 5), at) for at in range(66)]
    for count, taken in ((65, True), (66, False)):  # 64 gaps, 65 gaps
        text = " ".join(map(plain, pieces[:count]))
        found = read(text)
        assert (found is not None) is taken
        if found:
            assert found[0] == b"".join(pieces[:count])
            assert write(*found) == text


@st.composite
def spelled(draw: st.DrawFn) -> tuple[bytes, str]:
    data = noise(draw(st.integers(384, 900)), draw(st.integers(0, 99)))
    text = (for_urls if draw(st.booleans()) else plain)(data)
    if surplus := draw(st.integers(0, 3)) if len(data) % 3 else 0:
        at = text.index("=") - 1
        alphabet = (
            string.ascii_uppercase + string.ascii_lowercase + string.digits + ("-_" if set("-_") & set(text) else "+/")
        )
        text = text[:at] + alphabet[alphabet.index(text[at]) + surplus] + text[at + 1 :]
    text = text.rstrip("=") if draw(st.booleans()) else text
    white = st.text(" \t\r\n", min_size=1, max_size=2)
    if draw(st.booleans()):
        text = on_lines(text, draw(st.integers(40, 100)), draw(white))
    for at in draw(st.lists(st.integers(1, len(text) - 1), max_size=3)):
        text = text[:at] + draw(white) + text[at:]
    heads = st.sampled_from(["", "data:image/png;base64,", "data:text/plain;charset=utf-8;base64,"])
    return data, draw(st.just("") | white) + draw(heads) + draw(st.just("") | white) + text + draw(st.just("") | white)


@given(spelled())
def test_any_spelling_comes_back(case: tuple[bytes, str]) -> None:
    data, text = case
    found = read(text)
    assert found is not None
    assert found[0] == data
    assert write(*found) == text
    assert write(found[0], json.loads(json.dumps(found[1]))) == text


ALMOST = st.sampled_from([*"ABCDwxyz0189+/-_=", "\n", "\r\n", " ", "QUJD" * 40, "é", "."])


@given(start=st.sampled_from(["", "data:a/b;base64,", TEXT]), pieces=st.lists(ALMOST, max_size=40))
def test_what_is_almost_base64_comes_back_if_it_is_taken(start: str, pieces: list[str]) -> None:
    text = start + "".join(pieces)
    found = read(text)
    assert found is None or write(*found) == text


@given(st.text())
def test_any_text_comes_back_if_it_is_taken(text: str) -> None:
    found = read(text)
    assert found is None or write(*found) == text


# --- what is not -----------------------------------------------------------------------------------------------------

WORDS = "the person asked for a small change and the model made it without saying why " * 10
LONG_WORDS = "internationalization counterrevolutionaries electroencephalographically Incomprehensibilities2 " * 8
FOLDERS = [f"src/main/java/com/example/project{n}/services/OrderHistory{n * 37}" for n in range(12)]
NOT_BASE64 = {
    "prose": "It was late, and nobody had read the report. " * 20,
    "words alone": WORDS,
    "one word a line": WORDS.replace(" ", "\n"),
    "long words": LONG_WORDS,
    "words in capitals": WORDS.upper(),
    "another language": "Никто не читал этот доклад до конца " * 20,
    "no spaces": "誰もこの報告書を最後まで読まなかった" * 40,
    "code": "def read(text):\n    return [line for line in text.split()]\n" * 10,
    "minified code": "function(a,b){return a+b};var c=d/e;" * 20,
    "json": json.dumps([{"id": n, "name": "x" * 20} for n in range(20)]),
    "json in a string": json.dumps({"image": TEXT}),
    "names": "\n".join(["TheQuickBrownFoxJumpsOverTheLazyDogAndTheCat", "AndSoOnUntilNobodyCanReadTheNameAtAll"] * 8),
    "short words after a long one": f"{TEXT[:300]} {' '.join(TEXT[at : at + 9] for at in range(300, 800, 9))}",
    "folders": "\n".join(FOLDERS),
    "hashes": "\n".join(noise(20, n).hex() for n in range(20)),
    "hashes in capitals": "\n".join(noise(20, n).hex().upper() for n in range(20)),
    "hex dump": " ".join(noise(300).hex(" ", 2).split()),
    "ids": "\n".join(str(uuid.UUID(bytes=noise(16, n))) for n in range(20)),
    "numbers": " ".join(str(n) for n in range(1000, 1200)),
    "a rule": "=" * 600,
    "white space": " \n" * 400,
    "two payloads": f"{plain(ONE_OVER)}{TEXT}",
    "a payload and a word": f"{TEXT}, see above",
    "a payload and a word before": f"image: {TEXT}",
    "a payload with a foreign letter": f"{TEXT[:700]}é{TEXT[700:]}",
    "a mixture of alphabets": "+" + for_urls(HIGH)[1:],
    "too much padding": TEXT + "=",
    "three equal signs": plain(ONE_OVER) + "=",
    "one letter too many": TEXT + "A",
    "one letter too many, padded": TEXT + "A===",
    "two heads": "data:a/b;base64,data:a/b;base64," + TEXT,
    "a head alone": f"data:{'a' * 600};base64,",
    "a head and padding": f"data:{'a' * 600};base64,====",
    "a link": "https://example.org/" + "a/" * 300,
    "another data URL": "data:text/plain," + "hello%20" * 100,
}  # fmt: skip


@pytest.mark.parametrize("text", NOT_BASE64.values(), ids=NOT_BASE64)
def test_other_text_is_left_alone(text: str) -> None:
    assert read(text) is None


@given(st.lists(st.text(string.ascii_letters + string.digits + "/+", min_size=1, max_size=12), min_size=60))
def test_short_words_are_never_taken(words: list[str]) -> None:
    assert read(" ".join(words)) is None
    assert read("\n".join(words)) is None


@given(st.text(string.printable + "é", min_size=1, max_size=9), st.integers(0, 800))
def test_one_foreign_letter_is_enough_to_leave_a_text_alone(foreign: str, at: int) -> None:
    assume(set(foreign) - set(string.ascii_letters + string.digits + "+/-_= \t\r\n"))
    assume(":" not in foreign)
    assert read(TEXT[:at] + foreign + TEXT[at:]) is None
