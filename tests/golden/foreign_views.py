"""What a reviewer sees of a case on its way to another client: the files written, row by row, and the losses."""

import json
import re
import tempfile
from pathlib import Path

from pond.codec.batch import run_jobs
from pond.codec.finding import expand
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.model.json_text import Json
from tests.golden.views import CHECKOUT, shown
from tests.laws.passage import strict_values


def converted(folder: Path, target: str) -> tuple[dict[str, list[Json]], Report]:
    """Convert a case to another client; return the rows of each file, by its place in the client's layout."""
    report = Report()
    with tempfile.TemporaryDirectory() as place:
        jobs = expand([str(folder)], report)
        for _, result in run_jobs(jobs, ConversionRequest(target), Path(place), Path(place), 1):
            report.add(result)
        made = sorted(path for path in Path(place).rglob("*") if path.is_file())
        return {path.relative_to(place).as_posix(): strict_values(path.read_bytes()) for path in made}, report


def foreign_view(folder: Path, target: str) -> str:
    """Return every row written for the target, long texts cut, under the name of its file."""
    files, report = converted(folder, target)
    lines = [f"{fault.code}: {_words(fault.message, folder)}" for fault in report.faults]
    # By the name shown: a file named after the checkout would stand elsewhere in every checkout.
    for name, rows in sorted((_words(name, folder), rows) for name, rows in files.items()):
        lines += [f"{name}: {len(rows)} rows"]
        lines += ["  " + json.dumps(shown(row, folder), ensure_ascii=False, sort_keys=True) for row in rows]
    return "\n".join([*lines, ""])


def loss_view(folder: Path, target: str) -> str:
    """Return every loss, one a line: kind, class, count, what it is about."""
    _, report = converted(folder, target)
    lines = ["# kind, class, count, what, message or part"]
    for losses in report.losses:
        lines.append(f"# session {_words(losses.session, folder)}")
        for loss in losses.all():
            entry = loss.as_json()
            named = entry.get("part") or entry.get("message") or ""
            about = " ".join(ascii(word)[1:-1] for word in (entry.get("what", ""), named) if word)
            lines.append(f"{loss.kind:20} {entry['class']:9} {loss.count:4} {about}".rstrip())
    return "\n".join([*lines, ""])


def _words(text: str, folder: Path) -> str:
    """Return a text that is the same in every checkout: a folder may be named after the checkout's."""
    return str(shown(text.replace(re.sub(r"[^A-Za-z0-9]", "-", folder.as_posix()), CHECKOUT), folder))
