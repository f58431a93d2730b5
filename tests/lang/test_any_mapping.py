"""A mapping that passes the checker is lossless, whatever it says: the checker is where wrong mappings end."""

import os
from pathlib import Path
from random import Random

import pytest

from pond.diagnostics.diagnostic import MappingError
from pond.lang.check import check
from pond.lang.parse import parse
from tests.lang.engines import EVERY_FEATURE, all_maps, engines_of
from tests.lang.laws import Session
from tests.lang.records import Records
from tests.mutation.mutants import of_mapping
from tests.size import SOAK, size

SHARE = float(os.environ.get("POND_MAPPINGS") or (0.04 if SOAK else 0.02))  # of all changes that are tried
RECORDS = 40


@pytest.mark.rule("adapter-native-restore-lossless")
@pytest.mark.parametrize("path", all_maps(), ids=lambda path: path.stem)
def test_laws_hold_for_every_mapping_the_checker_lets_through(path: Path) -> None:
    random = Random(path.stem)
    tried = 0
    for mutant in of_mapping(path, path.read_text(encoding="utf-8")):
        if random.random() > SHARE:
            continue
        try:
            changed = engines_of(mutant.text, str(mutant))
        except MappingError:
            continue
        tried += 1
        records = Records(changed.plan, random)
        session = Session(changed)
        for _ in range(RECORDS):
            session.examine(records.bent())
    assert tried >= size(2, 1)


def test_there_are_changes_of_every_sort() -> None:
    """Guard the guard: the changes reach each construct, and the checker has an opinion about them."""
    refused: set[str] = set()
    accepted: set[str] = set()
    for mutant in of_mapping(EVERY_FEATURE, EVERY_FEATURE.read_text(encoding="utf-8")):
        sort = mutant.change.split(":")[0] if mutant.change.startswith("drop") else mutant.change.split(" ")[0]
        if sort in refused & accepted:
            continue
        try:
            check(parse(mutant.text, "x.map"))
        except MappingError:
            refused.add(sort)
        else:
            accepted.add(sort)
    assert accepted >= {
        "drop claim", "drop implied", "drop lookup", "drop rest", "drop keeps", "drop block", "drop kind",
        "drop carries", "drop condition", "drop span", "drop part", "conversational", "injected", "by", "as", "fill",
    }  # fmt: skip
    assert refused >= {"drop claim", "drop condition", "drop session field", "drop block", "fill", "as"}
