"""Sessions as a table that fits the terminal: what names a session is never cut, its title first of all."""

import os
from collections.abc import Iterator
from datetime import datetime

from pond.cli.reading import comes
from pond.cli.terminal import fitted, width
from pond.diagnostics.visible import in_line
from pond.lake.times import local
from pond.model.json_text import JsonObject
from pond.model.lineage import SPAWN

_ID, _ACTIVE, _CLIENT, _MESSAGES, _SUBAGENTS, _PROJECT, _TITLE = range(7)
_HEADS = ("id", "last active", "client", "msgs", "subs", "project", "title")
_RIGHT = (_MESSAGES, _SUBAGENTS)
_BETWEEN = "  "
_WIDEST_ID, _WIDEST_CLIENT, _NARROWEST = 16, 16, 10
_SHORT = 8  # characters of the id of the session that another comes from
_NARROW = 100  # columns below which a time is shown in short


def session_table(sessions: list[JsonObject], columns: int | None, now: datetime) -> Iterator[str]:
    """Yield a line for each session, below a heading; as wide as they are where there is no terminal."""
    if not sessions:
        return
    short = columns is not None and columns < _NARROW
    rows = [_row(session, now if short else None) for session in sessions]
    shown = [at for at in range(len(_HEADS)) if at != _SUBAGENTS or any(row[at] for row in rows)]
    widths = [max(map(width, column)) for column in zip(_HEADS, *rows, strict=True)]
    if columns is not None:
        ids = [width(row[_ID]) for row in rows]
        widths[_ID] = max((each for each in ids if each <= _WIDEST_ID), default=len(_HEADS[_ID]))
        _fit(widths, shown, columns)
    for row in (_HEADS, *rows):
        if columns is not None and width(row[_ID]) > widths[_ID]:
            yield row[_ID]  # an id is there to be copied
            row = ("", *row[1:])
        yield _BETWEEN.join(_cell(row[at], widths[at], at) for at in shown).rstrip()


def _row(session: JsonObject, now: datetime | None) -> tuple[str, ...]:
    return (
        in_line(session["prefix"]),
        _when(session["active_at"], now) if "active_at" in session else "",
        in_line(session["source_agent"]),
        str(session["messages"]),
        str(session["children"] or ""),
        _from_home(in_line(session["project"])),
        in_line(_title(session)),
    )


def _title(session: JsonObject) -> str:
    """Return what a session is called; for a fork or a continuation, also where it comes from."""
    title: str = session.get("title", "")
    if session.get("lineage_kind", SPAWN) == SPAWN:
        return title
    return f"{title} ({comes(session)} {session['parent_session_id'][:_SHORT]})".lstrip()


def _when(timestamp: str, now: datetime | None) -> str:
    """Return a time on this machine's clock; in short, without the year if it is this one, else without the hour."""
    time = local(timestamp)
    if now is None:
        return f"{time:%Y-%m-%d %H:%M}"
    return f"{time:%m-%d %H:%M}" if time.year == now.year else f"{time:%Y-%m-%d}"


def _from_home(path: str) -> str:
    home = os.path.expanduser("~")
    below = path == home or path.startswith(home + "/")
    return "~" + path[len(home) :] if below and len(home) > 1 else path


def _fit(widths: list[int], shown: list[int], columns: int) -> None:
    """Make room: the project and the title share what the others leave; neither takes what the other needs not."""
    widths[_CLIENT] = min(widths[_CLIENT], _WIDEST_CLIENT)
    taken = sum(widths[at] for at in shown if at < _PROJECT) + len(_BETWEEN) * (len(shown) - 1)
    room = max(2 * _NARROWEST, columns - taken)
    project = min(widths[_PROJECT], max(room * 2 // 5, room - widths[_TITLE]))
    widths[_PROJECT], widths[_TITLE] = project, min(widths[_TITLE], room - project)


def _cell(text: str, room: int, at: int) -> str:
    if at in _RIGHT:
        return text.rjust(room)
    return fitted(text, room, keep_end=at == _PROJECT)  # of a path the end says most
