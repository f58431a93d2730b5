"""The resources: what the tools take, the tables of SQL, statistics, and files that queries left."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from pond.diagnostics.failures import Failure
from pond.diagnostics.visible import in_json
from pond.model.json_text import encode
from pond.operations import exports
from pond.operations.envelope import PROTOCOL
from pond.operations.failing import RequestError
from pond.operations.service import Service
from pond.operations.stats import stats
from pond.transports.mcp import offered
from pond.transports.mcp.asking import Asking
from pond.transports.mcp.guide import guide
from pond.transports.mcp.querying import schema


@dataclass(frozen=True, slots=True)
class Content:
    """What a resource holds: a text, or bytes in base64."""

    media_type: str
    text: str | None = None
    blob: str | None = None


def read(service: Service, uri: str, asking: Asking, meaning: bool) -> Content:
    """Return a resource; raise RequestError where there is none."""
    if uri == offered.SCHEMA:
        return Content("text/plain", guide(meaning))
    if uri == offered.SQL_SCHEMA:
        return Content("text/plain", schema([]))
    if uri == offered.STATS:
        return Content("application/json", _stats(service, asking))
    if uri.startswith(offered.EXPORT):
        return _export(service, uri.removeprefix(offered.EXPORT), asking)
    known = ", ".join(each["uri"] for each in offered.RESOURCES)
    raise RequestError(Failure.NOT_FOUND, "no-such-id", f"no resource `{uri}`; there are {known}")


def _stats(service: Service, asking: Asking) -> str:
    namespace = {} if asking.namespace is None else {"namespace": asking.namespace}
    return in_json(encode(stats(service, {"protocol_version": PROTOCOL, **namespace})).decode())  # type: ignore[typeddict-item]


def _export(service: Service, name: str, asking: Asking) -> Content:
    data, media_type = exports.read(service, name, asking.namespace), exports.FORMATS[name.rpartition(".")[2]]
    if media_type == exports.FORMATS["ndjson"]:
        return Content(media_type, text=data.decode("utf-8", "replace"))
    return Content(media_type, blob=base64.b64encode(data).decode())
