"""Tiny goldens, and git repositories that hold them."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Event = dict[str, Any]


def session(id: str = "s", **more: Any) -> Event:
    return {"kind": "session", "id": id, "source_agent": "parley", **more}


def message(id: str, session: str = "s", role: str = "user", **more: Any) -> Event:
    return {"kind": "message", "id": id, "session_id": session, "role": role, **more}


def part(id: str, text: str, provenance: str = "conversational", session: str = "s", **more: Any) -> Event:
    above = id.partition(":")[0]
    key = {"kind": "part", "id": id, "session_id": session, "message_id": above}
    return {**key, "provenance": provenance, "type": "text", "text": text, **more}


def canonical(*events: Event) -> bytes:
    """Return a canonical golden, laid out as the real ones are."""
    return (json.dumps(list(events), indent=2, ensure_ascii=False) + "\n").encode()


# Three rows of one session: what most tests change something about.
TOUR = (session(), message("m1"), part("m1:0", "Which plants are dry?"))


def entry(case: str = "parley/tour", change: str = "removed-row", row: str = "m1:0", because: str = "a reason") -> str:
    """Return one acknowledgement."""
    lines = (f"{name} = {json.dumps(value)}" for name, value in zip(_FIELDS, (case, change, row, because), strict=True))
    return "\n".join(["[[acknowledged]]", *lines, ""])


_FIELDS = ("case", "change", "row", "because")


@dataclass(frozen=True)
class Repository:
    """A git repository with goldens."""

    path: Path

    @classmethod
    def create(cls, path: Path) -> "Repository":
        path.mkdir()
        made = cls(path)
        made.git("init", "--quiet")
        return made

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.invalid")
        command = ["git", *who, *words]
        return subprocess.run(command, cwd=self.path, check=True, capture_output=True, text=True).stdout.strip()

    def write(self, files: dict[str, bytes | str]) -> None:
        """Write files below golden/."""
        for name, content in files.items():
            path = self.path / "golden" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, files: dict[str, bytes | str]) -> None:
        """Make `golden/` hold exactly `files`, and commit that."""
        shutil.rmtree(self.path / "golden", ignore_errors=True)
        self.write(files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "goldens")
