"""Calls end: a smaller answer where the whole one takes long, what there is when time is up, and signs of life."""

import asyncio
import threading
import time
from collections.abc import Callable

import pytest
from mcp.shared.exceptions import MCPError

from pond.transports.mcp.calls import LAST, SOON, Calls
from pond.transports.mcp.work import Told, Work


def _slow(seconds: float, text: str) -> Callable[[], Told]:
    def run() -> Told:
        time.sleep(seconds)
        return Told(text)

    return run


def _answer(work: Work, soon: float = 0.2, last: float = 0.8) -> tuple[str, list[float]]:
    heard: list[float] = []

    async def progress(seconds: float) -> None:
        heard.append(seconds)

    async def run() -> str:
        calls = Calls(lambda line: None, soon, last, tick=0.05)
        try:
            return (await calls.answer(lambda: work, progress)).text
        finally:
            calls.close()

    return asyncio.run(run()), heard


def test_the_limits_are_those_that_clients_leave() -> None:
    assert SOON < 20
    assert LAST == 50


def test_a_quick_answer_is_the_whole_one() -> None:
    assert _answer(Work(_slow(0, "whole"), _slow(0, "short"))) == ("whole", [])


def test_a_smaller_answer_comes_where_the_whole_one_takes_long() -> None:
    text, heard = _answer(Work(_slow(2, "whole"), _slow(0, "short")))
    assert text == "short"
    assert heard
    assert heard == sorted(heard)


def test_the_whole_answer_is_taken_where_it_comes_first() -> None:
    assert _answer(Work(_slow(0.3, "whole"), _slow(2, "short")))[0] == "whole"


def test_when_time_is_up_there_is_what_has_come_by_then() -> None:
    assert _answer(Work(_slow(2, "whole"), so_far=lambda: Told("half")))[0] == "half"


def test_when_nothing_has_come_the_error_says_so() -> None:
    with pytest.raises(MCPError) as refused:
        _answer(Work(_slow(2, "whole")))
    assert refused.value.error.code == -32014
    assert refused.value.error.data["retryable"] is True
    assert "no answer within 0.8 seconds" in refused.value.error.message


def test_a_failure_is_told_and_logged_in_one_line() -> None:
    lines: list[str] = []

    def broken() -> Told:
        raise ZeroDivisionError("inside")

    async def run() -> None:
        async def progress(seconds: float) -> None:
            return

        await Calls(lines.append).answer(lambda: Work(broken), progress)

    with pytest.raises(MCPError) as refused:
        asyncio.run(run())
    assert refused.value.error.code == -32016
    (line,) = lines
    assert line.startswith("ZeroDivisionError: inside (")


def test_a_smaller_answer_that_fails_does_not_spoil_the_whole_one() -> None:
    def broken() -> Told:
        raise OSError

    assert _answer(Work(_slow(0.4, "whole"), broken))[0] == "whole"


def test_calls_run_beside_each_other() -> None:
    both = threading.Barrier(2, timeout=30)

    def meet() -> Told:
        both.wait()
        return Told("met")

    async def run() -> list[str]:
        async def progress(seconds: float) -> None:
            return

        calls = Calls(lambda line: None)
        found = await asyncio.gather(*(calls.answer(lambda: Work(meet), progress) for _ in range(2)))
        return [each.text for each in found]

    assert asyncio.run(run()) == ["met", "met"]
