"""The meaning of lossless: the same JSON type and value at the same path, and nothing looser."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pond.model.equal import fingerprint, first_difference, same
from pond.model.json_text import MAX_DEPTH, Json, Numeral, decode
from tests.lang.engines import copy
from tests.model.test_json_text import VALUES

DIFFERENT: list[tuple[Json, Json]] = [
    (1, 1.0),
    (1, True),
    (0, False),
    (0.0, -0.0),
    (None, False),
    ("1", 1),
    ("", None),
    ([], {}),
    ([1, 2], [2, 1]),
    ([1], [1, 1]),
    ({"a": None}, {}),
    ({"a": 1}, {"b": 1}),
    ({"a": {"b": [1, {"c": 0}]}}, {"a": {"b": [1, {"c": 0.0}]}}),
    (2**64, 2**64 + 1),
    (2**64, float(2**64)),
    (Numeral("NaN"), None),
    (Numeral("1E+400"), Numeral("1E+401")),
    (Numeral("Infinity"), Numeral("-Infinity")),
    ("\ud800", "\udfff"),
    ("é", "e\u0301"),
    (0.1 + 0.2, 0.3),
]


@given(VALUES)
def test_a_value_equals_its_copy(value: Json) -> None:
    assert same(value, copy(value))
    assert first_difference(value, copy(value)) is None


@pytest.mark.parametrize(("one", "two"), DIFFERENT)
def test_what_differs_is_not_the_same(one: Json, two: Json) -> None:
    for left, right in ((one, two), (two, one), ({"x": [one]}, {"x": [two]}), ([one, 2**70], [two, 2**70])):
        assert not same(left, right)
        assert first_difference(left, right) is not None


@given(VALUES, VALUES)
def test_the_two_ways_to_compare_agree(one: Json, two: Json) -> None:
    assert same(one, two) == (first_difference(one, two) is None)
    assert same(one, two) == same(two, one)


@given(st.dictionaries(st.text(), VALUES))
def test_the_order_of_keys_is_not_data(value: dict[str, Json]) -> None:
    assert same(value, dict(reversed(value.items())))


def test_not_a_number_equals_itself() -> None:
    assert same([Numeral("NaN"), 2**70], [Numeral("NaN"), 2**70])


@pytest.mark.parametrize(
    ("one", "two", "told"),
    [
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2.0}]}, "$.a[1].b: integer became number"),
        ({"a": 1}, {}, "$.a: lost (1)"),
        ({}, {"a": 1}, "$.a: added (1)"),
        ([1], [], "$: 1 items became 0"),
        ({"a": "x"}, {"a": "y"}, "$.a: 'x' became 'y'"),
        ({"a": None}, {"a": False}, "$.a: null became boolean"),
        ("x" * 100, "y", "$: '" + "x" * 56 + "... became 'y'"),
        (0.0, -0.0, "$: 0.0 became -0.0"),
        (Numeral("NaN"), 1, "$: number became integer"),
    ],
)
def test_the_first_difference_is_named(one: Json, two: Json, told: str) -> None:
    assert first_difference(one, two) == told


def test_the_deepest_record_that_only_the_exact_encoder_writes_has_a_fingerprint() -> None:
    text = b'{"a":' * MAX_DEPTH + b'"\\ud800"' + b"}" * MAX_DEPTH
    one, other = (decode(text, lambda _: None, MAX_DEPTH + 1) for _ in range(2))
    assert fingerprint(one) == fingerprint(other)
    assert same(one, other)
