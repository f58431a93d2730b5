"""Several processes behind one address: each answers by itself, and one that dies is replaced."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pond.transports.http.guard import Log

_YOUNG = 5.0  # seconds; a process that dies sooner did not work
_TRIES = 3  # of such in a row, after which the others are stopped too

Work = Callable[[], None]


@dataclass(slots=True)
class _Supervisor:
    log: Log
    running: dict[int, tuple[Work, float]] = field(default_factory=dict)  # by process id: what it does, since when
    stopping: bool = False
    failed: int = 0

    def start(self, work: Work) -> None:
        process = os.fork()
        if process == 0:
            code = 1
            try:
                work()
                code = 0
            except KeyboardInterrupt:
                code = 0
            except BaseException as error:
                self.log(f"process {os.getpid()}: {type(error).__name__}: {error}")
            finally:
                os._exit(code)  # what the parent has to clean up is the parent's
        self.running[process] = work, time.monotonic()

    def stop(self, *_: object) -> None:
        self.stopping = True
        for process in self.running:
            os.kill(process, signal.SIGTERM)

    def ended(self, process: int) -> None:
        work, since = self.running.pop(process)
        if self.stopping:
            return
        self.failed = self.failed + 1 if time.monotonic() - since < _YOUNG else 0
        if self.failed >= _TRIES:
            self.log("processes keep dying: stopping")
            self.stop()
            return
        self.log(f"process {process} died and is replaced")
        self.start(work)


def run_all(works: Sequence[Work], log: Log, ready: Work) -> int:
    """Run each in a process of its own until a signal tells to stop; return the exit code.

    `ready` is called once all run. They are forked, so nothing here may have threads yet.
    """
    supervisor = _Supervisor(log)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, supervisor.stop)
    for work in works:
        supervisor.start(work)
    ready()
    while supervisor.running:
        process, _ = os.wait()
        if process in supervisor.running:
            supervisor.ended(process)
    return 1 if supervisor.failed >= _TRIES else 0
