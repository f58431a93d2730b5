"""What a parent may not write. It follows from the outstanding children each time, and is stored nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pond.types import DenyRule, Pod


def deny_rules(pod: Pod) -> list[DenyRule]:
    """Return one rule for each outstanding write delegation; to delegate reading costs nothing."""
    return [
        {"target": scope["target"], "recursive": scope["recursive"], "child": child["name"]}
        for child in pod["children"]
        for scope in child["scopes"]
        if scope["permission"] == "write"
    ]
