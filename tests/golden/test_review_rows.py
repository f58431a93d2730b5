"""What happened to the rows of one case is found, and called what it is."""

from typing import Any

import pytest

from pond.golden.rows import NotRows, compare_rows, read_rows
from tests.golden.repository import TOUR, Event, canonical, message, part, session

additive = pytest.mark.rule("adapter-integrity-additive-sync")


def _ids(rows: Any) -> list[str]:
    return [row.id for row in rows]


def _renamed(before: list[Event], after: list[Event]) -> list[tuple[str, str, bool]]:
    changes = compare_rows(before, after)
    assert (changes.added, changes.removed) == ((), ())
    return [(change.old.id, change.new.id, change.same_content) for change in changes.changed_ids]


def test_equal_rows_are_no_finding() -> None:
    changes = compare_rows(TOUR, TOUR)
    assert not changes.happened()
    assert (changes.before, changes.after) == (3, 3)


def test_added_and_removed_rows_are_told_by_key() -> None:
    changes = compare_rows(TOUR, [TOUR[0], TOUR[1], part("m1:1", "And which are wet?", type="reasoning")])
    assert (_ids(changes.removed), _ids(changes.added)) == (["m1:0"], ["m1:1"])
    assert changes.changed_ids == ()


@additive
def test_a_row_with_equal_content_and_another_id_changed_its_id() -> None:
    assert _renamed([*TOUR], [session(), message("n1"), part("n1:0", "Which plants are dry?")]) == [
        ("m1", "n1", True),
        ("m1:0", "n1:0", True),
    ]


@additive
def test_equal_content_is_found_wherever_it_went() -> None:
    last = message("m2", role="assistant", content="Tray 7.")
    moved = {**last, "id": "x"}
    assert _renamed([*TOUR, last], [TOUR[0], moved, *TOUR[1:]]) == [("m2", "x", True)]


@additive
def test_a_row_of_the_same_sort_in_the_same_place_changed_its_id() -> None:
    end = message("m2", role="assistant")
    before = [*TOUR, end]
    after = [TOUR[0], TOUR[1], part("p", "Which plants are thirsty?", message_id="m1"), end]
    assert _renamed(before, after) == [("m1:0", "p", False)]
    (field,) = compare_rows(before, after).fields
    assert (field.row.id, field.field) == ("p", "text")


@additive
@pytest.mark.parametrize("same_content", [True, False])
def test_rows_that_look_alike_are_paired_in_order(same_content: bool) -> None:
    before = [session(), message("m1"), message("m2")]
    more = {} if same_content else {"content": "new"}
    after = [session(), message("n1", **more), message("n2", **more)]
    assert _renamed(before, after) == [("m1", "n1", same_content), ("m2", "n2", same_content)]


@pytest.mark.parametrize(
    "after",
    [
        pytest.param([TOUR[0], part("p", "new", message_id="m1"), TOUR[1]], id="another place"),
        pytest.param([*TOUR[:2], part("p", "new", message_id="m1", type="reasoning")], id="another type"),
        pytest.param([*TOUR[:2], message("m2", role="text")], id="another kind"),
    ],
)
def test_other_rows_are_not_paired(after: list[Event]) -> None:
    changes = compare_rows(TOUR, after)
    assert changes.changed_ids == ()
    assert _ids(changes.removed) == ["m1:0"]
    assert len(changes.added) == 1


@additive
def test_a_session_with_another_id_takes_all_its_rows_along() -> None:
    """Below a session a key begins with the session's id: the rows are stored a second time."""
    after = [session("t"), message("m1", "t"), part("m1:0", "Which plants are dry?", session="t")]
    assert _renamed([*TOUR], after) == [("s", "t", True), ("m1", "m1", True), ("m1:0", "m1:0", True)]


@additive
def test_a_part_that_moved_to_another_message_has_another_key() -> None:
    before = [*TOUR, message("m2")]
    assert _renamed(before, [*TOUR[:2], message("m2"), {**TOUR[2], "message_id": "m2"}]) == [("m1:0", "m1:0", True)]


