"""What the substrate raises if Lance cannot do something: one exception per reason, each with its diagnostic."""

from __future__ import annotations

from pond.diagnostics.diagnostic import Diagnostic, PondError, UsageError


class LakeError(PondError):
    """The lake cannot do what was asked; nothing acknowledged is lost."""


class Conflict(LakeError):
    """Other writers won every race; `attempts` is their number. Trying again later is safe."""

    def __init__(self, what: str, attempts: int) -> None:
        self.attempts = attempts
        super().__init__(
            Diagnostic(
                "lake-conflict", f"{what}: other writers came first {attempts} times",
                help="run the command again; what was stored stays stored",
            )
        )  # fmt: skip


class Unavailable(LakeError):
    """The storage did not answer, or refused, even after retries."""

    def __init__(self, what: str, reason: str, attempts: int) -> None:
        self.attempts = attempts
        times = f" ({attempts} attempts)" if attempts > 1 else ""
        help = "fix that, then run the command again"
        super().__init__(Diagnostic("lake-unavailable", f"{what}: {reason}{times}", help=help))


class Exhausted(LakeError):
    """The system has no threads, memory or open files left for Lance; stored data is not affected."""

    def __init__(self, what: str, reason: str) -> None:
        help = "free memory or raise the limits (`ulimit -a`), then run the command again; what was stored stays stored"
        super().__init__(Diagnostic("lake-exhausted", f"{what}: {reason}", help=help))


class Damaged(LakeError):
    """The stored bytes are not what Lance wrote."""

    def __init__(self, what: str, reason: str) -> None:
        help = "restore the lake from a `.pond` archive or a backup; nothing was changed"
        super().__init__(Diagnostic("lake-damaged", f"{what}: {reason}", help=help))


class Refused(LakeError):
    """Lance does not accept the request: pond asked for something wrong."""

    def __init__(self, what: str, reason: str) -> None:
        help = "this is a bug in pond, please report it; nothing was changed"
        super().__init__(Diagnostic("lake-refused", f"{what}: {reason}", help=help))


class Newer(LakeError):
    """A later pond wrote this table."""

    def __init__(self, table: str, found: str, known: int) -> None:
        what = f"table `{table}` has schema version {found}, this pond knows {known}"
        super().__init__(Diagnostic("lake-newer", what, help="install a newer pond; nothing was changed"))


class Older(LakeError):
    """An earlier pond wrote this table."""

    def __init__(self, table: str, found: str, known: int) -> None:
        what = f"table `{table}` has schema version {found}, this pond needs {known}"
        help = "move the lake away and run `pond sync`; use the earlier pond for sessions that no client has anymore"
        super().__init__(Diagnostic("lake-older", what, help=f"{help}; nothing was changed"))


class Missing(LakeError, UsageError):
    """There is no lake at this place: nothing went wrong, the request names the wrong place."""

    def __init__(self, location: str) -> None:
        super().__init__(Diagnostic("lake-missing", f"no lake at `{location}`"))


class Gone(LakeError, UsageError):
    """A requested version of a table no longer exists."""

    def __init__(self, table: str, version: int) -> None:
        what = f"version {version} of table `{table}` is gone"
        super().__init__(Diagnostic("lake-version-gone", what, help="begin the search again"))
