"""Regular files, opened: the one place from which session files are read."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span

BUFFER = 1 << 18


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file; raise SourceFault for anything else, without ever blocking on a pipe."""
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            raise SourceFault(Diagnostic("source-not-a-file", "expected a regular file", Span(str(path), 0)))
        return open(path, "rb", buffering=BUFFER)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceFault(Diagnostic("source-unreadable", reason, Span(str(path), 0))) from None
