"""SQL over a lake with vectors: they are of no use in a table, and of a type that the engine does not know."""

from pathlib import Path

import pond
from pond.lake.embedding import embed
from tests.embed.lakes import far, filled
from tests.embed.server import Endpoint


def test_a_lake_with_vectors_is_queried_as_one_without(tmp_path: Path, server: Endpoint) -> None:
    embed(filled(tmp_path / "lake", 20), far(server), threads=1)
    with pond.Lake(tmp_path / "lake") as lake:
        found = lake.sql("SELECT embedding_model, count(*) AS n FROM messages GROUP BY 1 ORDER BY 1").to_pylist()
        assert found == [{"embedding_model": "far", "n": 20}, {"embedding_model": None, "n": 1}]
        names = lake.sql("SELECT * FROM messages LIMIT 1").schema.names
    assert not any(name.startswith("vector") for name in names)
