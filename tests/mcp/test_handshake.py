"""The handshake: at once, from static data, in every version, whatever state the lake is in."""

import json
import resource
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pond.config.locations import NAMED_FILE
from pond.transports.mcp import handshake, offered
from pond.transports.mcp.handshake import Handshake
from tests.cli.command import pond
from tests.mcp.talking import GREETING, MODERN, PATIENCE, Refused, Talk, conversation, store, talking, variables

HEAVY = ("lance", "mcp.server", "pydantic", "pyarrow", "starlette", "typer", "pond.operations.search")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("handshake") / "lake"
    store(place, conversation("oak", 3))
    return place


@pytest.fixture
def talk(lake: Path) -> Iterator[Talk]:
    with talking(lake) as running:
        yield running


@pytest.mark.parametrize("version", handshake.HANDSHAKE)
def test_every_version_is_spoken(talk: Talk, version: str) -> None:
    found = talk.greet(version)
    assert found["protocolVersion"] == version
    assert found["serverInfo"]["name"] == "pond"
    assert [tool["name"] for tool in talk.ask("tools/list")["tools"]] == ["pond_search", "pond_get", "pond_sql_query"]
    assert talk.ask("ping") == {}
    assert "lamp" in talk.call("pond_search", query="lamp")


def test_an_unknown_version_gets_the_newest(talk: Talk) -> None:
    assert talk.greet("1999-01-01")["protocolVersion"] == "2025-11-25"


def test_requests_that_stand_alone_need_no_handshake(talk: Talk) -> None:
    found = talk.ask("server/discover", _meta=MODERN)
    assert found["supportedVersions"] == ["2026-07-28"]
    assert len(talk.ask("tools/list", _meta=MODERN)["tools"]) == 3
    answer = talk.ask("tools/call", name="pond_search", arguments={"query": "lamp"}, _meta=MODERN)
    assert "lamp" in answer["content"][0]["text"]


def test_a_client_that_tried_one_way_may_take_the_other(talk: Talk) -> None:
    talk.ask("server/discover", _meta=MODERN)
    talk.greet()
    assert "lamp" in talk.call("pond_search", query="lamp")


@pytest.mark.parametrize("modern", [False, True])
def test_the_static_answers_are_those_of_the_sdk(lake: Path, modern: bool) -> None:
    """Ask both the same: what is answered before the SDK is loaded is what it would answer."""
    static = Handshake(meaning=False)
    methods = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]
    params: dict[str, Any] = {"_meta": MODERN} if modern else {}
    requests: list[dict[str, Any]] = [{"method": method, "params": params} for method in methods]
    requests.append(
        {"method": "server/discover", "params": params} if modern else {"method": "initialize", "params": GREETING}
    )
    with talking(lake) as talk:
        if not modern:
            talk.greet()
        talk.ask("prompts/get", name="recall", arguments={}, **params)  # the SDK has the word now
        for request in requests:
            assert static.answer(request) == talk.ask(request["method"], **request["params"]), request["method"]


def test_nothing_heavy_is_loaded_before_the_first_call(lake: Path) -> None:
    with talking(lake, PYTHONPROFILEIMPORTTIME="1") as talk:
        talk.greet()
        talk.ask("tools/list")
        assert talk.end() == 0
        assert talk.process.stderr is not None
        told = talk.process.stderr.read().decode()
    loaded = {line.rpartition("|")[2].strip() for line in told.splitlines() if line.startswith("import time:")}
    assert "pond.transports.mcp.handshake" in loaded
    assert [name for name in HEAVY if name in loaded] == []


def test_what_is_heavy_is_loaded_by_a_call(lake: Path) -> None:
    """The other half of the test above: it would notice if the names were no longer those that are loaded."""
    modules = "pond.transports.mcp.takeover, pond.operations.search, pond.sessions.lake"
    script = f"import sys, {modules}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=variables(lake), check=True
    )
    assert [name for name in HEAVY if name not in done.stdout.split() and name != "typer"] == []


