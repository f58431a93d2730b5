"""Ingest under fire: clients that retry, and a server that is killed and started again at random.

Whatever a client was told is stored is in the lake, exactly once.
"""

import http.client
import json
import random
import threading
import time
from collections import Counter
from pathlib import Path

from pond.config.settings import Settings
from pond.operations.service import Service
from pond.sessions.tables import MESSAGES, PARTS, SESSIONS
from pond.substrate import read
from tests.operations import invented
from tests.size import size
from tests.transports.server import serving

CLIENTS = 4
KILLS = size(20, 3)


class _Client(threading.Thread):
    """Sends the events of one session, one a request, each again until it is acknowledged."""

    def __init__(self, number: int, ports: list[int], over: threading.Event) -> None:
        super().__init__()
        self.id, self._ports, self._over = f"fire-{number}", ports, over
        self.acknowledged: list[tuple[str, str]] = []

    def run(self) -> None:
        self._send(invented.session(self.id))
        number = 0
        while not self._over.is_set():
            for event in invented.said(self.id, f"m{number}", f"text {number}", at=number % 1000):
                self._send(event)
            number += 1

    def _send(self, event: dict[str, object]) -> None:
        while not self._over.is_set():
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self._ports[0], timeout=30)
                body = json.dumps({"protocol_version": 1, "events": [event]})
                connection.request("POST", "/v1/ingest", body, {"content-type": "application/json"})
                answer = connection.getresponse()
                content = json.loads(answer.read())
                connection.close()
                if answer.status == 200:
                    assert content["rejected"] == [], content
                    self.acknowledged.append((str(event["kind"]), str(event["id"])))
                    return
            except (OSError, http.client.HTTPException, ValueError):
                time.sleep(0.05)  # it is being killed, or not up yet


def _acknowledged(clients: list[_Client]) -> int:
    assert all(client.is_alive() for client in clients)
    return sum(len(client.acknowledged) for client in clients)


def test_what_is_acknowledged_is_there_once(tmp_path: Path) -> None:
    chance = random.Random(7)
    ports, over = [0], threading.Event()
    clients = [_Client(number, ports, over) for number in range(CLIENTS)]
    for attempt in range(KILLS + 1):
        with serving(tmp_path / "lake") as server:
            ports[0] = server.port
            if not attempt:
                for client in clients:
                    client.start()
            wanted = _acknowledged(clients) + chance.randrange(1, 60)
            while _acknowledged(clients) < wanted:
                time.sleep(0.01)
            if attempt < KILLS:
                server.process.kill()
                server.process.wait()
                continue
            over.set()
            for client in clients:
                client.join()
    store = Service(Settings(lake=str(tmp_path / "lake"))).reading()
    stored: dict[str, Counter[tuple[str, str]]] = {client.id: Counter() for client in clients}
    for kind, table, session in (
        ("session", SESSIONS, "id"),
        ("message", MESSAGES, "session_id"),
        ("part", PARTS, "session_id"),
    ):
        for row in read.rows(store, table, sorted({session, "id"})).to_pylist():
            stored[row[session]][kind, row["id"]] += 1
    for client in clients:
        assert len(client.acknowledged) > 3
        assert not {event: stored[client.id][event] for event in client.acknowledged if stored[client.id][event] != 1}
        assert set(stored[client.id].values()) == {1}
        # At most one event was stored and not acknowledged: the one that was on its way at the end.
        assert len(stored[client.id]) - len(client.acknowledged) in (0, 1)
