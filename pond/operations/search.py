"""`pond_search`: messages by what was said in them, grouped by session."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

from pond.diagnostics.failures import Failure
from pond.model.json_text import JsonObject, decode_stored, encode
from pond.operations.failing import RequestError
from pond.operations.meaning import meaning_of, not_embedded
from pond.operations.service import Service

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pond.search.engine import Found
    from pond.search.results import Result, SessionResults
    from pond.substrate.read import Pinned
    from pond.substrate.store import Store
    from pond.types import SearchRequest, SearchResponse

LIMIT = 10
_FLAT = 10  # messages in the flat list, at least, if there are that many
_ARMS = {"full text": "words", "meaning": "meaning"}
_DIGITS = 4


def search(service: Service, request: SearchRequest) -> SearchResponse:
    """Return the sessions and messages that match best, and how to continue."""
    return answered(service, request).response


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a search, and where in all that matches it stands."""

    request: SearchRequest
    response: SearchResponse
    place: Place

    def cursor_after(self, sessions: int) -> str | None:
        """Return the cursor after so many of its sessions, or None if nothing follows them."""
        follow = len(self.response["sessions"]) - sessions + self.response["sessions_remaining"]
        begin = self.place.begin + sessions
        return _cursor(self.request, replace(self.place, begin=begin)) if follow > 0 else None


def answered(service: Service, request: SearchRequest, *, by_meaning: bool = True) -> Answer:
    """Return the answer to a search; without `by_meaning` it goes by words alone."""
    from pond.search.candidates import Wanted
    from pond.search.engine import search as run
    from pond.search.filters import filter_of
    from pond.search.meaning import MEANING
    from pond.search.phrases import demanded
    from pond.search.query.parse import parse
    from pond.search.wire import conditions_of, without_of
    from pond.sessions import rarity
    from pond.sessions.tables import LEDGER, SESSIONS
    from pond.substrate import read

    store = service.reading(request.get("namespace"))
    place = _place(request)
    query, filters = parse(request["query"], place.asked), request.get("filters", {})
    where = filter_of(store, query.conditions, conditions_of(filters))
    wanted = Wanted(where, demanded(query), (*query.without, *without_of(filters)))
    explain = request.get("explain", False)
    # A session is stored after its messages: what is pinned first is complete in what is pinned later.
    sessions, ledger = read.Pinned(store, SESSIONS, place.sessions), read.Pinned(store, LEDGER, place.ledger)
    meaning, notice = meaning_of(service, store, request, query) if by_meaning else (None, None)
    found = run(
        store, query.words, wanted, rarity.of(store, ledger), place.messages, meaning=meaning, explain=explain
    )  # fmt: skip
    if meaning is not None and "like" in request and MEANING not in found.arms:
        raise not_embedded(meaning.label)  # another process dropped its vectors meanwhile
    place = replace(place, messages=found.version, sessions=sessions.version, ledger=ledger.version)
    least = filters.get("min_score", 0.0)
    found.results = _of_stored(
        sessions, [result for result in found.results if round(result.scored.score, _DIGITS) >= least]
    )
    response = _response(store, request, wanted.phrases, found, place)
    if notice is not None:
        response["notice"] = notice
    if explain:
        response["explanation"] = _explanation(found, where, response)
    return Answer(request, cast("SearchResponse", response), place)


def _of_stored(sessions: Pinned, results: list[Result]) -> list[Result]:
    """Return the results in stored sessions: messages come before their session, and cannot be read until then."""
    from pond.substrate import predicate

    ids = sorted({result.session_id for result in results})
    stored = set(sessions.rows(["id"], predicate.one_of("id", ids))["id"].to_pylist())
    return [result for result in results if result.session_id in stored]


def _response(
    store: Store, request: SearchRequest, phrases: tuple[str, ...], found: Found, place: Place
) -> JsonObject:  # fmt: skip
    from pond.search.ranking import is_weak
    from pond.search.results import by_session, matching, newest_first

    results = newest_first(found.results) if request.get("sort") == "recent" else found.results
    sessions = by_session(results)
    if request.get("sort") == "recent":
        sessions.sort(key=lambda each: -(each.results[0].scored.candidate.micros or 0))
    end = place.begin + request.get("limit", LIMIT)
    shown = sessions[place.begin : end]
    here = {each.id for each in shown}
    flat = results if not place.begin else [result for result in results if result.session_id in here]
    response: JsonObject = {
        "hits": [_flat(result) for result in flat[: max(_FLAT, request.get("limit", LIMIT))]],
        "sessions": _described(store, shown, found, phrases),
        "searchable_messages": found.searchable,
        "matched_messages": matching(found.results),
        "more_matched": found.more,
        "sessions_remaining": max(len(sessions) - end, 0),
        "weak": bool(found.arms) and is_weak([result.scored for result in results]),
        "searched_by": [_ARMS[arm] for arm in found.arms] or ["time"],
    }
    if len(sessions) > end:
        response["cursor"] = _cursor(request, replace(place, begin=end))
    return response


def _flat(result: Result) -> JsonObject:
    from pond.sessions.stored_text import from_stored

    candidate = result.scored.candidate
    return {"session_id": from_stored(candidate.session_id), "message_id": from_stored(candidate.id)} | _facts(result)


def _facts(result: Result) -> JsonObject:
    from pond.sessions.load import fill_time

    candidate, scored = result.scored.candidate, result.scored
    facts: JsonObject = {"role": candidate.role}
    fill_time(facts, "timestamp", {"timestamp": candidate.micros, "timestamp_text": candidate.time_text})
    return facts | {"score": round(scored.score, _DIGITS), "match": round(scored.match, _DIGITS)}


