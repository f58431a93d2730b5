"""Emit the types: pydantic ones that validate, and plain shapes of the same values that cost nothing at run time."""

import json
import tempfile
from importlib.metadata import version
from pathlib import Path

from codegen.emit_schema import wire_bundle
from codegen.layout import laid_out, run
from codegen.output import MARK

TYPES = Path("pond/model/_generated.py")
SHAPES = Path("pond/types.py")

# Chosen so that no definition is lost: branded ids and enumerations stay named, unions stay discriminated, and an
# absent field stays absent instead of becoming null. docs/decisions/0002-canonical-schema.md has the reasons.
_FLAGS = (
    "--input-file-type=jsonschema",
    "--target-python-version=3.11",
    "--use-type-alias",
    "--strict-nullable",
    "--use-standard-collections",
    "--use-union-operator",
    "--enum-field-as-literal=all",
    "--strict-refs",
    "--skip-root-model",
    "--use-schema-description",
    "--use-single-line-docstring",
    "--use-double-quotes",
    "--disable-timestamp",
    "--formatters=builtin",
    "--ignore-pyproject",
)
_VALIDATING = (
    "--output-model-type=pydantic_v2.BaseModel",
    "--base-class=pond.model.base.Strict",
    "--target-pydantic-version=2.14",
    "--use-annotated",
    "--use-missing-sentinel",
    "--field-constraints",
)
_PLAIN = ("--output-model-type=typing.TypedDict",)
_ABOUT_SHAPES = (
    '"""The shapes of canonical events, and of requests and responses: what JSON values look like as dicts."""\n\n'
)


def targets() -> dict[Path, str]:
    """Return the modules of types by path: the canonical definitions, then those of the wire."""
    generator = f"datamodel-code-generator {version('datamodel-code-generator')}"
    header = f"# {MARK} from schema/ with {generator}; do not edit.\n# ruff: noqa: E501\n"
    return {
        TYPES: header + laid_out(_generate(_VALIDATING)),
        SHAPES: header + laid_out(_ABOUT_SHAPES + _generate(_PLAIN)),
    }


def _generate(kind: tuple[str, ...]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder, "pond.json"), Path(folder, "types.py")
        source.write_text(json.dumps(wire_bundle()), encoding="utf-8")
        run("datamodel_code_generator", f"--input={source}", f"--output={output}", *_FLAGS, *kind)
        return _without_header(output.read_text(encoding="utf-8"))


def _without_header(text: str) -> str:
    """Drop the generator's own opening comment, which names a temporary file."""
    lines = text.splitlines(keepends=True)
    first = next(index for index, line in enumerate(lines) if not line.startswith("#"))
    return "".join(lines[first:])
