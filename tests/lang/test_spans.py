"""Whose words: what the harness put into a person's turn is cut off exactly; what a person quotes stays theirs."""

from collections.abc import Callable
from itertools import pairwise
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pond.lang.spans import CONVERSATIONAL, INJECTED, Markers
from tests.size import size

TABLE = Markers.of(
    between=(
        ("<note>", "</note>"),
        ("<note-list", "</note-list>"),
        ("<name>", "</name>"),
        ("# Context:", "## Request:"),
    ),
    wraps=(("<args>", "</args>"),),
    prefixes=("Caution: ", "<summary "),
    exact=("[stopped]",),
    tails=("See also:", "Read it at"),
    frames=("## My wish:",),
)
NOTE = "<note>remember</note>"


def cut(text: str) -> str:
    """Return the text with its injected runs in double square brackets."""
    runs = TABLE.split(text)
    assert "".join(run for _, run in runs) == text
    assert all(one[0] != two[0] for one, two in pairwise(runs)), "neighbours alike"
    return "".join(run if provenance == CONVERSATIONAL else f"[[{run}]]" for provenance, run in runs)


@pytest.mark.rule("model-part-provenance")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello", "hello"),
        ("", ""),
        (NOTE, f"[[{NOTE}]]"),
        # before, after, between, several
        (f"{NOTE}\nhello", f"[[{NOTE}]]\nhello"),
        (f"hello\n{NOTE}", f"hello\n[[{NOTE}]]"),
        (f"one\n{NOTE}\ntwo", f"one\n[[{NOTE}]]\ntwo"),
        (f"one\n{NOTE}\n{NOTE}\ntwo\n{NOTE}\n", f"one\n[[{NOTE}\n{NOTE}]]\ntwo\n[[{NOTE}\n]]"),
        (f"{NOTE}{NOTE}\nhello", f"[[{NOTE}{NOTE}]]\nhello"),
        (f"{NOTE} {NOTE}\nhello", f"[[{NOTE} {NOTE}]]\nhello"),
        (f"\n\n  {NOTE}  \nhello", f"[[\n\n  {NOTE}]]  \nhello"),
        (f"one\r\n{NOTE}\r\ntwo", f"one\r\n[[{NOTE}]]\r\ntwo"),
        ("<note>\nmany\n\nlines\n</note>\n\nhello", "[[<note>\nmany\n\nlines\n</note>]]\n\nhello"),
        # one kind beginning like another
        ('<note-list a="1">x</note-list>\nhello', '[[<note-list a="1">x</note-list>]]\nhello'),
        ("<note-list>\n<note>x</note>\n</note-list>\nhello", "[[<note-list>\n<note>x</note>\n</note-list>]]\nhello"),
        # nested
        ("<note>a\n<note>b</note>\nc</note>\nhello", "[[<note>a\n<note>b</note>\nc</note>]]\nhello"),
        # unclosed
        ("<note>hello", "<note>hello"),
        ("hello</note>", "hello</note>"),
        ("</note>\n<note>", "</note>\n<note>"),
        (f"<note>never closed\n{NOTE}\nhello", f"<note>never closed\n[[{NOTE}]]\nhello"),
        (f"<name>never closed\n{NOTE}\nhello", f"<name>never closed\n[[{NOTE}]]\nhello"),
        # put against the person's words without a blank, or on lines of its own
        (f"{NOTE}hello", f"[[{NOTE}]]hello"),
        (f"{NOTE}\n{NOTE}hello", f"[[{NOTE}\n{NOTE}]]hello"),
        (f"hello\n{NOTE}there", f"hello\n{NOTE}there"),
        ("hello <note>\nx\n</note>", "hello [[<note>\nx\n</note>]]"),
        ("what is <note>x\nor </note>", "what is <note>x\nor </note>"),
        # quoted in a sentence
        (f"why does {NOTE} appear?", f"why does {NOTE} appear?"),
        (f"{NOTE} is what I see", f"{NOTE} is what I see"),
        (f"{NOTE} and\n{NOTE}\nhello", f"{NOTE} and\n[[{NOTE}]]\nhello"),
        (f"- {NOTE}\n> {NOTE}\n`{NOTE}`", f"- {NOTE}\n> {NOTE}\n`{NOTE}`"),
        ("what does <note> mean?\nand </note>?", "what does <note> mean?\nand </note>?"),
        # in a code fence
        (f"look:\n```\n{NOTE}\n```\nwhy?", f"look:\n```\n{NOTE}\n```\nwhy?"),
        (f"look:\n~~~xml\n{NOTE}\n~~~\nwhy?", f"look:\n~~~xml\n{NOTE}\n~~~\nwhy?"),
        (f"````\n```\n{NOTE}\n```\n````\nwhy?", f"````\n```\n{NOTE}\n```\n````\nwhy?"),
        (f"```\ncode\n```\n{NOTE}", f"```\ncode\n```\n[[{NOTE}]]"),
        (f"a ``` in a sentence\n{NOTE}\n```", f"a ``` in a sentence\n[[{NOTE}]]\n```"),
        (f"```\nfence never closed\n{NOTE}", f"```\nfence never closed\n[[{NOTE}]]"),
        (f"<note>\n```\n</note>\nhello\n{NOTE}", f"[[<note>\n```\n</note>]]\nhello\n[[{NOTE}]]"),
        (f"<note>\n```\n</note>\nhello\n{NOTE}\n```\n", f"[[<note>\n```\n</note>]]\nhello\n[[{NOTE}]]\n```\n"),
        # a heading instead of a tag: the person's words follow
        ("# Context:\nopen files\n## Request: fix it", "[[# Context:\nopen files\n## Request:]] fix it"),
        ("# Context:\nno request", "# Context:\nno request"),
        # a frame, whatever its head is, up to the line that ends it
        ("# Tabs:\n- a.py\n\n## My wish:\nfix it", "[[# Tabs:\n- a.py\n\n## My wish:]]\nfix it"),
        ("anything at all\n## My wish: fix it", "[[anything at all\n## My wish:]] fix it"),
        ("## My wish:\nfix it\n## My wish:\ntwice", "[[## My wish:]]\nfix it\n## My wish:\ntwice"),
        (f"# Tabs:\n```\n## My wish:\n{NOTE}\nfix it", f"[[# Tabs:\n```\n## My wish:\n{NOTE}]]\nfix it"),
        ("<note>\nTabs\n## My wish:\n</note>\nfix it", "[[<note>\nTabs\n## My wish:\n</note>]]\nfix it"),
        (f"{NOTE}\n<note>x\n## My wish:\n</note>\nhm", f"[[{NOTE}\n<note>x\n## My wish:\n</note>]]\nhm"),
        (f"{NOTE}\nTabs\n## My wish:\nfix it", f"[[{NOTE}\nTabs\n## My wish:]]\nfix it"),
        ("<note>never closed\n## My wish:\nfix it", "[[<note>never closed\n## My wish:]]\nfix it"),
        ("why ## My wish: here?", "why ## My wish: here?"),
        ("why?\n```\n## My wish:\n```\nhm", "why?\n```\n## My wish:\n```\nhm"),
        (f"{NOTE}\nwhy?\n```\n## My wish:\n```\nhm", f"[[{NOTE}]]\nwhy?\n```\n## My wish:\n```\nhm"),
        # lines that go with the block before them
        (f"{NOTE}\nSee also: /tmp/x\nhello", f"[[{NOTE}\nSee also: /tmp/x]]\nhello"),
        (f"{NOTE}\n\nSee also: x\nRead it at y\nhello", f"[[{NOTE}\n\nSee also: x\nRead it at y]]\nhello"),
        (f"{NOTE} See also: x\nhello", f"[[{NOTE} See also: x]]\nhello"),
        (f"{NOTE}\nhello\nSee also: x", f"[[{NOTE}]]\nhello\nSee also: x"),
        ("See also: x", "See also: x"),
        ("<args>fix it</args>\nSee also: x", "[[<args>]]fix it[[</args>]]\nSee also: x"),
        # words inside markers
        ("<name>/go</name>\n<args>fix it</args>", "[[<name>/go</name>\n<args>]]fix it[[</args>]]"),
        ("<args></args>", "[[<args></args>]]"),
        ("<args> </args>\n", "[[<args> </args>\n]]"),
        ("<args>fix it", "<args>fix it"),
        # the whole text
        ("Caution: all of this\nis injected", "[[Caution: all of this\nis injected]]"),
        ("  \nCaution: x", "[[  \nCaution: x]]"),
        ("a Caution: x", "a Caution: x"),
        ("<summary of x", "[[<summary of x]]"),
        (" [stopped]\n", "[[ [stopped]\n]]"),
        ("[stopped] by me", "[stopped] by me"),
    ],
)
def test_cutting(text: str, expected: str) -> None:
    assert cut(text) == expected


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("Caution: mine", [(CONVERSATIONAL, "Caution: mine")]),
        ("[stopped]", [(CONVERSATIONAL, "[stopped]")]),
        (f"Caution: mine\n{NOTE}", [(CONVERSATIONAL, "Caution: mine\n"), (INJECTED, NOTE)]),
    ],
)
def test_no_beginning_makes_what_was_typed_the_harnesss(text: str, runs: list[tuple[str, str]]) -> None:
    assert TABLE.split(text, typed=True) == runs


