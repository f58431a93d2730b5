"""Tool calls in one line: what was asked, and how it ended."""

import shlex
from collections.abc import Iterator

from pond.diagnostics.visible import in_line
from pond.model.json_text import Json, JsonObject, encode

# What says most about a call, the first that it has; clients name their parameters alike.
_TELLING = (
    "command", "cmd", "file_path", "path", "notebook_path", "pattern", "query", "url", "description", "prompt", "input",
    "text", "message",
)  # fmt: skip
_SHELLS = ("bash", "sh", "zsh")
_SHORT = 60  # characters of a result that is shown itself
_SAYING = ("output", "stdout", "content", "text", "message", "error", "result")


def call_text(params: Json) -> str:
    """Return what a call asks for, in one line."""
    if type(params) is dict:
        found = next((params[name] for name in _TELLING if params.get(name)), None)
        if found is None:
            return in_line(encode(params).decode()) if params else ""
        return call_text(found) if type(found) is not dict else in_line(encode(found).decode())
    if type(params) is list and all(type(word) is str for word in params):
        return in_line(_command([str(word) for word in params]))
    return in_line(params if type(params) is str else encode(params).decode()) if params is not None else ""


def _command(words: list[str]) -> str:
    """Return a command line as a person would type it; of a shell's, the script."""
    if len(words) == 3 and words[0].rpartition("/")[2] in _SHELLS and words[1].startswith("-"):
        return words[2]
    return shlex.join(words)


def outcome(result: JsonObject) -> str:
    """Return how a call ended: its result where that is short, else how long it is; of a failure, the first line."""
    lines = [line for line in result_text(result.get("result", "")).splitlines() if line.strip()]
    first = in_line(lines[0]) if lines else ""
    if result["is_failure"]:
        return "failed" + (f": {_cut(first)}" if first else "")
    if len(lines) > 1:
        return f"{len(lines)} lines"
    return _cut(first) if first else "ok"


def result_text(result: Json) -> str:
    """Return the text of a result, whatever its client wraps it in."""
    return "\n".join(_texts(result))


def _texts(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for each in value:
                yield from _texts(each)
        case {"type": str(kind), "source": {"media_type": str(media)}}:
            yield f"[{kind} {media}]"
        case dict():
            found = next((value[name] for name in _SAYING if value.get(name)), None)
            yield from _texts(found) if found is not None else [encode(value).decode()] if value else []
        case None:
            return
        case _:
            yield encode(value).decode()


def _cut(text: str) -> str:
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 1].rstrip()}…"
