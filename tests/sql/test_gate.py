"""What may run: one read-only query over the lake's tables, and nothing that reaches further."""

import duckdb
import pytest

from pond.diagnostics.diagnostic import UsageError
from pond.sql.gate import LONGEST, Search, admitted, functions

REFUSED = {
    # statements that write, load, set or reach outside
    "COPY messages TO 'out.csv'": "found COPY",
    "COPY (SELECT 1) TO 'out.csv'": "found COPY",
    "ATTACH 'other.db'": "found ATTACH",
    "DETACH other": "found DETACH",
    "INSTALL httpfs": "found LOAD",
    "LOAD httpfs": "found LOAD",
    "PRAGMA database_list": "found PRAGMA",
    "PRAGMA enable_profiling": "found",
    "SET threads = 1": "found",
    "SET lock_configuration = false": "found",
    "RESET threads": "found",
    "USE other": "found",
    "CALL pragma_version()": "found CALL",
    "CREATE TABLE x AS SELECT 1": "found CREATE",
    "INSERT INTO messages VALUES (1)": "found INSERT",
    "UPDATE messages SET role = 'x'": "found UPDATE",
    "DELETE FROM messages": "found DELETE",
    "DROP VIEW messages": "found DROP",
    "EXPORT DATABASE 'x'": "found EXPORT",
    "IMPORT DATABASE 'x'": "found",
    "CHECKPOINT": "found",
    "VACUUM": "found",
    "BEGIN": "found TRANSACTION",
    "PREPARE v AS SELECT 1": "found PREPARE",
    "EXECUTE v": "found EXECUTE",
    "EXPLAIN COPY messages TO 'x'": "can be explained",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO 'x'": "can be explained",
    "EXPLAIN DELETE FROM messages": "can be explained",
    "EXPLAIN (FORMAT json) SELECT 1": "",
    "PIVOT messages ON role USING count(*)": "found MULTI",
    # several at once, or none
    "SELECT 1; SELECT 2": "expected one query, found 2",
    "SELECT 1; COPY messages TO 'x'": "expected one query, found 2",
    "EXPLAIN SELECT 1; SELECT 2": "expected one query, found 2",
    "": "expected one query, found none",
    " ; ": "expected one query, found none",
    "-- SELECT 1": "expected one query, found none",
    "/* SELECT 1": "",
    # writes hidden inside a query
    "WITH a AS (INSERT INTO messages VALUES (1) RETURNING 1) SELECT * FROM a": "INSERT is not allowed",
    "WITH a AS (DELETE FROM messages RETURNING 1) SELECT * FROM a": "DELETE is not allowed",
    "WITH a AS (UPDATE messages SET role = 'x' RETURNING 1) SELECT * FROM a": "UPDATE is not allowed",
    "SELECT * FROM (SHOW TABLES)": "not allowed",
    "SELECT * FROM (DESCRIBE messages)": "not allowed",
    "SHOW TABLES": "not allowed",
    "SUMMARIZE messages": "not allowed",
    # files, catalogs and settings as tables
    "SELECT * FROM '/etc/passwd'": "no table",
    "SELECT * FROM 'messages.parquet'": "no table",
    "SELECT * FROM read_csv('/etc/passwd')": "`read_csv` is not allowed",
    "SELECT * FROM read_csv_auto('/etc/passwd')": "not allowed",
    "SELECT * FROM read_text('/etc/passwd')": "not allowed",
    "SELECT * FROM read_blob('/etc/*')": "not allowed",
    "SELECT * FROM read_json('x.json')": "not allowed",
    "SELECT * FROM read_parquet('x.parquet')": "not allowed",
    "SELECT * FROM parquet_scan('x')": "not allowed",
    "SELECT * FROM glob('/*')": "not allowed",
    "SELECT * FROM sniff_csv('/etc/passwd')": "not allowed",
    "SELECT * FROM query('SELECT 1')": "not allowed",
    "SELECT * FROM query_table('messages')": "not allowed",
    "SELECT * FROM duckdb_settings()": "not allowed",
    "SELECT * FROM duckdb_secrets()": "not allowed",
    "SELECT * FROM pragma_database_size()": "not allowed",
    "SELECT * FROM json_execute_serialized_sql('{}')": "not allowed",
    "SELECT * FROM python_map_function()": "not allowed",
    "SELECT * FROM arrow_scan(1, 2, 3)": "not allowed",
    "SELECT * FROM information_schema.tables": "no table",
    "SELECT * FROM pg_catalog.pg_tables": "no table",
    "SELECT * FROM duckdb_tables": "no table",
    "SELECT * FROM sqlite_master": "no table",
    "SELECT * FROM memory.main.messages": "no table",
    "SELECT * FROM main.search('x')": "not allowed",
    'SELECT * FROM "search results"': "no table",
    "SELECT * FROM ledger": "no table",
    # functions that read the surroundings, wait or speak
    "SELECT getenv('HOME')": "`getenv` is not allowed",
    "SELECT current_setting('home_directory')": "not allowed",
    "SELECT getvariable('x')": "not allowed",
    "SELECT version()": "not allowed",
    "SELECT current_query()": "not allowed",
    "SELECT sleep_ms(1000)": "not allowed",
    "SELECT pg_sleep(10)": "not allowed",
    "SELECT write_log('x')": "not allowed",
    "SELECT nextval('x')": "not allowed",
    "SELECT setseed(0.5)": "not allowed",
    "SELECT error('x')": "not allowed",
    "SELECT json_serialize_sql('SELECT 1')": "not allowed",
    "SELECT system.main.lower('x')": "not allowed",
    "SELECT list_transform(['/etc/passwd'], lambda x: read_text(x))": "not allowed",
    "SELECT (SELECT max(content) FROM read_text('/etc/passwd'))": "not allowed",
    "SELECT 1 WHERE EXISTS (SELECT * FROM read_csv('x'))": "not allowed",
    "SELECT count(*) FILTER (WHERE getenv('x') = '') FROM messages": "not allowed",
    "SELECT row_number() OVER (ORDER BY getenv('x')) FROM messages": "not allowed",
    "WITH a AS (SELECT * FROM read_csv('x')) SELECT 1": "not allowed",
    "SELECT 1 ORDER BY getenv('x')": "not allowed",
    "SELECT 1 LIMIT (SELECT count(*) FROM glob('*'))": "not allowed",
    "SELECT * FROM messages m JOIN glob('*') g ON true": "not allowed",
    "SELECT * FROM (VALUES (getenv('x')))": "not allowed",
    "SELECT 1 UNION ALL SELECT getenv('x')": "not allowed",
    # tricks of spelling
    "SELECT * FROM READ_CSV('x')": "not allowed",
    "SELECT * FROM \"read_csv\"('x')": "not allowed",
    "SELECT * FROM/**/read_csv/**/('x')": "not allowed",
    "sElEcT GeTeNv('HOME')": "not allowed",
    "'HOME'.getenv()": "",
    "SELECT 'HOME'.getenv()": "not allowed",
    "SELECT * FROM read_csv\u00a0('x')": "",
    "SELECT * FROM \uff52ead_csv('x')": "not allowed",
    "\ufeffCOPY messages TO 'x'": "",
    "SELECT 1\0; COPY messages TO 'x'": "not text",
    "SELECT '\ud800'": "not text",
    # what there is nothing to put in place of
    "SELECT * FROM messages WHERE id = ?": "parameter",
    "SELECT * FROM messages WHERE id = $1": "parameter",
    "SELECT * FROM messages AT (VERSION => 1)": "version",
    # search with anything but a text and a number
    "SELECT * FROM search('a' || 'b')": "expected search(",
    "SELECT * FROM search('x', 0)": "expected search(",
    "SELECT * FROM search('x', 151)": "expected search(",
    "SELECT * FROM search('x', n := '5')": "expected search(",
    "SELECT * FROM search()": "expected search(",
    "SELECT search('x')": "not allowed",
}