WORDS = [
    "See also:", "## My wish:",
    "<note>", "</note>", "<note-list", "</note-list>", "<args>", "</args>", "# Context:", "## Request:", "```", "~~~",
    "hello", "Caution: ", "[stopped]", "\u2028", "\r\n", "é", "\n", " ",
]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS)).map("".join) | st.text())
def test_runs_concatenate_to_the_text(text: str) -> None:
    cut(text)
    assert TABLE.split(text) == TABLE.split(text)
    assert len(TABLE.split(text)) >= 1


@given(st.text(), st.text())
def test_words_without_markers_are_the_persons(before: str, after: str) -> None:
    text = before.replace("<", "").replace("#", "") + "\nhi\n" + after.replace("<", "").replace("#", "")
    if not text.lstrip().startswith("Caution: "):
        assert TABLE.split(text) == [(CONVERSATIONAL, text)]


def test_an_empty_table_injects_nothing() -> None:
    assert Markers.of((), (), (), ()).split(NOTE) == [(CONVERSATIONAL, NOTE)]
    assert Markers.of((), (), (), ("x",)).split(" x ") == [(INJECTED, " x ")]


def _cost(text: str, times: int = 3) -> float:
    best = float("inf")
    for _ in range(times):
        began = process_time()
        TABLE.split(text)
        best = min(best, process_time() - began)
    return best


