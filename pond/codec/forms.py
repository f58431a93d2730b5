"""The output forms of a session's records: lines, one document, or a store of the client."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pond.codec import document, lines
from pond.codec.client_store import store_part
from pond.codec.registry import Adapter, adapter, clients
from pond.model.json_text import Json, JsonObject, encode
from pond.model.marks import FORM, marks_of

Whole = Callable[[Iterable[Json], str], bytes]  # records and their name -> the bytes to write


def whole_form(row: JsonObject, owner: Adapter) -> Whole | None:
    """Return the function that joins a session's records into one piece; None if each is a line."""
    form = marks_of(row["options"]).get(FORM)
    if form is None:
        return None
    if form == document.DOCUMENT:
        keys = owner.module.DOCUMENT
        return lambda values, name: document.document_of(values, keys[1] if keys is not None else None, name)
    part = store_part(owner)
    if part is None or form != part.FORM:
        return None
    return lambda values, _: part.written(map(encode, values))


def suffix_of(row: JsonObject) -> str:
    """Return the suffix of a session's file, by its form."""
    form, client = marks_of(row["options"]).get(FORM), row["source_agent"]
    if form == document.DOCUMENT:
        return document.SUFFIX
    part = store_part(adapter(client)) if form is not None and client in clients() else None
    return part.SUFFIX if part is not None and form == part.FORM else lines.SUFFIX
