"""Each adapter's mapping -> `adapters/<client>/compiled.py`, so that converting needs no parser at run time."""

from __future__ import annotations

from pathlib import Path

from pond._locate import adapters_dir
from pond.lang.check import check
from pond.lang.compile import compile_plan
from pond.lang.parse import parse


def targets() -> dict[Path, str]:
    """Return the compiled module of every mapping, keyed by where it belongs."""
    out: dict[Path, str] = {}
    for folder in sorted(adapters_dir().iterdir()):
        source = folder / f"{folder.name}.map"
        if source.is_file():
            plan = check(parse(source.read_text(encoding="utf-8"), f"adapters/{folder.name}/{source.name}"))
            out[folder / "compiled.py"] = compile_plan(plan)
    return out