ALLOWED = [
    "SELECT 1",
    "select 1;",
    " /* a */ SELECT 1 -- b",
    "WITH a AS (SELECT 1) SELECT * FROM a",
    "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a WHERE n < 5) SELECT * FROM a",
    "FROM messages SELECT role",
    "VALUES (1), (2)",
    "(SELECT 1) UNION (SELECT 2) ORDER BY 1",
    "SELECT DISTINCT ON (role) role, id FROM Messages",
    "SELECT * EXCLUDE (options) FROM messages",
    "SELECT COLUMNS('id|role') FROM messages",
    "SELECT role, count(*) FILTER (WHERE agent IS NULL) FROM messages GROUP BY ALL HAVING count(*) > 1",
    "SELECT row_number() OVER (PARTITION BY session_id ORDER BY id) FROM messages QUALIFY row_number() OVER () = 1",
    "SELECT CASE WHEN role LIKE 'u%' THEN 1 ELSE 2 END, role ILIKE '%x%', role SIMILAR TO 'x' FROM messages",
    "SELECT options->>'$.a', options->'$.a', json_extract(options, '$.b') FROM sessions",
    "SELECT unnest(labels) FROM messages",
    "SELECT * FROM messages, unnest(labels) AS l(label)",
    "SELECT * FROM sessions s, json_each(s.options, '$.source') e",
    "SELECT list_transform([1, 2], lambda x: x + 1), {'a': 1}, [1, 2][1], map {'x': 1}",
    "SELECT now() - INTERVAL '7 days', date_trunc('day', timestamp), extract(year FROM timestamp) FROM messages",
    "SELECT * FROM messages WHERE (timestamp, id) < (TIMESTAMPTZ '2026-01-01', 'x')",
    "SELECT * FROM messages USING SAMPLE 5",
    "SELECT i FROM range(3) r(i) UNION ALL SELECT * FROM generate_series(1, 3)",
    "SELECT * FROM (PIVOT messages ON role IN ('user', 'tool') USING count(*))",
    "EXPLAIN SELECT 1",
    "explain /* a */ analyze select 1",
    "EXPLAIN ANALYZE WITH a AS (SELECT 1) SELECT * FROM a",
]


