"""The fast reader: what it accepts is exact, and a record as long as its line hid no key."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pond.model.equal import same
from pond.model.json_text import (
    NOT_PLAIN,
    decode_plain,
    decode_strictly,
    encode_line,
    encode_plain,
)

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.dictionaries(st.text(), LEAVES | st.lists(LEAVES, max_size=3), max_size=4)
SPELLINGS = (
    lambda value: json.dumps(value),
    lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")),
    lambda value: json.dumps(value, indent=1).replace("\n", " "),
    lambda value: encode_line(value).decode("utf-8", "surrogatepass").strip(),
)


def keys_told_twice(line: bytes) -> list[str]:
    told: list[str] = []
    decode_strictly(line.strip(), told.append)
    return told


@given(VALUES, st.sampled_from(SPELLINGS))
@example({"n": 1e6, "m": 1e16, "o": 1e-7, "p": 123456789012345680.0}, SPELLINGS[0])
@example({"n": 2**70, "m": -0.0}, SPELLINGS[1])
@example({"n": 1e-5, "m": 1.5e-05, "o": 9.999e-05}, SPELLINGS[0])
def test_what_the_fast_road_takes_is_exact_and_never_grows(value: dict[str, object], spelling: object) -> None:
    assert callable(spelling)
    line = spelling(value).encode("utf-8", "replace") + b"\n"
    found = decode_plain(line)
    if found is not NOT_PLAIN:
        assert same(found, decode_strictly(line.strip(), lambda _: None))
        assert len(encode_plain(found) or b"") <= len(line)


# The second `a` takes as many bytes as the number gains when it is written out.
HIDDEN = [
    b'{"a":1,"a":1,"n":1e6}\n',
    b'{"a":1,"n":1E6,"a":1}\n',
    b'{"n":[1e6],"o":{"a":1,"a":1}}\n',
    b'{"a":1234567890,"a":0,"n":1e16,"m":1e15}\n',
    b'{"a":1,"a":2}\n',
    b'{"n":[1e-05,1e-05,2e-05],"a":1,"a":1}\n',
    b'{"n":[1.5e-05,2.5e-05,3.5e-05,4.5e-05,5.5e-05,6.5e-05],"a":1,"a":1}\n',
    '{"a":1,"a":1,"n":36893488147419103232,"m":"ü"}\n'.encode(),
]


@pytest.mark.parametrize("line", HIDDEN)
def test_a_hidden_key_never_goes_unnoticed(line: bytes) -> None:
    assert keys_told_twice(line) == ["a"]
    found = decode_plain(line)
    text = encode_plain(found) if found is not NOT_PLAIN else None
    assert text is None or len(text) < len(line)
