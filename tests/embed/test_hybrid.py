"""Search by words and by meaning together: what other words hide is found, and what words find is not lost."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

import pond
from pond.config.settings import Embed, Settings
from pond.embed import embedder, endpoint
from pond.embed.model import Model
from pond.lake.embedding import embed
from pond.operations import meaning as of_stored
from pond.operations.envelope import PROTOCOL
from pond.operations.failing import RequestError
from pond.operations.search import search
from pond.operations.service import Service
from pond.search import meaning
from pond.search.meaning import Meaning
from pond.substrate.read import Pinned
from pond.substrate.store import Store
from pond.types import SearchRequest, SearchResponse
from tests.embed.fetch import MODELS, NAME
from tests.embed.lakes import far, store_at
from tests.embed.real import minilm_model
from tests.embed.server import Endpoint
from tests.search.test_search import events

SAID = {
    "login": [
        ("user", "People are thrown out while they fill in the form."),
        ("assistant", "The cookie expires after ten minutes. I now renew it at every request."),
    ],
    "bread": [
        ("user", "How long does the dough have to rise?"),
        ("assistant", "Two hours in a warm room, then fold it and bake at 230 degrees."),
    ],
    "names": [
        ("user", "Rename merge_insert to upsert_rows everywhere."),
        ("assistant", "Done: merge_insert is gone, upsert_rows has the same parameters."),
    ],
}
ANOTHER_WORD = "visitors lose access before submitting"  # shares no word with what answers it


def filled(place: Path) -> Path:
    lake = pond.Lake(place)
    assert not lake.ingest_events(events(SAID))["rejected"]
    return place


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake whose messages are embedded by the small real model."""
    place = filled(tmp_path_factory.mktemp("hybrid") / "lake")
    assert embed(store_at(place), minilm_model(), threads=1).embedded == 6
    return place


def asked(place: Path, query: str, settings: Embed | None = None, **more: Any) -> SearchResponse:
    settings = settings or Embed(model=NAME, models=str(MODELS))
    request = {"protocol_version": PROTOCOL, "query": query, **more}
    return search(Service(Settings(str(place), embed=settings)), cast("SearchRequest", request))


def best(found: SearchResponse) -> str:
    return found["hits"][0]["message_id"]


def test_meaning_finds_what_other_words_hide(place: Path) -> None:
    words = asked(place, ANOTHER_WORD, Embed())
    assert words["searched_by"] == ["words"]
    assert words["hits"] == []
    both = asked(place, ANOTHER_WORD)
    assert (both["searched_by"], best(both)) == (["words", "meaning"], "login-0")


@pytest.mark.parametrize(("query", "message"), [("upsert_rows parameters", "names-1"), ("230 degrees", "bread-1")])
def test_words_are_not_lost_by_meaning(place: Path, query: str, message: str) -> None:
    assert best(asked(place, query)) == message == best(asked(place, query, Embed()))


