"""What queries give: rows of the lake, one state of it, what search finds, and errors that help."""

import json
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pond
from pond.config.settings import Settings, Sql
from pond.diagnostics.diagnostic import PondError, UsageError
from pond.operations.envelope import PROTOCOL, sql_request
from pond.operations.failing import error_of
from pond.operations.search import search
from pond.operations.service import Service
from pond.operations.sql import Result, sql
from pond.sql.examples import EXAMPLES
from pond.sql.schema import described
from pond.sql.tables import views
from tests.house.tree import ROOT


def ask(service: Service, query: str, **more: Any) -> dict[str, Any]:
    return dict(sql(service, sql_request({"protocol_version": PROTOCOL, "query": query, **more})))


def refusal(service: Service, query: str) -> Any:
    with pytest.raises(PondError) as found:
        ask(service, query)
    return found.value.diagnostics[0]


def test_a_join_over_all_three_tables(service: Service) -> None:
    rows = ask(
        service,
        """SELECT s.id, m.role, p.type, p.variant_data->>'$.text' AS text
        FROM sessions s JOIN messages m ON m.session_id = s.id
        JOIN parts p ON p.session_id = m.session_id AND p.message_id = m.id
        WHERE s.source_agent = 'claude-code' AND s.parent_session_id IS NULL AND m.role = 'user' AND p.type = 'text'
        ORDER BY m.position""",
    )["rows"]
    assert any("Tove left a new tray" in (row["text"] or "") for row in rows)


def test_no_column_holds_vectors_terms_or_payloads(service: Service) -> None:
    for name in views():
        columns = {column["name"] for column in ask(service, f"SELECT * FROM {name} LIMIT 1")["columns"]}
        assert columns == set(views()[name].names)
        assert columns.isdisjoint({"vector", "terms", "data", "payloads", "rules"})
    for query in ("SELECT vector FROM messages", "SELECT terms FROM messages", "SELECT data FROM parts"):
        assert refusal(service, query).code == "sql-unknown"


def test_values_are_exact(service: Service) -> None:
    (row,) = ask(
        service,
        """SELECT 9007199254740993 AS large, 2::HUGEINT * 10000000000000000000 AS huge, 1.50::DECIMAL(4, 2) AS exact,
        TIMESTAMPTZ '2026-03-14 09:26:53.000001+01' AS time, DATE '2026-03-14' AS day, 'NaN'::DOUBLE AS nan,
        [TIMESTAMPTZ '2026-03-14 00:00:00+00'] AS times, 'ab'::BLOB AS bytes, NULL AS nothing, true AS yes,
        1 AS same, 2 AS same, INTERVAL '3 days' AS span""",
    )["rows"]
    assert row == {
        "large": "9007199254740993", "huge": "20000000000000000000", "exact": "1.50",
        "time": "2026-03-14T08:26:53.000001Z", "day": "2026-03-14", "nan": "nan",
        "times": ["2026-03-14T00:00:00.000Z"], "bytes": "6162", "nothing": None, "yes": True,
        "same": 1, "same_1": 2, "span": "0 months 3 days 0 seconds",
    }  # fmt: skip


def test_rows_are_limited_and_the_hint_leads_on(service: Service) -> None:
    query = "SELECT position, session_id, id FROM messages{} ORDER BY position, session_id, id"
    every = ask(service, query.format(""), limit=1000)["rows"]
    assert 100 < len(every) < 1000
    first = ask(service, query.format(""))
    assert (len(first["rows"]), first["more"]) == (100, True)
    assert first["hint"].startswith("for what follows add: WHERE (position, session_id, id) > (")
    where = first["hint"].removeprefix("for what follows add:")
    second = ask(service, query.format(where), limit=1000)
    assert first["rows"] + second["rows"] == every
    assert (second["more"], "hint" in second) == (False, False)


def test_a_time_in_a_hint_is_one_that_compares(service: Service) -> None:
    query = "SELECT timestamp, id FROM messages WHERE timestamp IS NOT NULL{} ORDER BY timestamp DESC, id DESC"
    first = ask(service, query.format(""), limit=3)
    where = first["hint"].removeprefix("for what follows add: WHERE")
    second = ask(service, query.format(f" AND {where}"), limit=3)
    assert first["rows"] + second["rows"] == ask(service, query.format(""), limit=6)["rows"]


