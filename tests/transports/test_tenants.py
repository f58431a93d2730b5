"""A thousand tenants cost a server no more memory than the few that are busy."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from pond.config.settings import Settings
from pond.operations.ingest import begin_ingest, events_of
from pond.operations.namespaces import create_namespace
from pond.operations.service import Service
from tests.operations import invented
from tests.size import size
from tests.transports.server import Server, asked, serving

TENANTS = size(1000, 300)
FEW = 8  # that may be open at a time
SETTLING = size(100, 60)  # tenants after which a server has all the memory that any number of them needs
_PAGE = os.sysconf("SC_PAGE_SIZE")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of many tenants: one that was stored, and the same under all other names."""
    place = tmp_path_factory.mktemp("tenants") / "lake"
    service = Service(Settings(lake=str(place)))
    create_namespace(service, _name(0))
    events = [invented.session("oak"), *invented.said("oak", "m", "the lamp of the lighthouse", at=1)]
    begin_ingest(service, events_of({"protocol_version": 1, "namespace": _name(0), "events": events})).result()
    service.close()
    (stored,) = place.glob("*=*")
    for number in range(1, TENANTS):
        stored.with_name(stored.name.replace(_name(0), _name(number))).symlink_to(stored)
    return place


def _name(number: int) -> str:
    return f"tenant-{number:04}"


@dataclass
class Held:
    """What a server holds after it answered some tenants."""

    memory: int  # bytes
    files: int
    namespaces: int


def _held(server: Server) -> Held:
    own = Path(f"/proc/{server.process.pid}")
    figures = dict(line.rsplit(" ", 1) for line in server.get("/metrics").content.decode().splitlines())
    memory = int((own / "statm").read_text().split()[1]) * _PAGE
    return Held(memory, len([*(own / "fd").iterdir()]), int(figures["pond_open_namespaces"]))


@contextmanager
def _visited(lake: Path, most_open: int) -> Iterator[tuple[Held, Held]]:
    """Let a server answer every tenant once; return what it held after the first of them, and at the end."""
    with serving(lake, variables={"POND_SERVE_OPEN_NAMESPACES": str(most_open)}) as server:
        connection, seen = server.connection(), []
        for number in range(TENANTS):
            body = f'{{"protocol_version":1,"namespace":"{_name(number)}","session_id":"oak"}}'.encode()
            answer = asked(connection, "POST", "/v1/get", body, **{"content-type": "application/json"})
            assert b"lighthouse" in answer.content
            if number + 1 in (SETTLING, TENANTS):
                seen.append(_held(server))
        connection.close()
        yield seen[0], seen[1]


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="procfs not installed: the memory of many tenants not checked"
)
def test_a_thousand_tenants_cost_no_more_than_the_busy_ones(lake: Path) -> None:
    with _visited(lake, TENANTS) as (before, after):
        assert after.namespaces == TENANTS
        kept = after.memory - before.memory  # what as many tenants cost where all stay open
    with _visited(lake, FEW) as (before, after):
        assert (before.namespaces, after.namespaces) == (FEW, FEW)
        assert after.files <= before.files + FEW
        assert after.memory - before.memory < 0.2 * kept
