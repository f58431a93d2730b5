"""The law of every conversion: what fits comes back, with its spelling; and the traps of each source format by name."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pond.lang.conversions import CONVERSIONS, NO_SPELLING
from pond.model.equal import same
from pond.model.instants import instant
from pond.model.json_text import Json, decode, encode
from tests.lang.test_oracle import json_values

VALUES = json_values(st.text(max_size=3))


def there_and_back(name: str, value: Json, argument: str | None = None) -> tuple[Json, Json]:
    """Return the canonical values and the spelling of a value that fits, having checked that it comes back."""
    conversion = CONVERSIONS[name]
    assert conversion.write is not None
    values = conversion.read(value, argument)
    assert values is not None
    assert len(values) == len(conversion.gives)
    spelling = conversion.spelling(value, values, argument)
    stored = NO_SPELLING if spelling is NO_SPELLING else decode(encode(spelling), lambda key: None)
    written = conversion.write(values, stored, argument)
    assert same(written, value), f"{value!r} came back as {written!r}"
    return values, spelling


@pytest.mark.rule("adapter-native-restore-lossless")
@pytest.mark.parametrize("name", [name for name, c in CONVERSIONS.items() if c.write is not None])
@given(value=VALUES)
def test_whatever_fits_comes_back(name: str, value: Json) -> None:
    argument = "run" if CONVERSIONS[name].takes_argument else None
    if CONVERSIONS[name].read(value, argument) is not None:
        there_and_back(name, value, argument)


@pytest.mark.parametrize("name", CONVERSIONS)
@given(value=VALUES)
def test_reading_is_total(name: str, value: Json) -> None:
    values = CONVERSIONS[name].read(value, "run" if CONVERSIONS[name].takes_argument else None)
    assert values is None or len(values) == len(CONVERSIONS[name].gives)


# --- time ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "canonical"),
    [
        ("2026-03-04T05:06:07.089Z", "2026-03-04T05:06:07.089Z"),
        ("2026-03-04T05:06:07Z", "2026-03-04T05:06:07.000Z"),
        ("2026-03-04T05:06:07.1Z", "2026-03-04T05:06:07.100Z"),
        ("2026-03-04T05:06:07.123456Z", "2026-03-04T05:06:07.123456Z"),
        ("2026-03-04T05:06:07.123000Z", "2026-03-04T05:06:07.123Z"),
        ("2026-03-04T05:06:07.123456789Z", "2026-03-04T05:06:07.123456Z"),
        ("2026-03-04T05:06:07.000+00:00", "2026-03-04T05:06:07.000Z"),
        ("2026-03-04T05:06:07+05:30", "2026-03-03T23:36:07.000Z"),
        ("2026-03-04T23:06:07.5-11:00", "2026-03-05T10:06:07.500Z"),
        ("2026-03-04t05:06:07.089z", "2026-03-04T05:06:07.089Z"),
        ("2026-03-04 05:06:07Z", "2026-03-04T05:06:07.000Z"),
        ("0001-01-01T00:00:00.000Z", "0001-01-01T00:00:00.000Z"),
        ("0001-01-01T12:00:00+11:59", "0001-01-01T00:01:00.000Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        ("2024-02-29T00:00:00.000Z", "2024-02-29T00:00:00.000Z"),
        ("2026-03-04T05:06:07.000-00:00", "2026-03-04T05:06:07.000Z"),
    ],
)
def test_times_have_one_canonical_spelling_and_keep_their_own(source: str, canonical: str) -> None:
    values, spelling = there_and_back("rfc3339", source)
    assert values == (canonical,)
    assert spelling == (NO_SPELLING if source == canonical else source)
    assert instant(canonical) == canonical


@pytest.mark.parametrize(
    "source",
    [
        "", "soon", "2026-03-04", "2026-03-04T05:06:07", "2026-03-04T05:06:60Z", "2026-03-04T05:06:60.000Z",
        "2026-02-29T05:06:07Z", "2026-02-30T05:06:07.000Z", "2026-13-04T05:06:07.000Z", "2026-03-04T24:00:00.000Z",
        "2026-03-04T24:00:00Z", "2026-03-04T05:60:00.000Z", "0000-01-01T00:00:00.000Z", "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00", "2026-03-04T05:06:07.Z", "2026-03-04T05:06:07,089Z", "2026-03-04T05:06:07.089",
        " 2026-03-04T05:06:07.089Z", "2026-03-04T05:06:07.089Z\n", "20260304T050607.089Z", "2026-W10-3T05:06:07.089Z",
        "2026-03-04X05:06:07.089Z", "2026-03-04T05:06:07.08Z9", "2026-03-04T05.06.07.089Z", "2026-03-04T05:06:07.0x9Z",
        "\uff12026-03-04T05:06:07.089Z", "2026-03-04T05:06:07+0530", "2026-03-04T05:06:07+05",
        "2026-03-04T05:06:07.+12Z", "2026-03-04T05:06:+7.089Z", "2026-03-04T 5:06:07.089Z", "2026-03-04T05:06:07.089Z ",
        "2026-03-04T05:06:07.08\uff12Z", "2026-03-04T05:06:07+24:00",
        "-026-03-04T05:06:07.089Z", "2026-3-004T05:06:07.089Z",
    ],
)  # fmt: skip
def test_what_is_no_time_does_not_fit(source: str) -> None:
    assert CONVERSIONS["rfc3339"].read(source, None) is None


@given(
    moment=st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 12, 31)),
    digits=st.integers(0, 9),
    offset=st.sampled_from(["Z", "z", "+00:00", "-00:00", "+05:30", "-11:00", "+14:00"]),
    middle=st.sampled_from("Tt "),
)
def test_any_spelling_of_a_time_comes_back(moment: datetime, digits: int, offset: str, middle: str) -> None:
    fraction = "." + f"{moment.microsecond:06}789"[:digits] if digits else ""
    values, _ = there_and_back("rfc3339", f"{moment:%H:%M:%S}".join((f"{moment.date()}{middle}", fraction + offset)))
    read = datetime.fromisoformat(values[0])
    kept = moment.microsecond - moment.microsecond % 10 ** max(0, 6 - digits)
    shift = timedelta() if offset in "Zz" else datetime.fromisoformat("2000-01-01T00:00:00" + offset).utcoffset()
    assert read == moment.replace(microsecond=kept, tzinfo=UTC) - (shift or timedelta())


@pytest.mark.parametrize(
    ("name", "source", "canonical", "marked"),
    [
        ("epoch_ms", 1_772_600_767_089, "2026-03-04T05:06:07.089Z", False),
        ("epoch_ms", 1_772_600_767_089.0, "2026-03-04T05:06:07.089Z", True),
        ("epoch_ms", 1_772_600_767_089.25, "2026-03-04T05:06:07.089250Z", True),
        ("epoch_ms", 0, "1970-01-01T00:00:00.000Z", False),
        ("epoch_ms", -1, "1969-12-31T23:59:59.999Z", False),
        ("epoch_ms", -0.0, "1970-01-01T00:00:00.000Z", True),
        ("epoch_s", 1_772_600_767, "2026-03-04T05:06:07.000Z", False),
        ("epoch_s", 1_772_600_767.5, "2026-03-04T05:06:07.500Z", True),
        ("epoch_s", -62_135_596_800, "0001-01-01T00:00:00.000Z", False),
        ("epoch_s", 253_402_300_799, "9999-12-31T23:59:59.000Z", False),
    ],
)
def test_counted_time(name: str, source: Json, canonical: str, marked: bool) -> None:
    values, spelling = there_and_back(name, source)
    assert values == (canonical,)
    assert (spelling is not NO_SPELLING) is marked


@pytest.mark.parametrize("name", ["epoch_ms", "epoch_s"])
@pytest.mark.parametrize("source", [10**30, -(10**30), 1e300, True, "0", None, [0]])
def test_what_is_no_count_does_not_fit(name: str, source: Json) -> None:
    assert CONVERSIONS[name].read(source, None) is None


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
@example(9_007_199_254_741)
def test_whole_milliseconds_need_no_mark(moment: int) -> None:
    _, spelling = there_and_back("epoch_ms", moment)
    assert spelling is NO_SPELLING


# --- JSON inside a string --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "value", "spelling"),
    [
        ('{"a":1}', {"a": 1}, NO_SPELLING),
        ('{"a": 1}', {"a": 1}, "spaced"),
        ('{"a": "é"}', {"a": "é"}, "spaced"),
        ('{"a": "\\u00e9"}', {"a": "é"}, "ascii"),
        ('{\n  "a": 1\n}', {"a": 1}, "indented"),
        ('{"a":1,"a":2}', '{"a":1,"a":2}', "text"),
        ('{"a":1.0}', {"a": 1.0}, NO_SPELLING),
        ('{"a":1.10}', {"a": 1.1}, {"text": '{"a":1.10}'}),
        ('{"a":123456789012345678901}', {"a": 123456789012345678901}, NO_SPELLING),
        ('{ "a":1 }', {"a": 1}, {"text": '{ "a":1 }'}),
        ("-0", 0, {"text": "-0"}),
        ("-0.0", -0.0, NO_SPELLING),
        ('"\\/"', "/", {"text": '"\\/"'}),
        ("null", None, NO_SPELLING),
        ("", "", "text"),
        ("ls -l", "ls -l", "text"),
        ('{"a":', '{"a":', "text"),
        ("\ud800", "\ud800", "text"),
        (7, 7, "value"),
        ({"a": 1}, {"a": 1}, "value"),
        (None, None, "value"),
    ],
)
def test_json_in_a_string(source: Json, value: Json, spelling: Json) -> None:
    values, found = there_and_back("json_text", source)
    assert same(values[0], value)
    assert found == spelling if spelling is not NO_SPELLING else found is NO_SPELLING


@pytest.mark.parametrize("depth", [400, 600, 20_000])
def test_deep_json_in_a_string_comes_back(depth: int) -> None:
    there_and_back("json_text", "[" * depth + "]" * depth)
    there_and_back("json_text", '{"a":' * depth + "1" + "}" * depth)


STYLES: list[Callable[[Json], str]] = [
    lambda value: encode(value).decode(),
    lambda value: json.dumps(value, ensure_ascii=False),
    json.dumps,
    lambda value: json.dumps(value, indent=2, ensure_ascii=False),
    lambda value: json.dumps(value, separators=(" ,", " : ")),
    lambda value: json.dumps(value, indent="\t"),
    lambda value: f" {json.dumps(value)}\n",
]
PLAIN_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
)


@given(value=PLAIN_JSON, style=st.sampled_from(STYLES))
def test_every_spelling_of_json_comes_back(value: Json, style: Callable[[Json], str]) -> None:
    values, _ = there_and_back("json_text", style(value))
    assert same(values[0], value)


@given(st.text(alphabet='{}[]",:0123456789.eE+-truefalsn \\u"', max_size=30))
def test_almost_json_comes_back(text: str) -> None:
    there_and_back("json_text", text)


# --- the others ------------------------------------------------------------------------------------------------------


@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=5), max_size=5))
def test_items_of_text_come_back_from_one_text(texts: list[str]) -> None:
    values, spelling = there_and_back("texts", [{"type": "run", "text": text} for text in texts], "run")
    assert values == ("".join(texts),)
    assert (spelling is NO_SPELLING) == ((len(texts) == 1 and texts[0] != "") or texts == [])


@pytest.mark.parametrize(
    "source",
    [
        "x", None, {}, ["x"], [{"type": "run"}], [{"type": "run", "text": None}], [{"type": "other", "text": "x"}],
        [{"type": "run", "text": "x", "more": 1}], [{"text": "x"}],
    ],
)  # fmt: skip
def test_other_items_do_not_fit(source: Json) -> None:
    assert CONVERSIONS["texts"].read(source, "run") is None


@given(kind=st.text(st.characters(exclude_characters=";,"), min_size=1), data=st.text())
def test_data_urls_come_back(kind: str, data: str) -> None:
    values, spelling = there_and_back("data_url", f"data:{kind};base64,{data}")
    assert values == (kind, data)
    assert spelling is NO_SPELLING


@pytest.mark.parametrize(
    "source",
    ["", "data:", "data:,x", "data:image/png,x", "data:;base64,x", "DATA:a;base64,x", "https://example.org/x", 7],
)
def test_other_urls_do_not_fit(source: Json) -> None:
    assert CONVERSIONS["data_url"].read(source, None) is None


@pytest.mark.parametrize(
    ("path", "name"),
    [("/home/ada/engine", "engine"), ("engine/", "engine"), ("C:\\work\\x", "x"), ("x", "x"), ("", "")],
)
def test_basename_reads_one_way(path: str, name: str) -> None:
    assert CONVERSIONS["basename"].read(path, None) == (name,)
    assert CONVERSIONS["basename"].write is None