def _described(
    store: Store, shown: list[SessionResults], found: Found, phrases: tuple[str, ...]
) -> list[JsonObject]:  # fmt: skip
    from pond.search.results import PER_SESSION, matching
    from pond.sessions import load
    from pond.sessions.stored_text import from_stored
    from pond.sessions.summaries import parts_of
    from pond.sessions.titles import titles
    from pond.substrate import predicate

    ids = [each.id for each in shown]
    if not ids:
        return []
    rows = {row["id"]: row for row in load.sessions(store, predicate.one_of("id", ids))}
    names = titles(store, ids)
    prompts = [
        (each.id, result.scored.candidate.id)
        for each in shown
        for result in each.results[:PER_SESSION]
        if result.scored.candidate.role == "user"
    ]
    parts = parts_of(store, prompts)
    described: list[JsonObject] = []
    for each in shown:
        row = rows.get(from_stored(each.id))
        if row is None:  # it is being stored: its messages come before it
            continue
        entry: JsonObject = {"session_id": row["id"], "source_agent": row["source_agent"], "project": row["project"]}
        entry |= {name: row[name] for name in ("created_at", "parent_session_id", "lineage_kind") if name in row}
        entry |= {"title": names[each.id]} if each.id in names else {}
        entry["matched_messages"] = matching(each.results)
        entry["hits"] = [_hit(result, found, phrases, parts) for result in each.results[:PER_SESSION]]
        described.append(entry)
    return described


def _hit(
    result: Result, found: Found, phrases: tuple[str, ...], parts: Mapping[tuple[str, str], list[JsonObject]]
) -> JsonObject:  # fmt: skip
    from pond.search.excerpt import excerpt
    from pond.sessions.stored_text import from_stored

    candidate = result.scored.candidate
    shown = excerpt(candidate.text, result.scored.passage, found.sought, phrases)
    hit: JsonObject = {"message_id": from_stored(candidate.id)} | _facts(result) | {"text": shown.text}
    if shown.snippet is not None:
        hit["snippet"] = shown.snippet
    hit["highlights"] = [{"start": start, "end": end} for start, end in shown.marks]
    if result.copies:
        hit["also_in"] = [from_stored(id) for id in dict.fromkeys(result.copies)]
    if candidate.role == "user":
        hit["parts_summary"] = parts.get((candidate.session_id, candidate.id), [])
    return hit


def _explanation(found: Found, where: str | None, response: JsonObject) -> JsonObject:
    from pond.search.results import by_session
    from pond.sessions.stored_text import from_stored

    by_key = {(_flat(result)["session_id"], _flat(result)["message_id"]): result.scored for result in found.results}
    explanation: JsonObject = {
        "words": {
            word: round(weight, _DIGITS) for word, weight in zip(found.sought.words, found.sought.weights, strict=True)
        },
        "terms": list(found.sought.terms),
        "surroundings": round(found.surroundings, _DIGITS),
        "version": found.version,
        "plan": found.plan,
        "hits": [],
        "sessions": [],
    }
    if where is not None:
        explanation["filter"] = where
    for hit in response["hits"]:
        scored = by_key[hit["session_id"], hit["message_id"]]
        explanation["hits"].append({
            "message_id": hit["message_id"],
            "arms": {arm: round(value, _DIGITS) for arm, value in scored.candidate.arms.items()},
            "covered": round(scored.covered, _DIGITS),
            "own": round(scored.own, _DIGITS),
            "around": round(scored.around, _DIGITS),
        })  # fmt: skip
    scores = {from_stored(each.id): each.score for each in by_session(found.results)}
    explanation["sessions"] = [round(scores[session["session_id"]], _DIGITS) for session in response["sessions"]]
    return explanation


# --- cursors ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page begins, for a request at a certain moment and certain versions of the tables."""

    begin: int  # the number of its first session
    asked: datetime
    messages: int | None = None  # None: the newest
    sessions: int | None = None
    ledger: int | None = None


def _cursor(request: SearchRequest, place: Place) -> str:
    """Return a place, tied to the request."""
    asked = int(place.asked.timestamp())
    numbers = [place.begin, asked, place.messages, place.sessions, place.ledger]
    return base64.urlsafe_b64encode(encode([*numbers, _digest(request)])).decode().rstrip("=")


def _place(request: SearchRequest) -> Place:
    cursor = request.get("cursor")
    if cursor is None:
        return Place(0, datetime.now(UTC).replace(microsecond=0))
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        *numbers, digest = decode_stored(base64.b64decode(padded, altchars=b"-_", validate=True).decode())
        begin, asked, *versions = map(_whole, numbers)
        place = Place(begin, datetime.fromtimestamp(asked, UTC), *versions)
    except (ValueError, TypeError, OverflowError, OSError, binascii.Error, UnicodeError):
        what = "`cursor` is not one of pond's"
        raise RequestError(Failure.VALIDATION_FAILED, "wrong-value", what, path="$.cursor") from None
    if digest != _digest(request) or None in (place.messages, place.sessions, place.ledger):
        what = "`cursor` belongs to another search: ask with the same query, filters and order"
        raise RequestError(Failure.VALIDATION_FAILED, "wrong-value", what, path="$.cursor")
    return place


def _whole(number: Any) -> int:
    if type(number) is not int or number < 0:
        raise ValueError(number)
    return number


def _digest(request: SearchRequest) -> str:
    asked = [
        request["query"],
        request.get("filters", {}),
        request.get("sort"),
        request.get("namespace"),
        request.get("like"),
    ]
    return sha256(encode(asked)).hexdigest()[:16]
