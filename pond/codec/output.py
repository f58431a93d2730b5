"""Files that appear whole or not at all, and never in place of another."""

from __future__ import annotations

import contextlib
import filecmp
import os
import tempfile
from pathlib import Path
from typing import BinaryIO

from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span


class NewFile:
    """A file being written under a temporary name beside its final one; nothing is left behind on a failure.

    `with NewFile(path) as out: …` gives it its final name at the end. A file already there with the same bytes is left
    alone (a re-run is a no-op); one with other bytes is an error.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> BinaryIO:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, self._temporary = tempfile.mkstemp(
                prefix=f".{self.path.name[:80]}.", suffix=".tmp", dir=self.path.parent
            )
        except OSError as error:
            raise failed(self.path, error) from None
        self._file = os.fdopen(handle, "wb")
        return self._file

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        try:
            with contextlib.suppress(OSError) if kind else contextlib.nullcontext():
                self._file.close()
            if kind is None:
                self._place()
        except OSError as failure:
            raise failed(self.path, failure) from None
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._temporary)
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
            raise failed(self.path, error) from None

    def _place(self) -> None:
        # mkstemp gives 0600; a new file should have what the person's umask gives any other.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(self._temporary, 0o666 & ~umask)
        try:
            os.link(self._temporary, self.path)  # fails where something is there: no race, no overwriting
        except FileExistsError:
            if not self.path.is_file() or not filecmp.cmp(self._temporary, self.path, shallow=False):
                what = "a different file is already there; nothing was overwritten"
                raise SourceFault(Diagnostic("output-exists", what, Span(str(self.path), 0))) from None
        except OSError:
            if self.path.exists():
                raise
            os.rename(self._temporary, self.path)  # a file system without hard links


def failed(path: Path | str, error: OSError) -> SourceFault:
    """Return the fault for output that cannot be written."""
    return SourceFault(Diagnostic("output-failed", (error.strerror or str(error)).lower(), Span(str(path), 0)))
