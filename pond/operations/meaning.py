"""The meaning of a search, as a vector: of the query by the configured model, or of a stored message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pond.diagnostics.diagnostic import PondError
from pond.diagnostics.failures import Failure
from pond.operations.failing import RequestError
from pond.operations.service import Service

if TYPE_CHECKING:
    from pond.search.meaning import Meaning
    from pond.search.query.query import Query
    from pond.substrate.store import Store
    from pond.substrate.vectors import Nearness
    from pond.types import MessageAddress, SearchRequest


def meaning_of(
    service: Service, store: Store, request: SearchRequest, query: Query
) -> tuple[Meaning | None, str | None]:  # fmt: skip
    """Return what to look for, or None if only words are searched; then why, if that is a fault."""
    from pond.lake.models import label as configured_label
    from pond.sessions import vectors as stored
    from pond.sessions.tables import MESSAGES
    from pond.substrate import vectors

    like, label = request.get("like"), configured_label(service.settings)
    dimensions = None if label is None else vectors.columns(store, MESSAGES).get(stored.column(label))
    if label is None or dimensions is None:
        if like is not None:
            raise not_embedded(label)
        return None, None
    if like is not None:
        return _of_message(service, store, like, label), None
    if not query.words:
        return None, None
    try:
        return _of_text(service, query.words, label, dimensions), None
    except PondError as error:  # full text still answers
        return None, error.diagnostics[0].message


def _of_text(service: Service, text: str, label: str, dimensions: int) -> Meaning:
    from pond.embed.embedder import opened
    from pond.embed.faults import BadVectors
    from pond.lake.models import configured
    from pond.search.meaning import Meaning
    from pond.sessions import vectors as stored

    model = configured(service.settings, service.environ)
    assert model is not None
    vector = opened(model).query(text)
    if len(vector) != dimensions:
        raise BadVectors(model.name, f"expected {dimensions} dimensions, found {len(vector)}")
    return Meaning(stored.column(label), label, vector, _how(service))


def _of_message(service: Service, store: Store, like: MessageAddress, label: str) -> Meaning:
    """Return the vector of a message; no model is opened for it."""
    import numpy as np

    from pond.search.meaning import Meaning
    from pond.sessions import vectors as stored
    from pond.sessions.stored_text import to_stored
    from pond.sessions.tables import MESSAGES
    from pond.substrate import predicate, read

    key = to_stored(like["session_id"]), to_stored(like["message_id"])
    where = predicate.all_of(
        predicate.equals("session_id", key[0]), predicate.equals("id", key[1]), predicate.equals(stored.MARK, label)
    )
    messages = read.Pinned(store, MESSAGES)
    if stored.column(label) not in messages.names:  # dropped a moment ago
        raise not_embedded(label)
    found = messages.rows([stored.column(label)], where)[stored.column(label)].to_pylist()
    if not found or found[0] is None:
        raise _refusal("this message has no vector", "only searched messages have one; `pond sync` embeds new ones")
    return Meaning(stored.column(label), label, np.asarray(found[0], dtype=np.float32), _how(service), key)


def _how(service: Service) -> Nearness:
    from pond.substrate.vectors import Nearness

    return Nearness(service.settings.search.nprobes, service.settings.search.refine_factor)


def not_embedded(label: str | None) -> RequestError:
    """Return the refusal of `like` where no message has a vector by the configured model, or none any more."""
    if label is None:
        return _refusal("nothing is embedded here", "set `embed.model` and run `pond sync`")
    return _refusal(f"nothing is embedded by model `{label}`", "run `pond sync`")


def _refusal(what: str, help: str) -> RequestError:
    return RequestError(Failure.VALIDATION_FAILED, "not-embedded", f"{what}: {help}", path="$.like")
