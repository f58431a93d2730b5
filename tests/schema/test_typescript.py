"""The TypeScript declarations compile, take every right example, refuse wrong ones, and have no doubles."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from codegen.emit_schema import version_folder, wire_bundle
from codegen.emit_typescript import declarations
from codegen.metamodel import EnumType, ObjectType, read_model
from codegen.output import ROOT
from codegen.routes import read_routes
from tests.schema.examples import BAD, GOOD, MODEL, Example, Mistake
from tests.schema.typescript import compiler

DECLARATIONS = ROOT / version_folder() / "pond.d.ts"
_OPTIONS = ("--strict", "--noEmit", "--exactOptionalPropertyTypes", "--target", "es2022", "--module", "nodenext")
_CALL = """
import type { Operations, SearchResponse } from "./pond.js";

declare function call<Name extends keyof Operations>(
  name: Name,
  request: Operations[Name]["request"],
): Promise<Operations[Name]["response"]>;

export async function first(query: string): Promise<string | undefined> {
  const found: SearchResponse = await call("search", { protocol_version: 1, query, limit: 1 });
  return found.sessions[0]?.hits[0].text;
}

export async function length(session_id: string): Promise<number> {
  const found = await call("get", { protocol_version: 1, session_id, response_mode: "verbatim" });
  return found.response_mode === "message" ? 1 : found.messages.length;
}
"""


def _tsc(folder: Path, source: str) -> list[str]:
    """Compile a program that uses the declarations; return the complaints."""
    (folder / "pond.d.ts").write_bytes(DECLARATIONS.read_bytes())
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "program.ts").write_text(source, encoding="utf-8")
    command = [*compiler(), *_OPTIONS, "program.ts", "pond.d.ts"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode else []


def _typescript_sees(example: Example, mistake: Mistake) -> bool:
    """Return whether a type can say so: limits of texts and numbers, and fields that need each other, it cannot."""
    match mistake.kind, MODEL[example.type]:
        case "missing", _:
            return True
        case "unknown", ObjectType(open=is_open):
            return not is_open
        case "value", EnumType():
            return True
        case _:
            return False


def _uses(examples: list[Example], before: str = "") -> Iterator[str]:
    for number, example in enumerate(examples):
        value = json.dumps(example.value)
        yield f'{before}export const x{number}: import("./pond.js").{example.type} = {value}; // {example}'


def test_a_program_that_calls_the_operations_compiles(tmp_path: Path) -> None:
    assert _tsc(tmp_path, _CALL) == []


def test_the_program_on_the_page_compiles(tmp_path: Path) -> None:
    (program,) = re.findall(r"^```typescript\n(.*?)^```", (ROOT / "docs/schemas.md").read_text("utf-8"), re.M | re.S)
    assert _tsc(tmp_path, program.replace("async function", "export async function")) == []


def test_a_right_example_has_its_type(tmp_path: Path) -> None:
    assert _tsc(tmp_path, "\n".join(_uses(GOOD))) == []


def test_a_wrong_example_has_not(tmp_path: Path) -> None:
    seen = [example for example, mistake in BAD if _typescript_sees(example, mistake)]
    assert len(seen) > 50
    assert _tsc(tmp_path, "\n".join(_uses(seen, "// @ts-expect-error\n"))) == []


def test_a_complaint_of_the_compiler_is_noticed(tmp_path: Path) -> None:
    (complaint,) = _tsc(tmp_path, 'export const wrong: import("./pond.js").SessionId = 1;')
    assert "Type 'number' is not assignable" in complaint


def test_each_definition_is_declared_once_and_nothing_else() -> None:
    found = re.findall(r"^export (?:interface|type) (\w+)", DECLARATIONS.read_text(encoding="utf-8"), re.MULTILINE)
    assert found == [*(each.name for each in MODEL.definitions), "Operations"]


@pytest.mark.parametrize("owner", [each for each in MODEL.definitions if isinstance(each, ObjectType)], ids=str)
def test_a_field_is_optional_where_the_schema_says_so(owner: ObjectType) -> None:
    text = DECLARATIONS.read_text(encoding="utf-8")
    body = text.partition(f"export interface {owner.name} {{\n")[2].partition("\n}\n")[0]
    fields = re.findall(r"^  (\w+)(\??):", body, re.MULTILINE)
    assert fields == [(field.name, "" if field.required else "?") for field in owner.fields]


def test_a_description_does_not_end_its_comment() -> None:
    bundle = wire_bundle()
    definitions = {**bundle["$defs"], "SessionId": {"description": "Ends */ here.", "type": "string"}}
    table = read_routes(read_model({**bundle, "$defs": definitions}))
    assert "/** Ends * / here. */" in list(declarations(table))
