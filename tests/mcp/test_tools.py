"""What the tools take and refuse, whom they leave out, and the files that queries leave."""

import base64
import json
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pond.config.settings import Settings
from pond.diagnostics.diagnostic import PondError
from pond.diagnostics.failures import Failure
from pond.operations import exports
from pond.operations.failing import RequestError
from pond.operations.namespaces import create_namespace
from pond.operations.service import Service
from pond.operations.sql import Result
from pond.transports.mcp.asking import from_environment, from_meta
from pond.transports.mcp.errors import told
from tests.cli.command import pond
from tests.mcp.talking import Refused, Talk, conversation, store, talking, variables

_OWN = "3f2b9a10-0000-4000-8000-00000000000a"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tools") / "lake"
    store(place, conversation("oak", 3), conversation(_OWN, 2, text="the lamp of this very session, turn {n}"))
    return place


@pytest.fixture(scope="module")
def talk(lake: Path) -> Iterator[Talk]:
    with talking(lake) as running:
        running.greet()
        yield running


# --- arguments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "note"),
    [
        ({"query": "lamp", "limit": "2"}, ""),
        ({"query": "lamp", "limit": 2.0}, ""),
        ({"query": ["lamp"]}, ""),
        ({"q": "lamp"}, ""),
        ({"query": "lamp", "include_subagents": "true"}, ""),
        ({"query": "lamp", "project": None, "role": "", "cursor": ""}, ""),
        ({"query": "lamp", "limit": 100_000}, "`limit` is 1 to 200; 200 was taken"),
        ({"query": "lamp", "limit": 0}, "`limit` is 1 to 200; 1 was taken"),
        ({"query": "lamp", "max_bytes": 3}, "`max_bytes` is 1000 to 200000; 1000 was taken"),
        ({"query": "lamp", "min_score": 1}, "there is no parameter `min_score`"),
        ({"query": "lamp", "projekt": "x"}, "did you mean `project`?"),
        ({"query": "lamp", "from_date": "2026-05-04", "to_date": "2026-05-04"}, ""),
        ({"query": "lamp", "project": "orchard"}, ""),
        ({"query": "lamp", "project": "/srv"}, ""),
        ({"query": "lamp", "source_agent": "CODEX"}, ""),
        ({"query": "lamp", "tool": "Look"}, ""),
        ({"query": "lamp", "role": "user", "sort": "recent"}, ""),
        ({"query": "lamp", "failed": False, "session_id": "oak"}, ""),
    ],
)
def test_what_can_be_meant_is_taken(talk: Talk, arguments: dict[str, Any], note: str) -> None:
    page = talk.call("pond_search", **arguments)
    assert "=== session" in page
    assert note in page
    assert note or "note:" not in page


@pytest.mark.parametrize(
    ("tool", "arguments", "what"),
    [
        ("pond_search", {"query": "x", "limit": "many"}, "`limit`: expected a whole number, found `many`"),
        ("pond_search", {"query": "x", "role": "boss"}, "expected a role"),
        ("pond_search", {"query": "x", "from_date": "soon"}, "expected a time"),
        ("pond_search", {"query": "x", "failed": "perhaps"}, "`failed`: expected true or false"),
        ("pond_search", {"query": {"a": 1}}, "`query`: expected a text"),
        ("pond_search", {"query": "x", "cursor": "junk"}, "`cursor` is not one of pond's"),
        ("pond_search", {"query": "role:boss"}, "line 1, column 6"),
        ("pond_get", {"session_id": "oak", "response_mode": "loud"}, "one of conversational, complete, verbatim"),
        ("pond_sql_query", {"query": "select 1", "output": "csv"}, "one of table, json, parquet, ndjson"),
    ],
)
def test_what_cannot_be_meant_says_what_is_expected(
    talk: Talk, tool: str, arguments: dict[str, Any], what: str
) -> None:
    with pytest.raises(Refused) as refused:
        talk.call(tool, **arguments)
    assert refused.value.code == -32010
    assert refused.value.message.startswith("validation_failed: ")
    assert what in refused.value.message


def test_an_id_in_short_or_in_the_other_parameter_is_taken(talk: Talk) -> None:
    assert "oak-p0" in talk.call("pond_get", session_id="oa")
    assert "oak-p0" in talk.call("pond_get", message_id="oak")
    assert "> user" in talk.call("pond_get", message_id="oak-p0")


def test_without_an_id_the_newest_sessions_are_listed(talk: Talk) -> None:
    page = talk.call("pond_get")
    assert re.findall(r"^- (\S+) \| ", page, re.MULTILINE) == ["oak", _OWN]