@pytest.mark.parametrize(
    "hostile",
    [
        lambda n: "<note>\n" * n,
        lambda n: "<note>\n<name>\n<args>\n" * (n // 3),
        lambda n: "</note>\n" * n,
        lambda n: "<note>\n" * (n // 2) + "</note>" * (n // 2) + " y",
        lambda n: "<note>\n" * (n // 2) + "</note> y\n" * (n // 2),
        lambda n: "<note>x</note> and so on\n" * (n // 3),
        lambda n: "<note>x</note>\nhi\n" * (n // 3),
        lambda n: "```\n" + "<note>x</note>\n" * (n // 2),
        lambda n: "```\n<note>x</note>\n" * (n // 3) + "```",
        lambda n: " " * (8 * n) + "<note>",
        lambda n: "<note>" + "```\n" * n + "</note>",
        lambda n: "\n" * (8 * n) + "<note>x</note>" + " " * n + "y",
        lambda n: "<note>x</note>" + "\nSee also:" * n,
        lambda n: "<note>x</note>\n \n" * (n // 3) + "See also:",
        lambda n: "```\n## My wish:\n" * (n // 3) + "```",
        lambda n: "<note>x</note>\n" * (n // 2) + "## My wish:",
    ],
)
def test_hostile_texts_cost_in_proportion_to_their_size(hostile: Callable[[int], str]) -> None:
    length = size(50_000, 20_000)
    small, large = _cost(hostile(length)), _cost(hostile(4 * length))
    assert large < 12 * small + 0.05, f"{large / small:.1f} times the cost for 4 times the text"


def test_megabytes_of_openings() -> None:
    text = "<note>\n" * (size(5_000_000, 1_500_000) // 7)
    half, whole = _cost(text[: len(text) // 2], 2), _cost(text, 1)
    assert whole < 3.5 * half + 0.05
