"""What a person or a script gets to see of an ingest."""

from collections.abc import Iterator
from typing import Any

from pond.cli.show import problem_lines, show_faults
from pond.cli.show import summary as faults_and_drift
from pond.cli.terminal import note
from pond.intake.request import Summary


def show(summary: Summary, dry_run: bool) -> None:
    """Print what came in on standard output, and what is wrong with the sources on standard error."""
    for line in _lines(summary, dry_run):
        note(line)
    show_faults(summary.report)


def _lines(summary: Summary, dry_run: bool) -> Iterator[str]:
    yield f"files     {', '.join(f'{count} {what}' for what, count in summary.files.items() if count) or 'none'}"
    new = "would be new" if dry_run else "new"
    yield f"sessions  {summary.new_sessions} {new}"
    yield f"rows      {summary.new_messages} messages and {summary.new_parts} parts {new}"
    if summary.report.repeats:
        yield f"repeats   {summary.report.repeats} records appear twice in their file, with the same id and content"
    if summary.unfinished:
        yield f"waiting   {summary.unfinished} files end in a half-written line; a later sync stores it"
    if summary.erased:
        yield f"erased    {summary.erased} sessions were erased from this lake, and stay erased"
    yield from problem_lines(refused(summary), "refused   ")


def as_json(summary: Summary) -> dict[str, Any]:
    """Return the summary as a JSON object with stable names."""
    told = faults_and_drift(summary.report)
    return {
        "files": summary.files,
        "bytes": summary.bytes,
        "new": {
            "sessions": summary.new_sessions, "messages": summary.new_messages, "parts": summary.new_parts,
        },
        "records": summary.report.records,
        "repeats": summary.report.repeats,
        "unfinished": summary.unfinished,
        "erased": summary.erased,
        "refused": refused(summary),
        "faults": told["faults"],
        "drift": told["drift"],
    }  # fmt: skip


def refused(summary: Summary) -> list[dict[str, Any]]:
    """Return what is wrong with files that are as they were when it was first told: it still is."""
    return [problem for problem in summary.known if problem["severity"] == "error"]


def exit_code(summary: Summary, missing: bool) -> int:
    """Return 2 where an input named is not there or nothing could be read at all, 1 where something was faulty."""
    read = sum(summary.files.values()) or summary.report.sessions
    if missing or (summary.report.errors and not read):
        return 2
    return 1 if summary.report.errors else 0
