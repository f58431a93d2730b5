"""Print how well the labelled sets are ranked: `python -m tests.search.relevance [--accept]`.

`--accept` records the ranks; the tests compare with them from then on.
"""

import argparse
import tempfile
from functools import partial
from pathlib import Path

from tests.search.relevance import searching
from tests.search.relevance.lake import build
from tests.search.relevance.measure import RECORDED, auc, compare, keys, ranks, record, recorded, table
from tests.search.relevance.sets import negatives, queries


def main() -> None:
    """Measure, compare, and record where that is asked for."""
    arguments = argparse.ArgumentParser(prog="python -m tests.search.relevance", description=__doc__)
    arguments.add_argument("--accept", action="store_true", help="record these ranks as the ones to keep")
    arguments.add_argument("--reference", action="store_true", help="measure plain BM25 over words instead")
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder, build(Path(folder, "lake")) as lake:
        plain = searching.reference(lake)
        found = ranks(plain.ranked if asked.reference else partial(searching.ranked, lake))
        match = plain.match if asked.reference else partial(searching.best_match, lake)
        matches = [[match(query.query, query.filters) for query in some] for some in (queries(), negatives())]
    print(table(found))
    print(f"AUC of the best match, {len(queries())} queries against {len(negatives())} without an answer:", end=" ")
    print(f"{auc(*matches):.3f}")
    if RECORDED.exists() and not asked.reference and keys(recorded()) == keys(found):
        print(compare(recorded(), found))
    if asked.accept:
        record(found)
        print(f"recorded in {RECORDED.name}")


main()
