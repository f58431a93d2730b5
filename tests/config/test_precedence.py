"""A value comes from the default, the file, the variable or the flag: the last that has it; and it says so."""

import pickle
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from pond.config.settings import SETTINGS, Embed, Ingest, Pods, Search, Serve, Settings, Sql, Sync
from pond.diagnostics.diagnostic import UsageError
from tests.config.home import Home

FULL = """\
lake = "s3://herbarium/lake"  # 1
namespace = "ada"

[storage]
aws_region = "eu-west-1"  # 5
allow_http = true
timeout_seconds = 30

[sync]
clients = ["codex"]  # 10
paths = [
  "~/old",
  "more",
]
interval = 5  # 15

[ingest]
rows_per_commit = 500

[sql]
seconds = 5
memory_mb = 256

[embed]
model = "gte"
directory = "~/gte"
endpoint = "http://127.0.0.1:8080/v1/"
key_variable = "KEY"
timeout = 7
dimensions = 64
pooling = "cls"
query_prefix = "query: "
passage_prefix = "passage: "
max_tokens = 100
threads = 3
models = "models"

[search]
index_from = 1000
nprobes = 4
refine_factor = 9

[namespaces]
oak = "s3://herbarium/oak"
"*" = "s3://herbarium/all/{namespace}"

[serve]
host = "0.0.0.0"
port = 8080
hosts = ["pond.example"]
token_file = "token"
connections = 10
event_readers = 5
open_namespaces = 3
idle = 60

[pods]
root = "agents"
probe_seconds = 2
"""


def test_nothing_needs_to_be_set(home: Home) -> None:
    settings = home.load()
    expected = Settings(lake=f"{home.path}/.local/share/pond/lake", sources=settings.sources)
    assert settings == expected
    assert (settings.sync, settings.ingest, settings.sql) == (Sync(None, (), 2.0), Ingest(20_000), Sql(30.0, 1024))
    assert settings.pods == Pods(None, 0.5)
    assert (settings.namespace, settings.storage) == (None, {})
    assert settings.sources == {each.name: "default" for each in SETTINGS.values()}


def test_the_file_beats_the_default(home: Home) -> None:
    home.write(FULL)
    settings = home.load()
    assert settings == Settings(
        lake="s3://herbarium/lake",
        namespace="ada",
        storage={"allow_http": "true", "aws_region": "eu-west-1", "timeout_seconds": "30"},
        sync=Sync(("codex",), (f"{home.path}/old", f"{home.file.parent}/more"), 5.0),
        ingest=Ingest(500),
        sql=Sql(5.0, 256),
        embed=Embed(
            "gte",
            f"{home.path}/gte",
            "http://127.0.0.1:8080/v1",
            "KEY",
            7.0,
            64,
            "cls",
            "query: ",
            "passage: ",
            100,
            3,
            f"{home.file.parent}/models",
        ),
        search=Search(1000, 4, 9),
        namespaces={"*": "s3://herbarium/all/{namespace}", "oak": "s3://herbarium/oak"},
        serve=Serve("0.0.0.0", 8080, ("pond.example",), f"{home.file.parent}/token", 10, 5, 3, 60.0),
        pods=Pods(f"{home.file.parent}/agents", 2.0),
        sources={
            "lake": "pond.toml:1",
            "namespace": "pond.toml:2",
            "storage.allow_http": "pond.toml:6",
            "storage.aws_region": "pond.toml:5",
            "storage.timeout_seconds": "pond.toml:7",
            "sync.clients": "pond.toml:10",
            "sync.paths": "pond.toml:11",
            "sync.interval": "pond.toml:15",
            "ingest.rows_per_commit": "pond.toml:18",
            "sql.seconds": "pond.toml:21",
            "sql.memory_mb": "pond.toml:22",
            **{f"embed.{each.name}": f"pond.toml:{line}" for line, each in enumerate(fields(Embed), 25)},
            **{f"search.{each.name}": f"pond.toml:{line}" for line, each in enumerate(fields(Search), 39)},
            "namespaces.oak": "pond.toml:44",
            "namespaces.*": "pond.toml:45",
            "serve.host": "pond.toml:48",
            "serve.port": "pond.toml:49",
            "serve.hosts": "pond.toml:50",
            "serve.token_file": "pond.toml:51",
            "serve.connections": "pond.toml:52",
            "serve.event_readers": "pond.toml:53",
            "serve.open_namespaces": "pond.toml:54",
            "serve.idle": "pond.toml:55",
            "pods.root": "pond.toml:58",
            "pods.probe_seconds": "pond.toml:59",
        },
    )
    assert type(settings.sync.interval) is float


