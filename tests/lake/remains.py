"""What the files of a lake hold, whichever version they are of: bytes as they are, and values as they are decoded."""

from base64 import b64encode
from pathlib import Path

import lance
import pyarrow as pa
from lance.file import LanceFileReader

from pond.model.json_text import JsonObject
from pond.substrate.store import Store
from tests.lake.build import store_session

SECRET = "quagmire"
_PAYLOAD = b"\x89PNG" + SECRET.encode() * 9000  # a file of its own in the lake


def holding(place: Path, text: str = SECRET) -> list[str]:
    """Return what holds a text: files of any version as they are, their rows also where deleted, and index files."""
    found = {path for path in place.rglob("*") if path.is_file() and text.encode() in path.read_bytes()}
    found |= {path for path in place.rglob("_indices/**/*.lance") if _in_values(text, _index_values(path))}
    found |= {path for path in place.glob("*.lance") if _in_values(text, _rows_of_all_versions(path))}
    return sorted(str(path.relative_to(place)) for path in found)


def _in_values(text: str, table: pa.Table) -> bool:
    return any(text in str(value) for name in table.column_names for value in table[name].to_pylist())


def _index_values(path: Path) -> pa.Table:
    return LanceFileReader(str(path)).read_all().to_table()


def _rows_of_all_versions(path: Path) -> pa.Table:
    """Return the rows of every version that can be opened, including deleted ones; payloads are plain in the files."""
    versions = [lance.dataset(str(path), version=each["version"]) for each in lance.dataset(str(path)).versions()]
    columns = [name for name in versions[0].schema.names if name != "data"]
    return pa.concat_tables(
        each.scanner(columns=columns, with_row_id=True, include_deleted_rows=True).to_table() for each in versions
    )


def store_secret(store: Store, id: str, parent: str | None = None) -> None:
    """Store a session that says the secret in a prompt, in a picture, in its title and in its project."""
    session: JsonObject = {
        "kind": "session", "id": id, "source_agent": "heron", "project": f"/home/ada/{SECRET}", "options": {},
    }  # fmt: skip
    if parent is not None:
        session["parent_session_id"] = parent
    picture = b64encode(_PAYLOAD + id.encode("utf-8", "surrogatepass")).decode()
    parts: list[JsonObject] = [
        {"type": "text", "text": f"the {SECRET} of {id}"},
        {"type": "file", "media_type": "image/png", "data": {"kind": "bytes", "base64": picture}},
    ]
    message = {"kind": "message", "role": "user", "id": "m", "session_id": id, "options": {"source": {"x": SECRET}}}
    events: list[JsonObject] = [
        {"kind": "part", "id": str(number), "session_id": id, "message_id": "m", "provenance": "conversational"}
        | {"options": {}} | part
        for number, part in enumerate(parts)
    ]  # fmt: skip
    store_session(store, session, [[message, *events]])
