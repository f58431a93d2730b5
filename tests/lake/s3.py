"""A real S3 API server on loopback, as a child process, for lakes that live in a bucket."""

import http.client
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

BUCKET = "pond-test"
START_LIMIT, ANSWER_LIMIT, STOP_LIMIT = 30.0, 10.0, 5.0  # seconds
_RUNNING = re.compile(r"Running on http://127\.0\.0\.1:(\d+)")
_NAMESPACE = {"s3": "http://s3.amazonaws.com/doc/2006-03-01/"}
# The server verifies no signature, but it treats a request without one as a stranger's.
_SIGNED = {"Authorization": "AWS test:test"}


@dataclass(frozen=True)
class Store:
    """A prefix of the test bucket, reached at one port: the server's own, or that of a proxy before it."""

    port: int
    prefix: str

    @property
    def uri(self) -> str:
        """Return the place of the store, as a lake is named."""
        return f"s3://{BUCKET}/{self.prefix}"

    @property
    def storage_options(self) -> dict[str, str]:
        """Return what lance needs to know to reach it."""
        return {
            "aws_access_key_id": "test",
            "aws_secret_access_key": "test",
            "aws_region": "us-east-1",
            "aws_endpoint": f"http://127.0.0.1:{self.port}",
            "allow_http": "true",
            "aws_virtual_hosted_style_request": "false",
        }

    def through(self, port: int) -> "Store":
        """Return the same prefix, reached at another port."""
        return replace(self, port=port)

    def objects(self, a_page: int = 1000) -> list[str]:
        """List the names of all objects below the prefix, relative to it, sorted; ask for `a_page` at a time."""
        asked = f"?list-type=2&prefix={quote(self.prefix)}/&max-keys={a_page}"
        found, more = [], ""
        while True:
            page = ElementTree.fromstring(_ask(self.port, "GET", asked + more))
            found += [key.text or "" for key in page.iterfind("s3:Contents/s3:Key", _NAMESPACE)]
            token = page.findtext("s3:NextContinuationToken", None, _NAMESPACE)
            if token is None:
                return sorted(key.removeprefix(f"{self.prefix}/") for key in found)
            more = f"&continuation-token={quote(token, safe='')}"

    def read(self, key: str) -> bytes:
        """Return the bytes of one object."""
        return _ask(self.port, "GET", f"/{quote(f'{self.prefix}/{key}')}")

    def write(self, key: str, content: bytes) -> None:
        """Put `content` in the place of one object."""
        _ask(self.port, "PUT", f"/{quote(f'{self.prefix}/{key}')}", content)

    def delete(self, key: str) -> None:
        """Take one object away."""
        _ask(self.port, "DELETE", f"/{quote(f'{self.prefix}/{key}')}")


@contextmanager
def serving() -> Iterator[int]:
    """Run a server with one empty bucket; give its port, and end it by its own process id."""
    with tempfile.TemporaryDirectory(prefix="pond-s3-") as directory:
        log = Path(directory) / "log"
        with log.open("wb") as out:
            command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        try:
            port = _port(process, log)
            _ask(port, "PUT", "")
            yield port
        finally:
            _stop(process)


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    """Wait until the server has said where it listens: a port chosen beforehand could be taken by then."""
    end = time.monotonic() + START_LIMIT
    while time.monotonic() < end and process.poll() is None:
        if said := _RUNNING.search(log.read_text(errors="replace")):
            return int(said[1])
        time.sleep(0.02)
    raise RuntimeError(f"the S3 server did not start:\n{log.read_text(errors='replace')}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _ask(port: int, method: str, rest: str, body: bytes | None = None) -> bytes:
    """Send one request about the bucket, for what a test itself looks at or spoils."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_LIMIT)
    try:
        connection.request(method, f"/{BUCKET}{rest}", body, _SIGNED)
        answer = connection.getresponse()
        content = answer.read()
    finally:
        connection.close()
    if answer.status >= 300:
        raise RuntimeError(f"{method} {rest}: {answer.status} {content[:200]!r}")
    return content
