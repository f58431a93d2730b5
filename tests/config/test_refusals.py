"""What a configuration may not say, and how the refusal names it; never a traceback, whatever the bytes."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pond.config.document import MOST_BYTES
from pond.config.kinds import Count, Number, PathBase, SettingKind, Unfit
from pond.config.load import load
from pond.config.settings import SETTINGS
from pond.diagnostics.diagnostic import UsageError
from tests.config.home import Home
from tests.house.tree import files, text_of

UNKNOWN = [
    ("lak = 'x'", "lak", 1, "did you mean `lake`?"),
    ("\nlakes = 'x'", "lakes", 2, "did you mean `lake`?"),
    ("interval = 2", "interval", 1, "did you mean `sync.interval`?"),
    ("[sync]\nintervall = 2", "sync.intervall", 2, "did you mean `sync.interval`?"),
    ("sync.client = ['a']", "sync.client", 1, "did you mean `sync.clients`?"),
    ("sync = { path = ['a'] }", "sync.path", 1, "did you mean `sync.paths`?"),
    ("[snyc]\ninterval = 2\nclients = []", "snyc", 1, "did you mean `sync`?"),
    ("# a\n# b\n[ingest]\n\nrow_per_commit = 2", "ingest.row_per_commit", 5, "did you mean `ingest.rows_per_commit`?"),
    ("[quux]\na = 1", "quux", 1, "`pond config show` lists the settings"),
    ("[storage]\nAWS_REGION = 'x'", "storage.AWS_REGION", 2, "did you mean `storage.aws_region`?"),
    ("[storage]\n'' = 'x'", "storage.", 2, "`pond config show` lists the settings"),
    ('"sync.interval" = 3', "sync.interval", 1, "did you mean `sync.interval`?"),
    ('"a\\nb" = 3', "a\\nb", 1, "`pond config show` lists the settings"),
]


@pytest.mark.parametrize(("text", "name", "line", "hint"), UNKNOWN)
def test_an_unknown_key_is_refused_with_its_line_and_a_hint(
    text: str, name: str, line: int, hint: str, home: Home
) -> None:
    home.write(text)
    (fault,) = home.refusal()
    assert (fault.code, fault.message, fault.help) == ("config-unknown-key", f"unknown setting `{name}`", hint)
    assert fault.span is not None
    assert (fault.span.file, fault.span.line) == (str(home.file), line)


LOCATION = "a path, or an address that begins with file:///, s3://, gs:// or az://"
ROWS = "a whole number from 100 to 200000"
SECONDS = "a number above 0, at most 86400"
OPTION = "text, a whole number, true or false"
WRONG = [
    ("lake = 3", "lake", LOCATION, "the number 3"),
    ("lake = ''", "lake", LOCATION, "empty text"),
    ("lake = 'http://host/lake'", "lake", LOCATION, "the text `http://host/lake`"),
    ("lake = 's3://'", "lake", LOCATION, "the text `s3://`"),
    ("lake = 's3:///lake'", "lake", LOCATION, "the text `s3:///lake`"),
    ("lake = 'file://host/lake'", "lake", LOCATION, "the text `file://host/lake`"),
    ('lake = "a\\u0000b"', "lake", LOCATION, "the text `a\\x00b`"),
    ("[lake]\npath = 'x'", "lake", LOCATION, "a table"),
    (f"lake = 'http://{'x' * 99}'", "lake", LOCATION, f"the text `http://{'x' * 52}…`"),
    ("namespace = true", "namespace", "text that is not empty", "true"),
    ("namespace = 1979-05-27", "namespace", "text that is not empty", "a date or a time"),
    ("sync = 3", "sync", "a table `[sync]`", "the number 3"),
    ("[[sync]]\ninterval = 2", "sync", "a table `[sync]`", "an array"),
    ("storage = 'x'", "storage", f"a table of options, each {OPTION}", "the text `x`"),
    ("[storage]\na = ['x']", "storage.a", OPTION, "an array"),
    ("[storage]\naws_token = 1.5", "storage.aws_token", OPTION, "a number"),
    (f"[storage]\na = 0x{'f' * 16}", "storage.a", OPTION, "a number"),
    ("[storage.more]\na = 'x'", "storage.more", OPTION, "a table"),
    ("sync.clients = 'codex'", "sync.clients", "an array of texts that are not empty", "the text `codex`"),
    ("sync.clients = ['codex', 1]", "sync.clients", "an array of texts that are not empty", "an array"),
    ("sync.paths = ['']", "sync.paths", "an array of paths", "an array"),
    ("pods.root = 's3://b/pods'", "pods.root", "a path", "the text `s3://b/pods`"),
    ("pods.root = ''", "pods.root", "a path", "empty text"),
    ("sync.interval = 0", "sync.interval", SECONDS, "the number 0"),
    ("sync.interval = nan", "sync.interval", SECONDS, "the number nan"),
    ("sync.interval = inf", "sync.interval", SECONDS, "the number inf"),
    ("sync.interval = true", "sync.interval", SECONDS, "true"),
    ("sync.interval = '2'", "sync.interval", SECONDS, "the text `2`"),
    (f"sync.interval = 0x{'f' * 9999}", "sync.interval", SECONDS, "a number"),
    ("ingest.rows_per_commit = 99", "ingest.rows_per_commit", ROWS, "the number 99"),
    ("ingest.rows_per_commit = 200_001", "ingest.rows_per_commit", ROWS, "the number 200001"),
    ("ingest.rows_per_commit = 500.0", "ingest.rows_per_commit", ROWS, "the number 500.0"),
    ("ingest.rows_per_commit = true", "ingest.rows_per_commit", ROWS, "true"),
]


@pytest.mark.parametrize(("text", "name", "expected", "found"), WRONG, ids=lambda value: str(value)[:40])
def test_a_wrong_value_is_refused_with_what_was_expected(
    text: str, name: str, expected: str, found: str, home: Home
) -> None:
    home.write(text)
    (fault,) = home.refusal()
    assert (fault.code, fault.message) == ("config-value", f"`{name}`: expected {expected}, found {found}")
    assert fault.span is not None
    assert fault.span.line == (2 if text.startswith("[storage]") else 1)


def test_the_bounds_themselves_are_allowed(home: Home) -> None:
    home.write("sync.interval = 86_400\ningest.rows_per_commit = 100\n")
    assert home.load().ingest.rows_per_commit == 100
    assert home.load(POND_INGEST_ROWS_PER_COMMIT="200000").ingest.rows_per_commit == 200_000


@pytest.mark.parametrize("kind", [Count(0, 9), Number(0, 9)])
def test_a_truth_value_is_no_number(kind: SettingKind) -> None:
    assert kind.check(1, PathBase(None, Path())) == 1
    with pytest.raises(Unfit):
        kind.check(True, PathBase(None, Path()))


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        ("POND_SYNC_INTERVAL", "soon", f"`POND_SYNC_INTERVAL`: expected {SECONDS}, found the text `soon`"),
        ("POND_SYNC_INTERVAL", "nan", f"`POND_SYNC_INTERVAL`: expected {SECONDS}, found the number nan"),
        (
            "POND_INGEST_ROWS_PER_COMMIT",
            "2.5",
            f"`POND_INGEST_ROWS_PER_COMMIT`: expected {ROWS}, found the text `2.5`",
        ),
        ("POND_LAKE", "ftp://x", f"`POND_LAKE`: expected {LOCATION}, found the text `ftp://x`"),
    ],
)
def test_a_variable_with_a_wrong_value_is_refused(variable: str, text: str, message: str, home: Home) -> None:
    (fault,) = home.refusal(**{variable: text})
    assert (fault.code, fault.message, fault.span) == ("config-value", message, None)


def test_a_flag_with_a_wrong_value_is_refused(home: Home) -> None:
    (fault,) = home.refusal({"lake": ""})
    assert fault.message == f"`--lake`: expected {LOCATION}, found empty text"


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("POND_LAEK", "POND_LAKE"),
        ("POND_LAKES", "POND_LAKE"),
        ("POND_Lake", "POND_LAKE"),
        ("POND_NAMESAPCE", "POND_NAMESPACE"),
        ("POND_CONFIGS", "POND_CONFIG"),
        ("POND_SYNC_CLIENT", "POND_SYNC_CLIENTS"),
        ("POND_ROWS_PER_COMMIT", "POND_INGEST_ROWS_PER_COMMIT"),
        ("POND_STORAGE", "POND_STORAGE_"),
        ("POND_STORAGE_", "POND_STORAGE_"),
        ("POND_STORAGE_aws_region", "POND_STORAGE_AWS_REGION"),
    ],
)
def test_a_misspelt_variable_is_refused(variable: str, meant: str, home: Home) -> None:
    (fault,) = home.refusal(**{variable: "x"})
    assert (fault.code, fault.help) == ("config-unknown-key", f"did you mean `{meant}`?")
    assert variable in fault.message


def _variables_of_the_tests() -> list[str]:
    """Find every variable in the tests and the Makefile that begins like a setting's and is none."""
    named = [name for name in files() if name.parts[0] == "tests" or name.name == "Makefile"]
    others = [name for name in named if not {"config", "test_config.py"} & set(name.parts)]
    found = {found for name in others for found in re.findall(r"POND_[A-Z_]+\b", text_of(name) or "")}
    ours = [setting.variable for setting in SETTINGS.values()]
    return sorted(
        name for name in found if not any(name == one or (one[-1] == "_" and name.startswith(one)) for one in ours)
    )


