"""A mapping in both its forms, interpreted and compiled, and a reading context that writes down what it is told."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pond._locate import adapters_dir
from pond.codec.registry import adapter
from pond.lang import interpret
from pond.lang.check import check
from pond.lang.compile import compile_plan
from pond.lang.context import Reading, Writing
from pond.lang.parse import parse
from pond.lang.plan import Plan
from pond.model.json_text import Json, JsonObject, encode

HERE = Path(__file__).parent
EVERY_FEATURE = HERE / "every_feature.map"
ODD_NAMES = HERE / "odd_names.map"

# What a pass may say of one record after the other: a fact is true, or it is not. All are of the first record.
SAID_OF_A_RECORD: tuple[Json, ...] = (True, False, True, None, True, 1, "true")
# A fact that fills a field is of the field's type, or is not told.
FILLED: tuple[JsonObject, ...] = ({"tool": "paint"}, {"tool": "paint", "failed": True}, {"failed": False}, {})
SESSION, PROJECT, ANCHOR = "s-1", "/home/ada/engine", "2026-01-02T03:04:05.678Z"


def adapter_maps() -> list[Path]:
    """List the mappings of the clients: whatever folder has one, in order."""
    return sorted(adapters_dir().glob("*/*.map"))


def all_maps() -> list[Path]:
    """List the clients' mappings and the two that exist to use what no client uses."""
    return [*adapter_maps(), EVERY_FEATURE, ODD_NAMES]


class Listener(Reading):
    """Remember notes and drift, and tell repeats as a codec would: equal is a repeat, different gets its own id."""

    def __init__(self) -> None:
        super().__init__(SESSION, PROJECT, ANCHOR)
        self.heard: list[tuple[str, ...]] = []
        self._texts: list[bytes] = []

    def next(self, record: JsonObject) -> JsonObject:
        """Return a copy of the next record to be read, having noted where it stands."""
        self.seq = self.place = len(self._texts)
        said = {name: SAID_OF_A_RECORD[self.place * n % 7] for n, name in enumerate(given_facts(), 1)}
        self.facts = said | FILLED[self.place % len(FILLED)]
        self._texts.append(encode(record))
        whole: JsonObject = copy(record)
        return whole

    def identify(self, own: str, record: JsonObject) -> str | None:
        first = self._texts[self.seen[hash(own)]]
        assert encode(record) == self._texts[self.place], "identity must be asked for before anything is taken out"
        return None if first == self._texts[self.place] else f"{own}~{self.place}"

    def note(self, code: str, path: str, message: str) -> None:
        self.heard.append((code, path, message))

    def drift(self, code: str, kind: str, names: Iterable[str]) -> None:
        self.heard.append((code, kind, *names))


@dataclass(frozen=True, eq=False)
class Engines:
    """One plan and the two ways to run it."""

    plan: Plan
    compiled_read: Callable[[JsonObject, Reading], list[JsonObject]]
    compiled_write: Callable[[list[JsonObject], Writing], JsonObject]

    def read(self, record: JsonObject, context: Reading) -> list[JsonObject]:
        return interpret.read(self.plan, record, context)

    def write(self, events: list[JsonObject], context: Writing) -> JsonObject:
        return interpret.write(self.plan, events, context)


def copy(value: Json) -> Json:
    """Return a JSON value that shares nothing with `value` that could be changed."""
    if type(value) is dict:
        return {key: copy(member) for key, member in value.items()}
    if type(value) is list:
        return [copy(item) for item in value]
    return value


@cache
def given_facts() -> list[str]:
    """Return the facts on which it depends, in any mapping, of what kind a record is or whose words it holds."""
    plans = [engines(path).plan for path in all_maps()]
    kinds = {kind.given for plan in plans for kind in plan.kinds if kind.given is not None}
    return sorted(kinds.union(*(table.given for plan in plans for table in plan.spans)))


@cache
def engines(path: Path) -> Engines:
    """Return the mapping at `path`, checked and compiled; a client's in the module that `pond` itself would run."""
    if path not in adapter_maps():
        return engines_of(path.read_text(encoding="utf-8"), path.name)
    plan = check(parse(path.read_text(encoding="utf-8"), path.name))
    module = adapter(plan.client).module
    return Engines(plan, module.read, module.write)


def engines_of(text: str, file: str = "test.map") -> Engines:
    """Return a mapping given as text, checked and compiled."""
    plan = check(parse(text, file))
    module: dict[str, Any] = {}
    exec(compile(compile_plan(plan), f"<compiled {file}>", "exec"), module)
    return Engines(plan, module["read"], module["write"])
