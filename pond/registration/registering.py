"""Registers pond with a client, and takes that back: first as a plan that can be shown, then carried out."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pond.registration import files
from pond.registration.clients import Client, Entry
from pond.registration.launching import Launch
from pond.registration.learning import learned


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to become of one client's file; `after` is None where it goes."""

    client: Client
    file: Path
    before: str
    after: str | None
    how: str

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return self.before != self.after and not (self.after is None and not self.file.exists())

    def diff(self, secret: str | None = None) -> Iterator[str]:
        """Yield the change line by line; a token is not shown."""
        name = str(self.file)
        lines = difflib.unified_diff(
            self.before.splitlines(), (self.after or "").splitlines(), name, name, lineterm="", n=2
        )
        for line in lines:
            yield line.replace(secret, "(token)") if secret else line


def planned(client: Client, launch: Launch, home: Path, environ: Mapping[str, str]) -> Plan:
    """Return how to register pond with a client; raise UsageError where its file cannot be edited."""
    file = client.file(home, environ)
    text = files.text_of(file)
    own = learned(client, launch, environ)
    entry: Entry = client.entry(launch) if own is None else own
    how = "as pond knows it" if own is None else f"as `{client.name} mcp add` writes it"
    return Plan(client, file, text, files.with_entry(client, file, text, entry), how)


def undone(client: Client, home: Path, environ: Mapping[str, str]) -> Plan:
    """Return how to take pond out of a client: to the byte as it was, where nothing else has changed since."""
    record = files.Record.of(client.name, environ)
    file = Path(record.file) if record is not None else client.file(home, environ)
    text = files.text_of(file)
    if record is not None and files.digest(text) == record.after and (before := record.original()) is not None:
        return Plan(client, file, text, before if record.existed else None, "as it was before")
    if not text:
        return Plan(client, file, text, text, "nothing to do")
    return Plan(client, file, text, files.with_entry(client, file, text, None), "without pond's entry")


def register(plan: Plan, environ: Mapping[str, str]) -> Path:
    """Carry a plan out; return the copy of what was there before."""
    assert plan.after is not None
    backup = files.remember(plan.client.name, plan.file, plan.before, plan.after, environ)
    files.put(plan.file, plan.before, plan.after)
    return backup


def take_back(plan: Plan, environ: Mapping[str, str]) -> None:
    """Carry an undoing out."""
    files.put(plan.file, plan.before, plan.after)
    files.forget(plan.client.name, environ)