def test_other_variables_of_that_beginning_are_left_alone(home: Home) -> None:
    found = _variables_of_the_tests()
    assert {"POND_SAMPLES", "POND_CAPTURES", "POND_CLIENTS"} <= set(found)
    assert home.load(**dict.fromkeys(found, "x"), POND_VIEW="x", POND="x", PONDLAKE="x") == home.load()


@pytest.mark.parametrize(
    ("content", "line", "column", "message"),
    [
        (b"lake = ~/x\n", 1, 8, "expected TOML: invalid value"),
        (b"a = 1\n[sync\n", 2, 6, "expected TOML: "),
        (b"a = 1\r\nb\r\n", 2, 2, "expected TOML: "),
        (b"lake = [1,\n", 2, 1, "expected TOML: "),
        (b"a = 1\r\nlake = [1,", 2, 11, "expected TOML: "),
        (b"a = 1\na = 2\n", 2, 6, "expected TOML: cannot overwrite a value"),
        (b"a = 'x'\nb = '\xc3\xa4\xff'\n", 2, 7, "expected UTF-8 text"),
        (b"a = " + b"[" * 20_000, 1, 1, "values are nested too deeply"),
        (b"a = " + b"9" * 5000, 1, 1, "a number has too many digits"),
        (b"#" * (MOST_BYTES + 1), 1, 1, f"expected at most {MOST_BYTES} bytes, found more"),
    ],
)
def test_what_is_not_toml_is_refused_with_its_place(
    content: bytes, line: int, column: int, message: str, home: Home
) -> None:
    home.write(content)
    (fault,) = home.refusal()
    assert fault.code == "config-syntax"
    assert fault.message.startswith(message)
    assert fault.span is not None
    assert (fault.span.file, fault.span.line, fault.span.column) == (str(home.file), line, column)


