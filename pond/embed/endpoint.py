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
_OF_QUESTION, _WAITED = 2, 10.0  # attempts and seconds for a question: somebody waits, and words alone answer as well
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 30.0  # seconds
_LEAST = 0.001  # seconds: none at all would mean not to wait
_PASSING = frozenset((408, 409, 425, 429, 500, 502, 503, 504))
_NOT_THIS = frozenset((400, 413, 422))  # the server will not take this text
_MOST, _CHUNK = 64 << 20, 1 << 16  # bytes of one answer, and of what is read of it at once
_GREATEST = 1 << 100  # a number of a vector that comes without a point
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
        body = json.dumps({**asked, "encoding_format": "float"}).encode()
        answer = self._asked(body, min(self._model.timeout, _WAITED), _OF_QUESTION) if query else self._asked(body)
        rows = _rows(self._model.name, answer, len(texts))
        return np.array(rows, dtype=np.float32)

    def _asked(self, body: bytes, seconds: float | None = None, attempts: int = _ATTEMPTS) -> bytes:
        """Return the server's answer; `seconds` is what all attempts have together, where somebody waits for it."""
        end = float("inf") if seconds is None else time.monotonic() + seconds
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._once(body, min(end, time.monotonic() + self._model.timeout))
            except urllib.error.HTTPError as error:
                reason, wait = f"the server answered {error.code}{_told(error)}", _wait(error)
                if error.code in _NOT_THIS:
                    raise BadVectors(self._model.name, reason) from None
                if error.code not in _PASSING:
                    raise Unreachable(f"asking `{self._address}`", reason, _HELP) from None
            except (OSError, http.client.HTTPException) as error:
                reason, wait = _reason(error), 0.0
            pause = max(_FIRST_PAUSE * 2.0 ** (attempt - 1) * (0.5 + random.random() / 2), wait)
            if attempt == attempts or time.monotonic() + pause >= end:
                raise Unreachable(f"asking `{self._address}`", f"{reason} ({_counted(attempt)})", _HELP)
            time.sleep(min(_LONGEST_PAUSE, pause))

    def _once(self, body: bytes, end: float) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._model.key is not None:
            headers["Authorization"] = f"Bearer {self._model.key}"
        request = urllib.request.Request(self._address, body, headers)
        with self._opener.open(request, timeout=max(end - time.monotonic(), _LEAST)) as answer:
            text = bytearray()
            while chunk := answer.read1(_CHUNK):
                text += chunk
                if len(text) > _MOST:
                    raise BadVectors(self._model.name, "the server's answer is too long")
                if time.monotonic() > end:  # it sends a little now and then
                    raise TimeoutError
            if answer.length:  # bytes that were promised
                raise http.client.IncompleteRead(bytes(text), answer.length)
        return bytes(text)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def _counted(attempts: int) -> str:
    return "1 attempt" if attempts == 1 else f"{attempts} attempts"


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
    if not all(isinstance(row, list) and all(_is_number(number) for number in row) for row in rows):
        raise BadVectors(name, "the server's answer contains something other than numbers")
    if len({len(row) for row in rows}) != 1:
        raise BadVectors(name, "the server's vectors differ in length")
    return rows


def _is_number(value: Any) -> bool:
    """Tell whether a value is a number that a float can hold; NaN and infinity are found later."""
    return type(value) is float or (type(value) is int and abs(value) < _GREATEST)
