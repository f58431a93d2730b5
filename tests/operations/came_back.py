"""What the lake gives back of a source file: its records, as the client had them."""

import io
from pathlib import Path

from pond.codec.report import Report
from pond.codec.writing import write_native
from pond.intake.sources import SOURCE, source_id
from pond.model.equal import same
from pond.model.json_text import Json, JsonObject
from pond.restore.stored import stored_session
from pond.sessions import ledger, load
from tests.lake.taking import store
from tests.laws.passage import strict_values


def sessions_of(lake: Path, file: Path) -> list[str]:
    """Return the ids under which the sessions of a file are stored."""
    found: list[str] = ledger.notes(store(lake), SOURCE)[source_id(file)]["sessions"]
    return found


def row_of(lake: Path, session_id: str) -> JsonObject:
    row = load.session(store(lake), session_id)
    assert row is not None, f"`{session_id}` is not stored"
    return row


def records_of(lake: Path, session_id: str) -> list[Json]:
    """Return the records of a stored session, as its client has them."""
    out, report = io.BytesIO(), Report()
    write_native(stored_session(store(lake), row_of(lake, session_id)), out, report, session_id)
    assert not report.diagnostics
    return strict_values(out.getvalue())


def is_back(lake: Path, file: Path) -> bool:
    """Tell whether the one session of a file comes back as the file has it, value for value."""
    (session_id,) = sessions_of(lake, file)
    return same(records_of(lake, session_id), strict_values(file.read_bytes()))
