"""A table that knows nothing of sessions, and processes that use it: what the substrate's own tests stand on."""

import multiprocessing
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from pond.substrate import upkeep, write
from pond.substrate.catalog import Catalog
from pond.substrate.signals import Conflict
from pond.substrate.store import Store
from pond.substrate.table import Index, Table, key

THINGS = Table(
    "things",
    (key("shelf", 1), key("id", 2), pa.field("kind", pa.string()), pa.field("words", pa.string())),
    version=3,
    indexes=(
        Index("shelf", "BTREE"),
        Index("kind", "BITMAP"),
        Index("words", "INVERTED", {"base_tokenizer": "icu/split", "stem": False, "remove_stop_words": False}),
    ),
)
PATIENCE = 120


def store(place: Path) -> Store:
    return Store(Catalog(str(place)))


def things(shelf: str, ids: Iterable[object], words: str = "words") -> pa.Table:
    """Return rows of one shelf; a row's kind follows from its id."""
    rows = [{"shelf": shelf, "id": str(id), "kind": f"kind {len(str(id)) % 3}", "words": words} for id in ids]
    return pa.Table.from_pylist(rows, schema=THINGS.schema)


def keys(store: Store) -> list[tuple[str, str]]:
    """Return the keys of all rows, sorted."""
    table = store.renewed(THINGS).to_table(columns=["shelf", "id"])
    return sorted(zip(table["shelf"].to_pylist(), table["id"].to_pylist(), strict=True))


def together(work: Callable[..., Any], place: Path, count: int, *arguments: object) -> list[Any]:
    """Run `work(place, number, *arguments)` in several processes that start at the same moment; return the answers."""
    context = multiprocessing.get_context("spawn")
    gate, answers = context.Barrier(count), context.Queue()
    workers = [
        context.Process(target=_work, args=(gate, answers, work, place, number, *arguments)) for number in range(count)
    ]
    for worker in workers:
        worker.start()
    try:
        found = [answers.get(timeout=PATIENCE) for _ in workers]
    finally:
        for worker in workers:
            worker.join(PATIENCE)
            worker.kill()
    assert [worker.exitcode for worker in workers] == [0] * count
    failed = [answer for ok, answer in found if not ok]
    assert not failed, failed
    return [answer for _, answer in found]


def _work(gate: Any, answers: Any, work: Callable[..., Any], place: Path, number: int, *arguments: object) -> None:
    gate.wait(PATIENCE)
    try:
        answers.put((True, work(place, number, *arguments)))
    except BaseException as error:
        answers.put((False, repr(error)))


# --- what processes do -----------------------------------------------------------------------------------------------


def make(place: Path, number: int) -> int:
    """Make the table with its indexes; return how many rows it has."""
    there = store(place)
    there.made(THINGS)
    upkeep.ensure_indexes(there, THINGS)
    return int(there.handle(THINGS).count_rows())


def insert_same(place: Path, number: int, batches: int, rows: int) -> int:
    """Insert batches that every process inserts; return how many rows were new to this one."""
    there = store(place)
    return sum(write.insert(there, THINGS, things(f"shelf {batch}", range(rows))) for batch in range(batches))


def insert_own_and_tidy(place: Path, number: int, rounds: int) -> list[str]:
    """Insert rows of its own; every second process folds, compacts and cleans meanwhile. Return conflicts met."""
    there, conflicts = store(place), []
    for round in range(rounds):
        write.insert(there, THINGS, things(f"shelf {number}", range(round * 10, round * 10 + 10)))
        if number % 2:
            try:
                upkeep.fold_indexes(there, THINGS)
                upkeep.compact(there, THINGS)
                upkeep.clean(there, THINGS, timedelta(minutes=5))
            except Conflict as conflict:
                conflicts.append(str(conflict))
    return conflicts