def _cpu(words: list[str], lines: list[Any], lake: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    sent = "".join(json.dumps({"jsonrpc": "2.0", "id": n, **line}) + "\n" for n, line in enumerate(lines)).encode()
    done = subprocess.run(words, input=sent, capture_output=True, env=variables(lake), timeout=PATIENCE, check=True)
    assert len(done.stdout.splitlines()) == len(lines)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_what_a_start_costs(lake: Path) -> None:
    """Eight times a bare Python to the list of tools; half as much again as its libraries to the first answer."""
    program = [sys.executable, "-m", "pond", "mcp"]
    shaken: list[Any] = [{"method": "initialize", "params": GREETING}, {"method": "tools/list"}]
    call = {"method": "tools/call", "params": {"name": "pond_search", "arguments": {"query": "lamp"}}}

    def cost(words: list[str], lines: list[Any]) -> float:
        return statistics.median(_cpu(words, lines, lake) for _ in range(5))

    assert cost(program, shaken) <= 8 * cost([sys.executable, "-c", "pass"], [])
    assert cost(program, [*shaken, call]) <= 1.5 * cost([sys.executable, "-c", "import lance, mcp.server"], [])


def test_a_missing_lake_breaks_nothing_but_the_call(tmp_path: Path) -> None:
    with talking(tmp_path / "none") as talk:
        talk.greet()
        assert len(talk.ask("tools/list")["tools"]) == 3
        for tool, arguments in (
            ("pond_search", {"query": "x"}),
            ("pond_get", {}),
            ("pond_sql_query", {"query": "select 1"}),
        ):
            with pytest.raises(Refused, match="run `pond sync`") as refused:
                talk.call(tool, **arguments)
            assert (refused.value.code, refused.value.data["pond_code"]) == (-32012, "not_found")
        assert "sessions" in talk.call("pond_sql_query")  # what there is to ask needs no lake
    assert not (tmp_path / "none").exists()


def test_a_broken_lake_breaks_nothing_but_the_call(tmp_path: Path) -> None:
    place = tmp_path / "lake"
    store(place, conversation("oak", 1))
    for file in (place / "messages.lance").rglob("*.manifest"):
        file.write_bytes(b"rotten")
    with talking(place) as talk:
        talk.greet()
        with pytest.raises(Refused) as refused:
            talk.call("pond_search", query="x")
        assert refused.value.code in (-32014, -32016)
        assert len(talk.ask("tools/list")["tools"]) == 3


def test_bad_settings_break_nothing_but_the_call(lake: Path, tmp_path: Path) -> None:
    bad = tmp_path / "pond.toml"
    bad.write_text("[embed]\nmodel = 7\n")
    with talking(lake, **{NAMED_FILE: str(bad)}) as talk:
        talk.greet()
        with pytest.raises(Refused, match="pond config show"):
            talk.call("pond_search", query="x")
        bad.write_text("")
        assert "lamp" in talk.call("pond_search", query="lamp")  # fixed settings are noticed without a restart


def test_lines_that_are_no_requests(talk: Talk) -> None:
    talk.send(b"Content-Length: 12\r")
    assert talk.line()["error"]["code"] == -32700
    talk.send(b"")
    talk.send([1])
    assert talk.line()["error"]["code"] == -32600
    talk.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}})
    talk.send({"jsonrpc": "2.0", "id": 7, "result": {}})
    with pytest.raises(Refused, match="Method not found"):
        talk.ask("sampling/createMessage")
    with pytest.raises(Refused, match="Method not found"):
        talk.ask("server/discover")
    talk.greet()
    assert "lamp" in talk.call("pond_search", query="lamp")
    talk.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    talk.send(b"garbage")
    assert "lamp" in talk.call("pond_search", query="lamp")


def test_a_call_without_a_handshake_is_answered(talk: Talk) -> None:
    assert "lamp" in talk.call("pond_search", query="lamp")


def test_what_was_asked_before_the_pipe_closed_is_answered(lake: Path) -> None:
    with talking(lake) as talk:
        talk.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                   "params": {"name": "pond_search", "arguments": {"query": "lamp"}}})  # fmt: skip
        assert talk.end() == 0
        assert talk.process.stdout is not None
        (answer,) = talk.process.stdout.read().splitlines()
    assert "lamp" in json.loads(answer)["result"]["content"][0]["text"]


@pytest.mark.parametrize("words", [("mcp",), ("mcp", "--lake", "{lake}"), ("serve", "--transport", "stdio")])
def test_the_ways_to_start_it(lake: Path, words: tuple[str, ...]) -> None:
    with talking(lake, [word.format(lake=lake) for word in words]) as talk:
        talk.greet()
        assert "lamp" in talk.call("pond_search", query="lamp")
        assert talk.end() == 0
        assert talk.process.stderr is not None
        assert talk.process.stderr.read() == b""


def test_another_transport_is_refused() -> None:
    done = pond("serve", "--transport", "pigeon")
    assert done.code == 2
    assert "one of http, stdio" in done.err


# --- what is offered --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("meaning", [False, True])
def test_descriptions_stand_alone(meaning: bool) -> None:
    assert len(offered.instructions(meaning)) <= 1000
    for tool in offered.tools(meaning):
        assert len(tool["description"].splitlines()[0]) <= 120
        assert "past" in tool["description"]
        assert tool["annotations"]["readOnlyHint"] is True
        assert tool["annotations"]["destructiveHint"] is False
        assert "outputSchema" not in tool
        assert tool["_meta"]["anthropic/maxResultSizeChars"] > 0
        assert tool["inputSchema"].get("required", []) == []
        for name, about in tool["inputSchema"]["properties"].items():
            assert about["description"], name
            if "maximum" in about and name != "offset":
                assert str(about["maximum"]) in about["description"], name


def test_meaning_is_mentioned_only_where_it_is_set_up(lake: Path, tmp_path: Path) -> None:
    told = json.dumps([offered.tools(False), offered.instructions(False)])
    assert "meaning" not in told
    assert "embedding" not in told
    assert "similar_to" not in told
    config = tmp_path / "pond.toml"
    config.write_text('[embed]\nmodel = "minilm"\n')
    for file, mentioned in ((config, True), (tmp_path / "none.toml", False)):
        with talking(lake, **{NAMED_FILE: str(file)}) as talk:
            assert ("by meaning" in talk.greet()["instructions"]) is mentioned
            (search, *_) = talk.ask("tools/list")["tools"]
            assert ("similar_to" in search["inputSchema"]["properties"]) is mentioned