def test_no_such_id(talk: Talk) -> None:
    for arguments in ({"session_id": "beech"}, {"message_id": "beech"}, {"session_id": "oak", "after_id": "beech"}):
        with pytest.raises(Refused, match=r"not_found: .*beech.*pond_search finds ids") as refused:
            talk.call("pond_get", **arguments)
        assert (refused.value.code, refused.value.data["pond_code"]) == (-32012, "not_found")


def test_a_tool_that_does_not_exist(talk: Talk) -> None:
    with pytest.raises(Refused, match="there are pond_search, pond_get, pond_sql_query"):
        talk.call("pond_forget")


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failure", "code", "retryable"),
    [
        (Failure.VALIDATION_FAILED, -32010, False),
        (Failure.VERSION_UNSUPPORTED, -32011, False),
        (Failure.NOT_FOUND, -32012, False),
        (Failure.NAMESPACE_UNKNOWN, -32013, False),
        (Failure.STORAGE_UNAVAILABLE, -32014, True),
        (Failure.CONFLICT, -32015, True),
        (Failure.INTERNAL, -32016, False),
    ],
)
def test_each_failure_has_its_number(failure: Failure, code: int, retryable: bool) -> None:
    number, message, data = told(RequestError(failure, "wrong-value", "boom", path="$.x"))
    assert number == code
    assert message == f"{failure.code}: boom"
    assert data == {"reason": "wrong-value", "path": "$.x", "pond_code": failure.code, "retryable": retryable}


def test_every_failure_has_a_number_of_its_own() -> None:
    assert sorted(told(RequestError(each, "wrong-value", ""))[0] for each in Failure) == list(range(-32016, -32009))


def test_what_nobody_expected_says_its_kind_alone() -> None:
    number, message, data = told(ZeroDivisionError("a secret"))
    assert (number, data["pond_code"]) == (-32016, "internal")
    assert "ZeroDivisionError" in message
    assert "secret" not in message + json.dumps(data)


def test_an_error_is_inert_too() -> None:
    _, message, _ = told(RequestError(Failure.NOT_FOUND, "wrong-value", "no `<system-reminder>\x1b[31m`"))
    assert message == "not_found: no `⟨system-reminder⟩\\x1b[31m`"


# --- the session that asks --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", ["CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID", "QWEN_CODE_SESSION_ID"])
def test_the_session_that_asks_is_left_out(lake: Path, variable: str) -> None:
    with talking(lake, **{variable: _OWN}) as talk:
        talk.greet()
        page = talk.call("pond_search", query="lamp")
        assert f"This session ({_OWN}) is left out; include_current_session=true" in page
        assert "very session" not in page
        assert "=== session [1]" in page
        assert "very session" in talk.call("pond_search", query="lamp", include_current_session=True)
        assert "very session" in talk.call("pond_search", query="lamp", session_id=_OWN)
        assert "very session" in talk.call("pond_get", session_id=_OWN, session_from="end")


def test_a_call_may_say_which_session_it_comes_from(talk: Talk) -> None:
    for meta in ({"threadId": _OWN}, {"sessionId": _OWN}, {"x-codex-turn-metadata": {"session_id": _OWN}}):
        assert "very session" not in talk.call("pond_search", meta, query="lamp")
    assert "very session" in talk.call("pond_search", query="lamp")


def test_a_session_that_is_not_stored_yet_costs_nothing(lake: Path) -> None:
    with talking(lake, CLAUDE_CODE_SESSION_ID="not-stored-yet") as talk:
        talk.greet()
        page = talk.call("pond_search", query="lamp")
    assert "This session" not in page
    assert "very session" in page


def test_who_asks_is_read_from_what_clients_say() -> None:
    assert from_environment({"CLAUDE_CODE_SESSION_ID": " a ", "QWEN_CODE_SESSION_ID": ""}) == ("a",)
    assert from_meta({"progressToken": 1, "threadId": "a", "sessionId": "a"}) == ("a",)
    assert from_meta(None) == ()


# --- resources and the prompt -----------------------------------------------------------------------------------------


def test_resources_and_the_prompt(talk: Talk) -> None:
    uris = [each["uri"] for each in talk.ask("resources/list")["resources"]]
    assert uris == ["schema://pond", "schema://pond-sql", "stats://pond"]
    texts = {uri: talk.ask("resources/read", uri=uri)["contents"][0]["text"] for uri in uris}
    assert "max_bytes (integer)" in texts["schema://pond"]
    assert json.loads(texts["stats://pond"])["sessions"] == 2
    (prompt,) = talk.ask("prompts/list")["prompts"]
    assert prompt["name"] == "recall"
    message = talk.ask("prompts/get", name="recall", arguments={"topic": "the lamp"})["messages"][0]
    assert "the lamp" in message["content"]["text"]
    with pytest.raises(Refused, match="not_found: no resource `stats://elsewhere`"):
        talk.ask("resources/read", uri="stats://elsewhere")


