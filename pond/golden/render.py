"""Prints a review: as text for a terminal, as Markdown for a comment, as JSON for a script."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict

from pond.diagnostics.render import as_json
from pond.golden.fields import visible
from pond.golden.review import RULE, Breach, Review
from pond.golden.sections import Line, Prose, Section, Verbatim, sections_of
from pond.model.json_text import JsonObject

# The usual hosts allow 65536 characters in a comment.
_ROOM = 60_000
_MARKS = re.compile(r"([\\`*_<>\[\]#|~@&])")


def as_text(review: Review) -> str:
    """Return the review as plain text."""
    sections = []
    for section in sections_of(review):
        lines = [f"  {_plain(line)}" for line in section.lines]
        sections.append("\n".join([_plain(section.title), *lines]))
    return "\n\n".join(sections) + "\n"


def as_markdown(review: Review) -> str:
    """Return the review as Markdown that fits into a comment; what is left out is counted."""
    head, *sections = sections_of(review)
    text = _marked_section("###", head)
    left_out = 0
    for section in sections:
        more = "\n" + _marked_section("####", section)
        if section.about_case and len(text) + len(more) > _ROOM:
            left_out += 1
        else:
            text += more
    if left_out:
        command = _fenced(f"pond golden --base {review.comparison.base}")
        text += f"\n{left_out} more changed cases have no room here; {command} shows them.\n"
    return text


def as_object(review: Review) -> JsonObject:
    """Return the review as a JSON object with stable names; only long values are shortened."""
    comparison = review.comparison
    return {
        "base": comparison.base,
        "cases": comparison.cases,
        "rule": RULE,
        "broken": [_breach(breach) for breach in review.broken],
        "acknowledged": [_breach(breach) | {"because": breach.because} for breach in review.acknowledged],
        "stale": [asdict(entry) for entry in review.stale],
        "faults": [as_json(fault) for fault in comparison.faults],
        "changed": [asdict(change) for change in comparison.changed],
        "other_files": [asdict(output) for output in comparison.other_files],
    }


def _breach(breach: Breach) -> JsonObject:
    new = {"new": asdict(breach.new)} if breach.new else {}
    return {"code": breach.code, "case": breach.case, "change": breach.change, "row": asdict(breach.row), **new}


def _plain(line: Line) -> str:
    return "".join(visible(segment) for segment in line)


def _marked_section(heading: str, section: Section) -> str:
    lines = [f"- {_marked(line)}" for line in section.lines]
    return "\n".join([f"{heading} {_marked(section.title)}", "", *lines]).rstrip() + "\n"


def _marked(line: Iterable[str]) -> str:
    return "".join(_segment(segment) for segment in line)


def _segment(segment: str) -> str:
    if isinstance(segment, Verbatim):
        return _fenced(visible(segment))
    return _MARKS.sub(r"\\\1", visible(segment)) if isinstance(segment, Prose) else segment


def _fenced(text: str) -> str:
    """Return `text` as a code span, whatever backticks it holds."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if not text or "`" in (text[0], text[-1]) else ""
    return f"{fence}{pad}{text}{pad}{fence}"
