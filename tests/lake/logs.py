"""Session files to crash over: some hundreds of records of both clients, which may be short for a while, then grow."""

import random
import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.bench.corpus import CLIENTS, Session, Texts, path_of, write_file
from tests.house.tree import ROOT

_FIXTURES = {
    "claude_code": ("tour", "images", "subagents", "tool-use-results", "record-kinds"),
    "codex": ("tour", "images", "subagents", "fork", "paginated"),
}
_SIZES = (130_000, 40_000)  # bytes of the invented sessions of each client, after their heads


@dataclass(frozen=True)
class Logs:
    """Files below `root`, and what each holds when it is complete."""

    root: Path
    whole: dict[Path, bytes]

    def shorten(self, seed: int) -> None:
        """Leave the first records of most files, as if their sessions were still running; take some files away.

        What is left shows where the session runs: `ingest` keeps what a younger one shows instead (`lake-immutable`).
        """
        drawn = random.Random(seed)
        for file, content in sorted(self.whole.items()):
            lines = content.splitlines(keepends=True)
            shown = next((number for number, line in enumerate(lines, 1) if b'"cwd":' in line), len(lines))
            kept = drawn.choice((0, len(lines), *[drawn.randint(shown, len(lines))] * 3))
            if kept:
                file.write_bytes(b"".join(lines[:kept]))
            else:
                file.unlink(missing_ok=True)

    def grow(self, files: list[Path] | None = None) -> None:
        """Complete the files, or those given."""
        for file in files if files is not None else self.whole:
            if not file.exists() or file.read_bytes() != self.whole[file]:
                with file.open("ab") as out:  # as a client does: nobody ever sees a shorter file
                    out.write(self.whole[file][out.tell() :])

    def short(self) -> list[Path]:
        """Return the files that are not complete."""
        return [file for file, content in self.whole.items() if not file.exists() or file.read_bytes() != content]


def logs(root: Path, *, invented: bool = True) -> Logs:
    """Write the files below `root`: fixtures of the adapters and, unless told otherwise, longer invented sessions."""
    for client, folders in _FIXTURES.items():
        for folder in folders:
            shutil.copytree(ROOT / "adapters" / client / "fixtures" / folder, root / client / folder)
    if invented:
        for client in CLIENTS:
            dice = random.Random(client)
            texts = Texts(dice)
            for number, size in enumerate(_SIZES):
                session = Session(texts, number)
                write_file(root / "invented" / path_of(client, session), client, session, dice, size)
    return Logs(root, {file: file.read_bytes() for file in sorted(root.rglob("*.jsonl"))})
