"""The server of the SDK over pond's operations: the same for standard streams and for HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from pond._version import __version__
from pond.operations.service import Service
from pond.transports.mcp import getting, offered, querying, searching
from pond.transports.mcp.arguments import Arguments
from pond.transports.mcp.asking import Asking
from pond.transports.mcp.calls import Calls
from pond.transports.mcp.reading import read
from pond.transports.mcp.work import Told, Work

Context = ServerRequestContext[Any, Any]
_TOOLS: dict[str, Callable[[Service, Arguments, Asking], Work]] = {
    offered.SEARCH: searching.work,
    offered.GET: getting.work,
    offered.SQL: querying.work,
}


class Desk:
    """Answers what clients ask for; `service` is called where it is needed, `asking` says who asks."""

    def __init__(
        self, service: Callable[[], Service], calls: Calls, asking: Callable[[Context], Asking], *, meaning: bool
    ) -> None:
        self._service, self._calls, self._asking, self._meaning = service, calls, asking, meaning
        self._tools = {each["name"]: each for each in offered.tools(meaning)}

    def server(self) -> Server[Any]:
        """Return a server of the SDK."""
        return Server(
            offered.NAME,
            version=__version__,
            title=str(offered.SERVER_INFO["title"]),
            instructions=offered.instructions(self._meaning),
            on_list_tools=self._list_tools,
            on_call_tool=self._call,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._prompt,
        )

    async def _list_tools(self, _: Context, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_made(types.Tool, each) for each in self._tools.values()])

    async def _list_resources(self, _: Context, __: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[_made(types.Resource, each) for each in offered.RESOURCES])

    async def _list_templates(self, _: Context, __: Any) -> types.ListResourceTemplatesResult:
        made = [_made(types.ResourceTemplate, each) for each in offered.TEMPLATES]
        return types.ListResourceTemplatesResult(resource_templates=made)

    async def _list_prompts(self, _: Context, __: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[_made(types.Prompt, each) for each in offered.PROMPTS])

    async def _call(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in _TOOLS:
            known = ", ".join(_TOOLS)
            raise MCPError(types.INVALID_PARAMS, f"there is no tool `{params.name[:60]}`; there are {known}")
        asking, tool = self._asking(context), self._tools[params.name]

        def prepare() -> Work:
            given = Arguments(params.arguments, tool["inputSchema"]["properties"])
            return _TOOLS[params.name](self._service(), given, asking)

        async def progress(seconds: float) -> None:
            await context.session.report_progress(seconds, None, f"{params.name}: {seconds:.0f} s")

        return _result(await self._calls.answer(prepare, progress))

    async def _read(self, context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        asking, uri = self._asking(context), str(params.uri)
        found = await self._calls.simply(lambda: read(self._service(), uri, asking, self._meaning))
        contents: types.TextResourceContents | types.BlobResourceContents
        if found.text is not None:
            contents = types.TextResourceContents(uri=uri, mime_type=found.media_type, text=found.text)
        else:
            contents = types.BlobResourceContents(uri=uri, mime_type=found.media_type, blob=found.blob or "")
        return types.ReadResourceResult(contents=[contents])

    async def _prompt(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != offered.RECALL:
            raise MCPError(types.INVALID_PARAMS, f"there is no prompt `{params.name[:60]}`; there is {offered.RECALL}")
        text = types.TextContent(type="text", text=offered.recall((params.arguments or {}).get("topic", "")))
        message = types.PromptMessage(role="user", content=text)
        return types.GetPromptResult(description=str(offered.PROMPTS[0]["description"]), messages=[message])


def _made(kind: Any, fields: dict[str, Any]) -> Any:
    return kind.model_validate(fields, by_name=False)


def _result(told: Told) -> types.CallToolResult:
    content: list[Any] = [types.TextContent(type="text", text=told.text)]
    if told.file is not None:
        name = told.file.removeprefix(offered.EXPORT)
        link = {
            "type": "resource_link",
            "uri": told.file,
            "name": name,
            "mimeType": told.media_type,
            "size": told.bytes,
        }
        content.append(_made(types.ResourceLink, link))
    return types.CallToolResult(content=content)
