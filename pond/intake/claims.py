"""Which process stores a new session if several bring the same id at once: the first that claims it.

A claim is a row of the ledger, and Lance lets only one writer insert it. The others wait until the session is complete,
and compare their records with it. Claims stay: if one were withdrawn, a writer that looked earlier could miss it.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterable, Mapping

import pyarrow as pa

from pond.model.json_text import JsonObject, decode_stored, encode
from pond.sessions.tables import LEDGER
from pond.sessions.writing import session_ids
from pond.substrate import predicate, read, write
from pond.substrate.store import Store

CLAIM = "claim"
_PATIENCE = 30.0  # seconds to wait for a process that is storing a session
_PAUSE = 0.1
_LIVE = 600.0  # seconds for which a claim from another machine counts as alive


def claim(store: Store, wanted: Mapping[str, str]) -> set[str]:
    """Claim sessions, ids as stored, for their sources; return those that another source has claimed."""
    if not wanted:
        return set()
    held = _claims(store, wanted)
    missing = [id for id in wanted if id not in held]
    if missing:
        facts = {"host": platform.node(), "pid": os.getpid(), "at": time.time()}
        rows = [{"kind": CLAIM, "id": id, "value": encode({"by": wanted[id], **facts})} for id in missing]
        write.insert(store, LEDGER, pa.Table.from_pylist(rows, schema=LEDGER.schema))
        held = _claims(store, wanted)
    return {id for id, by in wanted.items() if held[id]["by"] != by}


def wait(store: Store, ids: Iterable[str]) -> set[str]:
    """Wait until no other process is storing these sessions; return those that still are, when patience ends."""
    end = time.monotonic() + _PATIENCE
    while (busy := _busy(store, set(ids))) and time.monotonic() < end:
        time.sleep(_PAUSE)
    return busy


def _busy(store: Store, ids: set[str]) -> set[str]:
    unstored = ids - session_ids(store, ids) if ids else set()
    held = _claims(store, unstored) if unstored else {}
    return {id for id, claim in held.items() if _is_live(claim)}


def _is_live(claim: JsonObject) -> bool:
    """Tell whether the process that claimed a session may still be storing it."""
    if claim["host"] != platform.node():
        return time.time() - float(claim["at"]) < _LIVE
    if claim["pid"] == os.getpid():
        return False
    try:
        os.kill(claim["pid"], 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # another user's
    return True


def _claims(store: Store, ids: Iterable[str]) -> dict[str, JsonObject]:
    here = predicate.all_of(predicate.equals("kind", CLAIM), predicate.one_of("id", sorted(ids)))
    rows = read.rows(store, LEDGER, ["id", "value"], here)
    return dict(zip(rows["id"].to_pylist(), map(decode_stored, rows["value"].to_pylist()), strict=True))
