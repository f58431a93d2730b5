"""Finds an interrupt in any exception: one raised while a class is made, or while another error is handled, is wrapped."""

from __future__ import annotations


def interrupt_behind(error: BaseException | None) -> KeyboardInterrupt | None:
    """Return the interrupt that an exception is, or comes from."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error
