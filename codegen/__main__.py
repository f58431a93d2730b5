"""`python -m codegen` writes the generated files; with `--check` it only says which are stale."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from codegen import (
    emit_cli,
    emit_client,
    emit_docs,
    emit_index,
    emit_maps,
    emit_openapi,
    emit_schema,
    emit_tables,
    emit_types,
    emit_typescript,
)
from codegen.output import COMMAND, ROOT, find_stale, write

_EMITTERS = (
    emit_schema,
    emit_openapi,
    emit_typescript,
    emit_index,
    emit_client,
    emit_types,
    emit_tables,
    emit_docs,
    emit_maps,
    emit_cli,
)


def targets() -> dict[Path, str]:
    """Return every generated file: its path, relative to the root of the tree, and its text."""
    found: dict[Path, str] = {}
    for emitter in _EMITTERS:
        for path, text in emitter.targets().items():
            relative = path.relative_to(ROOT) if path.is_absolute() else path
            if relative in found:
                raise ValueError(f"two emitters write {relative}")
            found[relative] = text
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(
        prog=COMMAND, description="Write the generated files, or check that they are fresh."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is stale")
    parser.add_argument("--root", type=Path, default=ROOT, help="the tree to write to or to check (default: this one)")
    options = parser.parse_args(arguments)
    return _check(options.root) if options.check else _write(options.root)


def _write(root: Path) -> int:
    for path in write(root, targets()):
        print(path)
    return 0


def _check(root: Path) -> int:
    stale = find_stale(root, targets())
    for each in stale:
        print(f"stale: {each.path} ({each.reason})")
        if each.diff:
            print(each.diff)
    if stale:
        print(f"run `{COMMAND}` and commit what it writes", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
