"""What search finds messages by is right after every run, however a session came in, and can be made again."""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from pond.intake import deriving
from pond.lake.erase import erase, family
from pond.lake.export import export
from pond.lake.import_ import import_
from pond.lake.optimize import optimize
from pond.lake.status import checks
from pond.model.json_text import JsonObject, encode_line
from pond.sessions import ledger, rarity
from pond.sessions.archive.select import Selection
from pond.sessions.rows import STALE
from pond.sessions.tables import LEDGER, MESSAGES, PARTS, SESSIONS
from pond.sessions.terms import RULES
from pond.sessions.writing import prepare, write_rows
from pond.substrate import read, upkeep, write
from pond.substrate.store import Store
from pond.substrate.table import Index
from tests.house.tree import ROOT
from tests.lake.taking import contents, store, take_in, versions
from tests.operations.invented import said, session

CLAUDE, CODEX = (ROOT / "adapters" / client / "fixtures" for client in ("claude_code", "codex"))
TOURS = [next((client / "tour").rglob("*.jsonl")) for client in (CLAUDE, CODEX)]
DERIVED = ("terms", "labels", "agent", "rules", "searched")


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return tmp_path / "lake"


def _column(there: Store, name: str, where: str | None = None) -> dict[tuple[str, str], object]:
    rows = read.rows(there, MESSAGES, ["session_id", "id", name], where).to_pylist()
    return {(row["session_id"], row["id"]): row[name] for row in rows}


def _agents(there: Store) -> dict[str, str | None]:
    return {session: str(agent) if agent else None for (session, _), agent in _column(there, "agent").items()}


def _shares(there: Store) -> Mapping[str, float]:
    return rarity.of(there, read.Pinned(there, LEDGER))


def _spoil(there: Store, **values: int | str) -> None:
    for name, value in values.items():
        write.correct(there, MESSAGES, name, value, "true")


# --- sessions that grow ----------------------------------------------------------------------------------------------


@pytest.mark.rule("adapter-integrity-additive-sync")
@pytest.mark.parametrize("tour", TOURS, ids=["claude-code", "codex"])
def test_a_session_that_grows_line_by_line_is_derived_as_one_that_came_whole(tmp_path: Path, tour: Path) -> None:
    source, lines = tmp_path / tour.name, tour.read_bytes().splitlines(keepends=True)
    for end in range(4, len(lines) + 1):
        source.write_bytes(b"".join(lines[:end]))
        take_in(tmp_path / "grown", source)
    take_in(tmp_path / "whole", source)
    grown, whole = contents(tmp_path / "grown"), contents(tmp_path / "whole")
    assert grown["messages"] == whole["messages"]
    assert any(row["labels"] for row in whole["messages"])


def test_rows_of_a_turn_that_went_out_early_get_the_labels_that_come_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_in(tmp_path / "whole", *TOURS)
    monkeypatch.setattr("pond.intake.reading._ROWS", 1)
    monkeypatch.setattr("pond.sessions.rows._WAITING", 1)
    take_in(tmp_path / "cut", *TOURS)
    assert contents(tmp_path / "cut")["messages"] == contents(tmp_path / "whole")["messages"]


def test_a_run_killed_before_it_derives_is_repaired_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, lines = tmp_path / TOURS[0].name, TOURS[0].read_bytes().splitlines(keepends=True)
    place = tmp_path / "lake"
    with monkeypatch.context() as killed:
        killed.setattr("pond.intake.storing.derive", lambda store, progress: 0)
        for end in (4, 9, len(lines)):
            source.write_bytes(b"".join(lines[:end]))
            take_in(place, source)
    assert STALE in _column(store(place), "rules").values()
    assert checks(store(place), {}).waiting
    take_in(place, source)
    take_in(tmp_path / "whole", source)
    assert contents(place)["messages"] == contents(tmp_path / "whole")["messages"]
    assert checks(store(place), {}).waiting == 0


def test_where_nothing_waits_nothing_is_written(lake: Path) -> None:
    take_in(lake, *TOURS)
    before = versions(lake)
    assert deriving.derive(store(lake)) == 0
    take_in(lake, *TOURS)
    assert versions(lake) == before


