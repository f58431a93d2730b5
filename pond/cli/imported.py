"""What a person or a script gets to see of an import."""

from typing import TYPE_CHECKING, Any

from pond.cli.hints import helped
from pond.cli.show import warn_of
from pond.cli.terminal import note
from pond.diagnostics.render import as_json

if TYPE_CHECKING:  # Lance comes with it
    from pond.lake.import_ import Imported


def summary(archive: str, done: "Imported", dry_run: bool) -> dict[str, Any]:
    """Return what was done as a JSON object with stable names."""
    return {
        "archive": archive,
        "dry_run": dry_run,
        "held": done.held,
        "new": done.new,
        "erased": done.erased,
        "faults": [as_json(helped(fault)) for fault in done.faults],
    }


def show(done: "Imported", dry_run: bool) -> None:
    """Print how much of an archive was new, and what is to be known about it."""
    for fault in map(helped, done.faults):
        warn_of(fault)
    rows = ", ".join(f"{done.new[name]} of {done.held[name]} {name}" for name in ("sessions", "messages", "parts"))
    note(f"{rows} {'would be' if dry_run else 'were'} new.")


def exit_code(done: "Imported") -> int:
    """Return 1 where something was faulty."""
    return 1 if any(fault.severity == "error" for fault in done.faults) else 0
