"""The arm of meaning: messages whose vectors are near that of the query, or that of another message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pond.search.candidates import CANDIDATE, SEARCHABLE, Candidate, Snapshot, Wanted, as_candidate
from pond.substrate import predicate, read, vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MEANING = "meaning"
NEAREST = 100  # messages found: twice as many add nothing (decision 0038)
# If a filter leaves at most this many messages, all are compared: that is faster than the index, and misses none.
_FEW = 20_000


@dataclass(frozen=True, slots=True)
class Meaning:
    """What to look for, as a vector, and the column with the messages' vectors by the same model."""

    column: str
    label: str
    vector: NDArray[np.float32]
    how: vectors.Nearness
    itself: tuple[str, str] | None = None  # the message to which others should be similar: it is not a result itself


def nearest(snapshot: Snapshot, meaning: Meaning, wanted: Wanted, searchable: int) -> list[Candidate]:
    """Return the nearest messages, the nearest first."""
    where = predicate.all_of(
        wanted.where, SEARCHABLE, wanted.spelled, predicate.equals("embedding_model", meaning.label)
    )
    asked = vectors.nearest(
        meaning.column, meaning.vector, NEAREST + (meaning.itself is not None), meaning.how, exact=searchable <= _FEW
    )
    rows = snapshot.rows([*CANDIDATE, vectors.DISTANCE], where, nearest=asked)
    found = [
        as_candidate(row, {MEANING: 1 - row[vectors.DISTANCE]}) for row in rows if wanted.allows(row["search_text"])
    ]
    found = [each for each in found if each.key != meaning.itself]
    return sorted(found, key=lambda each: (-each.arms[MEANING], each.key))[:NEAREST]


def measure(snapshot: Snapshot, meaning: Meaning, pool: Sequence[Candidate]) -> None:
    """Set how near each candidate is, if it has a vector by this model."""
    import numpy as np

    missing = {each.row: each for each in pool if MEANING not in each.arms}
    if not missing:
        return
    where = predicate.all_of(read.taking(missing), predicate.equals("embedding_model", meaning.label))
    held = snapshot.table([meaning.column], where)
    length = float(np.linalg.norm(meaning.vector)) or 1.0
    for row, values in zip(held[read.ROW].to_pylist(), held[meaning.column].to_pylist(), strict=True):
        if values is not None:
            own = np.asarray(values, dtype=np.float32)
            cosine = float(own @ meaning.vector) / ((float(np.linalg.norm(own)) or 1.0) * length)
            missing[row].arms[MEANING] = cosine
