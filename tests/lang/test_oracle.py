"""The laws of the language on records nobody wrote: compiled is interpreted, and writing undoes reading.

The bulk comes from a seeded random generator, the same on every run. Hypothesis drives the same generator on fewer
records, because it can make a failing one small. POND_CASES and POND_SEED are for long runs of the bulk.
"""

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pond.lang.context import Writing
from pond.lang.runtime import Broken
from pond.model.equal import first_difference, same
from pond.model.json_text import Json, JsonObject
from tests.lang.engines import EVERY_FEATURE, PROJECT, SESSION, Listener, all_maps, copy, engines
from tests.lang.laws import PART_OF, Session
from tests.lang.records import HARD, PLAIN, Records
from tests.size import size

CASES = int(os.environ.get("POND_CASES") or size(35_000, 5_000))  # for each client's mapping
SHARE = {"every_feature": 0.7, "odd_names": 0.2}  # of that, for the mappings of no client
SEED = os.environ.get("POND_SEED", "")
SESSION_LENGTH = 20

maps = pytest.mark.parametrize("path", all_maps(), ids=lambda path: path.stem)


@maps
@pytest.mark.hypothesis  # `make fuzz` runs it too
@pytest.mark.rule("adapter-native-restore-lossless")
@pytest.mark.rule("model-lossless-projection")
@pytest.mark.rule("model-part-provenance")
@pytest.mark.rule("adapter-integrity-event-ordering")
def test_laws_hold_for_records_of_all_kinds(path: Path) -> None:
    random = Random(path.stem + SEED)
    records = Records(engines(path).plan, random)
    session = Session(engines(path))
    for number in range(round(CASES * SHARE.get(path.stem, 1))):
        if number % SESSION_LENGTH == 0:
            session = Session(engines(path))
        chance = random.random()
        record = records.bent() if chance < 0.9 else records.junk_object(4)
        session.examine(record, schema=number % 250 == 0)
        if chance < 0.02:
            session.examine(record)  # as a client does that writes a row twice


@maps
def test_a_part_that_is_there_twice_is_written_alike(path: Path) -> None:
    """No reader gives such events, but people edit them: where the record holds one of its kind, the first counts."""
    random = Random(path.stem + SEED)
    engine = engines(path)
    records = Records(engine.plan, random)
    seen = 0
    while seen < CASES // 50:
        listener = Listener()
        events = engine.compiled_read(listener.next(records.bent()), listener)
        parts = [number for number, event in enumerate(events) if event["kind"] == "part"]
        if not parts:
            continue
        seen += 1
        again: JsonObject = copy(events[number := random.choice(parts)])
        events.insert(number + 1, again | {name: f"{again[name]}!" for name in ("call_id", "name") if name in again})
        slow, fast = (written(write, copy(events)) for write in (engine.write, engine.compiled_write))
        assert same(slow, fast), f"{first_difference(slow, fast)}\n{events!r}"


def written(write: Callable[[list[JsonObject], Writing], JsonObject], events: list[JsonObject]) -> Json:
    """Return the record, or that there is none."""
    try:
        return write(events, Writing(SESSION, PROJECT))
    except (Broken, KeyError, IndexError):
        return "broken"


@maps
@given(random=st.randoms(use_true_random=False))
def test_laws_hold_for_records_that_can_be_made_small(path: Path, random: Random) -> None:
    session = Session(engines(path))
    records = Records(engines(path).plan, random)
    for _ in range(3):
        session.examine(records.bent())


def json_values(keys: st.SearchStrategy[str]) -> st.SearchStrategy[Json]:
    """Return a strategy for JSON values as pond holds them in memory."""
    texts = st.text(st.characters(exclude_categories=()), max_size=8)
    scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
    leaves = scalars | st.sampled_from(HARD) | st.sampled_from(PLAIN)
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys | texts, inner, max_size=5)
    )


@maps
@settings(max_examples=size(settings().max_examples, 30))
@given(data=st.data())
def test_laws_hold_for_any_object(path: Path, data: st.DataObject) -> None:
    records = Records(engines(path).plan, Random(0))
    keys = st.sampled_from(records.keys)
    record: JsonObject = data.draw(st.dictionaries(keys, json_values(keys), max_size=8))
    session = Session(engines(path))
    session.examine(record, schema=True)
    session.examine(record)


def test_the_generator_reaches_everything_the_language_can_do() -> None:
    """Guard the guard: each kind, block, mark and note of the made-up mapping comes up, so the laws are about them."""
    engine = engines(EVERY_FEATURE)
    records = Records(engine.plan, Random(3))
    seen: Counter[str] = Counter()
    heard: set[str] = set()
    listener, record = Listener(), records.bent()
    for number in range(4000):
        if number % SESSION_LENGTH == 0:
            listener = Listener()
        record = records.bent() if number % 30 else record
        kind = engine.plan.otherwise
        for event in engine.compiled_read(listener.next(record), listener):
            marks = event["options"].get("pond", {})
            seen.update(marks.keys())
            if event["kind"] == "part":
                seen[f"{kind.label}: {marks.get('as') or kind.default_label(PART_OF[event['type']])}"] += 1
                seen[event["provenance"]] += 1
            elif "as" in marks:
                kind = engine.plan.kind(marks["as"]) or engine.plan.otherwise
                seen[marks["as"]] += 1
        heard |= {entry[0] for entry in listener.heard}
    wanted = {f"{kind.label}: {part.label}" for kind in engine.plan.kinds for part in kind.all_parts}
    wanted |= {kind.label for kind in engine.plan.kinds} | {"carry", "conversational", "injected"}
    wanted |= {"seq", "as", "id", "absent", "spelling", "shape", "weave", "joined", "with", "repeat_of"}
    assert {name for name in wanted if seen[name] < 5} == set()
    assert heard == {"source-type", "source-structure", "source-drift-kind", "source-drift-field"}
