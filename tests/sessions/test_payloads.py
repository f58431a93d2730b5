"""Payloads leave a value, wherever they are in it, and come back; nothing else about the value changes."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pond.model.equal import same
from pond.model.json_text import MAX_DEPTH, Json, encode
from pond.sessions.payloads import pack, pack_known, texts_at, unpack, unpack_known
from tests.lang.engines import copy
from tests.model.test_json_text import TEXTS, VALUES
from tests.sessions.test_base64_text import for_urls, noise, on_lines, plain

ONE, TWO = plain(noise(600, 1)), for_urls(noise(700, 2))
LINES = "data:image/gif;base64," + on_lines(plain(noise(500, 3)), 76, "\r\n")


def there_and_back(value: Json) -> list[Any]:
    """Pack, store the places as JSON text, unpack; return the places, none where nothing was packed."""
    before = copy(value)
    packed = pack(value)
    assert same(value, before), "the value given is left alone"
    if packed is None:
        return []
    stored: list[Any] = json.loads(encode(packed.locations))
    assert stored == packed.locations
    assert sum(length for _, length, _ in stored) == len(packed.data)
    whole = unpack(copy(packed.value), packed.data, stored)
    assert same(whole, value)
    assert encode(whole) == encode(value), "keys keep their order"
    assert texts_at(whole, stored) == texts_at(value, stored)
    return stored


@pytest.mark.parametrize(
    ("value", "emptied", "paths"),
    [
        (ONE, "", [[]]),
        ({"media_type": "image/png", "data": ONE}, {"media_type": "image/png", "data": ""}, [["data"]]),
        (
            {"is_failure": False, "result": [{"text": "two"}, {"source": {"data": ONE}}, {"source": {"data": TWO}}]},
            {"is_failure": False, "result": [{"text": "two"}, {"source": {"data": ""}}, {"source": {"data": ""}}]},
            [["result", 1, "source", "data"], ["result", 2, "source", "data"]],
        ),
        (
            {"b": LINES, "a": ["", ONE, None, 1.5, ONE]},
            {"b": "", "a": ["", "", None, 1.5, ""]},
            [["b"], ["a", 1], ["a", 4]],
        ),
        ({"": [[ONE]]}, {"": [[""]]}, [["", 0, 0]]),
    ],
)
def test_payloads_are_found_wherever_they_stand(value: Json, emptied: Json, paths: list[Any]) -> None:
    packed = pack(value)
    assert packed is not None
    assert packed.value == emptied
    assert [place[0] for place in there_and_back(value)] == paths


def test_the_bytes_stand_in_the_order_of_the_places() -> None:
    packed = pack([ONE, "x", {"a": TWO}])
    assert packed is not None
    assert packed.data == noise(600, 1) + noise(700, 2)
    assert packed.locations == [[[0], 600, None], [[2, "a"], 700, {"url": True}]]


@pytest.mark.parametrize(
    "value", [None, "", "short", 7, [], {}, {"text": "a few words " * 100}, {"data": ONE[:508]}, {ONE: 1}]
)
def test_nothing_is_packed_where_there_is_nothing(value: Json) -> None:
    assert pack(value) is None


def test_a_payload_is_packed_from_the_least_length_on() -> None:
    assert pack(ONE[:512]) is not None
    assert pack(ONE[:511]) is None


def test_a_payload_is_found_in_the_deepest_record() -> None:
    value: Json = ONE
    for _ in range(MAX_DEPTH):
        value = {"a": value}
    packed = pack(value)
    assert packed is not None
    assert packed.locations == [[["a"] * MAX_DEPTH, 600, None]]
    assert encode(unpack(*packed)) == encode(value)


@st.composite
def values_with(draw: st.DrawFn, texts: list[str]) -> Json:
    """Draw a value that holds some of `texts`."""
    leaves = st.sampled_from(texts) | VALUES
    return draw(
        st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4))
    )


def count(value: Json, texts: list[str]) -> int:
    if type(value) is dict or type(value) is list:
        return sum(count(member, texts) for member in (value.values() if type(value) is dict else value))
    return type(value) is str and value in texts


@given(values_with([ONE, TWO, LINES, "", "no payload " * 60]))
def test_any_value_comes_back(value: Json) -> None:
    assert len(there_and_back(value)) == count(value, [ONE, TWO, LINES])


# --- payloads that stand elsewhere too -------------------------------------------------------------------------------

KNOWN = {ONE: (0, 0), LINES: (2, 1)}
TEXT_OF = {place: text for text, place in KNOWN.items()}


def test_a_repeated_payload_is_taken_from_its_part() -> None:
    part = {"result": [{"type": "image", "source": {"data": ONE}}]}
    packed = pack(part)
    assert packed is not None
    known = {text: (4, number) for number, text in enumerate(texts_at(part, packed.locations))}
    repeated = {"toolUseResult": {"file": {"base64": ONE, "type": "image/png"}}, "again": ONE}
    found = pack_known(repeated, known)
    assert found == (
        {"toolUseResult": {"file": {"base64": "", "type": "image/png"}}, "again": ""},
        [[["toolUseResult", "file", "base64"], 4, 0], [["again"], 4, 0]],
    )
    restored = unpack(packed.value, packed.data, packed.locations)
    texts = {(4, number): text for number, text in enumerate(texts_at(restored, packed.locations))}
    assert unpack_known(*found, texts) == repeated


def test_only_equal_texts_are_taken() -> None:
    assert pack_known({"a": ONE + "\n", "b": ONE[:-4], "c": TWO, "d": ""}, KNOWN) is None


@given(values_with([ONE, TWO, LINES, ""]))
def test_any_value_with_repeated_payloads_comes_back(value: Json) -> None:
    before = copy(value)
    found = pack_known(value, KNOWN)
    assert same(value, before)
    assert len(found[1] if found else []) == count(value, [ONE, LINES])
    if found:
        emptied, places = found
        assert count(emptied, [ONE, LINES]) == 0
        assert same(unpack_known(copy(emptied), json.loads(encode(places)), TEXT_OF), value)
