"""Which names a pod may have: those that are one safe file name on every common file system."""

from __future__ import annotations

import unicodedata

from pond.pods.faults import BadName

LONGEST = 100  # bytes of UTF-8: room for a suffix in the 255 that file systems allow
_FORBIDDEN = frozenset('/\\:*?"<>|')
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))  # controls, marks without a shape, half characters
_PORTS = (f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³")
_DEVICES = frozenset(("con", "prn", "aux", "nul", "conin$", "conout$", *_PORTS))


def checked(name: object) -> str:
    """Return a name that a pod may have; raise BadName with the reason where it may not."""
    if type(name) is not str:
        raise BadName("the name of a pod must be text")
    if reason := _reason(name):
        raise BadName(f"`{name}` cannot be the name of a pod: {reason}")
    return name


def folded(name: str) -> str:
    """Return what two names have in common that a file system may take for one."""
    return unicodedata.normalize("NFC", name).casefold()


def _reason(name: str) -> str | None:
    """Return why a text cannot be a name; None where it can."""
    if not name:
        return "it is empty"
    if found := next((char for char in name if char in _FORBIDDEN), None):
        return f"`{found}` has a meaning in paths"
    if any(unicodedata.category(char) in _UNSEEN for char in name):
        return "it contains an invisible character"
    if name.startswith((".", " ")):
        return "it begins with a dot or a space"
    if name.endswith((".", " ")):
        return "it ends with a dot or a space"
    if folded(name.split(".")[0].rstrip()) in _DEVICES:
        return "it is the name of a device on some systems"
    if unicodedata.normalize("NFC", name) != name:
        return "it must be composed Unicode (NFC)"
    if len(name.encode()) > LONGEST:
        return f"it has more than {LONGEST} bytes"
    return None
