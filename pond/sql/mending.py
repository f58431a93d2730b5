"""JSON text for DuckDB: half of a surrogate pair, which JSON can spell and UTF-8 cannot, is replaced."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

_SUSPECT = r"\ud"  # how such an escape begins; JSON text in the lake spells it in lower case
_HALF = re.compile(r"(?<!\\)((?:\\\\)*)(?:(\\ud[89ab]..\\ud[c-f]..)|\\ud[89a-f]..)")


def mended(columns: Sequence[str]) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
    """Return the function that fixes these columns of a batch; nearly every batch stays unchanged."""

    def mend(batch: pa.RecordBatch) -> pa.RecordBatch:
        for name in columns:
            if name in batch.schema.names:
                batch = _mended(batch, name)
        return batch

    return mend


def _mended(batch: pa.RecordBatch, name: str) -> pa.RecordBatch:
    suspect = pc.match_substring(batch[name], _SUSPECT)
    if not pc.any(suspect).as_py():
        return batch
    values = [value if value is None else _whole(value) for value in batch[name].to_pylist()]
    at = batch.schema.get_field_index(name)
    return batch.set_column(at, batch.schema.field(at), pa.array(values, batch.schema.field(at).type))


def _whole(text: str) -> str:
    return _HALF.sub(lambda found: found[1] + (found[2] or r"\ufffd"), text)
