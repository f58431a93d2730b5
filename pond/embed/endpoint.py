"""A model behind an OpenAI-compatible address: `POST <endpoint>/embeddings`."""

from __future__ import annotations

import http.client
import json
import random
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any

from pond.embed.faults import BadVectors, Unreachable
from pond.embed.model import Model

if TYPE_CHECKING:
    from pond.embed.embedder import Vectors

_ATTEMPTS = 5
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 30.0  # seconds
_PASSING = frozenset((408, 409, 425, 429, 500, 502, 503, 504))
_NOT_THIS = frozenset((400, 413, 422))  # the server will not take this text
_MOST = 64 << 20  # bytes of one answer
_TOKENS, _CHARACTERS = 2000, 3  # of a text that are sent where nobody says; what a token has at least
_HELP = "check `embed.endpoint` and that the server runs; what was embedded is kept, the rest waits"


class EndpointEncoder:
    """Asks a server; tries again where it is busy, and believes nothing that it answers."""

    at_once = 32

    def __init__(self, model: Model) -> None:
        self._model = model
        self._address = f"{model.endpoint.rstrip('/')}/embeddings"
        self._longest = (model.max_tokens or _TOKENS) * _CHARACTERS
        # No redirects: they would take the key to another server.
        self._opener = urllib.request.build_opener(_NoRedirects)

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return one row a text, as the server gives it."""
        import numpy as np

        asked: dict[str, Any] = {"model": self._model.name, "input": [text[: self._longest] for text in texts]}
        if self._model.dimensions is not None:
            asked["dimensions"] = self._model.dimensions
        answer = self._asked(json.dumps({**asked, "encoding_format": "float"}).encode())
        rows = _rows(self._model.name, answer, len(texts))
        return np.array(rows, dtype=np.float32)

    def _asked(self, body: bytes) -> bytes:
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._once(body)
            except urllib.error.HTTPError as error:
                reason, wait = f"the server answered {error.code}{_told(error)}", _wait(error)
                if error.code in _NOT_THIS:
                    raise BadVectors(self._model.name, reason) from None
                if error.code not in _PASSING:
                    raise Unreachable(f"asking `{self._address}`", reason, _HELP) from None
            except (OSError, http.client.HTTPException) as error:
                reason, wait = _reason(error), 0.0
            if attempt == _ATTEMPTS:
                raise Unreachable(f"asking `{self._address}`", f"{reason} ({attempt} attempts)", _HELP)
            pause = _FIRST_PAUSE * 2.0 ** (attempt - 1) * (0.5 + random.random() / 2)
            time.sleep(min(_LONGEST_PAUSE, max(pause, wait)))

    def _once(self, body: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._model.key is not None:
            headers["Authorization"] = f"Bearer {self._model.key}"
        request = urllib.request.Request(self._address, body, headers)
        with self._opener.open(request, timeout=self._model.timeout) as answer:
            text: bytes = answer.read(_MOST + 1)
            if len(text) > _MOST:
                raise BadVectors(self._model.name, "the server's answer is too long")
            if answer.length:  # bytes that were promised
                raise http.client.IncompleteRead(text, answer.length)
        return text


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def _reason(error: Exception) -> str:
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, TimeoutError):
        return "no answer in time"
    if isinstance(cause, ConnectionRefusedError):
        return "the connection was refused"
    if isinstance(cause, http.client.HTTPException):
        return "the answer was cut off"
    return (getattr(cause, "strerror", None) or str(cause) or type(cause).__name__).lower()


def _wait(error: urllib.error.HTTPError) -> float:
    """Return how long a busy server asks to be left alone."""
    told = error.headers.get("Retry-After", "")
    return float(told) if told.isdecimal() else 0.0


def _told(answer: IO[bytes]) -> str:
    """Return what a server says of its refusal, in few words; nothing where it says nothing of the usual form."""
    try:
        told = json.loads(answer.read(1 << 16))["error"]
        return f": {' '.join(str(told['message'] if isinstance(told, dict) else told).split())[:200]}"
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError):
        return ""


def _rows(name: str, answer: bytes, count: int) -> list[list[float]]:
    """Return the vectors of an answer in the order of the texts, or raise BadVectors."""
    try:
        data = json.loads(answer)["data"]
        found, given = {item["index"]: item["embedding"] for item in data}, len(data)
    except (ValueError, LookupError, TypeError, RecursionError):
        raise BadVectors(name, "the server's answer is not a list of embeddings") from None
    if given != count or found.keys() != set(range(count)):
        raise BadVectors(name, f"expected {count} vectors, found {given}")
    rows = [found[index] for index in range(count)]
    if not all(isinstance(row, list) and all(type(number) in (int, float) for number in row) for row in rows):
        raise BadVectors(name, "the server's answer contains something other than numbers")
    if len({len(row) for row in rows}) != 1:
        raise BadVectors(name, "the server's vectors differ in length")
    return rows
