"""Generated files follow from their sources alone, `--check` notices when they do not, and nothing is lost in them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from codegen import __main__ as command
from codegen import emit_cli, emit_types
from codegen.emit_docs import errors_page, types_page
from codegen.emit_schema import canonical_bundle, version_folder, wire_bundle
from codegen.metamodel import ObjectType, UnionType, read_model
from codegen.output import MARK, REFERENCE
from pond.diagnostics.codes import Code
from pond.model import _generated
from tests.cli.command import pond
from tests.schema.examples import GOOD, MODEL

TYPES = emit_types.TYPES
TYPES_PAGE = REFERENCE / "types.md"


@pytest.fixture(scope="module")
def targets() -> dict[Path, str]:
    """Generate once for this module; it starts other programs."""
    return command.targets()


@pytest.fixture
def tree(tmp_path: Path, targets: dict[Path, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a fresh tree to break."""
    monkeypatch.setattr(command, "targets", lambda: targets)
    assert command.main(["--root", str(tmp_path)]) == 0
    return tmp_path


def _check(tree: Path) -> int:
    return command.main(["--check", "--root", str(tree)])


def _help(words: tuple[str, ...]) -> str:
    """Return the help of a command, without starting a process for each."""
    done = pond(*words, "--help", variables={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})
    assert done.code == 0, done.err
    return done.out.decode()


