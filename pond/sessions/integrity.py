"""Payloads are what their hashes say, or they are refused."""

from __future__ import annotations

from hashlib import sha256

import pyarrow as pa

from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span
from pond.sessions.stored_text import from_stored


def named_by(digest: str, data: bytes | None, session_id: str, part_id: str) -> bytes:
    """Return a payload that matches its hash; raise SourceFault for a wrong one, and for none.

    Lance stores no checksums: a byte that changed on disk is noticed here.
    """
    if data is not None and sha256(data).hexdigest() == digest:
        return data
    what = "is missing" if data is None else "is not the one that was stored: its bytes have changed"
    message = f"the payload of part `{from_stored(part_id)}` {what}"
    help = "restore the lake from an archive or a backup; other sessions are not affected"
    raise SourceFault(Diagnostic("lake-payload", message, Span(from_stored(session_id), 0), help=help))


def check(parts: pa.RecordBatch) -> None:
    """Raise SourceFault if a part in a batch holds a payload that does not match its hash."""
    held = parts["data"].storage.field("data")
    names = (parts[name].to_pylist() for name in ("data_hash", "session_id", "id"))
    for data, digest, session_id, part_id in zip(held, *names, strict=True):
        if data.is_valid:
            named_by(digest, data.as_py(), session_id, part_id)