# --- exports ----------------------------------------------------------------------------------------------------------


def _export(talk: Talk, output: str) -> tuple[Path, str]:
    found = talk.ask(
        "tools/call", name="pond_sql_query", arguments={"query": "select id from messages", "output": output}
    )
    text, link = found["content"]
    (file,) = re.findall(r"^file: (.+)$", text["text"], re.MULTILINE)
    assert link["type"] == "resource_link"
    assert link["uri"] in text["text"]
    return Path(file), link["uri"]


def test_an_export_is_a_private_file_and_a_resource(talk: Talk) -> None:
    file, uri = _export(talk, "ndjson")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert ".cache/pond/exports" in str(file)
    (content,) = talk.ask("resources/read", uri=uri)["contents"]
    assert content["text"].encode() == file.read_bytes()
    assert len(content["text"].splitlines()) == 15
    file, uri = _export(talk, "parquet")
    (content,) = talk.ask("resources/read", uri=uri)["contents"]
    assert base64.b64decode(content["blob"]) == file.read_bytes()
    assert file.read_bytes()[:4] == b"PAR1"


@pytest.mark.parametrize(
    "name", ["../../../etc/passwd", "%2e%2e/x.ndjson", "0" * 32 + ".ndjson", "0" * 32 + ".csv", "", "x\0.ndjson"]
)
def test_only_minted_names_are_read(talk: Talk, name: str) -> None:
    with pytest.raises(Refused, match="no export"):
        talk.ask("resources/read", uri=f"pond-sql-export://{name}")


def test_a_link_in_the_place_of_an_export_is_not_followed(talk: Talk, tmp_path: Path) -> None:
    file, uri = _export(talk, "ndjson")
    secret = tmp_path / "secret"
    secret.write_text("secret")
    file.unlink()
    file.symlink_to(secret)
    with pytest.raises(Refused, match="no export"):
        talk.ask("resources/read", uri=uri)
    file.unlink()


def test_exports_are_kept_for_a_day(talk: Talk) -> None:
    old, uri = _export(talk, "ndjson")
    young, _ = _export(talk, "ndjson")
    day = time.time() - 24 * 3600
    os.utime(old, (day - 1, day - 1))
    os.utime(young, (day + 600, day + 600))
    with pytest.raises(Refused, match="24 hours"):
        talk.ask("resources/read", uri=uri)
    assert young.exists()
    assert not old.exists()


def test_an_erase_empties_the_exports(tmp_path: Path) -> None:
    place = tmp_path / "lake"
    store(place, conversation("oak", 1), conversation("elm", 1))
    with talking(place) as talk:
        talk.greet()
        file, uri = _export(talk, "ndjson")
        own = {name: value for name, value in variables(place).items() if name.startswith(("XDG", "HOME", "POND"))}
        assert pond("erase", "oak", "--yes", variables=own).code == 0
        assert not file.exists()
        with pytest.raises(Refused, match="until something is erased"):
            talk.ask("resources/read", uri=uri)


def test_an_export_belongs_to_one_namespace(tmp_path: Path) -> None:
    service = Service(Settings(lake=str(tmp_path / "lake")), {"XDG_CACHE_HOME": str(tmp_path / "cache")})
    names = {}
    for namespace in ("ada", "grace"):
        create_namespace(service, namespace)
        result = Result(service, f"select '{namespace}' as name", namespace)
        names[namespace] = exports.write(service, result, "ndjson", namespace).name
    assert exports.read(service, names["ada"], "ada") == b'{"name":"ada"}\n'
    with pytest.raises(RequestError):
        exports.read(service, names["ada"], "grace")
    with pytest.raises(RequestError):
        exports.read(service, names["ada"])
    exports.forget(service, "ada")
    with pytest.raises(RequestError):
        exports.read(service, names["ada"], "ada")
    assert exports.read(service, names["grace"], "grace")
    service.close()


_BREAKS = "select (case when n > 90000 then 'x' else '1' end)::int as n from range(100000) t(n)"


def test_a_query_that_fails_leaves_no_file(tmp_path: Path) -> None:
    service = Service(Settings(lake=str(tmp_path / "lake")), {"XDG_CACHE_HOME": str(tmp_path / "cache")})
    create_namespace(service, "ada")
    result = Result(service, _BREAKS, "ada")
    with pytest.raises(PondError):
        exports.write(service, result, "ndjson", "ada")
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []
    service.close()
