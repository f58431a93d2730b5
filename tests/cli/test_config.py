"""`pond config`: which settings hold, who says so, and refusals that name the place."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pond.config.listing import as_text
from pond.config.settings import SETTINGS
from tests.cli.command import POND, Done, environment, obey_permissions, pond

LATER = [each for each in SETTINGS.values() if each.path[0] in ("serve", "sql", "embed", "search", "pods")]
HEAVY = ("lance", "pyarrow", "pydantic", "lark")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a home directory with a configuration."""
    file = tmp_path / ".config/pond/pond.toml"
    file.parent.mkdir(parents=True)
    file.write_text('lake = "~/lake"\n\n[storage]\naws_region = "eu"\naws_secret_access_key = "hush"\n')
    return tmp_path


def _pond(home: Path, *arguments: str | Path, **variables: str) -> Done:
    return pond(*arguments, variables=_environment(home, **variables))


def _environment(home: Path, **variables: str) -> dict[str, str]:
    return {"HOME": str(home), "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", **variables}


def test_show_prints_every_setting_with_its_source(home: Path) -> None:
    done = _pond(home, "config", "show", POND_SYNC_CLIENTS="codex")
    assert (done.code, done.err) == (0, "")
    assert [line.split() for line in done.out.decode().splitlines()] == [
        ["lake", f"{home}/lake", "pond.toml:1"],
        ["namespace", "none", "default"],
        ["storage.aws_region", "eu", "pond.toml:4"],
        ["storage.aws_secret_access_key", "***", "pond.toml:5"],
        ["namespaces", "none", "default"],
        ["sync.clients", "codex", "POND_SYNC_CLIENTS"],
        ["sync.paths", "none", "default"],
        ["sync.interval", "2.0", "default"],
        ["ingest.rows_per_commit", "20000", "default"],
        *([each.name, *as_text(each.default, each.unset).split(), "default"] for each in LATER),
    ]


@pytest.mark.parametrize("words", [["--lake", "s3://b/x"], ["--lake=s3://b/x"]])
def test_show_as_json(words: list[str], home: Path) -> None:
    done = _pond(home, "config", "show", "--json", *words, POND_LAKE="s3://b/y")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == {
        "lake": {"value": "s3://b/x", "source": "--lake"},
        "namespace": {"value": None, "source": "default"},
        "storage.aws_region": {"value": "eu", "source": "pond.toml:4"},
        "storage.aws_secret_access_key": {"value": "***", "source": "pond.toml:5"},
        "namespaces": {"value": {}, "source": "default"},
        "sync.clients": {"value": None, "source": "default"},
        "sync.paths": {"value": [], "source": "default"},
        "sync.interval": {"value": 2.0, "source": "default"},
        "ingest.rows_per_commit": {"value": 20000, "source": "default"},
        **{each.name: {"value": json.loads(json.dumps(each.default)), "source": "default"} for each in LATER},
    }


def test_path_names_the_file_whether_it_is_there_or_not(home: Path) -> None:
    assert _pond(home, "config", "path").out.decode() == f"{home}/.config/pond/pond.toml\n"
    assert _pond(home, "config", "path", XDG_CONFIG_HOME="/etc/x").out.decode() == "/etc/x/pond/pond.toml\n"
    assert _pond(home, "config", "path", POND_CONFIG="absent.toml").out.decode() == "absent.toml\n"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("\nlak = 1\n", (2, "config-unknown-key")),
        ("[sync]\ninterval = 'x'\n", (2, "config-value")),
        ("lake = ~/x\n", (1, "config-syntax")),
    ],
)
def test_a_refusal_names_file_and_line(content: str, expected: tuple[int, str], home: Path) -> None:
    (home / ".config/pond/pond.toml").write_text(content)
    done = _pond(home, "config", "show")
    assert (done.code, done.out) == (2, b"")
    assert done.places() == [("pond.toml", *expected)], done.err
    assert done.err.startswith(f"{home}/.config/pond/pond.toml:")


@pytest.mark.parametrize(
    ("variable", "value", "code"),
    [
        ("POND_LAEK", "x", "config-unknown-key"),
        ("POND_CONFIG", "absent.toml", "config-missing"),
        ("POND_CONFIG", os.sep, "config-unreadable"),
        ("POND_SYNC_INTERVAL", "-1", "config-value"),
    ],
)
def test_a_variable_may_be_refused_too(variable: str, value: str, code: str, home: Path) -> None:
    done = _pond(home, "config", "show", **{variable: value})
    assert (done.code, done.out) == (2, b"")
    assert [fault.code for fault in done.errors] == [code], done.err


def test_a_file_without_permission_is_refused(home: Path) -> None:
    file = home / ".config/pond/pond.toml"
    file.chmod(0)
    done = pond("config", "show", variables=_environment(home), before=obey_permissions)
    assert (done.code, done.out) == (2, b"")
    assert [fault.code for fault in done.errors] == ["config-unreadable"], done.err
    assert str(file) in done.err


@pytest.mark.parametrize("json", [[], ["--json"]])
def test_paths_that_are_no_text_are_shown_all_the_same(json: list[str], home: Path) -> None:
    strange = os.fsdecode(b"/data/\xff\x1b[31m/l\xc3\xa4ke")
    done = _pond(home, "config", "show", *json, POND_LAKE=strange)
    assert (done.code, done.err) == (0, "")
    assert b"\x1b" not in done.out
    assert b"\xff" not in done.out
    assert _pond(home, "config", "show", POND_LAKE=strange, PYTHONIOENCODING="ascii").code == 0


def test_showing_settings_imports_nothing_heavy(home: Path) -> None:
    watched = [sys.executable, "-X", "importtime", *POND[1:], "config", "show", "--json"]
    done = subprocess.run(
        watched, env=environment(**_environment(home)), capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr[-2000:]
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "pond.config.load" in imported
    assert [name for name in sorted(imported) if name.split(".")[0] in HEAVY] == []


def test_help_lists_the_commands(home: Path) -> None:
    assert "config" in _pond(home, "--help").out.decode()
    done = _pond(home, "config", "--help")
    assert (done.code, done.err) == (0, "")
    assert [
        line.split()[0] for line in done.out.decode().partition("Commands:")[2].splitlines() if line.startswith("  ")
    ] == ["show", "path"]
    assert _pond(home, "config", "shwo").code == 2
