"""The adapters: every folder with a mapping is one. There is no second list that could be forgotten."""

from __future__ import annotations

import hashlib
import importlib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, overload

from pond._locate import adapters_dir
from pond.diagnostics.nearest import unknown
from pond.lang.runtime import COMPILER
from pond.model.json_text import JsonObject

CANONICAL = "canonical"


class Observer(Protocol):
    """A client's pass over the records that its mapping marks as observed: sees them in order, with bounded memory."""

    def observe(self, record: JsonObject) -> JsonObject:
        """Return the facts about a record that follow from the records before it."""

    def state(self) -> JsonObject:
        """Return everything that is remembered, as JSON: after `restore`, the pass continues as if there had been no
        break.
        """

    def restore(self, state: JsonObject) -> None:
        """Remember what `state` returned, and nothing else."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """One client: its compiled mapping, and the passes its folder holds."""

    client: str
    folder: Path
    module: ModuleType

    def observer(self) -> Observer | None:
        """Return a fresh pass that looks at each record and says what it learnt from earlier ones."""
        if not self.module.FACTS:
            return None
        passes = importlib.import_module(f"pond.adapters.{self.folder.name}.passes")
        observer: Observer = passes.Observer()
        return observer

    def listed(self, path: Path | None) -> tuple[JsonObject, ...]:
        """Return what the client's list of sessions says about the one in this file, oldest first."""
        module = part_of(self, "listed") if path is not None else None
        found: tuple[JsonObject, ...] = module.entries(path) if module is not None else ()
        return found

    @property
    def list_name(self) -> str:
        """The name of that list, in the client's home; empty if there is none."""
        module = part_of(self, "listed")
        return module.FILE if module is not None else ""

    def declared(self) -> dict[str, Any]:
        """Return what the adapter says about itself: versions verified, known limits."""
        return _declared(self.folder)


@cache
def clients() -> tuple[str, ...]:
    """Return the names of all clients, sorted."""
    folders = [f for f in adapters_dir().iterdir() if (f / f"{f.name}.map").is_file()]
    return tuple(sorted(folder.name.replace("_", "-") for folder in folders))


@overload
def client_named(name: str) -> str: ...


@overload
def client_named(name: str | None) -> str | None: ...


def client_named(name: str | None) -> str | None:
    """Return the client that a name means: people call some of them by a shorter one. Any other text stays as it is."""
    return name if name is None or name in clients() or name == CANONICAL else _called(name)


@cache
def _called(name: str) -> str:
    return next((client for client in clients() if name in _declared(_folder_of(client)).get("aliases", ())), name)


@cache
def adapter(client: str) -> Adapter:
    """Return the adapter of a client; raise UsageError if there is none."""
    client = client_named(client)
    if client not in clients():
        raise unknown("client", client, [*clients(), CANONICAL])
    return Adapter(client, _folder_of(client), _compiled(_folder_of(client)))


def _folder_of(client: str) -> Path:
    return adapters_dir() / client.replace("-", "_")


def _declared(folder: Path) -> dict[str, Any]:
    path = folder / "client.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


@cache
def part_of(owner: Adapter, name: str) -> ModuleType | None:
    """Return a module of the adapter's folder, if there is one of that name."""
    if not (owner.folder / f"{name}.py").is_file():
        return None
    return importlib.import_module(f"pond.adapters.{owner.folder.name}.{name}")


def _compiled(folder: Path) -> ModuleType:
    """Return the mapping's compiled module: the shipped one if it is fresh, otherwise compiled now."""
    text = (folder / f"{folder.name}.map").read_bytes()
    try:
        module = importlib.import_module(f"pond.adapters.{folder.name}.compiled")
        if (hashlib.sha256(text).hexdigest()[:16], COMPILER) == (module.DIGEST, module.COMPILER):
            return module
    except ImportError:
        pass
    return compile_now(text.decode("utf-8"), str(folder / f"{folder.name}.map"))


def compile_now(text: str, file: str) -> ModuleType:
    """Compile a mapping in memory (this imports the parser)."""
    from pond.lang.check import check
    from pond.lang.compile import compile_plan
    from pond.lang.parse import parse

    source = compile_plan(check(parse(text, file)))
    module = ModuleType(f"compiled mapping of {Path(file).name}")
    exec(compile(source, module.__name__, "exec"), module.__dict__)
    return module
