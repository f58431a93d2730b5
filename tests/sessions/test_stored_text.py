"""Any text and any canonical time is the same after it was stored."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pond.model.instants import instant, print_instant
from pond.sessions.stored_text import from_micros, from_stored, to_micros, to_stored

ANY_TEXT = st.text(st.characters(exclude_categories=()))

# --- text ------------------------------------------------------------------------------------------------------------


@given(ANY_TEXT | ANY_TEXT.map(lambda text: "\x01" + text))
@example("\ud83d\ude00")
@example("\U0001f600\ud83d")
@example("\x01\\ud83d")
@example("\ud800'\"\\\n\0")
def test_any_text_comes_back(text: str) -> None:
    stored = to_stored(text)
    stored.encode("utf-8")
    assert from_stored(stored) == text


@given(st.text().filter(lambda text: not text.startswith("\x01")))
def test_ordinary_text_is_stored_as_it_is(text: str) -> None:
    assert to_stored(text) is text
    assert from_stored(text) is text


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("", ""),
        ("a\\ud800", "a\\ud800"),
        ("a\ud800", "\x01a\\ud800"),
        ("\x01", "\x01\\x01"),
        ("\ud83d\ude00", "\x01\\ud83d\\ude00"),
        ("\U0001f600\ud800é\\", "\x01\\U0001f600\\ud800\\xe9\\\\"),
    ],
)
def test_what_utf_8_cannot_hold_is_escaped(text: str, stored: str) -> None:
    assert to_stored(text) == stored
    assert from_stored(stored) == text


# --- time ------------------------------------------------------------------------------------------------------------

MOMENTS = st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31, 23, 59, 59, 999_999))
EPOCH = datetime(1970, 1, 1)


@given(MOMENTS, st.sampled_from([1, 1000, 1_000_000]))
@example(datetime(1, 1, 1), 1)
@example(datetime(9999, 12, 31, 23, 59, 59, 999_999), 1)
@example(datetime(1969, 12, 31, 23, 59, 59, 999_000), 1)
def test_a_canonical_time_comes_back(moment: datetime, unit: int) -> None:
    moment = moment.replace(tzinfo=UTC, microsecond=moment.microsecond // unit * unit)
    text = print_instant(moment)
    micros = to_micros(text)
    assert micros == (moment.replace(tzinfo=None) - EPOCH) // timedelta(microseconds=1)
    assert from_micros(micros) == text


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("1970-01-01T00:00:00.000Z", 0),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("2026-03-04T05:06:07.089Z", 1_772_600_767_089_000),
        ("2026-03-04T05:06:07.089012Z", 1_772_600_767_089_012),
        ("0001-01-01T00:00:00.000Z", -62_135_596_800_000_000),
        ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
    ],
)
def test_times_as_numbers(text: str, micros: int) -> None:
    assert to_micros(text) == micros
    assert from_micros(micros) == text


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-04T05:06:07Z", "2026-03-04T05:06:07.000000Z", "2026-03-04T05:06:07.0Z", "2026-03-04t05:06:07.000z",
        "2026-03-04 05:06:07.000Z", "2026-03-04T06:06:07.000+01:00", "2026-03-04T05:06:07.000000000Z",
        "2026-03-03T23:06:07-06:00", "2026-03-04T05:06:07.000-00:00",
    ],
)  # fmt: skip
def test_another_spelling_is_the_same_instant(text: str) -> None:
    assert to_micros(text) == 1_772_600_767_000_000
    assert from_micros(1_772_600_767_000_000) == "2026-03-04T05:06:07.000Z"


@pytest.mark.parametrize(
    "text",
    [
        "", "Z", "soon", "2026-03-04", "2026-03-04T05:06:07", "2026-03-04T05:06:07.089", "2026-03-04T05:06:60.000Z",
        "2026-02-29T05:06:07.000Z", "2026-13-04T05:06:07.000Z", "2026-03-04T24:00:00.000Z", "0000-01-01T00:00:00.000Z",
        "0001-01-01T00:00:00+25:00", "2026-03-04T05:06:07.0890001Z", "2026-03-04T05:06:07.089000001Z",
        "2026-03-04T05:06:07.089Z\n", " 2026-03-04T05:06:07.089Z", "2026-03-04X05:06:07.089Z", "20260304T050607.089Z",
        "2026-03-04T05:06:07.089+01Z", "2026-03-04T05:06:07.+12345Z", "2026-03-04T05:06:07,089Z",
        "2026-03-04T05:06:07.08900001Z", "2026-03-04T05:06:07.0891", "2026-03-04T05:06:07.0891234",
        "2026-03-04T05:06:07.00+0100", "2026-03-04T24:00:00Z", "2026-03-04T05:06:07.08\uff12Z",
        "2026-W10-3T05:06:07.089Z", "2026-03-04T05:06:07+0530",
    ],
)  # fmt: skip
def test_what_is_no_time_has_no_number(text: str) -> None:
    assert to_micros(text) is None


ODD_CHARACTERS = st.sampled_from("0159-+:.,TtZz W\uff12")


@given(MOMENTS, st.booleans(), st.lists(st.tuples(st.integers(0, 26), ODD_CHARACTERS), max_size=2))
def test_the_language_takes_the_same_times(moment: datetime, finer: bool, changes: list[tuple[int, str]]) -> None:
    text = moment.isoformat(timespec="microseconds" if finer else "milliseconds") + "Z"
    for at, character in changes:
        text = text[:at] + character + text[at + 1 :]
    canonical, micros = instant(text), to_micros(text)
    assert (micros is None) == (canonical is None)
    if canonical and micros is not None:
        assert from_micros(micros) == canonical
