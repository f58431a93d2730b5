"""A prompt that a client writes down more than once is one prompt to read, count and search; its rows all stay."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pond.codec.request import ConversionRequest
from pond.lake.get import get_session
from pond.lake.listing import ListingFilter, recent
from pond.model.equal import same
from pond.model.json_text import JsonObject
from pond.restore.restoring import OWN
from pond.sessions import load
from pond.sessions.tables import MESSAGES
from pond.substrate import read as lake_read
from pond.substrate.store import Store
from tests.cli.command import pond
from tests.foreign.test_queue import NOTICE, PICTURE, SAID_ONCE, ask, attached, begun, queue, reply
from tests.lake.taking import contents, store, take_in
from tests.laws.passage import read, strict_values
from tests.laws.rows import SESSION, claude, said
from tests.operations.stored import restored

DIG = queue("enqueue", "dig", 1)
ONCE: dict[str, tuple[list[JsonObject], list[str]]] = {
    **{name: (rows, ["dig"]) for name, rows in SAID_ONCE.items()},
    "never sent": ([DIG], ["dig"]),
    "taken back, and sent as it was": ([DIG, queue("popAll", "dig", 2), ask("dig", 3)], ["dig"]),
    "taken back, and sent otherwise": ([DIG, queue("popAll", "dig", 2), ask("dig deeper", 3)], ["dig", "dig deeper"]),
    "several at once": (
        [
            DIG,
            queue("enqueue", "sow\nand rake", 2),
            queue("dequeue", None, 3),
            queue("dequeue", None, 4),
            ask("dig\nsow\nand rake", 5),
        ],
        ["dig", "sow\nand rake"],
    ),
    "several taken back, and sent as one": (
        [DIG, queue("enqueue", "sow", 2), queue("popAll", "dig\nsow", 3), ask("dig\nsow", 5)],
        ["dig", "sow"],
    ),
    "one with more words": (
        [DIG, queue("dequeue", None, 2), ask("dig\nand then rest", 3)],
        ["dig", "dig\nand then rest"],
    ),
    "typed again later": (
        [DIG, queue("dequeue", None, 2), ask("dig", 3), reply("dug", 4), ask("dig", 5)],
        ["dig", "dig"],
    ),
    "typed again after one that was lost": (
        [DIG, queue("dequeue", None, 2), reply("?", 3), ask("hello?", 4), reply("yes", 5), ask("dig", 6)],
        ["dig", "hello?", "dig"],
    ),
    "told again by a resumed file": ([DIG, queue("remove", "dig", 2), attached("dig", 1), DIG], ["dig"]),
    "a command and its arguments": (
        [
            queue("enqueue", "/dig the bed", 1),
            queue("dequeue", None, 2),
            ask("<command-name>/dig</command-name>\n<command-args>the bed</command-args>", 3),
        ],
        ["/dig the bed"],
    ),
    "a notice, which nobody typed": (
        [
            queue("enqueue", NOTICE, 1),
            DIG,
            queue("remove", NOTICE, 2),
            queue("remove", "dig", 3),
            attached(NOTICE, 4),
            attached("dig", 4),
        ],
        ["dig"],
    ),
    "with a picture that the queue has": (
        [queue("enqueue", [said("look"), PICTURE], 1), queue("dequeue", None, 2), ask([said("look"), PICTURE], 3)],
        ["look\nimage/png"],
    ),
    "with a picture that only the message has": (
        [queue("enqueue", "look", 1), queue("dequeue", None, 2), ask([said("look"), PICTURE], 3)],
        ["look", "look\nimage/png"],
    ),
}


def _lines(rows: list[JsonObject]) -> list[bytes]:
    return [json.dumps(row).encode() + b"\n" for row in begun(*rows)]


def _file(folder: Path, lines: list[bytes]) -> Path:
    path = folder / claude(folder).place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines))
    return path


def _typed(there: Store) -> list[str]:
    """Return what search finds of the person, in the order of the log."""
    rows = lake_read.rows(there, MESSAGES, ["position", "search_text"], "role = 'user' AND search_text IS NOT NULL")
    return [text.strip() for text in rows.sort_by("position")["search_text"].to_pylist()]


@pytest.mark.parametrize(("rows", "prompts"), ONCE.values(), ids=ONCE)
def test_each_prompt_is_one_to_read_count_and_search(
    rows: list[JsonObject], prompts: list[str], tmp_path: Path
) -> None:
    path = _file(tmp_path, _lines(rows))
    take_in(tmp_path / "lake", path)
    there = store(tmp_path / "lake")
    assert _typed(there) == ["begin", *prompts]
    shown = get_session(there, SESSION)["messages"]
    assert [m["text"].strip() for m in shown if m["role"] == "user"] == ["begin", *prompts]
    (listed,) = recent(there, ListingFilter())["sessions"]
    assert (listed["messages"], listed["title"]) == (len(shown), "begin")
    everything = get_session(there, SESSION, "complete", 1000)["messages"]
    assert [m["text"].strip() for m in everything if m["role"] == "user" and m["text"]] == ["begin", *prompts]
    assert all(m["text"] == "" for m in everything if m.get("again"))
    out = restored(there, [load.session(there, SESSION) or {}], ConversionRequest(OWN), tmp_path / "out")
    assert same(strict_values(out.paths[SESSION].read_bytes()), strict_values(path.read_bytes()))


@pytest.mark.rule("adapter-integrity-additive-sync")
@pytest.mark.parametrize("rows", [rows for rows, _ in ONCE.values()], ids=ONCE)
def test_however_the_file_grew_the_rows_are_the_same(rows: list[JsonObject], tmp_path: Path) -> None:
    lines = _lines(rows)
    take_in(tmp_path / "at-once", _file(tmp_path / "whole", lines))
    for end in range(2, len(lines) + 1):
        take_in(tmp_path / "in-steps", _file(tmp_path / "growing", lines[:end]))
    assert contents(tmp_path / "in-steps") == contents(tmp_path / "at-once")


WORDS = st.sampled_from(["dig", "sow", "dig\nsow", NOTICE, "/dig sow"])
ROWS = st.one_of(
    st.builds(lambda words: ("enqueue", words), WORDS),
    st.builds(lambda words: ("remove", words), WORDS),
    st.builds(lambda words: ("popAll", words), WORDS),
    st.just(("dequeue", None)),
    st.builds(lambda words: ("ask", words), WORDS),
    st.builds(lambda words: ("attached", words), WORDS),
    st.just(("reply", "done")),
)


def _row(kind: str, words: str | None, second: int) -> JsonObject:
    match kind, words:
        case "ask", str():
            return ask(words, second)
        case "attached", str():
            return attached(words, second)
        case "reply", str():
            return reply(words, second)
        case _:
            return queue(kind, words, second)


@given(drawn=st.lists(ROWS, max_size=12))
def test_every_prompt_is_found_and_no_row_says_more_than_was_typed(
    drawn: list[tuple[str, str | None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever the order of rows: words that some row says are found, and only a row that came later is passed over."""
    folder = tmp_path_factory.mktemp("drawn")
    rows = [_row(kind, words, second) for second, (kind, words) in enumerate(drawn)]
    passage = read(_file(folder, _lines(rows)), "claude-code")
    said_so_far: set[str] = set()
    for message in passage.messages:
        texts = [p["text"] for p in passage.parts if p["message_id"] == message["id"] and _is_own(p)]
        lines = {line.removeprefix("/dig ") for text in texts for line in text.split("\n")}
        if message["options"]["pond"].get("again"):
            assert lines <= said_so_far, "a row that says something new is passed over"
            assert message["role"] == "user"
        said_so_far |= lines


def _is_own(part: JsonObject) -> bool:
    return (part["type"], part["provenance"]) == ("text", "conversational")


def test_a_copy_says_that_it_is_one(tmp_path: Path) -> None:
    path = _file(tmp_path, _lines([DIG, queue("dequeue", None, 2), ask("dig", 3)]))
    take_in(tmp_path / "lake", path)
    shown = pond("get", SESSION, "--full", "--lake", str(tmp_path / "lake")).out.decode()
    assert shown.count("\ndig\n") == 1
    assert shown.count("[the same prompt as above, as the client recorded it again]") == 1


def test_a_session_with_too_much_in_its_queue_is_read_from_its_start(tmp_path: Path) -> None:
    long = "dig " * 20_000
    lines = _lines([queue("enqueue", long, 1), queue("dequeue", None, 2), ask(long, 3), reply("dug", 4)])
    for end in (3, 4, 5, 6):
        take_in(tmp_path / "lake", _file(tmp_path, lines[:end]))
    assert _typed(store(tmp_path / "lake")) == ["begin", long.strip()]
