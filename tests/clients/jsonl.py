"""Rows to a file as the clients write them: compact, in UTF-8, a lone surrogate as an escape."""

import json
import os
import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")

# One green point: small enough to read past, and a picture that every decoder takes.
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write a JSONL file, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    text = "".join(f"{line}\n" for line in lines)
    path.write_text(_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text), encoding="utf-8")


def date(path: Path) -> None:
    """Give a session file the time of its last record, as it has where a client wrote it."""
    stamps = [row["timestamp"] for row in map(json.loads, path.read_bytes().splitlines()) if "timestamp" in row]
    if stamps:
        last = datetime.fromisoformat(max(stamps)).timestamp()
        os.utime(path, (last, last))


def stamp(seconds: float) -> str:
    """Return a time of a made-up day, so many seconds after nine."""
    whole, milliseconds = divmod(round(seconds * 1000), 1000)
    minutes, second = divmod(9 * 3600 + whole, 60)
    hour, minute = divmod(minutes, 60)
    return f"2026-03-04T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z"
