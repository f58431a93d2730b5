"""What a person or a script is told about a conversion to another client: losses and moved paths."""

from pathlib import Path

from pond.cli.terminal import warn
from pond.codec.output import NewFile
from pond.codec.report import Report
from pond.diagnostics.visible import one_line_of
from pond.model.json_text import encode_line


def write_losses(report: Report, path: Path) -> None:
    """Write every loss entry as JSONL; like any output, in place of nothing else."""
    with NewFile(path) as out:
        for losses in report.losses:
            for loss in losses.all():
                out.write(encode_line(loss.as_json()))


def show_losses(report: Report, written: bool) -> None:
    """Say in a few lines what did not go over as it was."""
    if not report.losses:
        return
    from pond.portable.loss import CONTENT, CONTEXT, KINDS

    counts = report.loss_counts()
    for weight in (CONTENT, CONTEXT):
        kinds = [f"{KINDS[kind][1]} ({count})" for kind, count in counts.items() if KINDS[kind][0] == weight]
        if kinds:
            warn(f"pond: {weight}: {'; '.join(kinds)}")
    rest = sum(count for kind, count in counts.items() if KINDS[kind][0] not in (CONTENT, CONTEXT))
    if rest:
        hint = "" if written else "; --loss-report FILE names all"
        warn(f"pond: metadata: {rest} values of the source client were left out{hint}")


def show_moved(report: Report, paths: tuple[tuple[str, str], ...]) -> None:
    """Say how many values name another directory now."""
    if paths:
        which = ", ".join(f"{one_line_of(old)} -> {one_line_of(new)}" for old, new in paths)
        warn(f"pond: {which}: {report.moved} values changed")
