"""JSON text and back without changing a value, and a plain word about every text that is not JSON."""

import json
import pickle
import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pond.model.equal import same
from pond.model.json_text import (
    EVENT_DEPTH,
    MAX_DEPTH,
    Json,
    NotJson,
    Numeral,
    decode,
    decode_stored,
    decode_strictly,
    encode,
    encode_exactly,
)

TEXTS = st.text(st.characters(exclude_categories=()), max_size=12)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
SPECIAL = st.sampled_from([Numeral(number) for number in ("NaN", "Infinity", "-Infinity", "1E+400", "-1E+999")])
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS | SPECIAL,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
)


def quietly(text: bytes | str) -> Json:
    """Return the value of JSON text in which no key is there twice."""

    def twice(key: str) -> None:
        raise AssertionError(f"{key!r} reported as a duplicate")

    return decode(text.encode() if isinstance(text, str) else text, twice)


@given(VALUES)
@example({"a": 2**64, "b": -0.0, "c": 1.0, "d": 10**400 // 10**390})
@example(["\ud800", "\udc00\ud800", "\x00", "\u2028"])
def test_a_value_survives_its_text(value: Json) -> None:
    text = encode(value)
    assert b"\n" not in text
    assert same(quietly(text), value)
    assert encode(quietly(text)) == text


@given(VALUES)
def test_the_exact_road_agrees_with_the_fast_one(value: Json) -> None:
    assert same(quietly(encode_exactly(value)), value)
    assert same(decode_strictly(encode(value), lambda key: None), value)


STYLES: list[Callable[[Json], str]] = [
    lambda value: json.dumps(value),
    lambda value: json.dumps(value, ensure_ascii=False),
    lambda value: json.dumps(value, indent=2),
    lambda value: json.dumps(value, separators=(" ,", " : ")),
    lambda value: json.dumps(value, indent="\t", separators=(",", "\n:\t")),
    lambda value: f"\r\n {json.dumps(value)} ",
]
KEYS = st.sampled_from(['a":', 'b\\":', "c", "", '"', '\\"']) | st.text(max_size=8)
ORDINARY = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=5),
)


@given(value=ORDINARY, style=st.sampled_from(STYLES))
def test_any_spelling_gives_the_value(value: Json, style: Callable[[Json], str]) -> None:
    assert same(quietly(style(value)), value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("1.0", 1.0),
        ("-0", 0),
        ("-0.0", -0.0),
        ("1E5", 100000.0),
        ("18446744073709551616", 2**64),
        ("-9223372036854775809", -(2**63) - 1),
        ("1" * 400, int("1" * 400)),
        ("0.1", 0.1),
        ("1" * 5000, Numeral("1" * 5000)),
        ("-" + "9" * 100_000, Numeral("-" + "9" * 100_000)),
        ("1e9999999999999999999", Numeral("1e9999999999999999999")),
        ("-1.5E+9999999999999999999", Numeral("-1.5E+9999999999999999999")),
        ("1" * 400 + ".5e1", Numeral("1" * 400 + "5.0")),
        ("1e400", Numeral("1E+400")),
        ("-1e400", Numeral("-1E+400")),
        ("[1e400]", [Numeral("1E+400")]),
        ("NaN", Numeral("NaN")),
        ('{"a":-Infinity}', {"a": Numeral("-Infinity")}),
        ('"\\ud83e\\udd86"', "\U0001f986"),
        ('"\\ud800"', "\ud800"),
        ('"\\u0000"', "\x00"),
        ('{"":{"":0}}', {"": {"": 0}}),
        (' {"a" : 1} ', {"a": 1}),
    ],
)
def test_exact_values(text: str, value: Json) -> None:
    assert same(quietly(text), value)
    assert same(quietly(f'{{"x":[{text}, null]}}'), {"x": [value, None]})


