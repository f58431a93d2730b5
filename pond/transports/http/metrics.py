"""What a server has done since it started, as Prometheus reads it."""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from starlette.types import Scope

from pond._version import __version__

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
_KIB = 1 if sys.platform == "darwin" else 1024  # what the system counts memory in


class Metrics:
    """Counts requests; the event loop alone changes it."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._slower: dict[str, list[int]] = {}  # by route: requests within each bound
        self._seconds: dict[str, float] = {}
        self._running = 0
        self._begun = time.time()

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Count a request among those that are being answered."""
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1

    def answered(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request that was answered; `status` is 0 where the client did not wait for it."""
        route = scope["state"].get("route", "none")  # what a client made up is no label
        self._requests[scope["method"] if route != "none" else "", route, status] += 1
        self._seconds[route] = self._seconds.get(route, 0.0) + seconds
        within = self._slower.setdefault(route, [0] * (len(_BOUNDS) + 1))
        for at, bound in enumerate((*_BOUNDS, float("inf"))):
            within[at] += seconds <= bound

    def text(self, gauges: Mapping[str, float]) -> str:
        """Return all figures, and some that others know, in Prometheus' text form."""
        usage = resource.getrusage(resource.RUSAGE_SELF)
        figures = {
            "pond_requests_running": self._running,
            "pond_start_time_seconds": self._begun,
            "process_cpu_seconds_total": usage.ru_utime + usage.ru_stime,
            "process_peak_memory_bytes": usage.ru_maxrss * _KIB,
            **gauges,
        }
        return "\n".join([*self._lines(), *_simple(figures)]) + "\n"

    def _lines(self) -> Iterator[str]:
        yield "# TYPE pond_info gauge"
        yield f'pond_info{{version="{__version__}"}} 1'
        yield "# TYPE pond_requests_total counter"
        for (method, route, status), count in sorted(self._requests.items()):
            yield f'pond_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'
        yield "# TYPE pond_request_seconds histogram"
        for route, within in sorted(self._slower.items()):
            for bound, count in zip((*map(str, _BOUNDS), "+Inf"), within, strict=True):
                yield f'pond_request_seconds_bucket{{route="{route}",le="{bound}"}} {count}'
            yield f'pond_request_seconds_sum{{route="{route}"}} {self._seconds[route]:.6f}'
            yield f'pond_request_seconds_count{{route="{route}"}} {within[-1]}'


def _simple(figures: Mapping[str, float]) -> Iterator[str]:
    for name, value in figures.items():
        yield f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}"
        yield f"{name} {value:g}" if value < 1e6 else f"{name} {value:.0f}"