def test_a_response_has_an_end_in_bytes(service: Service) -> None:
    found = ask(service, "SELECT repeat('x', 1000000) AS text FROM range(20)", limit=1000)
    assert found["more"]
    assert 1 <= len(found["rows"]) < 20


def test_search_is_a_table_with_the_same_ranking(service: Service) -> None:
    hits = search(service, {"protocol_version": PROTOCOL, "query": "seedlings tray", "limit": 10})["hits"]
    rows = ask(service, "SELECT * FROM search('seedlings tray', 5) ORDER BY rank")["rows"]
    assert rows
    assert [(row["session_id"], row["message_id"]) for row in rows] == [
        (hit["session_id"], hit["message_id"]) for hit in hits[:5]
    ]
    joined = ask(
        service,
        "SELECT search.score, m.search_text FROM search('seedlings tray', 5) JOIN messages m"
        " ON m.session_id = search.session_id AND m.id = search.message_id",
    )["rows"]
    assert len(joined) == len(rows)
    assert refusal(service, "SELECT * FROM search('role:nobody x')").message == "expected a role, found `nobody`"


def test_errors_say_what_there_is(service: Service) -> None:
    column = refusal(service, "SELECT rol FROM messages")
    assert (column.code, column.message) == ("sql-unknown", "there is no column `rol`")
    assert column.help.startswith("did you mean `role`? messages has session_id, id, ")
    table = refusal(service, "SELECT *\nFROM mesages")
    assert (table.message, str(table.span)) == ("there is no table `mesages`", "query:2:6")
    assert table.help == "did you mean `messages`?"
    syntax = refusal(service, "SELECT role\nFORM messages x y")
    assert (syntax.code, syntax.span.line) == ("sql-syntax", 2)
    assert refusal(service, "SELECT lenght(role) FROM messages").help == "did you mean `length`?"
    value = refusal(service, "SELECT role::INTEGER FROM messages")
    assert value.code == "sql-failed"


def test_an_error_on_the_wire_has_it_all(service: Service) -> None:
    with pytest.raises(UsageError) as found:
        ask(service, "SELECT rol FROM messages")
    error = error_of(found.value)
    assert (error["code"], error["details"]["reason"]) == ("validation_failed", "wrong-query")
    assert "did you mean `role`?" in error["details"]["help"]


def test_explain_shows_that_a_filter_reaches_lance(service: Service) -> None:
    (row,) = ask(service, "EXPLAIN SELECT id FROM messages WHERE session_id = 'x'")["rows"]
    assert "\"session_id\" = 'x'" in row["plan"] or "session_id" in row["plan"].partition("Filters")[2]


def test_a_lake_and_a_namespace_must_be_there(service: Service, tmp_path: Path) -> None:
    with pytest.raises(PondError, match="no namespace `nobody`") as found:
        ask(service, "SELECT 1", namespace="nobody")
    assert error_of(found.value)["code"] == "namespace_unknown"
    nowhere = Service(Settings(lake=str(tmp_path / "none")))
    with pytest.raises(PondError) as missing:
        ask(nowhere, "SELECT 1")
    assert missing.value.diagnostics[0].code == "lake-missing"
    nowhere.close()


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bomb",
    [
        "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT count(*) FROM a",
        "SELECT count(*) FROM range(1000000000) a, range(1000000000) b",
        "SELECT count(*) FROM messages a, messages b, messages c, messages d, messages e",
        "WITH RECURSIVE a(s, n) AS (SELECT 'xxxxxxxx', 0 UNION ALL SELECT s || s, n + 1 FROM a WHERE n < 40) "
        "SELECT max(length(s)) FROM a",
        "SELECT length(repeat('x', 2000000000))",
        "SELECT sum(length(repeat('x', 50000000 + i::INTEGER))) FROM range(100000) t(i)",
        "SELECT list_sort(range(300000000))[1]",
        "SELECT levenshtein(repeat('a', 400000), repeat('b', 400000))",
        "SELECT string_agg(repeat('x', 1000), ',') FROM range(100000000)",
    ],
)
def test_what_runs_away_is_stopped(bomb: str, place: Path) -> None:
    service = Service(Settings(lake=str(place), sql=Sql(2.0, 128)))
    began = time.monotonic()
    found = refusal(service, bomb)
    assert (found.code, error_of(UsageError(found))["details"]["reason"]) == ("sql-limit", "query-limit")
    assert time.monotonic() - began < 60
    assert ask(service, "SELECT 1 AS one")["rows"] == [{"one": 1}]
    service.close()


