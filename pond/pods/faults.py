"""What the pod store says when it cannot do what was asked: one exception for each reason."""

from __future__ import annotations

from pond.diagnostics.diagnostic import Diagnostic, PondError, UsageError


class PodError(PondError):
    """A pod cannot be read, changed or restored; nothing that was acknowledged is lost."""

    code: str
    help = ""

    def __init__(self, message: str) -> None:
        super().__init__(Diagnostic(self.code, message, help=self.help))


class BadName(PodError, UsageError):
    """The name cannot be a pod's."""

    code = "pods-name"


class BadChange(PodError, UsageError):
    """The change would leave something that is no record of a pod."""

    code = "pods-change"


class NameTaken(PodError, UsageError):
    """Another pod has a name that some file systems cannot tell from this one."""

    code = "pods-name-taken"
    help = "use that name, or one that differs in more than upper and lower case"


class NoPod(PodError, UsageError):
    """There is no pod with this name."""

    code = "pods-missing"

    def __init__(self, name: str) -> None:
        super().__init__(f"no pod `{name}`")


class Inactive(PodError, UsageError):
    """The pod points to no session."""

    code = "pods-inactive"


class Pending(PodError, UsageError):
    """The pod's session is reserved and has no segment yet."""

    code = "pods-pending"


class UnknownSession(PodError, UsageError):
    """The session that the pod points to is not in the lake."""

    code = "pods-session-unknown"


class EmptySession(PodError, UsageError):
    """The session that the pod points to has no records."""

    code = "pods-session-empty"


class Misplaced(PodError, UsageError):
    """The root of the pods is in the lake, or among the files that sessions are taken from."""

    code = "pods-place"
    help = "set `pods.root` to a directory of its own"


class Corrupt(PodError):
    """What is stored for a pod is not its record."""

    code = "pods-corrupt"
    help = "nothing was changed; fix the file, or remove the pod with `--force`"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"the record of pod `{name}` {reason}")


class Busy(PodError):
    """Others changed the pod all the time; trying again is safe."""

    code = "pods-busy"
    help = "run the command again; nothing was changed"


class Moved(Busy):
    """The pod was pointed elsewhere while it was restored."""


class StorageFailed(PodError):
    """The file system refused."""

    code = "pods-storage"
    help = "fix that, then run the command again"
