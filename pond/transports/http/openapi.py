"""The OpenAPI document of the server, as it is published."""

from __future__ import annotations

import json
from functools import cache

from pond._locate import schema_dir
from pond.model.json_text import JsonObject


@cache
def document() -> JsonObject:
    """Return the OpenAPI 3.1 document, which `python -m codegen` makes from the wire schema and the table of routes."""
    found: JsonObject = json.loads((schema_dir() / "bundle" / "v1" / "openapi.json").read_text(encoding="utf-8"))
    return found
