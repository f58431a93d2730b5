"""An id is data: whatever it holds, a filter finds it and nothing else."""

import lance
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pond.sessions.stored_text import to_stored
from pond.substrate import predicate

pytestmark = pytest.mark.rule("lance-chokepoints-read")

LETTERS = "'\"`\\%_;-*/() \t\n\r\0\x01abé北\ud7ff\ue000\U0001f600\U0010ffff"
IDS = st.text(LETTERS, max_size=6) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
BATCH = st.lists(IDS, min_size=1, max_size=12, unique=True)


def matched(ids: list[str], where: str | None) -> list[str]:
    """Return the ids that Lance finds; those are the ones whose place fits, whatever their spelling."""
    table = pa.table({"id": pa.array(ids, pa.string())})
    dataset = lance.write_dataset(table, "memory://", mode="create")
    found: list[str] = dataset.to_table(filter=where)["id"].to_pylist()
    return found


@given(BATCH, st.data())
@example(["'", "''", "' OR ''='"], None)
@settings(max_examples=60)
def test_equality_finds_the_one(ids: list[str], data: st.DataObject | None) -> None:
    wanted = ids[-1] if data is None else data.draw(st.sampled_from(ids) | IDS)
    assert matched(ids, predicate.equals("id", wanted)) == [id for id in ids if id == wanted]


@given(BATCH, st.lists(IDS, min_size=1, max_size=5))
@settings(max_examples=40)
def test_a_list_finds_its_members(ids: list[str], wanted: list[str]) -> None:
    assert matched(ids, predicate.one_of("id", wanted)) == [id for id in ids if id in wanted]


@given(BATCH, IDS)
@example(["a\U0010ffff", "a\U0010ffffb", "b", "a"], "a")
@example(["a\U0010ffff\U0010ffff", "a\U0010fffe", "b"], "a\U0010ffff")
@example(["\ud7ffx", "\ue000", "\ud7fe"], "\ud7ff")
@example(["\U0010ffff", "\U0010ffffx", "a"], "\U0010ffff")
@example(["", "a"], "")
@settings(max_examples=80)
def test_a_beginning_finds_all_that_begin_so(ids: list[str], start: str) -> None:
    assert matched(ids, predicate.begins_with("id", start)) == [id for id in ids if id.startswith(start)]


@given(st.lists(st.text(max_size=5), min_size=1, max_size=6, unique=True), st.data())
@settings(max_examples=40)
def test_ids_that_no_column_can_hold_are_found_as_stored(ids: list[str], data: st.DataObject) -> None:
    wanted = to_stored(data.draw(st.sampled_from(ids)))
    stored = [to_stored(id) for id in ids]
    assert matched(stored, predicate.equals("id", wanted)) == [wanted]


def test_filters_hold_together() -> None:
    assert predicate.all_of(None, None) is None
    assert predicate.all_of("a = 1 OR b = 2", None, "c = 3") == "(a = 1 OR b = 2) AND (c = 3)"
