"""A session as it is read: page after page of whole messages, until as many were said as are wanted."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

from pond.model.json_text import JsonObject
from pond.model.marks import says_again
from pond.model.notices import is_notice
from pond.operations.envelope import PROTOCOL

if TYPE_CHECKING:  # shapes only
    from pond.types import GetRequest

    Fetch = Callable[[GetRequest], JsonObject]

_PAGE = 200  # messages asked for at once; a page ends sooner where they are large
_AHEAD = 5  # pages that are read ahead for the results of a page's tool calls


def is_said(message: JsonObject) -> bool:
    """Tell whether somebody says something in a message: what a person counts as one."""
    if message["role"] == "system":
        return is_notice(message) and bool(message["content"])
    return not says_again(message["options"]) and any(map(_says, message["content"]))


def _says(part: JsonObject) -> bool:
    text = part["type"] == "text" and part["provenance"] == "conversational" and bool(part["text"].strip())
    return text or part["type"] == "file"


class Pages:
    """The messages of a session from some place on."""

    origin: Literal["start", "end"] = "start"

    def __init__(self, fetch: "Fetch", session_id: str, after: str | None, limit: int | None) -> None:
        self._fetch, self._id, self._limit = fetch, session_id, limit
        self.results: dict[str, JsonObject] = {}  # of tool calls, by call, as far as they were fetched
        self.last: str | None = after  # where to continue
        self.complete = False
        self._first = self._page(after)
        self.session, self.subagents = self._first["session"], self._first["subagents"]

    def __iter__(self) -> Iterator[JsonObject]:
        """Yield messages until the next one would be one too many."""
        said = 0
        for page in self._following():
            for message in page["messages"]:
                said += is_said(message)
                if self._limit is not None and said > self._limit:
                    return
                self.last = message["id"]
                yield message
        self.complete = True

    def left(self) -> int:
        """Return in how many more messages something is said."""
        if self.complete:
            return 0
        page = self._fetch(self._request("conversational", self.last, 1))
        return len(page["messages"]) + int(page["messages_remaining"])

    def _following(self) -> Iterator[JsonObject]:
        """Yield page after page, each when the results of its calls are there, or are far away."""
        fetched = deque([self._first])
        while fetched:
            while _is_more(fetched[-1]) and len(fetched) <= _AHEAD and self._waits(fetched[0]):
                fetched.append(self._page(fetched[-1]["messages"][-1]["id"]))
            page = fetched.popleft()
            yield page
            if not fetched and _is_more(page):
                fetched.append(self._page(page["messages"][-1]["id"]))

    def _waits(self, page: JsonObject) -> bool:
        calls = (part.get("call_id") for part in _parts(page) if part["type"] == "tool_call")
        return any(id is not None and id not in self.results for id in calls)

    def _page(self, after: str | None) -> JsonObject:
        page = self._fetch(self._request("verbatim", after, _PAGE))
        found = (part for part in _parts(page) if part["type"] == "tool_result" and "call_id" in part)
        self.results |= {part["call_id"]: part for part in found}
        return page

    def _request(self, mode: Literal["conversational", "verbatim"], after: str | None, limit: int) -> "GetRequest":
        request: GetRequest = {"protocol_version": PROTOCOL, "session_id": self._id, "session_from": self.origin}
        request |= {"response_mode": mode, "limit": limit}
        return request if after is None else request | {"after_id": after}


class LastPages(Pages):
    """The last messages of a session, or the last before some place."""

    origin: Literal["start", "end"] = "end"

    def __iter__(self) -> Iterator[JsonObject]:
        """Yield the messages in the order of the log; they are read from the end."""
        kept: list[JsonObject] = []
        page, said = self._first, 0
        while True:
            for message in reversed(page["messages"]):
                if self._limit is not None and said >= self._limit:
                    break
                said += is_said(message)
                kept.append(message)
            else:
                if _is_more(page):
                    page = self._page(page["messages"][0]["id"])
                    continue
                self.complete = True
            break
        self.last = kept[-1]["id"] if kept else self.last
        yield from reversed(kept)


def whole(fetch: "Fetch", request: "GetRequest") -> JsonObject:
    """Return all pages that a request begins, as one response."""
    found = page = fetch(request)
    from_end = request.get("session_from") == "end"
    while _is_more(page):
        page = fetch(request | {"after_id": page["messages"][0 if from_end else -1]["id"]})
        both = (page, found) if from_end else (found, page)
        found["messages"] = [message for each in both for message in each["messages"]]
    return found | {"messages_remaining": 0}


def _parts(page: JsonObject) -> Iterator[JsonObject]:
    for message in page["messages"]:
        if message["role"] != "system":
            yield from message["content"]


def _is_more(page: JsonObject) -> bool:
    return page["messages_remaining"] > 0 and bool(page["messages"])
