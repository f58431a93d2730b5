"""`pond sql` and `pond stats` as a person runs them: formats, files, widths and refusals."""

import csv
import io
import json
import os
import stat
import struct
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

import pyarrow.parquet as pq
import pytest

from tests.cli.command import finish, pond, shown, start
from tests.lake.build import SUBAGENTS, TOURS, lake

QUERY = "SELECT role, count(*) AS n FROM messages GROUP BY role ORDER BY role"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli-sql") / "lake"
    lake(folder, *TOURS, *SUBAGENTS)
    return folder


def test_the_formats_say_the_same(place: Path, tmp_path: Path) -> None:
    found = json.loads(pond("sql", QUERY, "--output", "json", "--lake", place).out)
    rows = found["rows"]
    assert [column["name"] for column in found["columns"]] == ["role", "n"]
    assert {row["role"] for row in rows} == {"assistant", "system", "tool", "user"}
    lines = pond("sql", QUERY, "--lake", place).out.decode().splitlines()
    assert [line.split() for line in lines[1:-1]] == [[row["role"], str(row["n"])] for row in rows]
    assert (lines[0].split(), lines[-1]) == (["role", "n"], "4 rows")
    text = pond("sql", QUERY, "--output", "csv", "--lake", place).out.decode()
    assert [{**row, "n": int(row["n"])} for row in csv.DictReader(io.StringIO(text))] == rows
    ndjson = pond("sql", QUERY, "--output", "ndjson", "--lake", place).out.splitlines()
    assert [json.loads(line) for line in ndjson] == rows
    file = tmp_path / "out.parquet"
    assert pond("sql", QUERY, "--output", "parquet", "-o", file, "--lake", place).code == 0
    assert pq.read_table(file).to_pylist() == rows
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_export_has_all_rows_and_overwrites_nothing(place: Path, tmp_path: Path) -> None:
    file = tmp_path / "ids.csv"
    done = pond("sql", "SELECT id FROM messages ORDER BY id", "--output", "csv", "-o", file, "--lake", place)
    assert (done.code, done.out) == (0, b"")
    count = json.loads(pond("sql", "SELECT count(*) AS n FROM messages", "--output", "json", "--lake", place).out)
    assert len(file.read_text().splitlines()) == 1 + count["rows"][0]["n"] > 101
    again = pond("sql", "SELECT 1", "--output", "csv", "-o", file, "--lake", place)
    assert [fault.code for fault in again.errors] == ["output-exists"]
    refused = pond(
        "sql", "SELECT nothing FROM messages", "--output", "csv", "-o", tmp_path / "none.csv", "--lake", place
    )
    assert refused.code == 2
    assert not (tmp_path / "none.csv").exists()


def test_more_rows_are_said_and_how_to_go_on(place: Path) -> None:
    done = pond("sql", "SELECT id FROM messages ORDER BY id", "--limit", "2", "--lake", place)
    assert done.out.decode().splitlines()[-1] == "2 rows"
    assert "these are the first 2 rows; for what follows add: WHERE id > '" in done.err


def test_errors_show_the_place(place: Path) -> None:
    done = pond("sql", "SELECT *\nFROM mesages", "--lake", place)
    assert done.code == 2
    assert "error[sql-unknown]: there is no table `mesages`" in done.err
    assert "  --> query:2:6" in done.err
    assert "= help: did you mean `messages`?" in done.err
    for words, code in (
        (["COPY messages TO 'x'"], "sql-refused"),
        (["SELECT rol FROM messages"], "sql-unknown"),
        (["SELECT 1", "--output", "xml"], "usage"),
        (["SELECT 1", "--limit", "1001"], "usage"),
        ([], "usage"),
    ):
        assert f"pond: {code}: " in pond("sql", *words, "--lake", place).err


def test_a_query_comes_from_standard_input(place: Path) -> None:
    assert json.loads(pond("sql", "-", "--output", "json", "--lake", place, stdin=b"SELECT 1 AS one").out)["rows"] == [
        {"one": 1}
    ]


def test_limits_come_from_the_settings(place: Path) -> None:
    query = "SELECT count(*) FROM range(1000000000) a, range(1000000000) b"
    done = pond("sql", query, "--lake", place, variables={"POND_SQL_SECONDS": "1", "POND_SQL_MEMORY_MB": "4000"})
    assert [fault.code for fault in done.errors] == ["sql-limit"] or "sql-limit" in done.err
    assert "longer than 1 seconds" in done.err or "MB of memory" in done.err


def test_the_description_needs_no_lake() -> None:
    done = pond("sql", "--schema")
    assert done.code == 0
    assert b"messages\n  session_id*" in done.out


def _on_terminal(columns: int, *words: str | Path) -> list[str]:
    controller, terminal = os.openpty()
    ioctl(terminal, TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = start(*words, stdout=terminal, variables={"COLUMNS": str(columns)})
    os.close(terminal)
    sent = shown(controller)
    assert finish(process).code == 0
    return sent.decode().splitlines()


@pytest.mark.parametrize("columns", [40, 72, 120])
def test_tables_and_bars_fit_the_terminal(columns: int, place: Path) -> None:
    table = _on_terminal(columns, "sql", "SELECT * FROM messages LIMIT 5", "--lake", place)
    assert max(map(len, table)) <= columns
    assert len(table) == 7
    numbers = _on_terminal(columns, "stats", "--lake", place)
    assert max(map(len, numbers)) <= columns
    assert any("█" in line for line in numbers)


def test_stats_prints_tables_and_json(place: Path) -> None:
    text = pond("stats", "--lake", place).out.decode()
    found = json.loads(pond("stats", "--json", "--lake", place).out)
    totals = found["totals"]
    assert f"messages   {totals['messages']}, including {totals['prompts']} typed prompts" in text
    for head in ("by client", "by project", "by model", "by tool", "by month"):
        assert head in text
    codex = json.loads(pond("stats", "--json", "--client", "codex", "--lake", place).out)
    assert [each["name"] for each in codex["clients"]] == ["codex"]
    assert pond("stats", "--until", "2001-01-01", "--lake", place).out == b"Nothing to count: no message matches.\n"
    assert pond("stats", "--since", "soon", "--lake", place).code == 2
    assert pond("stats", "--subagents", "maybe", "--lake", place).code == 2
