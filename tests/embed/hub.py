"""A hub on loopback that serves the files of one model as the real one does: with hashes, and from any byte on."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_CHUNK = 1 << 16


class Hub(ThreadingHTTPServer):
    """Serves the files of a directory as any repository that is asked for."""

    daemon_threads = True

    def __init__(self, folder: Path, names: dict[str, str]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = {name: (folder / own).read_bytes() for name, own in names.items()}
        self.sent = 0  # bytes of files
        self.ranges: list[str] = []
        self.break_after: int | None = None  # bytes
        self.promised: dict[str, str] = {}  # hashes other than the right ones

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        if self.path.startswith("/api/models/"):
            files = [self._about(name, data) for name, data in self.server.files.items()]
            self._send(json.dumps({"id": "x/y", "sha": "0" * 40, "siblings": files}).encode(), {})
            return
        self._file()

    def _about(self, name: str, data: bytes) -> dict[str, Any]:
        promised = self.server.promised.get(name, sha256(data).hexdigest())
        return {"rfilename": name, "size": len(data), "lfs": {"sha256": promised} if len(data) > 1 << 20 else None}

    def _file(self) -> None:
        data = self.server.files.get(self.path.split("/resolve/")[-1].split("/", 1)[-1].split("?")[0])
        if data is None:
            self.send_error(404)
            return
        start = 0
        if asked := self.headers.get("Range"):
            self.server.ranges.append(asked)
            start = int(asked.removeprefix("bytes=").split("-")[0])
        headers = {"Accept-Ranges": "bytes"}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        self._send(data[start:], headers, status=206 if start else 200)

    def _send(self, data: bytes, headers: dict[str, str], status: int = 200) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        for at in range(0, len(data), _CHUNK):
            if self.server.break_after is not None and self.server.sent >= self.server.break_after:
                return
            self.wfile.write(data[at : at + _CHUNK])
            self.server.sent += _CHUNK if headers else 0

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(folder: Path, names: dict[str, str]) -> Iterator[Hub]:
    """Give a hub that is gone in the end."""
    hub = Hub(folder, names)
    thread = threading.Thread(target=hub.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.shutdown()
        hub.server_close()
        thread.join()