@pytest.mark.parametrize("text", REFUSED)
def test_it_is_refused(text: str, parser: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(UsageError) as refusal:
        admitted(parser, text)
    assert REFUSED[text] in str(refusal.value)
    assert refusal.value.diagnostics[0].code in ("sql-refused", "sql-syntax", "sql-unknown")


@pytest.mark.parametrize("text", ALLOWED)
def test_it_may_run(text: str, parser: duckdb.DuckDBPyConnection) -> None:
    admitted(parser, text)


def test_a_query_has_an_end(parser: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(UsageError, match="at most"):
        admitted(parser, f"SELECT '{'x' * LONGEST}'")


@pytest.mark.parametrize("deep", ["(" * 5000 + "1" + ")" * 5000, "NOT " * 5000 + "true", "1+" * 5000 + "1", "[" * 5000])
def test_deep_nesting_is_refused(deep: str, parser: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(UsageError):
        admitted(parser, f"SELECT {deep}")


def test_searches_and_tables_are_found(parser: duckdb.DuckDBPyConnection) -> None:
    asked = "SELECT * FROM search('é x', 5), search('y') z, Messages WHERE EXISTS (FROM search('q', n := 3))"
    query = admitted(parser, asked)
    assert set(query.searches) == {Search("é x", 5), Search("y", 10), Search("q", 3)}
    assert query.tables == {"messages"}
    assert query.text == asked.replace("5)", "5) AS search").replace("3)", "3) AS search")


def test_the_order_is_known_where_it_is_by_columns(parser: duckdb.DuckDBPyConnection) -> None:
    assert admitted(parser, "SELECT * FROM messages m ORDER BY m.timestamp DESC, id").order == (
        ("timestamp", True),
        ("id", False),
    )
    assert admitted(parser, "SELECT * FROM messages ORDER BY lower(id)").order == ()
    assert admitted(parser, "SELECT * FROM messages").order == ()


# The parser makes something else of them, or knows them as window functions alone.
_NOT_LISTED = """
coalesce cume_dist dense_rank fill first_value grouping grouping_id ifnull lag last_value lead nth_value ntile
percent_rank rank rank_dense row_number try unnest <> ->
"""


def test_every_function_that_is_allowed_exists(parser: duckdb.DuckDBPyConnection) -> None:
    rows = parser.execute("SELECT DISTINCT lower(function_name) FROM duckdb_functions()").fetchall()
    assert functions() - {name for (name,) in rows} - set(_NOT_LISTED.split()) == set()