def test_a_row_that_another_process_stored_with_fewer_labels_gets_them(lake: Path, tmp_path: Path) -> None:
    source, lines = tmp_path / TOURS[0].name, TOURS[0].read_bytes().splitlines(keepends=True)
    source.write_bytes(b"".join(lines))
    take_in(tmp_path / "whole", source)
    whole = store(tmp_path / "whole")
    rows, there = read.rows(whole, MESSAGES, _sent(), order=["position"]), store(lake)
    prepare(there)
    labelled = next(number for number, labels in enumerate(rows["labels"].to_pylist()) if labels)
    early = rows.slice(labelled, 1)
    poor = early.set_column(early.schema.get_field_index("labels"), "labels", pa.array([[]], pa.list_(pa.string())))
    write.insert(there, MESSAGES, poor)
    parts = read.rows(whole, PARTS, [name for name in PARTS.schema.names if name != "data"])
    parts = parts.append_column("data", pa.nulls(parts.num_rows, pa.large_binary())).select(PARTS.schema.names)
    write_rows(there, rows, parts)
    deriving.derive(there)
    assert _column(there, "labels") == _column(whole, "labels")


def _sent() -> list[str]:
    return [name for name in MESSAGES.schema.names if name != "embedding_model"]


# --- whose session it is ---------------------------------------------------------------------------------------------


def test_spawned_sessions_know_their_kind_and_forks_are_none(lake: Path) -> None:
    take_in(lake, CLAUDE / "subagents", CODEX / "subagents", CODEX / "fork", *TOURS)
    there = store(lake)
    agents = _agents(there)
    kinds = {session.rpartition("/")[2]: agent for session, agent in agents.items() if "/" in session}
    assert kinds == {
        "agent-a94b671c9b59229df": "shelf-walker",
        "agent-a9a110419482f794c": "general-purpose",
        "agent-afork-0cb86936cc93b315": "fork",
        "agent-aa17bc3e103a779a3": "subagent",
        "agent-acompact-149d4ede10bc39c5": "subagent",
        "agent-aside_question-1c82eef83f3d73fb": "subagent",
    }
    parents = read.rows(there, SESSIONS, ["id"], "parent_session_id IS NOT NULL AND source_agent = 'codex'")
    codex = {agents[id] for id in parents["id"].to_pylist()}
    assert codex >= {None, "walker", "subagent"}


def test_a_kind_that_a_file_tells_later_is_set(lake: Path, tmp_path: Path) -> None:
    home = tmp_path / "subagents"
    shutil.copytree(CLAUDE / "subagents", home)
    metas = {path: path.read_bytes() for path in home.rglob("*.meta.json")}
    for path in metas:
        path.unlink()
    take_in(lake, home)
    assert set(_agents(store(lake)).values()) == {None, "subagent"}
    for path, content in metas.items():
        path.write_bytes(content)
    take_in(lake, home)
    take_in(tmp_path / "whole", home)
    assert _agents(store(lake)) == _agents(store(tmp_path / "whole"))
    assert "shelf-walker" in _agents(store(lake)).values()


# --- made again ------------------------------------------------------------------------------------------------------