def test_every_fault_is_told_in_the_order_of_the_file_then_the_variables_but_not_a_thousand(home: Home) -> None:
    home.write("lak = 1\n[sync]\ninterval = 'x'\n")
    faults = home.refusal({"lake": ""}, POND_SYNC_INTERVAL="soon")
    assert [fault.code for fault in faults] == ["config-unknown-key", *["config-value"] * 3]
    home.write("".join(f"unknown{n} = 1\n" for n in range(1000)))
    assert [fault.span.line for fault in home.refusal() if fault.span] == list(range(1, 21))


def test_a_secret_is_in_no_refusal(home: Home) -> None:
    home.write("[storage]\naws_secret_access_key = ['hush']\naws_token = 271828.0\nsas = { a = 'hush' }\n")
    faults = home.refusal()
    assert len(faults) == 3
    assert not [fault for fault in faults if "hush" in str(fault) or "271828" in str(fault)]


PIECES = [
    *("lake", "sync", "storage", "interval", "=", "[", "]", "[[", "{", "}", '"', '"""', "'", "'''", "#", "\n", "\r\n"),
    *(",", ".", " ", "1", "true", "-", "1979-05-27", "inf", "0x", "\\", "\\u0000", "é", "\0", "a", "~/x", "s3://b"),
]


def _codes(environ: dict[str, str]) -> set[str]:
    """Return the codes of a refusal, each with a line where it is about the file; none where all is well."""
    try:
        settings = load({}, {"HOME": "/home/ada", **environ})
    except UsageError as refused:
        return {
            fault.code if fault.span and fault.span.line > 0 else f"no line: {fault.code} {fault.message}"
            for fault in refused.diagnostics
        }
    return set() if settings.lake else {"no lake"}


@given(
    st.binary(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=30).map(lambda words: "".join(words).encode())
)
@example(b"lake.a.b = 1")
@example(b"\xef\xbb\xbflake = 'x'")
@example(b".".join([b"a"] * 3000) + b" = 1")
def test_whatever_the_file_holds_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.toml"
    file.write_bytes(content)
    assert _codes({"POND_CONFIG": str(file)}) <= {"config-syntax", "config-value", "config-unknown-key"}


TRIED = st.sampled_from(["POND_LAKE", "POND_NAMESPACE", "POND_SYNC_PATHS", "POND_STORAGE_A", "POND_SYNC_INTERVAL"])


@given(TRIED, st.text())
def test_whatever_a_variable_holds_it_is_read_or_refused(variable: str, text: str) -> None:
    refused = f"no line: config-value `{variable}`"
    found = _codes({"POND_CONFIG": os.devnull, variable: text})
    assert [each for each in found if not each.startswith(refused)] == []


def test_a_working_directory_that_is_gone_is_no_surprise(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert home.load({"lake": "/absolute"}).lake == "/absolute"
    (fault,) = home.refusal({"lake": "relative"})
    assert fault.code == "config-value"
