"""How well search finds what labelled questions ask for: by full text alone, or with the model that is configured.

`POND_EMBED_MODEL` and `POND_EMBED_DIRECTORY` choose a model; the promises are those of gte-small then.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pond
from pond.config.load import load
from tests.bench import labelled
from tests.bench.figures import Figure
from tests.bench.labelled import Question
from tests.search.relevance.measure import auc

if TYPE_CHECKING:
    from pond.types import SearchFilters

CHOSEN_ON = range(5)  # the conversations that the weights were chosen on; the others are reported
HITS = 10


@dataclass(frozen=True)
class Promises:
    """What is promised, in percent except for the mean reciprocal rank and the AUC."""

    own: tuple[tuple[float, float], tuple[float, float, float]]  # turns R@5, R@10; sessions hit@1, @5, @10
    pooled: tuple[tuple[float, float], tuple[float, float, float]]
    messages: tuple[float, float, float]
    mrr: float
    sessions: tuple[float, float, float]
    auc: float


FULL_TEXT = Promises(((66, 73), (70, 90, 93)), ((63, 70), (67, 87, 91)), (51, 68, 76), 0.59, (66, 79, 84), 0.85)
HYBRID = Promises(((67, 76), (72, 91, 95)), ((66, 75), (69, 90, 94)), (60, 81, 85), 0.68, (75, 87, 89), 0.90)
_EXACT = ("identifier", "error", "partial")
_UNANSWERABLE = "negative"


@dataclass(frozen=True)
class Answer:
    """What a search gave: messages and sessions, the best first, and how well the best one matches."""

    messages: list[tuple[str, str]]
    sessions: list[str]
    match: float


def ask(lake: pond.Lake, question: Question, **filters: list[str]) -> Answer:
    """Search for the answer to a question."""
    asked = cast("SearchFilters", {**question.filters, **filters})
    found = lake.search(question.query, filters=asked, limit=HITS)
    hits = found["hits"]
    messages = [(hit["session_id"], hit["message_id"]) for hit in hits]
    sessions = [session["session_id"] for session in found["sessions"]]
    return Answer(messages, sessions, max((hit["match"] for hit in hits), default=0.0))


Asked = Sequence[tuple[Question, Answer]]


def recall(asked: Asked, most: int) -> float:
    """Return the share of the answering messages that are among the first hits, averaged over the questions."""
    return _mean(
        len(question.answers & set(answer.messages[:most])) / len(question.answers) for question, answer in asked
    )


def hit(asked: Asked, most: int) -> float:
    """Return the share of questions with an answering message among the first hits."""
    return _mean(bool(question.answers & set(answer.messages[:most])) for question, answer in asked)


def reciprocal_rank(asked: Asked) -> float:
    """Return the mean reciprocal rank of the first answering message, 0 where it is not among the hits."""
    return _mean(
        next((1 / rank for rank, message in enumerate(answer.messages[:HITS], 1) if message in question.answers), 0.0)
        for question, answer in asked
    )


def session_hit(asked: Asked, most: int) -> float:
    """Return the share of questions with an answering session among the first sessions."""
    return _mean(bool(question.sessions & set(answer.sessions[:most])) for question, answer in asked)


def session_hit_by_message(asked: Asked, most: int) -> float:
    """Return the share of questions for which one of the first hits is from an answering session."""
    return _mean(
        bool(question.sessions & {session for session, _ in answer.messages[:most]}) for question, answer in asked
    )


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else 0.0


# --- the figures ------------------------------------------------------------------------------------------------------


def measure(bench: Path, samples: Path) -> list[Figure]:
    """Return the figures of both sets; lakes are built in a temporary directory."""
    promises = FULL_TEXT if load({}).embed.model is None else HYBRID
    with tempfile.TemporaryDirectory(prefix="pond-bench-") as temporary:
        place = Path(temporary)
        return [*_chats(bench, place, promises), *_dev(bench, samples, place, promises)]


def _chats(bench: Path, place: Path, promises: Promises) -> list[Figure]:
    chats = labelled.chats(bench)
    figures: list[Figure] = []
    with labelled.chat_lake(place / "chats", chats) as lake:
        reported = [chat for number, chat in enumerate(chats) if number not in CHOSEN_ON]
        own = [(each, ask(lake, each, project=[chat.project])) for chat in reported for each in chat.questions]
        pooled = [(each, ask(lake, each)) for chat in reported for each in chat.questions]
    figures += _chat_figures("LoCoMo 5-9, own", own, *promises.own)
    figures += _chat_figures("LoCoMo 5-9, pooled", pooled, *promises.pooled)
    return figures


def _chat_figures(name: str, asked: Asked, turns: Sequence[float], sessions: Sequence[float]) -> list[Figure]:
    found = [
        _percent(f"{name}: turn R@{most}", recall(asked, most), limit)
        for most, limit in zip((5, 10), turns, strict=True)
    ]
    return found + [
        _percent(f"{name}: session hit@{most}", session_hit(asked, most), limit)
        for most, limit in zip((1, 5, 10), sessions, strict=True)
    ]


def _dev(bench: Path, samples: Path, place: Path, promises: Promises) -> list[Figure]:
    with labelled.dev_lake(place / "dev", samples) as lake:
        searched = labelled.searched(lake)
        asked = [(each, ask(lake, each)) for each in labelled.dev_questions(bench)]
    # One label points at the text of a hook, which is not searched: nobody said it.
    answerable = [each for each in asked if each[0].answers & searched]
    none = [each for each in asked if each[0].kind == _UNANSWERABLE]
    exact = [each for each in answerable if each[0].kind in _EXACT]
    figures = [
        _percent(f"dev: message hit@{most}", hit(answerable, most), limit)
        for most, limit in zip((1, 5, 10), promises.messages, strict=True)
    ]
    figures.append(Figure("dev: message MRR@10", reciprocal_rank(answerable), "", promises.mrr, True))
    figures += [
        _percent(f"dev: session hit@{most}", session_hit_by_message(answerable, most), limit)
        for most, limit in zip((1, 5, 10), promises.sessions, strict=True)
    ]
    figures.append(_percent("dev: exact kinds, message hit@5", hit(exact, 5), 100, _by_kind(answerable)))
    matches = [[answer.match for _, answer in some] for some in (answerable, none)]
    figures.append(Figure("dev: AUC of match", auc(*matches), "", promises.auc, True))
    return figures


def _by_kind(asked: Asked) -> dict[str, float]:
    kinds = sorted({question.kind for question, _ in asked})
    return {kind: 100 * hit([each for each in asked if each[0].kind == kind], 5) for kind in kinds}


def _percent(name: str, share: float, limit: float, detail: dict[str, float] | None = None) -> Figure:
    return Figure(name, 100 * share, "%", limit, True, detail or {})
