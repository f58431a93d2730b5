"""What a typed text asks for; prose never fails, and a value that cannot be meant is refused where it stands."""

import re
from datetime import UTC, datetime
from importlib.resources import files
from time import process_time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pond.diagnostics.diagnostic import UsageError
from pond.diagnostics.render import picture
from pond.lake.times import micros
from pond.search.query import parse as parsing
from pond.search.query import values
from pond.search.query.parse import parse
from pond.search.query.query import SPELLINGS, Condition, Key, Query
from pond.sessions.stored_text import to_micros
from tests.search.asking import NOW


def asked(text: str) -> Query:
    return parse(text, NOW)


def same(text: str) -> None:
    """Assert that a text is words and nothing else."""
    assert asked(text) == Query(text, " ".join(text.split()))


PROSE = [
    "", " \n\t ", "git commit -m", "git commit -m fix", "rm -rf", "TypeError: x", r"C:\x", "http://a:80/x",
    "std::vector", "foo:bar", "-foo:bar", '"', 'a"b', 'one " mark', '"never closed', '-"never closed', 'role:"user',
    '-role:"user', "session::open", "file:///tmp/a.py", "tool://x", "--role:user", "xrole:user", "Role:user", "ROLE:",
    "(role:user)", 'print("a b")', '"a":"b"', '"a"b', '""', '-""', '" "', "-", "--", "- role", "'role:user'",
    "“curly marks”", "\u202eright to left", "שלום עולם", "🌿 fern", "nul \0 here", "half \ud83d a pair", "*", "a OR b",
    "NOT (a)", "^~+?[]{}",
]  # fmt: skip


@pytest.mark.parametrize("text", PROSE)
def test_prose_is_words(text: str) -> None:
    same(text)


@pytest.mark.parametrize(
    ("text", "words", "phrases", "without"),
    [
        ('"exact words"', "exact words", ("exact words",), ()),
        ('one "two three" four', "one two three four", ("two three",), ()),
        ('"b" a "b" "c"', "b a b c", ("b", "c"), ()),
        ('say "hello, you", then', "say hello, you , then", ("hello, you",), ()),
        ('he said: "stop".', "he said: stop .", ("stop",), ()),
        ('fern -"out of office"', "fern", (), ("out of office",)),
        ('-"x" -"x"', "", (), ("x",)),
        ('"  padded "', "padded", ("padded",), ()),
        ('"two\nlines"', "two\nlines", ("two\nlines",), ()),
        ('"role:user"', "role:user", ("role:user",), ()),
        ('"one" "two', 'one "two', ("one",), ()),
        (r'"C:\"', "C:\\", ("C:\\",), ()),
    ],
)
def test_phrases(text: str, words: str, phrases: tuple[str, ...], without: tuple[str, ...]) -> None:
    assert asked(text) == Query(text, words, phrases, without)


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("role:user", Key.ROLE, "user"),
        ("role:User", Key.ROLE, "user"),
        ("client:codex", Key.CLIENT, "codex"),
        ("project:~/api", Key.PROJECT, "~/api"),
        ("project:*api*", Key.PROJECT, "*api*"),
        (r'project:"C:\My Docs"', Key.PROJECT, r"C:\My Docs"),
        (r"project:C:\docs", Key.PROJECT, r"C:\docs"),
        ("session:019c", Key.SESSION, "019c"),
        ("after:2026-05-01", Key.AFTER, "2026-05-01T00:00:00.000Z"),
        ("since:2026-05-01T10:00:00.000001+02:00", Key.AFTER, "2026-05-01T08:00:00.000001Z"),
        ('after:"2026-05-01 10:00"', Key.AFTER, "2026-05-01T10:00:00.000Z"),
        ("before:7d", Key.BEFORE, "2026-04-27T12:30:00.000Z"),
        ("until:12h", Key.BEFORE, "2026-05-04T00:30:00.000Z"),
        ("after:today", Key.AFTER, "2026-05-04T00:00:00.000Z"),
        ("after:yesterday", Key.AFTER, "2026-05-03T00:00:00.000Z"),
        ("agent:Explore", Key.AGENT, "explore"),
        ("tool:Bash", Key.TOOL, "bash"),
        ("tool:mcp__*", Key.TOOL, "mcp__*"),
        ("file:Lake.py", Key.FILE, "lake.py"),
        (r"file:.\pond\lake.py", Key.FILE, "pond/lake.py"),
        ("has:image", Key.HAS, "image"),
        ("failed:TRUE", Key.FAILED, "true"),
        ("failed:false", Key.FAILED, "false"),
        ("subagents:true", Key.SUBAGENTS, "include"),
        ("subagents:only", Key.SUBAGENTS, "only"),
    ],
)
def test_conditions(text: str, key: Key, value: str) -> None:
    assert asked(text) == Query(text, "", (), (), (Condition(key, value),))
    if key is not Key.SUBAGENTS:
        assert asked(f"a -{text} b") == Query(f"a -{text} b", "a b", (), (), (Condition(key, value, True),))


def test_a_condition_says_where_its_value_stands() -> None:
    found = asked('fern\n  -role:user "x y" client:"codex"').conditions
    assert [(each.span and each.span.line, each.column) for each in found] == [(2, 9), (2, 27)]