def test_other_rules_derive_everything_anew(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take_in(lake, *TOURS)
    before = contents(lake)
    there = store(lake)
    _spoil(there, rules=RULES + 1)
    write.correct(there, MESSAGES, "terms", "old", "terms IS NOT NULL")
    assert checks(there, {}).waiting == len(before["messages"])
    monkeypatch.setattr(deriving, "_ROWS", 5)
    told: list[tuple[int, int]] = []
    assert deriving.derive(there, lambda done, of: told.append((done, of))) == len(before["messages"])
    assert contents(lake) == before
    assert len(told) > 1
    assert told[-1] == (len(before["messages"]), len(before["messages"]))


def test_a_lake_without_the_columns_gets_them_with_the_next_run(lake: Path, tmp_path: Path) -> None:
    take_in(lake, CLAUDE / "subagents", CODEX / "subagents", *TOURS)
    before = contents(lake)
    there = store(lake)
    _as_it_was(there)
    empty = tmp_path / "empty"
    empty.mkdir()
    take_in(lake, empty)
    assert contents(lake) == before
    there = store(lake)
    assert {each.name for each in there.handle(MESSAGES).describe_indices()} == {i.name for i in MESSAGES.indexes}
    word = next(row["terms"] for row in before["messages"] if row["terms"]).split()[0]
    assert there.handle(MESSAGES).to_table(full_text_query=word, columns=["id"]).num_rows
    settled = versions(lake)
    take_in(lake, empty)
    assert versions(lake) == settled


def _as_it_was(there: Store) -> None:
    """Make a lake one of the time before its messages had these columns."""
    handle = there.handle(MESSAGES)
    for index in ("terms_inverted", "labels_label_list", "agent_bitmap"):
        handle.drop_index(index)
    handle.drop_columns(list(DERIVED))
    old = replace(MESSAGES, indexes=(Index("search_text", "INVERTED", {"base_tokenizer": "icu/split"}),), retired=())
    handle.create_scalar_index("search_text", "INVERTED", name=old.indexes[0].name, **old.indexes[0].options)
    ledger.forget(there, rarity.RARITY, [rarity.RARITY])
    there.forget()


def test_optimize_derives_what_waits(lake: Path) -> None:
    take_in(lake, *TOURS)
    before = contents(lake)
    _spoil(store(lake), rules=STALE)
    optimize(store(lake), timedelta(hours=1))
    assert contents(lake) == before
    assert {index.unindexed for index in upkeep.health(store(lake), MESSAGES).indexes} == {0}


def test_an_imported_session_is_derived_with_what_the_lake_has_of_it(lake: Path, tmp_path: Path) -> None:
    source, lines = tmp_path / TOURS[0].name, TOURS[0].read_bytes().splitlines(keepends=True)
    source.write_bytes(b"".join(lines[:6]))
    take_in(lake, source)
    source.write_bytes(b"".join(lines))
    take_in(tmp_path / "whole", source)
    _spoil(store(tmp_path / "whole"), terms="made up")  # nobody has to believe an archive
    export(store(tmp_path / "whole"), tmp_path / "a.pond", Selection())
    import_(store(lake), tmp_path / "a.pond")
    take_in(tmp_path / "again", source)
    assert contents(lake)["messages"] == contents(tmp_path / "again")["messages"]


# --- how common a term is --------------------------------------------------------------------------------------------


def _stream(path: Path, texts: dict[str, str]) -> Path:
    """Write a canonical stream of sessions with one prompt each."""
    events: list[JsonObject] = []
    for id, text in texts.items():
        events += [session(id, source_agent="else"), *said(id, "p", text)]
    path.write_bytes(b"".join(map(encode_line, events)))
    return path


def test_common_terms_are_counted_and_counted_again_when_many_sessions_came(lake: Path, tmp_path: Path) -> None:
    texts = {f"s{number}": f"common word{number}" for number in range(10)}
    take_in(lake, _stream(tmp_path / "a.jsonl", texts))
    assert _shares(store(lake))["common"] == 10 / 12
    assert _shares(store(lake))["word3"] == 1 / 12
    before = versions(lake)["ledger"]
    assert not rarity.renew(store(lake))
    assert versions(lake)["ledger"] == before
    take_in(lake, _stream(tmp_path / "b.jsonl", {"t1": "else", "t2": "else"}))
    assert _shares(store(lake))["common"] == 10 / 12  # a fifth more is not yet many
    take_in(lake, _stream(tmp_path / "c.jsonl", {"t3": "else"}))
    assert _shares(store(lake))["common"] == 10 / 15


def test_a_term_that_few_sessions_hold_is_not_noted(lake: Path, tmp_path: Path) -> None:
    take_in(lake, _stream(tmp_path / "a.jsonl", {f"s{number}": f"common word{number}" for number in range(60)}))
    found = _shares(store(lake))
    assert {"common", "word3"} & found.keys() == {"common"}


def test_the_note_of_other_rules_is_none(lake: Path, tmp_path: Path) -> None:
    take_in(lake, _stream(tmp_path / "a.jsonl", {"s": "common"}))
    there = store(lake)
    note = ledger.notes(there, rarity.RARITY)[rarity.RARITY]
    ledger.note(there, rarity.RARITY, {rarity.RARITY: note | {"rules": RULES + 1}})
    assert _shares(there) == {}
    assert rarity.renew(there)
    assert _shares(there)["common"] == 1 / 3


def test_no_word_of_an_erased_session_is_left(lake: Path, tmp_path: Path) -> None:
    take_in(lake, _stream(tmp_path / "a.jsonl", {"s1": "common quincunx", "s2": "common", "s3": "common"}))
    there = store(lake)
    assert "quincunx" in _shares(there)
    erase(there, [family(there, "s1")], alone=True)
    assert _shares(there) == {"common": 2 / 4, "comm": 2 / 4}
    texts = read.rows(there, LEDGER, ["value"])["value"].to_pylist()
    assert not any("quincunx" in text for text in texts)
    held = there.handle(MESSAGES).to_table(full_text_query="quincunx", columns=["id"])
    assert held.num_rows == 0
    assert upkeep.leftovers(there, MESSAGES) == upkeep.leftovers(there, LEDGER) == []