@pytest.mark.parametrize("more", [0, 1])
def test_the_same_key_twice_is_two_rows(more: int) -> None:
    twice = [*TOUR, TOUR[2]]
    assert _ids(compare_rows(twice, TOUR).removed) == ["m1:0"]
    assert _ids(compare_rows(TOUR, twice + [TOUR[2]] * more).added) == ["m1:0"] * (1 + more)


@pytest.mark.rule("model-part-provenance")
@pytest.mark.parametrize("sides", [("conversational", "injected"), ("injected", "conversational")])
def test_a_provenance_flip_is_told_with_the_words(sides: tuple[str, str]) -> None:
    old, new = (part("m1:0", "Which plants are dry?", side) for side in sides)
    changes = compare_rows([*TOUR[:2], old], [*TOUR[:2], new])
    (flip,) = changes.flips
    assert (flip.row.id, flip.before, flip.after, flip.excerpt) == ("m1:0", *sides, '"Which plants are dry?"')
    assert changes.fields == ()


def test_a_provenance_that_is_none_is_a_changed_field() -> None:
    changes = compare_rows(TOUR, [*TOUR[:2], part("m1:0", "Which plants are dry?", "guessed")])
    assert (changes.flips, [field.field for field in changes.fields]) == ((), ["provenance"])


def test_another_order_is_told() -> None:
    more = message("m2")
    changes = compare_rows([*TOUR, more], [TOUR[0], more, *TOUR[1:]])
    assert changes.reordered
    assert changes.happened()
    assert (changes.added, changes.removed, changes.changed_ids, changes.fields) == ((), (), (), ())


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, [("options.a.c", "2", "3")]),
        ({"a": 1}, {}, [("options.a", "1", "absent")]),
        ({}, {"a": None}, [("options.a", "absent", "null")]),
        ({"a": "absent"}, {}, [("options.a", '"absent"', "absent")]),
        ({"a": 1}, {"a": 1.0}, [("options.a", "1", "1.0")]),
        ({"a": True}, {"a": 1}, [("options.a", "true", "1")]),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, [("options.a[1].b", "2", "3")]),
        ({"a": [1]}, {"a": [1, 2]}, [("options.a", "[1]", "[1, 2]")]),
        ({"a.b": 1}, {"a.b": 2}, [('options["a.b"]', "1", "2")]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
        ({"a": "é\x1b[31m\u202e"}, {"a": ""}, [("options.a", '"é\\u001b[31m\\u202e"', '""')]),
        (
            {"a": "x" * 90 + "1"},
            {"a": "x" * 90 + "2"},
            [("options.a", "…" + "x" * 12 + '1"', "…" + "x" * 12 + '2"')],
        ),
        ({"a": "x" * 90}, {"a": 1}, [("options.a", '"' + "x" * 59 + "…", "1")]),
    ],
)
def test_changed_fields_are_named_by_path_and_shown_short(
    before: Event, after: Event, found: list[tuple[str, str, str]]
) -> None:
    changes = compare_rows([session(options=before)], [session(options=after)])
    assert [(change.field, change.before, change.after) for change in changes.fields] == found


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[", "expected JSON: expecting value at line 1"),
        (b'[\n<<<<<<< HEAD\n{"kind"', "expected JSON: expecting value at line 2"),
        (b"\xff", "expected UTF-8 text"),
        (b'{"kind":"session"}', "expected a list of events"),
        (b'[{"kind":"session","id":"s"},{"kind":"message"}]', "expected `kind` and `id` in event 2"),
        (b"[7]", "expected `kind` and `id` in event 1"),
        (b"[" * 100_000, "expected JSON of bounded depth and numbers"),
        (b"[" + b"9" * 5000 + b"]", "expected JSON of bounded depth and numbers"),
    ],
)
def test_what_is_no_list_of_events_is_refused_with_a_reason(content: bytes, reason: str) -> None:
    with pytest.raises(NotRows) as refusal:
        read_rows(content)
    assert str(refusal.value) == reason


def test_what_is_one_is_read() -> None:
    assert read_rows(canonical(*TOUR)) == list(TOUR)