def test_an_exact_phrase_holds_for_both_arms(place: Path) -> None:
    found = asked(place, '"the dough" baking time')
    assert {hit["message_id"] for hit in found["hits"]} == {"bread-0"}


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Return the filters of the questions for the nearest vectors, as they are asked."""
    asked: list[str | None] = []
    real = Pinned.rows

    def rows(self: Pinned, columns: Sequence[str], where: str | None = None, **limits: Any) -> Any:
        asked.extend([where] if "nearest" in limits else [])
        return real(self, columns, where, **limits)

    monkeypatch.setattr(Pinned, "rows", rows)
    return asked


def test_who_holds_a_phrase_is_not_looked_for_among_all_texts(place: Path, scans: list[str | None]) -> None:
    found = asked(place, '"the dough" baking time', explain=True)
    assert (best(found), scans) == ("bread-0", [])
    assert found["explanation"]["hits"][0]["arms"].keys() == {"full text", "meaning"}  # it has its cosine all the same


def test_a_phrase_of_signs_is_looked_for_by_meaning(place: Path, scans: list[str | None]) -> None:
    found = asked(place, '": merge_insert is" "," lost access')
    assert best(found) == "names-1"
    assert asked(place, '"?" rest before baking')["searched_by"] == ["words", "meaning"]
    assert scans


def test_excluded_words_hold_for_the_nearest(place: Path, scans: list[str | None]) -> None:
    assert best(asked(place, ANOTHER_WORD)) == "login-0"
    scans.clear()
    found = asked(place, f'{ANOTHER_WORD} -"thrown out"')
    assert "login-0" not in {hit["message_id"] for hit in found["hits"]}
    assert len(scans) == 1
    assert "thrown" not in (scans[0] or "")  # texts are compared as they come, not all of them by Lance


def test_every_text_is_looked_at_where_the_nearest_are_not_wanted(
    place: Path, scans: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meaning, "NEAREST", 1)
    monkeypatch.setattr(meaning, "_OVER", 1)
    found = asked(place, f'{ANOTHER_WORD} -"thrown out"')
    assert "login-0" not in {hit["message_id"] for hit in found["hits"]}
    assert len(found["hits"]) >= 1
    assert len(scans) == 2
    assert "thrown" in (scans[1] or "")


@pytest.mark.rule("search-prefilter-pushdown")
def test_a_filter_comes_before_the_nearest(place: Path) -> None:
    found = asked(place, ANOTHER_WORD, filters={"role": "assistant"})
    assert best(found) == "login-1"
    assert {hit["role"] for hit in found["hits"]} == {"assistant"}


def test_like_finds_the_nearest_without_a_model(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(model: Model) -> None:
        raise AssertionError("a model was opened")

    monkeypatch.setattr(embedder, "opened", fail)
    found = asked(place, "", like={"session_id": "names", "message_id": "names-0"})
    assert found["searched_by"] == ["meaning"]
    assert best(found) == "names-1"
    assert "names-0" not in {hit["message_id"] for hit in found["hits"]}


@pytest.mark.parametrize(
    ("settings", "message"), [(Embed(), "login-0"), (Embed(model=NAME, models=str(MODELS)), "no-such-message")]
)
def test_like_needs_a_vector(place: Path, settings: Embed, message: str) -> None:
    with pytest.raises(RequestError) as raised:
        asked(place, "", settings, like={"session_id": "login", "message_id": message})
    assert raised.value.details["reason"] == "not-embedded"


@pytest.mark.parametrize("query", ["", "rename"])  # neither the newest messages nor those with the word are an answer
@pytest.mark.parametrize("moment", ["before its vector is read", "while", "after"])
def test_like_is_refused_where_another_model_took_over(
    tmp_path: Path, server: Endpoint, monkeypatch: pytest.MonkeyPatch, moment: str, query: str
) -> None:
    place, settings = filled(tmp_path / "lake"), Embed(model="far", endpoint=server.url)
    like = {"session_id": "names", "message_id": "names-0"}
    embed(store_at(place), far(server), threads=1)
    assert "meaning" in asked(place, query, settings, like=like)["searched_by"]
    real = of_stored._of_message

    def read(service: Service, store: Store, *given: Any) -> Meaning:
        found = real(service, store, *given) if moment == "after" else None
        assert embed(store_at(place), far(server, "new", dimensions=24), threads=1).embedded == 6
        store.forget()  # the next look finds the columns as they are now
        return found or real(service, store, *given)

    if moment in ("while", "after"):
        monkeypatch.setattr(of_stored, "_of_message", read)
    else:
        embed(store_at(place), far(server, "new", dimensions=24), threads=1)
    with pytest.raises(RequestError, match="nothing is embedded by model `far`") as raised:
        asked(place, query, settings, like=like)
    assert raised.value.details["reason"] == "not-embedded"
    assert asked(place, "rename", settings)["searched_by"] == ["words"]


@pytest.mark.parametrize("mode", ["nan", "other-dimensions", "too-many", "forbidden", "silence", "drips"])
def test_full_text_answers_where_the_model_fails(
    tmp_path: Path, server: Endpoint, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setattr(endpoint, "_WAITED", 0.5)
    place = filled(tmp_path / "lake")
    assert embed(store_at(place), far(server), threads=1).embedded == 6
    settings = Embed(model="far", endpoint=server.url, timeout=60)
    assert "meaning" in asked(place, "dough", settings)["searched_by"]
    server.mode = mode
    embedder.opened.cache_clear()
    began = time.monotonic()
    found = asked(place, "dough", settings)
    assert time.monotonic() - began < 10  # however long a text may take
    assert (found["searched_by"], best(found)) == (["words"], "bread-0")
    assert "far" in found["notice"] or server.url in found["notice"]


def test_without_words_or_meaning_the_newest_come_first(place: Path) -> None:
    assert asked(place, "", filters={"role": "user"})["searched_by"] == ["time"]
