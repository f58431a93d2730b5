"""Every adapter keeps every law on every one of its fixtures; a new folder under adapters/ is tested by being there."""

import pytest

from tests.laws import laws
from tests.laws.corpus import SessionFile, fixture_files

LAWS = [
    pytest.param(laws.direct_road_is_lossless, marks=pytest.mark.rule("adapter-native-restore-lossless")),
    pytest.param(laws.canonical_road_is_lossless, marks=pytest.mark.rule("model-lossless-projection")),
    pytest.param(laws.verify_agrees, marks=pytest.mark.rule("adapter-native-restore-lossless")),
    pytest.param(laws.converting_twice_gives_the_same_bytes, marks=pytest.mark.rule("lance-deterministic-pk")),
    pytest.param(laws.a_prefix_gives_a_subset, marks=pytest.mark.rule("adapter-integrity-additive-sync")),
    pytest.param(laws.keys_are_unique, marks=pytest.mark.rule("adapter-integrity-dedup")),
    pytest.param(laws.events_come_in_order, marks=pytest.mark.rule("adapter-integrity-event-ordering")),
    pytest.param(laws.every_part_has_a_provenance, marks=pytest.mark.rule("model-part-provenance")),
    pytest.param(laws.events_fit_the_schema, marks=pytest.mark.rule("model-schema-honesty")),
    laws.nothing_is_stored_twice,
    laws.passes_leave_records_alone,
    pytest.param(laws.records_need_no_file, marks=pytest.mark.rule("adapter-transport-agnostic-seam")),
    pytest.param(laws.reading_reports_no_error, marks=pytest.mark.rule("adapter-integrity-no-silent-drops")),
]


@pytest.mark.parametrize("file", fixture_files(), ids=str)
@pytest.mark.parametrize("law", LAWS)
def test_law(law: laws.Law, file: SessionFile) -> None:
    law(file)
