"""Entry point: a process that stands by runs the command, or else this one does."""

from __future__ import annotations

import sys

from pond.cli.standby import handed_over


def main(arguments: list[str] | None = None) -> int:
    """Run one command, here or where it needs no start of its own; return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    code = handed_over(arguments)
    if code is not None:
        return code
    from pond.cli.dispatch import run  # what a handed-over command does not need

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
