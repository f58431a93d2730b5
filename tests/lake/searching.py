"""Searches while many processes write a lake and others put it in order: each answer is one state of the lake."""

import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pond
from pond.types import SearchResponse
from tests.cli.command import Done, finish, start
from tests.cli.sessions import CLIENTS, dump, session_id
from tests.lake.crash import ROWS

_WORDS = ("amber", "birch", "cedar", "dahlia", "elder", "fennel", "ginger", "hazel")
_BASE = "basalt"  # what is stored before anybody else comes
_TURNS, _PAGE = 4, 3


@dataclass
class Meanwhile:
    """What was asked while others wrote, and what was wrong."""

    searches: int = 0
    grew: int = 0  # answers that held more than the one before
    ended: list[Done] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def searched_meanwhile(room: Path, sessions: int, seed: int) -> Meanwhile:
    """Let eight processes store sessions and another compact the lake, and search it for as long as they run."""
    place, result = room / "lake", Meanwhile()
    _write(room / _BASE, _BASE, sessions)
    finish(start("ingest", room / _BASE, "--lake", place, "--jobs", "1"))
    for word in _WORDS:
        _write(room / word, word, sessions)
    variables = {"POND_INGEST_ROWS_PER_COMMIT": str(ROWS)}
    writers = [start("ingest", room / word, "--lake", place, "--jobs", "1", variables=variables) for word in _WORDS]
    try:
        _search(place, writers, sessions, result, random.Random(seed))
    finally:
        ended = [finish(process) for process in writers]
    for word, done in zip(_WORDS, ended, strict=True):
        if done.code:  # who lost every race is run again
            finish(start("ingest", room / word, "--lake", place, "--jobs", "1"))
    result.ended += ended
    lake = pond.Lake(place)
    for word in (_BASE, *_WORDS):
        result.wrong += _complete(lake.search(_phrase(word), limit=200), word, sessions)
    return result


def _write(folder: Path, word: str, sessions: int) -> None:
    """Write sessions in which each prompt names a word and is like no other."""
    for number in range(sessions):
        client, id = CLIENTS[number % 2], session_id(f"{word}/{number}")
        said = f"{word} beacon {number}".encode()
        lines = [dump(record).replace(b"orrery to", said + b" to") for record in client.records(id, _TURNS)]
        client.file(folder, id, lines)


def _phrase(word: str) -> str:
    return f'"{word} beacon"'


def _search(
    place: Path, writers: list[subprocess.Popen[bytes]], sessions: int, result: Meanwhile, drawn: random.Random
) -> None:
    held = pond.Lake(place)  # opened before, as a server has it
    optimizing = start("optimize", "--lake", place)
    seen: dict[str, set[tuple[str, str]]] = {word: set() for word in _WORDS}
    try:
        while any(process.poll() is None for process in writers):
            if optimizing.poll() is not None:
                result.ended.append(finish(optimizing))
                optimizing = start("optimize", "--lake", place)
            lake, word = drawn.choice((held, pond.Lake(place))), drawn.choice(_WORDS)
            result.wrong += _complete(lake.search(_phrase(_BASE), limit=200), _BASE, sessions)
            found = lake.search(_phrase(word), limit=200)
            hits = {(hit["session_id"], hit["message_id"]) for hit in found["hits"]}
            result.wrong += [f"{word}: {each}" for each in _inconsistent(found)]
            if lake is not held and not hits >= seen[word]:
                result.wrong.append(f"{word}: {len(seen[word] - hits)} messages are no longer found")
            result.grew += len(hits) > len(seen[word])
            seen[word] |= hits
            result.wrong += [f"{word}: {each}" for each in _torn(lake, word)]
            result.searches += 1
    finally:
        result.ended.append(finish(optimizing))


def _complete(found: SearchResponse, word: str, sessions: int) -> Iterator[str]:
    yield from (f"{word}: {each}" for each in _inconsistent(found))
    ids = {session["session_id"] for session in found["sessions"]}
    if ids != {session_id(f"{word}/{number}") for number in range(sessions)}:
        yield f"{word}: {len(ids)} of {sessions} sessions"
    if found["matched_messages"] != sessions * _TURNS:
        yield f"{word}: {found['matched_messages']} of {sessions * _TURNS} messages"


def _inconsistent(found: SearchResponse) -> Iterator[str]:
    """Yield what does not agree within one answer that holds all that was found."""
    hits = [(hit["session_id"], hit["message_id"]) for hit in found["hits"]]
    if len(set(hits)) < len(hits):
        yield "a message twice"
    if {session for session, _ in hits} != {session["session_id"] for session in found["sessions"]}:
        yield "hits and sessions differ"
    if not len(hits) == found["matched_messages"] <= found["searchable_messages"]:
        yield f"{len(hits)} hits, {found['matched_messages']} of {found['searchable_messages']} messages matched"
    if sum(session["matched_messages"] for session in found["sessions"]) != found["matched_messages"]:
        yield "the sessions do not add up"


def _torn(lake: pond.Lake, word: str) -> Iterator[str]:
    """Yield what is wrong with pages: all are of the version of the first, whatever was stored since."""
    page = first = lake.search(_phrase(word), limit=_PAGE)
    ids, matched = list[str](), 0
    while True:
        ids += [session["session_id"] for session in page["sessions"]]
        matched += sum(session["matched_messages"] for session in page["sessions"])
        if "cursor" not in page:
            break
        page = lake.search(_phrase(word), limit=_PAGE, cursor=page["cursor"])
    if len(set(ids)) < len(ids):
        yield "a session on two pages"
    if matched != first["matched_messages"]:
        yield f"{matched} messages on the pages of {first['matched_messages']}"
