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
_OVER = 2  # times as many are asked for where some of them may not be wanted


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
    spelled = wanted.spelled
    found, more = _allowed(snapshot, meaning, wanted, wanted.where, searchable, 1 if spelled is None else _OVER)
    if more and len(found) < NEAREST:  # what is near is not what is wanted: every text has to be looked at
        found, _ = _allowed(snapshot, meaning, wanted, predicate.all_of(wanted.where, spelled), searchable, 1)
    return found


def _allowed(
    snapshot: Snapshot, meaning: Meaning, wanted: Wanted, where: str | None, searchable: int, times: int
) -> tuple[list[Candidate], bool]:
    """Return the nearest that are wanted of so many times as many, and whether there may be more."""
    where = predicate.all_of(where, SEARCHABLE, predicate.equals("embedding_model", meaning.label))
    count = NEAREST * times + (meaning.itself is not None)
    asked = vectors.nearest(meaning.column, meaning.vector, count, meaning.how, exact=searchable <= _FEW)
    rows = snapshot.rows([*CANDIDATE, vectors.DISTANCE], where, nearest=asked)
    found = [
        as_candidate(row, {MEANING: 1 - row[vectors.DISTANCE]}) for row in rows if wanted.allows(row["search_text"])
    ]
    found = [each for each in found if each.key != meaning.itself]
    return sorted(found, key=lambda each: (-each.arms[MEANING], each.key))[:NEAREST], len(rows) == count


def measure(snapshot: Snapshot, meaning: Meaning, pool: Sequence[Candidate]) -> None:
    """Set how near each candidate is, if it has a vector by this model."""
    import numpy as np

    missing = {each.row: each for each in pool if MEANING not in each.arms}
    if not missing:
        return
    where = predicate.all_of(read.taking(missing), predicate.equals("embedding_model", meaning.label))
    held = snapshot.table([meaning.column], where)
    held = held.filter(held[meaning.column].is_valid())
    # As one block of numbers: a Python list of each vector takes as long as all the rest of the search.
    numbers = held[meaning.column].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    own = numbers.reshape(-1, len(meaning.vector)).astype(np.float32)
    lengths = np.linalg.norm(own, axis=1) * np.linalg.norm(meaning.vector)
    cosines = (own @ meaning.vector) / np.where(lengths > 0, lengths, 1.0)
    for row, cosine in zip(held[read.ROW].to_pylist(), cosines.tolist(), strict=True):
        missing[row].arms[MEANING] = cosine