@pytest.mark.parametrize(
    ("text", "keys", "value"),
    [
        ('{"a":1,"a":2}', ["a"], {"a": 2}),
        ('{"a":1,"a":1}', ["a"], {"a": 1}),
        ('{"a":1, "\\u0061":2, "a":3}', ["a", "a"], {"a": 3}),
        ('{"x":[{"b":{"c":1,"c":2}}],"y":1}', ["c"], {"x": [{"b": {"c": 2}}], "y": 1}),
        ('{"a" :1,"a" :2}', ["a"], {"a": 2}),
        ('{"a\\"":1,"a\\"":2}', ['a"'], {'a"': 2}),
        ('{"t":"x\\":y","a":1,"a":2}', ["a"], {"t": 'x":y', "a": 2}),
    ],
)
@pytest.mark.rule("adapter-integrity-no-silent-drops")
def test_a_key_that_hides_another_is_told(text: str, keys: list[str], value: Json) -> None:
    told: list[str] = []
    assert decode(text.encode(), told.append) == value
    assert told == keys


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        (b"", "source-not-json", "empty line"),
        (b"   ", "source-not-json", "empty line"),
        (b'{"a":', "source-not-json", "cut off"),
        (b'{"a":"x', "source-not-json", ""),
        (b"{a:1}", "source-not-json", "column 2"),
        (b"[1,]", "source-not-json", ""),
        (b"1 2", "source-not-json", ""),
        (b"\x00\x01\x02", "source-not-json", "binary"),
        (b'{"a":"\xff"}', "source-encoding", "0xff"),
        (b'"\xed\xa0\x80"', "source-encoding", "0xed"),
        (b"\xff\xfe{\x00}\x00", "source-encoding", "0xff"),
        (b"\xef\xbb\xbf{}", "source-not-json", ""),
        (b'"a\nb"', "source-not-json", ""),
        (b"01", "source-not-json", ""),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "source-too-deep", "500"),
        (b"[" * 200_000, "source-too-deep", ""),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "source-too-deep", ""),
    ],
)
def test_what_is_not_json_says_why(line: bytes, code: str, words: str) -> None:
    with pytest.raises(NotJson) as caught:
        decode(line, lambda key: None)
    assert caught.value.code == code
    assert words in str(caught.value)


def test_the_deepest_value_allowed_survives() -> None:
    text = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert encode(quietly(text)) == text
    spaced = b"[ " * MAX_DEPTH + b"]" * MAX_DEPTH
    assert encode(quietly(spaced)) == text


@pytest.mark.parametrize("odd", ['"\\ud800"', "1e400", "1" * 5000, "0"], ids=["surrogate", "1e400", "digits", "plain"])
def test_what_a_source_may_hold_can_be_read_when_it_is_stored(odd: str) -> None:
    deepest = quietly(b"[" * (MAX_DEPTH - 1) + odd.encode() + b"]" * (MAX_DEPTH - 1))
    wrapped = {"options": {"source": {"record": [deepest]}}}
    assert same(decode_stored(encode(wrapped).decode()), wrapped)


def test_the_independent_reader_is_no_deeper() -> None:
    """`verify` compares what both readers take, line by line."""
    for depth in (MAX_DEPTH, MAX_DEPTH + 1, EVENT_DEPTH):
        line = b"[" * depth + b"]" * depth
        if depth == MAX_DEPTH:
            assert same(decode_strictly(line, lambda key: None), quietly(line))
        else:
            with pytest.raises(NotJson):
                decode_strictly(line, lambda key: None)


def test_a_reason_travels_between_processes() -> None:
    error = pickle.loads(pickle.dumps(NotJson("source-too-deep", "nested deeper than 500 levels")))
    assert (error.code, str(error)) == ("source-too-deep", "nested deeper than 500 levels")


@given(st.binary(max_size=40) | st.text(alphabet='{}[]",:0123456789.eE+-truefalsn \\u', max_size=30).map(str.encode))
def test_any_bytes_are_a_value_or_a_reason(line: bytes) -> None:
    try:
        value = decode(line, lambda key: None)
    except NotJson as error:
        value = error.code
    assert same(quietly(encode(value)), value)


STARVED = """
import resource, sys
from pond.model.json_text import NOT_PLAIN, NotJson, decode, decode_plain, decode_unproved, encode_line
line = b'{"a":"' + b"x" * (60 << 20) + b'"}\\n'
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]) << 20,) * 2)
assert decode_plain(line) is NOT_PLAIN
for read in (decode, decode_unproved):
    try:
        encode_line(read(line, print))
    except NotJson as error:
        print(error.code)
"""


@pytest.mark.parametrize("megabytes", [150, 220, 300, 400])
def test_a_long_line_never_ends_the_process(megabytes: int) -> None:
    """Nobody can catch it when a native library crashes for want of memory."""
    done = subprocess.run([sys.executable, "-c", STARVED, str(megabytes)], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()) == (0, ["source-too-large"] * 2), done.stderr
