"""Arguments as models give them: numbers and switches as text, empty values, unknown names. What can be meant is taken,
and the answer says what was not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from pond.diagnostics.failures import Failure
from pond.operations.failing import RequestError
from pond.transports.mcp.transcripts.inert import label

_TRUE, _FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off", "")
_OTHER_NAMES = {
    "sql": "query", "q": "query", "text": "query", "since": "from_date", "after": "from_date", "until": "to_date",
    "before": "to_date", "client": "source_agent", "agent": "source_agent", "session": "session_id", "id": "session_id",
    "message": "message_id", "mode": "response_mode", "format": "output", "context": "context_depth",
    "subagents": "include_subagents", "like": "similar_to",
}  # fmt: skip


class Arguments:
    """The arguments of one call; `notes` says what was not taken as it was given."""

    def __init__(self, given: Mapping[str, Any] | None, known: Mapping[str, Any]) -> None:
        self._known = known
        self.notes: list[str] = []
        self._values: dict[str, Any] = {}
        for name, value in (given or {}).items():
            if (meant := self._name(name)) is not None and value is not None:
                self._values.setdefault(meant, value)

    def _name(self, name: str) -> str | None:
        other = _OTHER_NAMES.get(name, "")
        if name in self._known:
            return name
        if other in self._known:
            return other
        near = get_close_matches(name, list(self._known), 1)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        self.notes.append(f"note: there is no parameter `{label(name, 40)}`, so it was ignored{hint}")
        return None

    def has(self, name: str) -> bool:
        return self.text(name) is not None

    def text(self, name: str) -> str | None:
        """Return a text; None where there is none, or nothing in it."""
        value = self._values.get(name)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if value is None or isinstance(value, str):
            return value.strip() or None if value else None
        if isinstance(value, int | float):
            return str(value)
        raise _wrong(name, "a text", value)

    def texts(self, name: str) -> list[str]:
        """Return one text or several."""
        value = self._values.get(name)
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return [each.strip() for each in value if each.strip()]
        return [found] if (found := self.text(name)) is not None else []

    def number(self, name: str, usual: int) -> int:
        """Return a number within its bounds; one beyond them counts as the bound, and the answer says so."""
        value, about = self._values.get(name), self._known[name]
        if value is None or value == "":
            return usual
        try:
            if isinstance(value, bool):
                raise ValueError
            found = int(float(value))
        except (TypeError, ValueError, OverflowError):
            raise _wrong(name, "a whole number", value) from None
        bounded: int = min(max(found, about["minimum"]), about["maximum"])
        if bounded != found:
            self.notes.append(f"note: `{name}` is {about['minimum']} to {about['maximum']}; {bounded} was taken")
        return bounded

    def switch(self, name: str) -> bool | None:
        value = self._values.get(name)
        if value is None or isinstance(value, bool):
            return value
        text = str(value).strip().lower()
        if text in _TRUE or text in _FALSE:
            return text in _TRUE
        raise _wrong(name, "true or false", value)

    def choice(self, name: str, choices: Iterable[str]) -> str | None:
        """Return one of some words; None where none was given."""
        value = self.text(name)
        if value is None or value.lower() in choices:
            return value and value.lower()
        raise _wrong(name, f"one of {', '.join(choices)}", value)


def _wrong(name: str, expected: str, value: object) -> RequestError:
    what = f"`{name}`: expected {expected}, found `{label(str(value), 60)}`"
    return RequestError(Failure.VALIDATION_FAILED, "wrong-value", what, path=f"$.{name}")