def test_a_second_run_gives_the_same_text(targets: dict[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setattr(emit_cli, "_help", _help)
    assert command.targets() == targets


def test_every_file_opens_with_the_command(targets: dict[Path, str]) -> None:
    bundle = {version_folder() / name for name in ("canonical.schema.json", "wire.schema.json", "openapi.json")}
    assert bundle | {TYPES, TYPES_PAGE, REFERENCE / "errors.md"} <= set(targets)
    assert [path for path, text in targets.items() if MARK not in "".join(text.splitlines()[:2])] == []


def test_a_fresh_tree_passes_and_is_not_touched(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (tree / TYPES).stat().st_mtime_ns
    capsys.readouterr()
    assert _check(tree) == 0
    assert command.main(["--root", str(tree)]) == 0
    assert capsys.readouterr().out == ""
    assert (tree / TYPES).stat().st_mtime_ns == before


def test_a_doctored_file_is_stale_and_shown(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tree / TYPES_PAGE
    page.write_text(page.read_text().replace("# Types", "# Kinds", 1))
    assert _check(tree) == 1
    out = capsys.readouterr().out
    assert f"stale: {TYPES_PAGE} (differs)" in out
    assert "-# Kinds\n+# Types" in out
    assert str(TYPES) not in out


def test_a_long_difference_is_cut(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / TYPES).write_text("")
    assert _check(tree) == 1
    out = capsys.readouterr().out
    assert len(out.splitlines()) < 40
    assert "more lines" in out


def test_changed_line_ends_are_stale(tree: Path) -> None:
    page = tree / TYPES_PAGE
    page.write_bytes(page.read_bytes().replace(b"\n", b"\r\n"))
    assert _check(tree) == 1


def test_a_missing_file_is_stale_and_comes_back(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / TYPES).unlink()
    assert _check(tree) == 1
    assert f"stale: {TYPES} (missing)" in capsys.readouterr().out
    assert command.main(["--root", str(tree)]) == 0
    assert _check(tree) == 0


def test_a_page_nothing_generates_any_more_is_stale_and_goes(tree: Path) -> None:
    left, mine = tree / REFERENCE / "old.md", tree / REFERENCE / "notes.md"
    left.write_text(f"<!-- {MARK} from schema/; do not edit. -->\n")
    mine.write_text("Written by hand.\n")
    assert _check(tree) == 1
    assert command.main(["--root", str(tree)]) == 0
    assert (left.exists(), mine.exists()) == (False, True)


def test_two_emitters_may_not_write_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emit_types, "targets", lambda: {TYPES_PAGE: ""})
    with pytest.raises(ValueError, match=r"two emitters write .*types\.md"):
        command.targets()


@pytest.mark.parametrize("bundle", [canonical_bundle(), wire_bundle()], ids=["canonical", "wire"])
def test_a_published_schema_is_self_contained(bundle: Mapping[str, Any]) -> None:
    assert bundle["$id"].startswith("urn:pond:schema:")
    refs = [value for key, value in _pairs(bundle) if key == "$ref"]
    assert refs
    assert [each for each in refs if each.removeprefix("#/$defs/") not in bundle["$defs"]] == []


def _pairs(value: Any) -> list[tuple[str, Any]]:
    match value:
        case dict():
            return [*value.items(), *(pair for inner in value.values() for pair in _pairs(inner))]
        case list():
            return [pair for inner in value for pair in _pairs(inner)]
        case _:
            return []


def _published(type_: str) -> dict[str, Any]:
    """Return the JSON Schema that pydantic derives from a generated type, with its definitions."""
    schema = TypeAdapter(getattr(_generated, type_)).json_schema(by_alias=True)
    return {**schema.pop("$defs", {}), type_: schema}


def test_no_canonical_definition_is_lost_in_the_types() -> None:
    assert set(_published("Event")) == set(canonical_bundle()["$defs"])


@pytest.mark.parametrize(
    "union", [each for each in MODEL.definitions if isinstance(each, UnionType)], ids=lambda u: u.name
)
def test_the_types_keep_discriminators(union: UnionType) -> None:
    published = _published(union.name)[union.name]
    assert published["discriminator"]["propertyName"] == union.discriminator
    assert [each["$ref"].removeprefix("#/$defs/") for each in published["oneOf"]] == list(union.members)


@pytest.mark.parametrize(
    "owner", [each for each in MODEL.definitions if isinstance(each, ObjectType)], ids=lambda o: o.name
)
def test_the_types_keep_fields_and_their_named_types(owner: ObjectType) -> None:
    ours, theirs = wire_bundle()["$defs"][owner.name], _published(owner.name)[owner.name]
    assert theirs["description"] == ours["description"]
    assert theirs.get("additionalProperties", True) == ours["additionalProperties"]
    assert sorted(theirs.get("required", [])) == sorted(ours.get("required", []))
    assert list(theirs["properties"]) == list(ours["properties"])
    for name, body in ours["properties"].items():
        typed = {key: value for key, value in body.items() if not key.startswith("x-")}  # those say nothing of values
        assert {key: value for key, value in theirs["properties"][name].items() if key != "title"} == typed


@pytest.mark.parametrize(
    "value",
    [3, 2**70, 1.0, -0.0, True, None, "1", "cut \ud83d off", [1, True], {"\udc00": 2**70, "f": 1.0, "n": None}],
    ids=ascii,
)
def test_the_types_change_no_value(value: Any) -> None:
    call = next(each for each in GOOD if str(each) == "ToolCallPart/read").value
    call = {**call, "name": "cut \ud83d off", "params": value, "options": {"source": value, "openai": value}}
    adapter: TypeAdapter[Any] = TypeAdapter(_generated.Event)
    assert repr(adapter.dump_python(adapter.validate_python(call))) == repr(call)


def test_the_page_on_types_has_every_type_and_field() -> None:
    page = types_page(read_model(canonical_bundle()), MODEL)
    sections = {text.split("\n", 1)[0]: text for text in page.split("\n### ")[1:]}
    assert list(sections) == [each.name for each in MODEL.definitions]
    for owner in MODEL.definitions:
        assert owner.description in sections[owner.name].replace("\n", " ")
        for field in owner.fields if isinstance(owner, ObjectType) else ():
            (row,) = [line for line in sections[owner.name].splitlines() if line.startswith(f"| `{field.name}` |")]
            assert field.description in row
            assert ("| yes |" in row) == field.required


def test_every_field_is_shown_in_an_example() -> None:
    page = types_page(read_model(canonical_bundle()), MODEL)
    assert [line for line in page.splitlines() if line.startswith("| `") and line.endswith("|  |")] == []


def test_the_page_on_errors_has_all_of_a_code() -> None:
    code = Code("map-x", "error", "A | B is wrong.", "Because.", "Write C.", "a <-> b\n")
    page = errors_page({"map-x": code, "map-a": Code("map-a", "warning", "M.", "W.", "F.", "E")})
    assert "| [`map-x`](#map-x) | error | A \\| B is wrong. |" in page
    assert (
        "## map-x\n\nerror: A | B is wrong.\n\n**Why.** Because.\n\n```text\na <-> b\n```\n\n**What to do.** Write C.\n"
        in page
    )
    assert page.index("## map-a") < page.index("## map-x")
