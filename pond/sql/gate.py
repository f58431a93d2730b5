"""The gate: one read-only query over the lake's tables passes, everything else is refused before it runs.

DuckDB's own parser says what a text is. What is not listed here is refused, so that syntax and functions of a later
DuckDB stay outside until somebody allows them (decision 0030).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import duckdb
import orjson

from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.sql.errors import from_duckdb, near, refused, unknown_table
from pond.sql.tables import views

LONGEST = 100_000  # bytes of a query
_BLANK = r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*"
_EXPLAIN = re.compile(rf"{_BLANK}explain\b{_BLANK}(?P<analyze>analyze\b)?", re.I | re.S)

_NODES = frozenset(("SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"))
_TABLES = frozenset(("BASE_TABLE", "SUBQUERY", "JOIN", "TABLE_FUNCTION", "EXPRESSION_LIST", "EMPTY", "PIVOT"))
_MODIFIERS = frozenset((
    "ORDER_MODIFIER", "LIMIT_MODIFIER", "LIMIT_PERCENT_MODIFIER", "DISTINCT_MODIFIER", "ORDER_DEFAULT", "ASCENDING",
    "DESCENDING",
))  # fmt: skip
_EXPRESSIONS = frozenset((
    "BETWEEN", "CASE", "CAST", "COLLATE", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "FUNCTION", "LAMBDA",
    "LAMBDA_REF", "OPERATOR", "POSITIONAL_REFERENCE", "STAR", "SUBQUERY", "TYPE", "WINDOW",
))  # fmt: skip
_TABLE_FUNCTIONS = frozenset(("search", "unnest", "range", "generate_series", "json_each", "json_tree"))
SEARCH = "search"
FEW, MOST = 10, 150  # messages that `search` returns: the default, and the maximum


@dataclass(frozen=True)
class Search:
    """A call of `search` in a query."""

    words: str
    count: int


@dataclass(frozen=True)
class Query:
    """A query that may run."""

    text: str
    tables: frozenset[str] = frozenset()  # that it reads
    searches: tuple[Search, ...] = ()
    order: tuple[tuple[str, bool], ...] = ()  # columns that order it, and whether descending; () if none do
    explains: bool = False


def admitted(connection: duckdb.DuckDBPyConnection, text: str) -> Query:
    """Return a text as a query; raise UsageError if it is not one that may run."""
    if len(text.encode("utf-8", "replace")) > LONGEST:
        raise refused(f"expected a query of at most {LONGEST} bytes")
    if "\0" in text or text != text.encode("utf-8", "replace").decode("utf-8"):
        raise refused("the query holds a character that is not text")
    kind = _kind(connection, text)
    if kind == "SELECT":
        return _admitted(connection, text)
    if kind != "EXPLAIN":
        raise refused(f"expected one SELECT or WITH query, found {kind.replace('_', ' ')}")
    word = _EXPLAIN.match(text)
    rest = text[word.end() :] if word else ""
    if _kind(connection, rest) != "SELECT":
        raise refused("only SELECT and WITH can be explained", "write EXPLAIN or EXPLAIN ANALYZE before the query")
    query = _admitted(connection, rest)
    # What runs is what was checked: the query, and the word that we put before it.
    explain = "EXPLAIN ANALYZE" if word and word["analyze"] else "EXPLAIN"
    return replace(query, text=f"{explain} {query.text}", order=(), explains=True)


def _kind(connection: duckdb.DuckDBPyConnection, text: str) -> str:
    try:
        statements = connection.extract_statements(text)
    except duckdb.Error as error:
        raise from_duckdb(error, text) from None
    if len(statements) != 1:
        raise refused(f"expected one query, found {len(statements) or 'none'}")
    return str(statements[0].type.name)


def _admitted(connection: duckdb.DuckDBPyConnection, text: str) -> Query:
    tree = _tree(connection, text)
    named = _named(text, tree)
    if named != text:  # checked again: it is another text
        text, tree = named, _tree(connection, named)
    if tree["named_param_map"]:
        raise refused("the query holds a parameter, and there is nothing to put in its place")
    _judge(tree["node"], text)
    searches = tuple(dict.fromkeys(_searches(tree["node"])))
    return Query(text, _tables(tree["node"]), searches, _order(tree["node"]))


def _tree(connection: duckdb.DuckDBPyConnection, text: str) -> dict[str, Any]:
    try:
        ((written,),) = connection.execute("SELECT json_serialize_sql(?)", [text]).fetchall()
        parsed = orjson.loads(written)
    except orjson.JSONDecodeError:
        raise refused("the query is nested too deeply") from None
    except duckdb.Error as error:
        raise from_duckdb(error, text) from None
    if parsed["error"] or len(parsed["statements"]) != 1:
        raise refused(parsed.get("error_message") or "expected one query")
    tree: dict[str, Any] = parsed["statements"][0]
    return tree


def _named(text: str, tree: dict[str, Any]) -> str:
    """Return the query with a name for each `search` that has none, so that its columns are `search.…`."""
    ends = [
        each["query_location"] + each["query_location_length"]
        for each in _each(tree["node"])
        if each.get("type") == "TABLE_FUNCTION" and _function_name(each["function"]) == SEARCH and not each["alias"]
    ]
    written = text.encode()
    for end in sorted(ends, reverse=True):
        written = written[:end] + b" AS search" + written[end:]
    return written.decode()


def _each(node: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of a tree."""
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            yield here
            waiting += here.values()
        elif isinstance(here, list):
            waiting += here


