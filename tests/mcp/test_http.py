"""`/mcp` of `pond serve`, asked by the SDK's own client: without sessions, with tokens and namespaces."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from tests.mcp.talking import MODERN, conversation, store
from tests.operations import invented
from tests.transports.server import Answer, Server, serving

Use = Callable[[ClientSession], Awaitable[Any]]
_ACCEPTED = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("mcp") / "lake"
    store(place, conversation("oak", 3))
    own = {"CLAUDE_CODE_SESSION_ID": "oak", "XDG_CACHE_HOME": str(place.parent / "cache")}
    with serving(place, variables=own) as running:
        yield running


def _used(server: Server, use: Use, **headers: str) -> Any:
    async def run() -> Any:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            streamable_http_client(f"http://127.0.0.1:{server.port}/mcp", http_client=http) as streams,
            ClientSession(*streams[:2]) as client,
        ):
            await client.initialize()
            return await use(client)

    return asyncio.run(run())


def _text(result: Any) -> str:
    return str(result.content[0].text)


def test_the_sdk_finds_and_uses_everything(server: Server) -> None:
    async def use(client: ClientSession) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["pond_search", "pond_get", "pond_sql_query"]
        assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in tools)
        # The server's own environment says nothing about who asks.
        assert "=== session [1]" in _text(await client.call_tool("pond_search", {"query": "lamp"}))
        assert "oak-a2" in _text(await client.call_tool("pond_get", {"session_id": "oak"}))
        assert "3 rows" in _text(
            await client.call_tool("pond_sql_query", {"query": "select distinct role from messages"})
        )
        assert len((await client.list_resources()).resources) == 3
        stats: Any = (await client.read_resource("stats://pond")).contents[0]
        assert json.loads(stats.text)["messages"] == 9
        prompt: Any = (await client.get_prompt("recall", {"topic": "lamps"})).messages[0].content
        assert "lamps" in prompt.text
        with pytest.raises(MCPError) as refused:
            await client.call_tool("pond_get", {"session_id": "elm"})
        assert refused.value.error.code == -32012
        assert refused.value.error.data["pond_code"] == "not_found"

    _used(server, use)


def test_an_export_is_a_resource_and_its_path_stays_here(server: Server) -> None:
    async def use(client: ClientSession) -> None:
        query = {"query": "select id from messages order by id", "output": "ndjson"}
        found: Any = await client.call_tool("pond_sql_query", query)
        assert "file:" not in found.content[0].text
        (content,) = (await client.read_resource(found.content[1].uri)).contents
        assert json.loads(content.text.splitlines()[0]) == {"id": "oak-a0"}  # type: ignore[union-attr]

    _used(server, use)


def test_a_session_that_asks_is_left_out(server: Server) -> None:
    async def use(client: ClientSession) -> None:
        meta: Any = {"threadId": "oak"}
        found = await client.call_tool("pond_search", {"query": "lamp"}, meta=meta)
        assert "This session (oak) is left out" in _text(found)

    _used(server, use)


def _posted(server: Server, message: object, **headers: str) -> Answer:
    return server.ask("POST", "/mcp", json.dumps(message).encode(), **_ACCEPTED, **headers)


def _event(answer: Answer) -> Any:
    return json.loads(answer.content.decode().partition("data: ")[2].splitlines()[0])


def test_no_request_needs_one_before_it(server: Server) -> None:
    asked = {"name": "pond_search", "arguments": {"query": "lamp"}}
    old = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
    answer = _posted(server, old, **{"mcp-protocol-version": "2025-06-18"})
    assert "mcp-session-id" not in answer.headers
    assert "=== session [1]" in _event(answer)["result"]["content"][0]["text"]
    new = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**asked, "_meta": MODERN}}
    named = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "pond_search"}
    answer = _posted(server, new, **named)
    found = answer.json if answer.content.startswith(b"{") else _event(answer)
    assert "=== session [1]" in found["result"]["content"][0]["text"]


def test_what_is_no_request_is_refused(server: Server) -> None:
    assert server.ask("POST", "/mcp", b"{", **_ACCEPTED).status == 400
    assert server.ask("POST", "/mcp", b"{}", **_ACCEPTED | {"accept": "text/html"}).status == 406
    assert server.ask("POST", "/mcp", b" " * (5 << 20), **_ACCEPTED).status == 413
    assert _posted(server, {}, host="evil.example").reason == "forbidden-host"
    assert _posted(server, {}, origin="http://evil.example").reason == "forbidden-host"
    assert server.get("/").json["mcp"] == "/mcp"


def test_a_token_and_a_namespace_hold_here_too(tmp_path: Path) -> None:
    token = "a-token-of-many-characters"
    with serving(tmp_path / "lake", variables={"POND_TOKEN": token}) as server:
        bearer = {"authorization": f"Bearer {token}"}
        hello = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        assert _posted(server, hello).reason == "missing-token"
        assert _posted(server, hello, authorization="Bearer wrong").reason == "wrong-token"
        assert len(_event(_posted(server, hello, **bearer))["result"]["tools"]) == 3

        async def use(client: ClientSession) -> None:
            with pytest.raises(MCPError) as refused:
                await client.call_tool("pond_search", {"query": "x"})
            assert refused.value.error.code == -32013

        _used(server, use, **bearer, **{"x-pond-namespace": "nobody"})
        server.stop()
        assert server.process.stderr is not None
        told = server.process.stderr.read().decode()  # most clients say nothing when they are refused
        assert told.count("/mcp was refused") == 2
        assert "a bearer token is needed" in told


def test_a_restart_between_calls_costs_nothing(tmp_path: Path) -> None:
    place = tmp_path / "lake"
    store(place, [invented.session("oak"), *invented.said("oak", "m1", "the lamp", at=1)])
    with serving(place) as first:
        port = first.port

        async def use(client: ClientSession) -> None:
            assert "lamp" in _text(await client.call_tool("pond_search", {"query": "lamp"}))
            assert await asyncio.to_thread(first.stop) == 0
            with serving(place, port=port):
                assert "lamp" in _text(await client.call_tool("pond_search", {"query": "lamp"}))

        _used(first, use)