VARIABLES: dict[str, tuple[str, str, Any]] = {
    "POND_LAKE": ("lake", "gs://b/l", "gs://b/l"),
    "POND_NAMESPACE": ("namespace", "grace", "grace"),
    "POND_STORAGE_AWS_REGION": ("storage.aws_region", "us-east-1", "us-east-1"),
    "POND_STORAGE_NEW": ("storage.new", "1", "1"),
    "POND_SYNC_CLIENTS": ("sync.clients", "codex, claude-code,", ("codex", "claude-code")),
    "POND_SYNC_PATHS": ("sync.paths", "/a,b:/c", ("/a,b", "/c")),
    "POND_SYNC_INTERVAL": ("sync.interval", "0.5", 0.5),
    "POND_INGEST_ROWS_PER_COMMIT": ("ingest.rows_per_commit", "100", 100),
    "POND_SQL_SECONDS": ("sql.seconds", "600", 600.0),
    "POND_SQL_MEMORY_MB": ("sql.memory_mb", "64", 64),
    "POND_EMBED_MODEL": ("embed.model", "e5", "e5"),
    "POND_EMBED_DIRECTORY": ("embed.directory", "/m", "/m"),
    "POND_EMBED_ENDPOINT": ("embed.endpoint", "https://h/v1", "https://h/v1"),
    "POND_EMBED_KEY_VARIABLE": ("embed.key_variable", "OTHER", "OTHER"),
    "POND_EMBED_TIMEOUT": ("embed.timeout", "1.5", 1.5),
    "POND_EMBED_DIMENSIONS": ("embed.dimensions", "128", 128),
    "POND_EMBED_POOLING": ("embed.pooling", "last", "last"),
    "POND_EMBED_QUERY_PREFIX": ("embed.query_prefix", "q ", "q "),
    "POND_EMBED_PASSAGE_PREFIX": ("embed.passage_prefix", "p ", "p "),
    "POND_EMBED_MAX_TOKENS": ("embed.max_tokens", "64", 64),
    "POND_EMBED_THREADS": ("embed.threads", "1", 1),
    "POND_EMBED_MODELS": ("embed.models", "/models", "/models"),
    "POND_SEARCH_INDEX_FROM": ("search.index_from", "256", 256),
    "POND_SEARCH_NPROBES": ("search.nprobes", "1", 1),
    "POND_SEARCH_REFINE_FACTOR": ("search.refine_factor", "1", 1),
    "POND_NAMESPACES_OAK": ("namespaces.oak", "gs://b/oak", "gs://b/oak"),
    "POND_SERVE_HOST": ("serve.host", "::1", "::1"),
    "POND_SERVE_PORT": ("serve.port", "0", 0),
    "POND_SERVE_HOSTS": ("serve.hosts", "a.example, b.example", ("a.example", "b.example")),
    "POND_SERVE_TOKEN_FILE": ("serve.token_file", "/run/token", "/run/token"),
    "POND_SERVE_CONNECTIONS": ("serve.connections", "7", 7),
    "POND_SERVE_EVENT_READERS": ("serve.event_readers", "7", 7),
    "POND_SERVE_OPEN_NAMESPACES": ("serve.open_namespaces", "7", 7),
    "POND_SERVE_IDLE": ("serve.idle", "0.5", 0.5),
    "POND_PODS_ROOT": ("pods.root", "/srv/pods", "/srv/pods"),
    "POND_PODS_PROBE_SECONDS": ("pods.probe_seconds", "1.5", 1.5),
}