def _judge(node: dict[str, Any], text: str) -> None:
    """Raise for anything that is not allowed; errors point into the text."""
    known = set(views()) | {name.lower() for name in _defined(node)}
    tables = {id(each["function"]) for each in _each(node) if each.get("type") == "TABLE_FUNCTION"}
    for each in _each(node):
        kind = each.get("type")
        if "class" in each:
            _judge_expression(each, each["class"], id(each) in tables)
        elif kind == "BASE_TABLE":
            _judge_table(each, known, text)
        elif isinstance(kind, str) and kind not in _NODES | _TABLES | _MODIFIERS:
            raise _not_allowed(kind.removesuffix("_NODE").removesuffix("_QUERY"))


def _not_allowed(kind: str) -> UsageError:
    return refused(f"{kind.replace('_', ' ')} is not allowed in a query")


def _judge_expression(expression: dict[str, Any], kind: str, is_table: bool) -> None:
    if kind not in _EXPRESSIONS:
        raise _not_allowed(kind)
    if kind in ("FUNCTION", "WINDOW"):
        name = _function_name(expression)
        allowed = _TABLE_FUNCTIONS if is_table else functions()
        if name not in allowed or len(expression["qualified_name"]["path"]) > 1:
            what = "table function" if is_table else "function"
            raise refused(f"the {what} `{name}` is not allowed in a query", near(name, allowed))


def _judge_table(table: dict[str, Any], known: set[str], text: str) -> None:
    path = table["qualified_name"]["path"]
    if len(path) > 1 or path[0].lower() not in known:
        raise unknown_table(".".join(path), sorted(known), text, table["query_location"])
    if table["at_clause"] is not None:
        raise refused("a version of a table cannot be named in a query")


def _tables(node: dict[str, Any]) -> frozenset[str]:
    return frozenset(each["table_name"].lower() for each in _each(node) if each.get("type") == "BASE_TABLE")


def _function_name(function: dict[str, Any]) -> str:
    return str(function["function_name"]).lower()


def _defined(node: dict[str, Any]) -> Iterator[str]:
    """Yield the names that WITH gives to queries."""
    for each in _each(node):
        if isinstance(ctes := each.get("cte_map"), dict):
            yield from (entry["key"] for entry in ctes["map"])


def _searches(node: dict[str, Any]) -> Iterator[Search]:
    for each in _each(node):
        if each.get("type") == "TABLE_FUNCTION" and _function_name(each["function"]) == SEARCH:
            yield _search(each["function"]["arguments"])


def _search(arguments: list[dict[str, Any]]) -> Search:
    given = [(each["name"].lower(), each["expression"].get("literal") or {}) for each in arguments]
    match given:
        case [("" | "words", {"kind": "STRING", "text": words})]:
            return Search(words, FEW)
        case [("" | "words", {"kind": "STRING", "text": words}), ("" | "n", {"kind": "INTEGER", "text": number})]:
            if 1 <= int(number) <= MOST:
                return Search(words, int(number))
    raise UsageError(
        Diagnostic("sql-refused", f"expected search('words', n) with a text and a number from 1 to {MOST}")
    )


def _order(node: dict[str, Any]) -> tuple[tuple[str, bool], ...]:
    """Return the columns that order a query; nothing if it is ordered by anything else."""
    orders = [each for modifier in node["modifiers"] for each in modifier.get("orders", ())]
    if any(each["expression"]["class"] != "COLUMN_REF" for each in orders):
        return ()
    return tuple((each["expression"]["column_names"][-1], each["type"] == "DESCENDING") for each in orders)


@cache
def functions() -> frozenset[str]:
    """Return the functions that a query may call."""
    lines = (files("pond.sql") / "functions.txt").read_text("utf-8").splitlines()
    return frozenset(name for line in lines if not line.startswith("#") for name in line.split())
