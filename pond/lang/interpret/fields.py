"""Field-shaped rules, read the slow way: claims, implied values, spellings, drift."""

from __future__ import annotations

from pond.lang.context import Reading
from pond.lang.conversions import CONVERSIONS, NO_SPELLING
from pond.lang.interpret.record_paths import get, take
from pond.lang.plan import NO_FALLBACK, ImpliedRule, Rule, dotted
from pond.lang.runtime import MISSING
from pond.model.json_text import Json, JsonObject


def convert(rule: Rule, value: Json) -> tuple[Json, ...] | None:
    """Return the canonical values of a source value, or None if it does not fit the rule."""
    if rule.conversion is not None:
        return CONVERSIONS[rule.conversion].read(value, rule.argument)
    wanted = {"string": str, "boolean": bool}.get(rule.accepts)
    return (value,) if wanted is None or type(value) is wanted else None


def keep_spelling(rule: Rule, value: Json, values: tuple[Json, ...], spellings: JsonObject) -> None:
    if rule.conversion is not None:
        spelling = CONVERSIONS[rule.conversion].spelling(value, values, rule.argument)
        if spelling is not NO_SPELLING:
            spellings[dotted(rule.source)] = spelling
    elif rule.fallback is not NO_FALLBACK and type(value) is type(rule.fallback) and value == rule.fallback:
        spellings[dotted(rule.source)] = value  # the writer leaves out what equals the fallback


def imply(
    rules: tuple[ImpliedRule, ...], record: JsonObject, session_id: str, project: object, absent: list[str]
) -> None:
    for rule in rules:
        value = get(record, rule.source)
        if value is MISSING:
            absent.append(dotted(rule.source))
            continue
        expected = {"id": session_id, "project": project}[rule.session_field] if rule.session_field else rule.value
        if type(value) is type(expected) and value == expected:
            take(record, rule.source)


def check_known(names: frozenset[str] | None, record: Json, where: str, context: Reading) -> None:
    if names is not None and type(record) is dict and not record.keys() <= names:
        context.drift("source-drift-field", where, [k for k in record if k not in names])
