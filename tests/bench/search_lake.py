"""A lake to search: sessions of `talk` through pond's own rows and tables, left as `pond optimize` leaves one."""

import hashlib
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import timedelta
from itertools import islice
from pathlib import Path

import pyarrow as pa

from pond.lake.optimize import optimize
from pond.model.json_text import JsonObject
from pond.sessions import tables
from pond.sessions.rows import Rows, session_row
from pond.sessions.tables import MESSAGES
from pond.sessions.terms import RULES
from pond.sessions.writing import prepare, write_rows, write_sessions
from pond.substrate import upkeep
from pond.substrate.catalog import Catalog
from pond.substrate.store import Store
from tests.bench import talk
from tests.bench.talk import Said, Talk

PER_SESSION = 20  # messages
LONG, LONG_SIZE = 250, 20_000  # messages of so many characters that all say the same rare words
_AT_ONCE = 2_500  # sessions in one commit
NO_AGE = timedelta(0)  # what is older is removed
_INGESTED_AT = 1_800_000_000_000_000
_NOTES = "built.json"


@dataclass(frozen=True)
class Built:
    """A lake, how many messages it holds, and what its index of terms took."""

    place: str
    messages: int
    row_seconds: float  # of CPU, to make the rows and store them
    index_seconds: float  # and to index their terms
    index_bytes: int  # of all indexes of the messages
    row_bytes: int  # of the messages


def kept(messages: int, folder: Path | None) -> Built:
    """Return the lake of about so many messages below a folder; it is made where it is not there."""
    version = hashlib.sha256(Path(talk.__file__).read_bytes() + Path(__file__).read_bytes()).hexdigest()[:8]
    root = folder or Path(tempfile.gettempdir()) / "pond-bench-search"
    place = root / f"{version}-{tables.VERSION}-{RULES}-{messages}"
    if not (place / _NOTES).exists():
        place.mkdir(parents=True, exist_ok=True)
        (place / _NOTES).write_text(json.dumps(asdict(_build(place / "lake", messages))))
    return Built(**json.loads((place / _NOTES).read_text()))


def _build(place: Path, messages: int) -> Built:
    store = Store(Catalog(str(place)))
    prepare(store)
    sessions = _sessions(messages)
    begin = time.process_time()
    while some := list(islice(sessions, _AT_ONCE)):
        _write(store, some)
    rows = time.process_time() - begin
    optimize(store, NO_AGE)
    seconds = _index_again(store)
    health = upkeep.health(store, MESSAGES)
    return Built(str(place), health.rows, rows, seconds, health.index_bytes, health.bytes - health.index_bytes)


def _index_again(store: Store) -> float:
    """Build the index of terms again, as the only work of this moment; return its CPU seconds."""
    index = next(index for index in MESSAGES.indexes if index.column == "terms")
    handle = store.handle(MESSAGES)
    handle.drop_index(index.name)
    start = time.process_time()
    upkeep.ensure_indexes(store, MESSAGES)
    seconds = time.process_time() - start
    upkeep.clean(store, MESSAGES, NO_AGE)
    return seconds


def _sessions(messages: int) -> Iterator[tuple[Talk, list[Said]]]:
    for number in range(messages // PER_SESSION):
        session = Talk(number)
        yield session, list(session.said(PER_SESSION))
    yield from long_sessions()


def long_sessions() -> Iterator[tuple[Talk, list[Said]]]:
    """Yield sessions of long messages, each with the words of `LONG_WORDS` in several places."""
    for number in range(LONG // 10):
        session = Talk(10_000_000 + number)
        yield session, [Said("assistant", _long(session)) for _ in range(10)]


LONG_WORDS = ("zanthorel", "quivermoss", "ostrakhan")


def _long(session: Talk) -> str:
    pieces: list[str] = []
    for number, said in enumerate(session.said(LONG_SIZE)):
        pieces.append(f"{said.text} {LONG_WORDS[number % len(LONG_WORDS)]}")
        if sum(map(len, pieces)) >= LONG_SIZE:
            break
    return "\n".join(pieces)[:LONG_SIZE]


def _write(store: Store, sessions: list[tuple[Talk, list[Said]]]) -> None:
    made = [_rows(*each) for each in sessions]
    messages, parts = (
        pa.Table.from_batches(batches) for batches in zip(*(batches for _, batches in made), strict=True)
    )
    write_rows(store, messages, parts, {})
    write_sessions(store, [session_row(row, _INGESTED_AT) for row, _ in made])


def _rows(session: Talk, said: list[Said]) -> tuple[JsonObject, tuple[pa.RecordBatch, pa.RecordBatch]]:
    row, records = talk.events(session, said)
    rows = Rows(row, agent_of=lambda _: session.agent)
    for record in records:
        rows.take(record)
    return row, rows.flush()
