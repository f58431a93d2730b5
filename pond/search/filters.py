"""Conditions as one filter that Lance applies before it ranks (search-prefilter-pushdown)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pond.codec.registry import client_named, clients
from pond.diagnostics.diagnostic import UsageError
from pond.lake import find, projects
from pond.lake.listing import sessions_of
from pond.search.query import values
from pond.search.query.query import Condition, Key
from pond.sessions.stored_text import to_micros, to_stored
from pond.substrate import predicate
from pond.substrate.store import Store

# A query for these, or for one session, includes subagents.
_ASKING = (Key.SUBAGENTS, Key.AGENT, Key.SESSION)
_FAILED = "failed"

_Conditions = Sequence[Condition]


def filter_of(store: Store, *asked: _Conditions) -> str | None:
    """Return the filter for messages that meet all conditions; None if every message does.

    Conditions in the text and conditions beside it narrow each other. Within one of them, several values of a key are
    alternatives. Raise UsageError for a session or a client that does not exist.
    """
    filters = [_of_key(store, key, conditions) for each in asked for key, conditions in _by_key(each).items()]
    if not any(condition.key in _ASKING and not condition.negated for each in asked for condition in each):
        filters.append(predicate.is_null("agent"))
    return predicate.all_of(*filters)


def _by_key(conditions: _Conditions) -> dict[Key, list[Condition]]:
    found: dict[Key, list[Condition]] = {}
    for condition in conditions:
        found.setdefault(condition.key, []).append(condition)
    return found


def _of_key(store: Store, key: Key, conditions: _Conditions) -> str | None:
    wanted = [condition for condition in conditions if not condition.negated]
    excluded = [condition for condition in conditions if condition.negated]
    if key is Key.SUBAGENTS:
        return _subagents(_values(wanted))
    if key is Key.FAILED:
        return _failed((_values(wanted) or {"true", "false"}) - _values(excluded))
    column, holds = _COLUMNS[key]
    return predicate.all_of(
        holds(store, wanted) if wanted else None,
        predicate.lacking(column, holds(store, excluded)) if excluded else None,
    )


def _values(conditions: _Conditions) -> set[str]:
    return {condition.value for condition in conditions}


def _subagents(choices: set[str]) -> str | None:
    if choices == {"exclude"}:
        return predicate.is_null("agent")
    return predicate.is_not_null("agent") if choices == {"only"} else None


def _failed(answers: set[str]) -> str | None:
    failed = predicate.has_any("labels", [_FAILED])
    match sorted(answers):
        case ["true"]:
            return failed
        case ["false"]:
            return predicate.lacking("labels", failed)
        case []:
            return predicate.NOTHING
        case _:
            return None


# --- one key each: the filter for rows in which one of the values holds -----------------------------------------------


def _roles(store: Store, conditions: _Conditions) -> str:
    return predicate.one_of("role", sorted(_values(conditions)))


def _clients(store: Store, conditions: _Conditions) -> str:
    return predicate.one_of("source_agent", sorted({to_stored(_client(store, each)) for each in conditions}))


def _client(store: Store, condition: Condition) -> str:
    """Return a client that pond knows or the lake holds; anything else is a mistake."""
    wanted = condition.value.lower()
    for names in (clients, lambda: sessions_of(store)):  # what pond knows is cheaper to check
        if name := next((name for name in names() if name.lower() == wanted), None):
            return name
    if (meant := client_named(wanted)) != wanted:
        return meant
    refusal = values.unknown("a client", condition.value, {*clients(), *sessions_of(store)})
    raise values.at(refusal, span=condition.span)


def _projects(store: Store, conditions: _Conditions) -> str:
    known = projects.known(store)
    meant = {project for each in conditions for project in projects.fitting(known, each.value)}
    return predicate.one_of("project", sorted(map(to_stored, meant)))


def _sessions(store: Store, conditions: _Conditions) -> str:
    return predicate.one_of("session_id", sorted({to_stored(_session(store, each)) for each in conditions}))


def _session(store: Store, condition: Condition) -> str:
    try:
        return find.session(store, condition.value)
    except UsageError as error:
        raise values.at(error, span=condition.span) from None


def _after(store: Store, conditions: _Conditions) -> str:
    return predicate.not_before("timestamp", min(_micros(conditions)))


def _before(store: Store, conditions: _Conditions) -> str:
    return predicate.before("timestamp", max(_micros(conditions)))


def _micros(conditions: _Conditions) -> list[int]:
    return [micros for each in conditions if (micros := to_micros(each.value)) is not None]


def _agents(store: Store, conditions: _Conditions) -> str:
    return predicate.one_of("agent", sorted(_values(conditions)))


def _labels(store: Store, conditions: _Conditions) -> str:
    exact = sorted({_label(each) for each in conditions if not _is_wild(each)})
    wild = sorted({_label(each) for each in conditions if _is_wild(each)})
    return predicate.any_of(
        *([predicate.has_any("labels", exact)] if exact else []),
        *([predicate.has_like("labels", wild)] if wild else []),
    )


def _label(condition: Condition) -> str:
    return f"{condition.key}={condition.value}"


def _is_wild(condition: Condition) -> bool:
    return condition.key in values.WITH_WILDCARDS and values.is_wildcard(condition.value)


_COLUMNS: dict[Key, tuple[str, Callable[[Store, _Conditions], str]]] = {
    Key.ROLE: ("role", _roles),
    Key.CLIENT: ("source_agent", _clients),
    Key.PROJECT: ("project", _projects),
    Key.SESSION: ("session_id", _sessions),
    Key.AFTER: ("timestamp", _after),
    Key.BEFORE: ("timestamp", _before),
    Key.AGENT: ("agent", _agents),
    Key.TOOL: ("labels", _labels),
    Key.FILE: ("labels", _labels),
    Key.HAS: ("labels", _labels),
}
