"""Carries calls out: in threads, within time limits, with signs of life, and with every error in words."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from mcp.shared.exceptions import MCPError

from pond.diagnostics.diagnostic import PondError
from pond.diagnostics.failures import Failure
from pond.operations.failing import RequestError
from pond.transports.mcp.errors import told
from pond.transports.mcp.work import Told, Work

SOON = 15.0  # seconds after which a smaller answer is tried beside the whole one, so that one is there within 20
LAST = 50.0  # seconds after which there is an answer, whatever it is: some clients wait for 60
_TICK = 3.0  # seconds between two signs of life
_THREADS = 8

Progress = Callable[[float], Awaitable[None]]  # told the seconds that have passed
T = TypeVar("T")


class Calls:
    """The calls of one process."""

    def __init__(self, log: Callable[[str], None], soon: float = SOON, last: float = LAST, tick: float = _TICK) -> None:
        self._log, self._soon, self._last, self._tick = log, soon, last, tick
        self._threads = ThreadPoolExecutor(_THREADS, "calls")

    def close(self) -> None:
        """Begin nothing more; nobody waits for what still runs."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def answer(self, prepare: Callable[[], Work], progress: Progress) -> Told:
        """Return the answer of a call, the smaller one, or what there is when time is up."""
        try:
            return await self._answered(await self._in_thread(prepare), progress)
        except MCPError:
            raise
        except Exception as error:
            raise self.refusal(error) from None

    async def simply(self, function: Callable[[], T]) -> T:
        """Return what a function returns, within the last limit."""
        try:
            async with asyncio.timeout(self._last):
                return await self._in_thread(function)
        except TimeoutError:
            raise self.refusal(_too_long(self._last)) from None
        except Exception as error:
            raise self.refusal(error) from None

    def refusal(self, error: BaseException) -> MCPError:
        """Return an error as JSON-RPC tells it; what nobody expected is logged, and named by its kind alone."""
        if not isinstance(error, PondError):
            at = error.__traceback__
            while at is not None and at.tb_next is not None:
                at = at.tb_next
            where = f"{at.tb_frame.f_code.co_filename}:{at.tb_lineno}" if at is not None else "?"
            self._log(f"{type(error).__name__}: {error} ({where})")
        return MCPError(*told(error))

    async def _answered(self, work: Work, progress: Progress) -> Told:
        begun, whole, short = time.monotonic(), self._in_thread(work.run), None
        while (passed := time.monotonic() - begun) < self._last:
            waited = {whole} | ({short} if short is not None else set())
            await asyncio.wait(
                waited, timeout=min(self._tick, self._last - passed), return_when=asyncio.FIRST_COMPLETED
            )
            if whole.done():
                return whole.result()
            if short is not None and short.done() and short.exception() is None:
                return short.result()
            passed = time.monotonic() - begun
            if short is None and work.short is not None and passed >= self._soon:
                short = self._in_thread(work.short)
            await progress(passed)
        if (there := work.so_far()) is not None:
            return there
        raise _too_long(self._last)

    def _in_thread(self, function: Callable[[], T]) -> asyncio.Future[T]:
        future = asyncio.get_running_loop().run_in_executor(self._threads, function)
        future.add_done_callback(_heard)  # nobody may be waiting any more
        return future


def _heard(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()


def _too_long(seconds: float) -> RequestError:
    what = f"no answer within {seconds:g} seconds; ask for less, or try again"
    return RequestError(Failure.STORAGE_UNAVAILABLE, "time-limit", what)
