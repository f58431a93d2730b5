"""What a person or a script gets to see of an ingest."""

from typing import Any

from pond.cli.show import show_faults
from pond.cli.show import summary as faults_and_drift
from pond.handlers.ingest import Summary


def show(summary: Summary, dry_run: bool) -> None:
    """Print what came in on standard output, and what is wrong with the sources on standard error."""
    files = ", ".join(f"{count} {what}" for what, count in summary.files.items() if count) or "none"
    print(f"files     {files}")
    new = "would be new" if dry_run else "new"
    print(f"sessions  {summary.new_sessions} {new}")
    print(f"rows      {summary.new_messages} messages and {summary.new_parts} parts {new}")
    if summary.waiting:
        print(f"waiting   {summary.waiting} files were only just begun; the next sync takes them")
    if summary.erased:
        print(f"erased    {summary.erased} sessions stay erased")
    if summary.known_faults:
        print(f"faults    {summary.known_faults} in unchanged files, reported when those were read")
    show_faults(summary.report)


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
        "waiting": summary.waiting,
        "erased": summary.erased,
        "known_faults": summary.known_faults,
        "faults": told["faults"],
        "drift": told["drift"],
    }  # fmt: skip


def exit_code(summary: Summary, missing: bool) -> int:
    """Return 2 where an input named is not there or nothing could be read at all, 1 where something was faulty."""
    read = sum(summary.files.values()) or summary.report.sessions
    if missing or (summary.report.errors and not read):
        return 2
    return 1 if summary.report.errors else 0
