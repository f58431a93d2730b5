"""The marks in `options.pond` have one list of names, which is the schema's, and nobody spells the bag by hand."""

import json
import re

from pond._locate import schema_dir
from pond.model import marks
from tests.house.tree import ROOT

# What pond writes into another client's file is no mark in `options.pond`.
ELSEWHERE = ("POND", "ORIGIN", "COPIED", "DISPLAY", "TOOLS")
NAMES = {
    name: value
    for name, value in vars(marks).items()
    if type(value) is str and name.isupper() and name not in ELSEWHERE
}
# The emitters print source text, and what they print is compared with the interpreter, which uses the names.
EXCEPT = ("pond/lang/emit/", "pond/model/marks.py", "compiled.py", "_generated.py")
BAG = re.compile(r"""\[["']pond["']\]|\.get\(["']pond["']|["']pond["']: *[{]|["']pond["'] (not )?in """)


def test_the_names_are_those_of_the_schema() -> None:
    schema = json.loads((schema_dir() / "canonical.schema.json").read_text())
    assert sorted(NAMES.values()) == sorted(schema["$defs"]["PondMarks"]["properties"])
    assert all(name.lower() == value for name, value in NAMES.items())


def test_nobody_else_spells_the_bag() -> None:
    files = [file for top in ("pond", "adapters") for file in (ROOT / top).rglob("*.py")]
    spelled = [str(file.relative_to(ROOT)) for file in files if BAG.search(file.read_text(encoding="utf-8"))]
    assert [name for name in sorted(spelled) if not any(each in name for each in EXCEPT)] == []


def test_generated_code_uses_no_other_mark() -> None:
    used = {
        name
        for file in (ROOT / "adapters").glob("*/compiled.py")
        for name in re.findall(r"""\b(?:pond|marks)(?:\[|\.get\()'(\w+)'""", file.read_text(encoding="utf-8"))
    }
    assert used
    assert used <= set(NAMES.values())