def _value(settings: Settings, name: str) -> Any:
    value: Any = settings
    for word in name.split("."):
        value = value[word] if isinstance(value, dict) else getattr(value, word)
    return value


@pytest.mark.parametrize("variable", VARIABLES)
def test_a_variable_beats_the_file(variable: str, home: Home) -> None:
    home.write(FULL)
    name, text, expected = VARIABLES[variable]
    settings = home.load(**{variable: text})
    assert _value(settings, name) == expected
    changed = {key for key, source in settings.sources.items() if not source.startswith("pond.toml:")}
    assert (changed, settings.sources[name]) == ({name}, variable)


def test_every_setting_has_a_variable_that_is_tried_here() -> None:
    tables = ("storage.", "namespaces.")
    tried = {name.split(".")[0] if name.startswith(tables) else name for name, _, _ in VARIABLES.values()}
    assert tried == {each.name for each in SETTINGS.values()}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("Oak = '/a'", "config-unknown-key"),
        ("'a/b' = '/a'", "config-unknown-key"),
        ("'' = '/a'", "config-unknown-key"),
        ("'*' = '/a'", "config-value"),
        ("oak = 'ftp://a'", "config-value"),
        ("oak = 3", "config-value"),
    ],
)
def test_a_namespace_that_is_none_is_refused(line: str, code: str, home: Home) -> None:
    home.write(f"[namespaces]\n{line}\n")
    with pytest.raises(UsageError) as refused:
        home.load()
    assert [each.code for each in refused.value.diagnostics] == [code]


def test_a_flag_beats_the_variable(home: Home) -> None:
    home.write(FULL)
    settings = home.load({"lake": "az://c/l", "sync.interval": 3}, POND_LAKE="gs://b/l", POND_SYNC_INTERVAL="4")
    assert (settings.lake, settings.sources["lake"]) == ("az://c/l", "--lake")
    assert (settings.sync.interval, settings.sources["sync.interval"]) == (3.0, "--interval")


def test_a_flag_that_was_not_given_changes_nothing(home: Home) -> None:
    assert home.load({"lake": None}) == home.load()


@pytest.mark.parametrize("flag", ["7", 7, 7.0])
def test_a_flag_may_be_text_or_a_value(flag: object, home: Home) -> None:
    assert home.load({"sync.interval": flag}).sync.interval == 7.0


def test_a_variable_that_is_set_to_nothing_is_not_set(home: Home) -> None:
    home.write(FULL)
    assert home.load(**dict.fromkeys(VARIABLES, "")) == home.load()


def test_no_client_is_not_every_client(home: Home) -> None:
    home.write("[sync]\nclients = []\n")
    assert home.load().sync.clients == ()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("~/lake", "{home}/lake"),
        ("~", "{home}"),
        ("/data/lake/", "/data/lake"),
        ("lake", "{file}/lake"),
        ("../lake~", "{file}/../lake~"),
        ("file:///data/lake", "file:///data/lake"),
        ("S3://bucket/a/lake/", "s3://bucket/a/lake"),
        ("gs://bucket", "gs://bucket"),
        ("az://container/lake", "az://container/lake"),
    ],
)
def test_where_a_lake_may_be(written: str, meant: str, home: Home) -> None:
    home.write(f"lake = '{written}'\n")
    assert home.load().lake == meant.format(home=home.path, file=home.file.parent)


def test_relative_paths_outside_of_the_file_begin_at_the_working_directory(
    home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert home.load({"lake": "a"}).lake == f"{tmp_path}/a"
    assert home.load(POND_LAKE="~/b", POND_SYNC_PATHS="c:~/d").lake == f"{tmp_path}/b"
    assert home.load(POND_SYNC_PATHS="c:~/d").sync.paths == (f"{tmp_path}/c", f"{home.path}/d")


def test_settings_go_to_other_processes_and_do_not_show_their_secrets(home: Home) -> None:
    settings = home.load(POND_STORAGE_AWS_SECRET_ACCESS_KEY="hush-hush")
    assert pickle.loads(pickle.dumps(settings)) == settings
    assert settings.storage == {"aws_secret_access_key": "hush-hush"}
    assert "hush-hush" not in repr(settings)
