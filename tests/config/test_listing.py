"""What is shown of the settings: everything but secrets."""

import pytest

from pond.config.listing import rows
from pond.config.settings import SETTINGS
from tests.config.home import Home


def test_every_setting_is_listed_in_order_of_declaration(home: Home) -> None:
    listed = list(rows(home.load()))
    assert [row.name for row in listed] == [each.name for each in SETTINGS.values()]
    assert {row.name: row.text for row in listed} == {
        "lake": f"{home.path}/.local/share/pond/lake",
        "namespace": "none",
        "storage": "none",
        "namespaces": "none",
        "sync.clients": "all",
        "sync.paths": "none",
        "sync.interval": "2.0",
        "ingest.rows_per_commit": "20000",
        "sql.seconds": "30.0",
        "sql.memory_mb": "1024",
        "embed.model": "off",
        "embed.directory": "none",
        "embed.endpoint": "none",
        "embed.key_variable": "none",
        "embed.timeout": "60.0",
        "embed.dimensions": "all",
        "embed.pooling": "the model's",
        "embed.query_prefix": "the model's",
        "embed.passage_prefix": "the model's",
        "embed.max_tokens": "160",
        "embed.threads": "one for each core",
        "embed.models": "$XDG_DATA_HOME/pond/models",
        "search.index_from": "100000",
        "search.nprobes": "16",
        "search.refine_factor": "2",
        "serve.host": "127.0.0.1",
        "serve.port": "7663",
        "serve.hosts": "none",
        "serve.token_file": "none",
        "serve.connections": "512",
        "serve.event_readers": "64",
        "serve.open_namespaces": "32",
        "serve.idle": "300.0",
        "pods.root": "$XDG_DATA_HOME/pond/pods",
        "pods.probe_seconds": "0.5",
    }


def test_no_client_is_shown_as_none(home: Home) -> None:
    home.write("sync.clients = []")
    assert [row.text for row in rows(home.load()) if row.name == "sync.clients"] == ["none"]


@pytest.mark.parametrize(
    "name",
    ["aws_secret_access_key", "aws_access_key_id", "session_token", "password", "google_credentials", "azure_sas_x"],
)
def test_a_secret_is_masked_and_its_source_is_not(name: str, home: Home) -> None:
    home.write(f"[storage]\n{name} = 'hush'\naws_region = 'eu'\n")
    found = {row.name: (row.value, row.text, row.source) for row in rows(home.load())}
    assert found[f"storage.{name}"] == ("***", "***", "pond.toml:2")
    assert found["storage.aws_region"] == ("eu", "eu", "pond.toml:3")
    variable = f"POND_STORAGE_{name.upper()}"
    found = {row.name: (row.value, row.text, row.source) for row in rows(home.load(**{variable: "hush"}))}
    assert found[f"storage.{name}"] == ("***", "***", variable)
