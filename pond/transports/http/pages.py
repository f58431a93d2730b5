"""What the server says about itself: an index, the OpenAPI document, and the same document for people."""

from __future__ import annotations

import html
from collections.abc import Iterator
from functools import cache

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from pond._version import __version__
from pond.model.json_text import JsonObject, encode
from pond.operations.envelope import PROTOCOL
from pond.transports.http.errors import json_response
from pond.transports.http.openapi import document

# Nothing is loaded from anywhere: the page is one piece of text.
_POLICY = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "code,pre{font:14px ui-monospace,monospace}pre{background:#8881;padding:.8rem;overflow:auto}"
    "h2{border-top:1px solid #8884;padding-top:1rem}td,th{text-align:left;padding:.2rem 1rem .2rem 0}"
)


async def index(_: Request) -> Response:
    """Say what is here."""
    found = {
        "name": "pond",
        "version": __version__,
        "protocol_versions": [PROTOCOL],
        "operations": {path: sorted(map(str.upper, methods)) for path, methods in document()["paths"].items()},
        "mcp": "/mcp",
        "docs": "/docs",
        "openapi": "/openapi.json",
        "health": "/healthz",
        "metrics": "/metrics",
    }
    return json_response(encode(found))


async def openapi(_: Request) -> Response:
    """Describe every operation, for programs."""
    return json_response(_openapi())


@cache
def _openapi() -> bytes:
    return encode(document())


async def healthz(_: Request) -> Response:
    """Say that the server answers."""
    return json_response(b'{"status":"ok"}')


async def docs(_: Request) -> Response:
    """Describe every operation, for people."""
    return HTMLResponse(_docs(), headers=_POLICY)


@cache
def _docs() -> str:
    about = document()
    body = "\n".join(_operations(about))
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>pond</title><style>{_STYLE}</style><h1>pond {html.escape(__version__)}</h1>"
        f"<p>{html.escape(about['info']['description'])} The same for programs: "
        f"<a href=openapi.json>openapi.json</a>.</p>{body}</html>"
    )


def _operations(about: JsonObject) -> Iterator[str]:
    schemas: JsonObject = about["components"]["schemas"]
    for path, methods in about["paths"].items():
        for method, operation in methods.items():
            yield f"<h2><code>{method.upper()} {html.escape(path)}</code></h2>"
            yield f"<p>{html.escape(operation['summary'])}</p>"
            parameters = operation.get("parameters", [])
            yield _table([(each["name"], _needed(each.get("required")), each["description"]) for each in parameters])
            if "requestBody" in operation:
                name = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
                needed = schemas[name].get("required", [])
                rows = [
                    (field, _needed(field in needed), about.get("description", ""))
                    for field, about in schemas[name].get("properties", {}).items()
                ]
                yield f"<p>Body: <code>{name}</code></p>{_table(rows)}"


def _needed(required: bool | None) -> str:
    return "required" if required else ""


def _table(rows: list[tuple[str, str, str]]) -> str:
    cells = (
        f"<tr><td><code>{html.escape(name)}</code><td>{needed}<td>{html.escape(about)}" for name, needed, about in rows
    )
    return f"<table>{''.join(cells)}</table>" if rows else ""
