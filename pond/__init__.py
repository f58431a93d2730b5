"""Agent sessions of any client in one form: read, convert, verify, and keep in a lake.

    import pond

    for event in pond.read("session.jsonl"): ...
    pond.convert("session.jsonl", to="codex", output="out/")
    with pond.Lake("lake") as lake:
        lake.ingest("~/.claude/projects")

Importing this loads nothing else and changes nothing in the process; each name is loaded when it is first used.
"""

TYPE_CHECKING = False  # for type checkers, which assume True; importing `typing` would take longer than all of this
if TYPE_CHECKING:
    from pond._version import __version__ as __version__
    from pond.api.files import Conversion as Conversion
    from pond.api.files import Events as Events
    from pond.api.files import convert as convert
    from pond.api.files import detect as detect
    from pond.api.files import read as read
    from pond.api.files import verify as verify
    from pond.api.files import write as write
    from pond.api.lake import Lake as Lake
    from pond.api.pods import Pods as Pods
    from pond.diagnostics.diagnostic import Diagnostic as Diagnostic
    from pond.diagnostics.diagnostic import PondError as PondError
    from pond.diagnostics.diagnostic import SourceFault as SourceFault
    from pond.diagnostics.diagnostic import UsageError as UsageError
    from pond.operations.pods import PodError as PodError
    from pond.operations.verify import Verified as Verified
    from pond.substrate.signals import Conflict as Conflict
    from pond.substrate.signals import LakeError as LakeError
    from pond.substrate.signals import Unavailable as Unavailable

_HOMES = {
    "__version__": "pond._version",
    "Conversion": "pond.api.files",
    "Events": "pond.api.files",
    "convert": "pond.api.files",
    "detect": "pond.api.files",
    "read": "pond.api.files",
    "verify": "pond.api.files",
    "write": "pond.api.files",
    "Lake": "pond.api.lake",
    "Pods": "pond.api.pods",
    "Diagnostic": "pond.diagnostics.diagnostic",
    "PondError": "pond.diagnostics.diagnostic",
    "SourceFault": "pond.diagnostics.diagnostic",
    "UsageError": "pond.diagnostics.diagnostic",
    "PodError": "pond.operations.pods",
    "Verified": "pond.operations.verify",
    "Conflict": "pond.substrate.signals",
    "LakeError": "pond.substrate.signals",
    "Unavailable": "pond.substrate.signals",
}
__all__ = list(_HOMES)


if not TYPE_CHECKING:  # otherwise a type checker would accept any name

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'pond' has no attribute {name!r}")
        from importlib import import_module

        found = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return found


def __dir__() -> list[str]:
    return sorted(_HOMES)