# --- one state, and the same answers as in memory ---------------------------------------------------------------------

CONDITIONS = [
    "role = 'user'", "role <> 'user'", "role IN ('user', 'tool')", "role NOT IN ('user')", "role IS NULL",
    "agent IS NOT NULL", "agent IS DISTINCT FROM 'x'", "role LIKE 'u%'", "role > 'm' AND role <= 'tool'",
    "timestamp >= TIMESTAMPTZ '2020-01-01'", "timestamp::DATE = DATE '2026-03-14'", "position BETWEEN 0 AND 99999999",
    "position = 0 OR role = 'system'", "NOT (role = 'user' OR position = 0)", "labels IS NULL", "len(labels) > 0",
    "list_contains(labels, 'failed')", "starts_with(search_text, 'T')", "search_text ILIKE '%tray%'",
    "position > 1.5", "position IN (0, 16777216)", "options->>'$.pond.as' = 'user'", "true", "false",
    "(role, position) > ('assistant', 0)", "session_id = (SELECT min(id) FROM sessions)", "id = ''",
    "timestamp IS NULL OR timestamp < now()", "title IS NOT NULL AND role = 'system'", "position % 2 = 0",
]  # fmt: skip


def test_every_kind_of_condition_gives_what_it_gives_in_memory(service: Service, place: Path) -> None:
    import duckdb

    with duckdb.connect() as memory, pond.Lake(place) as lake:
        for name, view in views().items():
            memory.register(name, lake.to_arrow(name, view.names))
        for condition in CONDITIONS:
            query = f"SELECT session_id, id FROM messages WHERE {condition} ORDER BY session_id, id"
            expected = memory.sql(query).to_arrow_table()
            found = Result(service, query)
            assert pa.Table.from_batches(list(found), found.schema).to_pylist() == expected.to_pylist(), condition


def test_a_query_sees_one_state_of_all_tables(tmp_path: Path) -> None:
    session = next((ROOT / "adapters/claude_code/fixtures/tour").rglob("*.jsonl"))
    other = next((ROOT / "adapters/codex/fixtures/tour").rglob("*.jsonl"))
    with pond.Lake(tmp_path / "lake") as lake:
        lake.ingest(session)
        before = lake.sql("SELECT count(*) AS n FROM messages").to_pylist()
        rows = Result(
            lake._service, "SELECT m.id, s.id AS session FROM messages m JOIN sessions s ON s.id = m.session_id"
        )
        lake.ingest(other)
        assert sum(batch.num_rows for batch in rows) == before[0]["n"]
        assert lake.sql("SELECT count(*) AS n FROM messages").to_pylist()[0]["n"] > before[0]["n"]


def test_half_characters_in_json_break_no_query(tmp_path: Path) -> None:
    lines = [
        {"type": "user", "uuid": f"u{at}", "sessionId": "s-1", "cwd": "/p", "timestamp": "2026-03-14T09:26:53.000Z",
         "message": {"role": "user", "content": "words"}, "odd": text}
        for at, text in enumerate(["\ud800", "\udc00\ud800 and \U0001f33f", "a\\ud800"])
    ]  # fmt: skip
    file = tmp_path / "s-1.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pond.Lake(tmp_path / "lake") as lake:
        lake.ingest(file, client="claude-code")
        found = lake.sql("SELECT options->>'$.source.odd' AS odd FROM messages WHERE role = 'user' ORDER BY position")
        assert found["odd"].to_pylist() == ["\ufffd", "\ufffd\ufffd and \U0001f33f", "a\\ud800"]


# --- the page and the description -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("title", "query"), EXAMPLES, ids=[title for title, _ in EXAMPLES])
def test_every_example_runs_and_stands_on_the_page(title: str, query: str, service: Service) -> None:
    ask(service, query)
    assert query in described()
    assert f"```sql\n{query}\n```" in (ROOT / "docs/sql.md").read_text(encoding="utf-8")


def test_every_query_of_the_page_runs(service: Service) -> None:
    blocks = (ROOT / "docs/sql.md").read_text(encoding="utf-8").split("```sql\n")[1:]
    assert len(blocks) >= len(EXAMPLES)
    for block in blocks:
        ask(service, block.partition("```")[0])


def test_every_column_is_described() -> None:
    text = described()
    for view in views().values():
        for column in view.columns:
            assert column.name in text
            assert column.meaning in text