@pytest.mark.parametrize(
    ("text", "column", "length", "message", "help"),
    [
        ("role:robot", 6, 5, "expected a role, found `robot`", "known: assistant, system, tool, user"),
        ("a role:usr b", 8, 3, "expected a role, found `usr`", "did you mean `user`? known: assistant, system, tool"),
        ("after:soon", 7, 4, "expected a time, found `soon`", "a date (2026-03-14)"),
        ("-before:2026-13-01", 9, 10, "expected a time, found `2026-13-01`", "a date (2026-03-14)"),
        ("failed:maybe", 8, 5, "expected true or false, found `maybe`", "known: false, true"),
        ("subagents:some", 11, 4, "expected true, false or only, found `some`", "known: false, only, true"),
        ("-subagents:true", 12, 4, "`subagents` cannot be excluded", "subagents:false"),
        ("has:smell", 5, 5, "expected a kind of attachment, found `smell`", "known: audio, file, image, video"),
        ("the role: user", 5, 5, "expected a value right behind `role:`, found none", 'quote it: "role:"'),
        ('x -tool:""', 9, 2, "expected a value right behind `-tool:`, found none", 'quote it: "-tool:"'),
        ("🌿\trole:robot", 8, 5, "expected a role, found `robot`", ""),
        (f"file:{'*' * 201}", 6, 201, "expected 200 characters at most", ""),
        (f"project:{'x' * 4097}", 9, 4097, "expected 4096 characters at most", ""),
    ],
)  # fmt: skip
def test_a_bad_value_is_refused_where_it_stands(text: str, column: int, length: int, message: str, help: str) -> None:
    with pytest.raises(UsageError) as refused:
        asked(text)
    (found,) = refused.value.diagnostics
    assert found.code == "usage"
    assert found.message.startswith(message)
    assert help in found.help
    assert found.span
    assert (found.span.line, found.span.column, found.span.length) == (1, column, length)


def test_a_refusal_points_at_the_value_however_long_the_text_is() -> None:
    text = "fern " * 20_000 + "role:robot" + " moss" * 20_000
    with pytest.raises(UsageError) as refused:
        asked(text)
    lines = picture(refused.value.diagnostics[0], text).splitlines()
    assert max(map(len, lines)) < 200
    assert lines[3].index("robot") == lines[4].index("^^^^^")


def test_a_query_has_so_many_conditions_at_most() -> None:
    assert len(asked("tool:a " * values.MOST).conditions) == values.MOST
    with pytest.raises(UsageError, match="100 conditions at most"):
        asked("tool:a " * (values.MOST + 1))


def test_the_grammar_knows_the_keys() -> None:
    grammar = files("pond.search.query").joinpath("grammar.lark").read_text()
    (listed,) = re.findall(r"^KEY: /\(\?:(.*)\)/$", grammar, re.MULTILINE)
    assert sorted(listed.split("|")) == sorted(SPELLINGS)


PIECES = st.sampled_from(
    [
        *SPELLINGS, *(f"{name}:" for name in SPELLINGS), *'":-*?\\/.,;!\'()[]{}|&~^+ \n\t\0\u2028\u00a0', "user",
        "true", "2026-05-01", "7d", "a", "b c", '-"', "::", "://", "--", "é", "北京", "שלום", "🌿", "\ud83d", " ",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=30) | st.text(st.characters(), max_size=30)


@given(TEXTS)
@example('"" "')
@settings(max_examples=1500)
def test_any_text_is_a_query_or_holds_a_bad_value(text: str) -> None:
    try:
        found = asked(text)
    except UsageError as refused:
        (diagnostic,) = refused.diagnostics
        assert diagnostic.span
        line = text.splitlines()[diagnostic.span.line - 1]
        begin = diagnostic.span.column - 1
        before = line[:begin]
        assert re.search(rf"(?:^|\s)-?(?:{'|'.join(SPELLINGS)}):$", before) or line[begin:].startswith(
            tuple(f"{sign}{name}:" for name in SPELLINGS for sign in ("", "-"))
        )
    else:
        assert found.text == text
        assert all(phrase in found.words for phrase in found.phrases)


@given(TEXTS.filter(lambda text: parsing._OPENING.search(text) is None))
@settings(max_examples=400)
def test_what_opens_nothing_is_words_to_the_grammar_too(text: str) -> None:
    assert parsing._parsed(text, NOW) == asked(text)


LONG = {
    "words": "fern ", "marks": '"', "open marks": ' "x', "open exclusions": ' -"x', "phrases": '"a b" ',
    "colons": "a:b ", "minus": "-m ", "spaces": " ", "no spaces": "x", "keys in code": "role::x ",
    "unclosed values": 'role:"x ',
    "line breaks": "\n", "signs": '":-*', "halves": "\ud83d", "nul": "\0 ", "glued": 'a"b":c"',
}  # fmt: skip


@pytest.mark.parametrize("unit", LONG.values(), ids=LONG)
def test_a_long_text_takes_time_in_step_with_its_length(unit: str) -> None:
    """A text eight times as long takes far less than eight times eight as much."""

    def cost(size: int) -> float:
        text = '"x y" ' + unit * (size // len(unit))
        times = []
        for _ in range(3):
            begin = process_time()
            parse(text, NOW)
            times.append(process_time() - begin)
        return min(times)

    parse('"warm"', NOW)
    assert cost(100_000) < 24 * max(cost(12_500), 0.0005)


@given(st.datetimes(timezones=st.just(UTC)))
@settings(max_examples=60)
def test_every_time_that_can_be_typed_is_understood(time: datetime) -> None:
    (condition,) = asked(f"after:{time.isoformat()}").conditions
    assert to_micros(condition.value) == micros(time)
