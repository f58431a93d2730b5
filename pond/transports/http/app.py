"""The application: the table of operations as routes, and the pages beside them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Path
from starlette.types import ASGIApp

from pond.diagnostics.failures import Failure
from pond.model.json_text import encode
from pond.operations.events import EventReader, EventsRequest, blob
from pond.operations.failing import RequestError
from pond.operations.service import Service
from pond.transports.http import pages
from pond.transports.http.bodies import body_of, check_type, checked_envelope, decoded, from_headers, in_envelope
from pond.transports.http.errors import error_response, json_response, no_such_path, wrong_method
from pond.transports.http.guard import Admission, Guard, Log
from pond.transports.http.metrics import CONTENT_TYPE, Metrics
from pond.transports.http.routes import OPERATIONS, PRIVATE, Route
from pond.transports.http.streaming import Readers
from pond.transports.http.threads import Threads
from pond.transports.mcp.http import Mcp

THREADS = 8  # that answer requests; Lance has threads of its own

INLINE, REFERENCE = "inline", "reference"  # how payloads come with events
_NO_PAGE = {"content-security-policy": "sandbox; default-src 'none'", "content-disposition": "attachment"}
_CLOSE = {"connection": "close"}
_CUT_OFF = ("body-too-large", "time-limit", "bad-http")  # what is left of such a request is not read

Endpoint = Callable[[Request], Awaitable[Response]]


class Application:
    """Everything that one serving process answers with."""

    def __init__(self, service: Service, admission: Admission, log: Log) -> None:
        self._service, self._log = service, log
        self._metrics = Metrics()
        self._threads = Threads(THREADS, "answering")
        self._readers = Readers(service.settings.serve.event_readers, self._run)
        paths = [self._path(route.path, route.method, partial(self._operation, route)) for route in OPERATIONS]
        paths += [self._path(route.path, route.method, partial(self._private, route)) for route in PRIVATE]
        paths += [self._path(path, "GET", page) for path, page in self._pages().items()]
        paths += [
            self._path("/v1/events", "GET", self._events),
            self._path("/v1/blobs/{sha256}", "GET", self._blob),
        ]
        self._mcp = Mcp(service, log)
        paths.append(Path("/mcp", self._mcp))
        handlers: Any = {HTTPException: self._not_routed}
        routed = Starlette(routes=paths, exception_handlers=handlers)
        self.asgi: ASGIApp = Guard(routed, admission, self._metrics, log)

    def close(self) -> None:
        """Wait for what is being answered, and let go of what is open."""
        self._mcp.close()
        self._threads.shutdown()
        self._service.close()

    def stopping(self) -> None:
        """Hear that the server stops: nobody waits for what would not end by itself."""
        self._readers.stop()
        self._mcp.stop()

    def tidy(self) -> None:
        """Do what is to be done now and then."""
        self._service.let_go()

    # --- operations ---

    async def _operation(self, route: Route, request: Request) -> Response:
        if route.method == "GET":
            envelope = from_headers(request)
            return json_response(await self._in_thread(self._answer, route, envelope))
        check_type(request)
        raw = await body_of(request)
        return json_response(await self._in_thread(lambda: self._answer(route, in_envelope(decoded(raw), request))))

    async def _private(self, route: Route, request: Request) -> Response:
        if not request.state.private:
            raise no_such_path(request.url.path)
        return await self._operation(route, request)

    def _answer(self, route: Route, body: object) -> Any:
        answer = route.run(self._service, route.decode(body))
        return answer if isinstance(answer, Future) else encode(answer)

    async def _in_thread(self, function: Callable[..., Any], *arguments: object) -> bytes:
        answer = await self._run(lambda: function(*arguments))
        if isinstance(answer, Future):
            # What was accepted is carried out, whether or not the client waits for it.
            answer = encode(await asyncio.shield(asyncio.wrap_future(answer)))
        assert isinstance(answer, bytes)
        return answer

    async def _run(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def _events(self, request: Request) -> Response:
        envelope = checked_envelope(request)
        session, payloads = request.query_params.get("session"), request.query_params.get("payloads", INLINE)
        if not session:
            raise RequestError(Failure.VALIDATION_FAILED, "missing-field", "`session` is missing", path="session")
        if payloads not in (INLINE, REFERENCE):
            what = f"expected `{INLINE}` or `{REFERENCE}`"
            raise RequestError(Failure.VALIDATION_FAILED, "wrong-value", what, path="payloads")
        after = request.headers.get("last-event-id") or None
        asked = EventsRequest(session, after, envelope.get("namespace"), payloads == REFERENCE)
        return await self._readers.response(EventReader(self._service, asked))

    async def _blob(self, request: Request) -> Response:
        digest, namespace = request.path_params["sha256"], checked_envelope(request).get("namespace")
        data = await self._run(lambda: blob(self._service, digest, namespace))
        # It never changes; and whatever it is, no browser takes it for a page.
        headers = {"cache-control": "private, max-age=31536000, immutable", "etag": f'"{digest}"', **_NO_PAGE}
        return Response(data, headers=headers, media_type="application/octet-stream")

    # --- pages ---

    def _pages(self) -> dict[str, Endpoint]:
        return {
            "/": pages.index,
            "/docs": pages.docs,
            "/openapi.json": pages.openapi,
            "/healthz": pages.healthz,
            "/metrics": self._figures,
        }

    async def _figures(self, request: Request) -> Response:
        gauges = {
            "pond_open_namespaces": float(self._service.open_namespaces),
            "pond_event_readers": float(self._readers.count),
            "pond_commits_total": float(self._service.gathering.commits),
        }
        return Response(self._metrics.text(gauges), media_type=CONTENT_TYPE)

    # --- errors ---

    def _path(self, path: str, method: str, answer: Endpoint) -> Path:
        async def endpoint(request: Request) -> Response:
            request.state.route = path
            try:
                return await answer(request)
            except Exception as error:
                self._tell(request, error)
                return error_response(error, _CLOSE if _is_cut_off(error) else {})

        return Path(path, endpoint, methods=[method])

    def _tell(self, request: Request, error: Exception) -> None:
        """Log what nobody expected, and where it came from: the response says its kind alone."""
        from pond.diagnostics.diagnostic import PondError

        if not isinstance(error, PondError):
            at = error.__traceback__
            while at is not None and at.tb_next is not None:
                at = at.tb_next
            where = f"{at.tb_frame.f_code.co_filename}:{at.tb_lineno}" if at is not None else "?"
            self._log(f"request {request.state.request_id}: {type(error).__name__}: {error} ({where})")

    async def _not_routed(self, request: Request, error: HTTPException) -> Response:
        allowed = (error.headers or {}).get("Allow")
        if allowed is None:
            return error_response(no_such_path(request.url.path))
        methods = sorted(method.strip() for method in allowed.split(","))
        return error_response(wrong_method(request.url.path, methods), {"allow": allowed})


def _is_cut_off(error: Exception) -> bool:
    return isinstance(error, RequestError) and error.details["reason"] in _CUT_OFF
