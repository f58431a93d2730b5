"""A tool result's value -> text, or a list of text and file Parts, from the shapes that providers give content."""

from __future__ import annotations

from pond.model.json_text import Json, JsonObject, encode

PDF = "application/pdf"  # the one type of document that a provider fetches from an address


def portable_result(value: Json) -> str | list[JsonObject]:
    """Return the result as one text, or as Parts where it is a list of content blocks; no value is left out."""
    if type(value) is str:
        return value
    if value is None:
        return ""
    if type(value) is list:
        return [_part(block) for block in value]
    return as_text(value)


def as_text(value: Json) -> str:
    """Return a value as JSON text."""
    return encode(value).decode("utf-8")


def _part(block: Json) -> JsonObject:
    part = _file(block) if type(block) is dict else None
    if part is not None:
        return part
    if type(block) is dict and block.get("type") in _TEXTS and type(block.get("text")) is str:
        return text_part(block["text"])
    return text_part(block if type(block) is str else as_text(block))


_TEXTS = ("text", "input_text", "output_text")


def _file(block: JsonObject) -> JsonObject | None:
    """Return the file in a content block: as the Messages API, the Responses API or MCP spell it."""
    source = block.get("source")
    if block.get("type") in ("image", "document") and type(source) is dict:
        if source.get("type") == "base64" and _texts(source, "media_type", "data"):
            return file_part(source["media_type"], source["data"])
        if source.get("type") == "url" and _texts(source, "url"):
            return file_part("image/*" if block["type"] == "image" else PDF, source["url"])
    if block.get("type") == "input_image" and _texts(block, "image_url"):
        return _from_url(block["image_url"])
    if block.get("type") == "image" and _texts(block, "data", "mimeType"):
        return file_part(block["mimeType"], block["data"])
    return None


def _texts(holder: JsonObject, *names: str) -> bool:
    return all(type(holder.get(name)) is str for name in names)


def _from_url(url: str) -> JsonObject:
    head, comma, data = url.partition(",")
    if head.startswith("data:") and head.endswith(";base64") and comma:
        return file_part(head[5:-7], data)
    return file_part("image/*", url)


def text_part(text: str) -> JsonObject:
    """Return a text Part inside a result."""
    return {"type": "text", "text": text}


def file_part(media_type: str, data: str) -> JsonObject:
    """Return a file Part inside a result; `data` is base64, or an address."""
    return {"type": "file", "media_type": media_type, "data": data}


def is_image(part: JsonObject) -> bool:
    """Tell whether a file is a picture; of an address without a type the clients that have addresses say so."""
    kind: str = part["media_type"]
    return kind.startswith("image/") or (kind == "application/octet-stream" and is_address(part["data"]))


def is_address(data: str) -> bool:
    """Tell an address from base64 data."""
    return "://" in data[:40]
