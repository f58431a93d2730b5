"""Requests and answers in HTTP's terms, without sending anything: both clients run the same conversation."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pond._version import __version__
from pond.client._operations import Operation
from pond.client.errors import ServerError, Unreachable
from pond.client.retrying import Retries
from pond.model.json_text import NotJson, decode_stored, encode

PROTOCOL = 1
_JSON = "application/json"
_GATEWAY = (502, 503, 504)  # what a gateway answers if the server is not there


@dataclass(frozen=True, slots=True)
class Sent:
    """A request, ready to be sent."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    content: bytes | None = None
    timeout: float | None = None  # seconds of silence that are too many, if not the client's default


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back; the names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


# Asks to send a request, or to pause for some seconds; ends with the reply to the request.
Conversation: TypeAlias = Generator[Sent | float, Reply | None, Reply]


@dataclass(frozen=True, slots=True)
class Server:
    """Where requests go."""

    url: str
    token: str | None = field(repr=False)

    def headers(self, sent: Sent) -> dict[str, str]:
        """Return all headers of a request."""
        bearer = {"authorization": f"Bearer {self.token}"} if self.token else {}
        return {"user-agent": f"pond/{__version__}", "accept": f"{_JSON}, */*", **bearer, **sent.headers}

    def unreachable(self, error: Exception) -> Unreachable:
        """Return the exception for a request that got no answer."""
        return Unreachable(f"no answer from `{self.url}`: {str(error) or type(error).__name__}", retry=True)


def envelope(namespace: str | None) -> dict[str, str]:
    """Return version and namespace as headers, for a request without a body."""
    found = {"x-pond-protocol-version": str(PROTOCOL)}
    return found | ({"x-pond-namespace": namespace} if namespace else {})


def call(operation: Operation, request: dict[str, Any], namespace: str | None) -> Sent:
    """Return an operation's request; fields that are None are absent."""
    fields = {name: value for name, value in request.items() if value is not None}
    if operation.method == "GET":
        params = {name: value if isinstance(value, str) else encode(value).decode() for name, value in fields.items()}
        return Sent("GET", operation.path, envelope(namespace), params)
    whole = {"protocol_version": PROTOCOL, **({"namespace": namespace} if namespace else {}), **fields}
    return Sent(operation.method, operation.path, {"content-type": _JSON}, content=encode(whole))


def conversation(sent: Sent, retries: Retries) -> Conversation:
    """Send a request until it is answered or another attempt is useless; then raise the reason."""
    tried = 0
    while True:
        tried += 1
        try:
            reply = yield sent
            assert reply is not None
            refuse(reply)
            return reply
        except (ServerError, Unreachable) as error:
            pause = retries.pause(error, tried)
            if pause is None:
                raise
        yield pause


def refuse(reply: Reply) -> None:
    """Raise the error that a reply is, if it is one."""
    if reply.status == 200:
        return
    match _decoded(reply):
        case {"error": {"code": str(code), "message": str(message), "details": dict(details)}}:
            raise ServerError(reply.status, code, message, details, reply.headers.get("x-pond-request-id"))
        case _:
            what = f"answered {reply.status}, and not as a pond server does"
            raise Unreachable(what, retry=reply.status in _GATEWAY)


def value_of(reply: Reply) -> Any:
    """Return the value that a reply holds, exactly as it was sent."""
    if "x-pond-request-id" not in reply.headers:
        raise Unreachable("answered, and not as a pond server does", retry=False)
    return _decoded(reply)


def _decoded(reply: Reply) -> Any:
    try:
        return decode_stored(reply.content.decode("utf-8", "surrogatepass"))
    except (NotJson, UnicodeDecodeError):
        if reply.status == 200:
            raise Unreachable("answered with something that is not JSON", retry=False) from None
        return None
