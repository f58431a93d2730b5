"""What the substrate says when Lance cannot do what was asked: one exception a reason, each with its diagnostic."""

from __future__ import annotations

from pond.diagnostics.diagnostic import Diagnostic, PondError, UsageError


class LakeError(PondError):
    """The lake cannot do what was asked; nothing acknowledged is lost."""


class Conflict(LakeError):
    """Other writers won every race; `attempts` says how many there were. Trying again later is safe."""

    def __init__(self, what: str, attempts: int) -> None:
        self.attempts = attempts
        super().__init__(
            Diagnostic(
                "lake-conflict", f"{what}: other writers came first {attempts} times",
                help="run the command again; what was stored stays stored",
            )
        )  # fmt: skip


class Unavailable(LakeError):
    """The storage did not answer, or refused, also after trying again."""

    def __init__(self, what: str, reason: str, attempts: int) -> None:
        self.attempts = attempts
        times = f" ({attempts} attempts)" if attempts > 1 else ""
        help = "fix that, then run the command again"
        super().__init__(Diagnostic("lake-unavailable", f"{what}: {reason}{times}", help=help))


class Exhausted(LakeError):
    """The system has no threads, memory or open files left for Lance; what is stored is not concerned."""

    def __init__(self, what: str, reason: str) -> None:
        help = "free memory or raise the limits (`ulimit -a`), then run the command again; what was stored stays stored"
        super().__init__(Diagnostic("lake-exhausted", f"{what}: {reason}", help=help))


class Damaged(LakeError):
    """The stored bytes are not what Lance wrote."""

    def __init__(self, what: str, reason: str) -> None:
        help = "restore the lake from a `.pond` archive or a backup; nothing was changed"
        super().__init__(Diagnostic("lake-damaged", f"{what}: {reason}", help=help))


class Refused(LakeError):
    """Lance does not take the request: pond asked for something wrong."""

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
    """There is no lake at the place named: nothing went wrong, the request names another place."""

    def __init__(self, location: str) -> None:
        super().__init__(Diagnostic("lake-missing", f"no lake at `{location}`"))


class Gone(LakeError, UsageError):
    """A version of a table that a request names is not kept any more."""

    def __init__(self, table: str, version: int) -> None:
        what = f"version {version} of table `{table}` is gone"
        super().__init__(Diagnostic("lake-version-gone", what, help="begin the search again"))
