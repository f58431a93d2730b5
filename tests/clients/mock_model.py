"""A scripted model on loopback, for the two protocols the clients speak: Anthropic Messages and OpenAI Responses.

Each request is kept; what a resumed client sends is what it has read from its session store. The script is fixed:
a request that ends with `TURN` is answered with a tool call, the result of that call with `DONE`, all else with a text.
"""

import gzip
import json
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.clients.wire import Protocol, Request, protocol_of, request

TURN = "Pebble question: what does the file say now?"
AGAIN = "Second pebble question: and what did we do so far?"
DONE = "The pebble has been read."
REMEMBERED = "We have read a pebble."
ASIDE = "A side note."
CALL_ID = "call_pebble_0001"

Call = tuple[str, dict[str, Any]]  # a tool's name and its arguments
Event = tuple[str, dict[str, Any]]


class MockModel(ThreadingHTTPServer):
    """The server; `requests` is what it was asked, in order."""

    daemon_threads = True

    def __init__(self, call: Call) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.call = call
        self.requests: list[Request] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def reply(self, asked: Request) -> str | Call:
        """Return a text, or the call to make."""
        if not asked.has_tools:
            return ASIDE
        last = asked.atoms[-1] if asked.atoms else None
        answered = [atom.id for atom in asked.atoms if atom.kind == "result"]
        if asked.asks(AGAIN):
            return REMEMBERED
        if asked.asks(TURN):
            return DONE if CALL_ID in answered else self.call
        return DONE if last is not None and last.kind == "result" else ASIDE


@contextmanager
def serving(call: Call) -> Iterator[MockModel]:
    """Serve a model that makes `call` when it is asked `TURN`."""
    server = MockModel(call)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: MockModel

    def log_message(self, *_: Any) -> None:
        """Keep quiet: the requests are kept, not logged."""

    def do_HEAD(self) -> None:
        self._send(200, "text/plain", b"")

    def do_GET(self) -> None:
        listed = {"object": "list", "data": [{"id": "mock", "object": "model"}], "models": []}
        self._json(200 if self.path.split("?")[0].endswith("/models") else 404, listed)

    def do_POST(self) -> None:
        try:
            self._answer(json.loads(self._body() or b"{}"))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _answer(self, body: dict[str, Any]) -> None:
        protocol = protocol_of(self.path)
        if protocol is None:
            counting = self.path.split("?")[0].endswith("/count_tokens")
            return self._json(200 if counting else 404, {"input_tokens": 1000} if counting else {"error": {}})
        asked = request(protocol, body)
        self.server.requests.append(asked)
        events = list(_events(protocol, self.server.reply(asked), body, len(self.server.requests)))
        if body.get("stream"):
            return self._stream(events)
        return self._json(200, _whole(protocol, events))

    def _body(self) -> bytes:
        if "chunked" in (self.headers.get("Transfer-Encoding") or "").lower():
            data = b"".join(self._chunks())
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        match (self.headers.get("Content-Encoding") or "").lower():
            case "gzip":
                return gzip.decompress(data)
            case "deflate":
                return zlib.decompress(data)
        return data

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline() not in (b"\r\n", b"\n", b""):
            pass

    def _json(self, status: int, value: Any) -> None:
        self._send(status, "application/json", json.dumps(value).encode())

    def _send(self, status: int, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: list[Event]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for name, value in events:
            self.wfile.write(f"event: {name}\ndata: {json.dumps(value)}\n\n".encode())
        self.wfile.flush()


def _events(protocol: Protocol, reply: str | Call, body: dict[str, Any], serial: int) -> Iterator[Event]:
    make = _message_events if protocol == "messages" else _response_events
    return make(reply, str(body.get("model", "mock")), serial)


def _whole(protocol: Protocol, events: list[Event]) -> dict[str, Any]:
    """Fold a stream into the object that a request without streaming gets."""
    if protocol == "responses":
        return dict(events[-1][1]["response"])
    message = dict(events[0][1]["message"])
    texts = [event["delta"].get("text", "") for name, event in events if name == "content_block_delta"]
    return {**message, "content": [{"type": "text", "text": "".join(texts)}], "stop_reason": "end_turn"}


def _message_events(reply: str | Call, model: str, serial: int) -> Iterator[Event]:
    usage = {"input_tokens": 100, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 20}
    message = {"id": f"msg_mock_{serial:04}", "type": "message", "role": "assistant", "model": model, "content": []}
    ending = {"stop_reason": None, "stop_sequence": None, "usage": usage}
    yield "message_start", {"type": "message_start", "message": {**message, **ending}}
    block: dict[str, Any]
    if isinstance(reply, str):
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": reply}
    else:
        name, arguments = reply
        block = {"type": "tool_use", "id": CALL_ID, "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
    yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
    yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    stop = {"stop_reason": "end_turn" if isinstance(reply, str) else "tool_use", "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": stop, "usage": usage}
    yield "message_stop", {"type": "message_stop"}


def _response_events(reply: str | Call, model: str, serial: int) -> Iterator[Event]:
    base = {"id": f"resp_mock_{serial:04}", "object": "response", "created_at": 0, "model": model, "output": []}
    item: dict[str, Any]
    if isinstance(reply, str):
        content = [{"type": "output_text", "text": reply, "annotations": []}]
        item = {"type": "message", "id": f"msg_mock_{serial:04}", "role": "assistant", "content": content}
        empty: dict[str, Any] = {**item, "content": []}
        place = {"item_id": item["id"], "output_index": 0}
        deltas = [("response.output_text.delta", {**place, "content_index": 0, "delta": reply})]
    else:
        name, arguments = reply
        text = json.dumps(arguments)
        item = {"type": "function_call", "id": f"fc_mock_{serial:04}", "call_id": CALL_ID, "name": name}
        item["arguments"], empty = text, {**item, "arguments": ""}
        place = {"item_id": item["id"], "output_index": 0}
        deltas = [("response.function_call_arguments.delta", {**place, "delta": text})]
    done = {**item, "status": "completed"}
    tokens = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    whole = {**base, "status": "completed", "output": [done], "usage": {**tokens, **details}}
    steps: list[tuple[str, dict[str, Any]]] = [
        ("response.created", {"response": {**base, "status": "in_progress"}}),
        ("response.output_item.added", {"output_index": 0, "item": {**empty, "status": "in_progress"}}),
        *deltas,
        ("response.output_item.done", {"output_index": 0, "item": done}),
        ("response.completed", {"response": whole}),
    ]
    for number, (name, fields) in enumerate(steps):
        yield name, {"type": name, "sequence_number": number, **fields}
