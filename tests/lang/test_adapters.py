"""What every client's mapping must be, beyond keeping the laws: checked, fresh, and talkative about drift."""

from pathlib import Path
from random import Random

import pytest

from pond.lang.explain import check_file
from tests.lang.engines import Listener, adapter_maps, engines
from tests.lang.laws import Session
from tests.lang.records import Records

adapters = pytest.mark.parametrize("path", adapter_maps(), ids=lambda path: path.stem)


@adapters
def test_the_mapping_has_no_fault(path: Path) -> None:
    assert check_file(path) == []
    assert engines(path).plan.client.replace("-", "_") == path.parent.name


@adapters
def test_the_laws_hold(path: Path) -> None:
    records = Records(engines(path).plan, Random(7))
    session = Session(engines(path))
    for number in range(300):
        session.examine(records.bent(), schema=number % 10 == 0)


@adapters
@pytest.mark.rule("adapter-integrity-no-silent-drops")
def test_an_unknown_key_of_any_kind_is_told(path: Path) -> None:
    engine = engines(path)
    records = Records(engine.plan, Random(11))
    told = set()
    for _ in range(1500):
        record = records.fitting()
        before, after = Listener(), Listener()
        kind = engine.compiled_read(before.next(record), before)[0]["options"]["pond"]["as"]
        engine.compiled_read(after.next({**record, "neverSeen": 1}), after)
        if kind != "carry":
            assert any("neverSeen" in entry for entry in after.heard), f"{kind} is silent about an unknown key"
            told.add(kind)
    assert told == {kind.label for kind in engine.plan.kinds}


@adapters
@pytest.mark.rule("adapter-integrity-no-silent-drops")
def test_an_unknown_kind_is_told_and_kept(path: Path) -> None:
    engine = engines(path)
    listener = Listener()
    record = {engine.plan.discriminator[0]: "never-seen", "x": 1}
    (event,) = engine.compiled_read(listener.next(record), listener)
    assert event["options"]["source"] == record
    assert ("source-drift-kind", "never-seen") in listener.heard
