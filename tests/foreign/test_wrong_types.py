"""A source record may hold anything anywhere: no outline fails on it, and nothing goes missing unseen."""

import copy
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pond.model.json_text import Json, encode_line
from tests.foreign.accounting import lost_messages, misnamed, unaccounted
from tests.foreign.road import CLIENTS, OTHER, convert, scratch
from tests.laws.corpus import fixture_files
from tests.laws.passage import read, strict_values
from tests.size import SOAK

WRONG: list[Json] = [None, 7, ["a", {}], {"a": []}, "text"]
Path = tuple[str | int, ...]
_DEPTH = 5  # keys and places: message, content, 0, source, data
_FIELD = 3  # keys: compactMetadata, preservedMessages, uuids


def _records(client: str) -> list[tuple[str, list[Json]]]:
    """Return the values of every fixture that is complete by itself: a Codex fork holds its own tail only."""
    files = [(file.path.name, file.path.read_bytes()) for file in fixture_files() if file.client == client]
    whole = [(name, data) for name, data in files if name.endswith(".jsonl") and b"history_base" not in data]
    return [(name, strict_values(data)) for name, data in whole]


FIXTURES = {client: _records(client) for client in CLIENTS}


def _paths(value: Json, path: Path = ()) -> Iterator[Path]:
    """Yield where the values of a record stand."""
    if path:
        yield path
    if len(path) < _DEPTH:
        if type(value) is dict:
            for key, inner in value.items():
                yield from _paths(inner, (*path, key))
        elif type(value) is list:
            for place, inner in enumerate(value):
                yield from _paths(inner, (*path, place))


def _put(record: Json, path: Path, value: Json) -> None:
    *above, last = path
    for key in above:
        record = record[key]
    record[last] = copy.deepcopy(value)


def _problems(records: list[Json], name: str, client: str) -> list[str]:
    """Convert records to the other client; return what is unaccounted for."""
    with scratch() as folder:
        file = folder / name
        file.write_bytes(b"".join(map(encode_line, records)))
        made = convert(file, OTHER[client], folder / "out", client)
        source = read(file, client)
        return [*unaccounted(source, made), *misnamed(source, made), *lost_messages(source, made)]


def _spoilt(records: list[Json], field: Path, wrong: Json) -> list[Json]:
    """Return the records with a field of every one that has it spoilt."""
    changed = copy.deepcopy(records)
    for record in changed:
        if field in set(_paths(record)):
            _put(record, field, wrong)
    return changed


def _fields(client: str) -> dict[Path, int]:
    """Return each field of the client's records, and the fixture that has it most often."""
    most: dict[Path, tuple[int, int]] = {}
    for number, (_, records) in enumerate(FIXTURES[client]):
        counts: dict[Path, int] = {}
        for record in records:
            for path in _paths(record):
                if len(path) <= _FIELD and all(type(key) is str for key in path):
                    counts[path] = counts.get(path, 0) + 1
        for path, count in counts.items():
            most[path] = max(most.get(path, (0, 0)), (count, number))
    return {path: number for path, (_, number) in most.items()}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.rule("adapter-integrity-no-silent-drops")
def test_every_field_of_any_type(client: str) -> None:
    broken = []
    for turn, (field, number) in enumerate(_fields(client).items()):
        name, records = FIXTURES[client][number]
        for wrong in WRONG if SOAK else [WRONG[turn % len(WRONG)]]:
            try:
                found = _problems(_spoilt(records, field, wrong), name, client)
            except Exception as error:
                found = [f"{type(error).__name__}: {error}"]
            broken += [f"{field} = {wrong!r}: {what}" for what in found]
    assert broken == []


@pytest.mark.parametrize("client", CLIENTS)
@given(data=st.data())
def test_many_values_of_any_type(client: str, data: st.DataObject) -> None:
    name, records = data.draw(st.sampled_from(FIXTURES[client]))
    records = copy.deepcopy(records)
    for _ in range(data.draw(st.integers(1, 8))):
        record = data.draw(st.sampled_from(records))
        if paths := [*_paths(record)]:
            _put(record, data.draw(st.sampled_from(paths)), data.draw(st.sampled_from(WRONG)))
    assert _problems(records, name, client) == []
