"""What can go wrong with a model: one exception a reason, each with its diagnostic."""

from __future__ import annotations

from pond.diagnostics.diagnostic import Diagnostic, PondError, UsageError

EXTRA = "pip install 'pond[embed]'"


def first_line(error: Exception) -> str:
    """Return what a library says of a fault, in one line."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


class EmbedError(PondError):
    """Texts cannot be embedded now; nothing that is stored changes."""


class NotInstalled(EmbedError):
    """The libraries that run a model are not there."""

    def __init__(self, module: str) -> None:
        what = f"models need the Python package `{module}`, which is not installed"
        super().__init__(Diagnostic("model-library", what, help=EXTRA))


class Unknown(EmbedError, UsageError):
    """No model has this name here."""

    def __init__(self, name: str, where: str = "on this machine") -> None:
        super().__init__(Diagnostic("model-unknown", f"no model `{name}` {where}"))


class Broken(EmbedError):
    """The files of a model are not what they should be."""

    def __init__(self, name: str, reason: str, help: str = "") -> None:
        help = help or f"`pond model remove {name}`, then add it again"
        super().__init__(Diagnostic("model-broken", f"model `{name}`: {reason}", help=help))


class Unreachable(EmbedError):
    """A server did not answer, or refused, also after trying again."""

    def __init__(self, what: str, reason: str, help: str) -> None:
        super().__init__(Diagnostic("model-unreachable", f"{what}: {reason}", help=help))


class BadVectors(EmbedError):
    """A model answered with something that is not one vector for each text."""

    def __init__(self, name: str, reason: str) -> None:
        help = "nothing of this answer was stored; `pond model check` tests the model"
        super().__init__(Diagnostic("model-answer", f"model `{name}`: {reason}", help=help))
