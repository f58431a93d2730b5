"""The examples of schema/examples, and what the name of a bad one promises.

A bad example has one mistake, and its name says which: `bad-<mistake>[-<field>][--<remark>].json`, as schema/README.md
explains. Without a field it is the whole value that is wrong.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.emit_schema import wire_bundle
from codegen.metamodel import Model, read_model

ROOT = Path(__file__).resolve().parents[2] / "schema" / "examples"
MODEL: Model = read_model(wire_bundle())

_BAD = re.compile(r"bad-(?P<mistake>missing|unknown|type|empty|value|needs)(-(?P<field>[a-z_]+))?(--[a-z0-9-]+)?")


@dataclass(frozen=True)
class Mistake:
    """What is wrong, and with which field."""

    kind: str
    field: str | None

    def __str__(self) -> str:
        return f"{self.kind} {self.field or 'value'}"


@dataclass(frozen=True)
class Example:
    """One example file; `mistake` is None where the example is right."""

    type: str
    name: str
    mistake: Mistake | None

    @property
    def value(self) -> Any:
        """Read the example, afresh each time, so that no test sees what another changed."""
        return json.loads((ROOT / self.type / f"{self.name}.json").read_text(encoding="utf-8"))

    def __str__(self) -> str:
        return f"{self.type}/{self.name}"


def _read(file: Path) -> Example:
    found = _BAD.fullmatch(file.stem)
    if file.stem.startswith("bad-") and not found:
        raise ValueError(f"{file.name} does not say which mistake it makes")
    return Example(file.parent.name, file.stem, Mistake(found["mistake"], found["field"]) if found else None)


ALL = [_read(file) for file in sorted(ROOT.glob("*/*.json"))]
GOOD = [each for each in ALL if not each.mistake]
BAD = [(each, each.mistake) for each in ALL if each.mistake]
