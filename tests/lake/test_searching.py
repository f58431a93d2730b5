"""A search while eight processes write and another compacts the lake gives complete and consistent answers."""

from pathlib import Path

from tests.lake.searching import searched_meanwhile
from tests.size import size


def test_searches_while_others_write_and_compact(tmp_path: Path) -> None:
    result = searched_meanwhile(tmp_path, sessions=size(30, 12), seed=1)
    assert result.wrong == []
    assert result.searches > 0
    assert result.grew > 0
    # Who loses every race says so and stops.
    assert all(done.code == 0 or [f.code for f in done.errors] == ["lake-conflict"] for done in result.ended)
