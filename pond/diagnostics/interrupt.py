"""Finds an interrupt in any exception: it may be wrapped, if raised while a class is made or another error handled."""

from __future__ import annotations


def interrupt_behind(error: BaseException | None) -> KeyboardInterrupt | None:
    """Return the interrupt that an exception is, or comes from."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error
