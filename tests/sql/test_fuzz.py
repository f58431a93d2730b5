"""Any text at all as a query: it runs or is refused; no file is read or written, and the process lives on."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pond.config.settings import Settings, Sql
from pond.diagnostics.diagnostic import UsageError
from pond.operations.service import Service
from pond.operations.sql import sql

SECRET = "the-canary-sings-at-dawn"
_CODES = ("sql-syntax", "sql-refused", "sql-unknown", "sql-failed", "sql-limit", "usage")
# The pieces that texts are made of: words of SQL, names of the lake, and what reaches outside of it.
_PIECES = Path(__file__).with_name("words.txt").read_text(encoding="utf-8").split()
_WORDS = [*_PIECES, "\n", "\ufeff", "\u00a0", "\uff53elect", "'secret.csv'", "'CANARY'", "'out.csv'"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("canary")
    (folder / "secret.csv").write_text(f"secret\n{SECRET}\n")
    return folder


@pytest.fixture(scope="module")
def asked(place: Path, folder: Path) -> Iterator[Service]:
    before = os.environ.get("CANARY"), os.getcwd()
    os.environ["CANARY"] = SECRET
    os.chdir(folder)  # the process that runs queries begins here
    service = Service(Settings(lake=str(place), sql=Sql(2.0, 128)))
    sql(service, {"protocol_version": 1, "query": "SELECT 1"})
    yield service
    service.close()
    os.chdir(before[1])
    os.environ.pop("CANARY")


def _files(*folders: Path) -> dict[str, int]:
    return {str(file): file.stat().st_size for folder in folders for file in folder.rglob("*") if file.is_file()}


_SELECTED = ["*", "role", "count(*)", "getenv('CANARY')", "lower(id)", "options->>'$.a'", "unnest(labels)", "#1"]
_TABLES = [
    "messages", "parts", "'secret.csv'", "read_csv('secret.csv')", "read_text('*')", "glob('*')", "search('x')",
    "(SELECT 1)", "sessions s, messages m", "range(5)", "json_each('[1]')", "messages m JOIN parts p USING (id)",
]  # fmt: skip
_SOME = st.lists(st.sampled_from(_WORDS), max_size=25).map(" ".join)
_TEXTS = st.one_of(
    _SOME,
    st.builds("SELECT {} FROM {} {}".format, st.sampled_from(_SELECTED), st.sampled_from(_TABLES), _SOME),
    st.text(max_size=60),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(text=_TEXTS)
def test_any_text_is_answered_or_refused(text: str, asked: Service, folder: Path) -> None:
    before = _files(folder)
    codes, found = _answer(asked, text)
    assert codes <= set(_CODES), text
    assert "ended the process" not in found, text
    assert SECRET not in found
    assert _files(folder) == before


def _answer(asked: Service, text: str) -> tuple[set[str], str]:
    """Return the codes of what is wrong with a text, and all that is said."""
    try:
        return set(), repr(sql(asked, {"protocol_version": 1, "query": text}))
    except UsageError as error:
        return {each.code for each in error.diagnostics}, "".join(each.message for each in error.diagnostics)
