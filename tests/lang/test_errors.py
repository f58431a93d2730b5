"""Every mistake a mapping can make: one file each, whose first comment is the one diagnostic it must get."""

from pathlib import Path

import pytest

from pond.diagnostics.codes import CODES
from pond.diagnostics.diagnostic import Diagnostic, MappingError
from pond.diagnostics.render import one_line, picture
from pond.lang.check import check
from pond.lang.parse import parse
from tests.lang.engines import HERE

FILES = sorted((HERE / "errors").glob("*.map"))
MAP_CODES = sorted(code for code in CODES if code.startswith("map-"))


def expected(path: Path) -> str:
    """Return `line:column: code: message` from the file's first line."""
    return path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")


def diagnostics(path: Path) -> tuple[Diagnostic, ...]:
    """Return what is wrong with a mapping; nothing where it is right."""
    try:
        check(parse(path.read_text(encoding="utf-8"), path.name))
    except MappingError as error:
        return error.diagnostics
    return ()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_one_mistake_gives_the_one_expected_error(path: Path) -> None:
    assert [one_line(d) for d in diagnostics(path)] == [f"{path.name}:{expected(path)}"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_caret_stands_under_the_mistake(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for diagnostic in diagnostics(path):
        assert diagnostic.span is not None
        line = text.splitlines()[diagnostic.span.line - 1]
        assert diagnostic.span.column + diagnostic.span.length - 1 <= len(line) + 1
        assert picture(diagnostic, text).splitlines()[3].endswith(line)


@pytest.mark.parametrize("code", MAP_CODES)
def test_every_code_has_a_file_named_after_it(code: str) -> None:
    of_code = [path.stem for path in FILES if expected(path).split(": ")[1] == code]
    assert of_code
    assert all(stem.startswith(code.removeprefix("map-")) for stem in of_code)


@pytest.mark.rule("adapter-provenance-required")
def test_a_part_without_provenance_is_refused_and_says_which_rule() -> None:
    (diagnostic,) = diagnostics(HERE / "errors" / "provenance-required.map")
    assert (diagnostic.code, diagnostic.rule) == ("map-provenance-required", "adapter-provenance-required")


@pytest.mark.rule("model-no-synthesis")
@pytest.mark.parametrize("path", [p for p in FILES if p.stem.startswith("literal-source")], ids=lambda path: path.stem)
def test_no_canonical_field_can_be_filled_from_a_literal(path: Path) -> None:
    (diagnostic,) = diagnostics(path)
    assert (diagnostic.code, diagnostic.rule) == ("map-literal-source", "model-no-synthesis")


@pytest.mark.rule("model-schema-honesty")
@pytest.mark.parametrize("path", [p for p in FILES if p.stem.startswith("required-")], ids=lambda path: path.stem)
def test_a_required_field_must_be_filled_from_what_is_always_there(path: Path) -> None:
    (diagnostic,) = diagnostics(path)
    assert (diagnostic.code, diagnostic.rule) == ("map-required-unfilled", "model-schema-honesty")


@pytest.mark.parametrize(
    ("stem", "suggestion"),
    [
        ("unknown-target-part", "text"),
        ("unknown-target-message", "timestamp"),
        ("unknown-target-session", "project"),
        ("unknown-type-message", "UserMessage"),
        ("unknown-type-part", "TextPart"),
        ("unknown-spans", "harness"),
        ("unknown-conversion-session", "basename"),
        ("lookup-capture", "file"),
    ],
)
def test_a_slip_of_the_pen_gets_a_suggestion(stem: str, suggestion: str) -> None:
    (diagnostic,) = diagnostics(HERE / "errors" / f"{stem}.map")
    assert diagnostic.help == f"did you mean `{suggestion}`?"


def test_all_mistakes_of_a_file_are_told_at_once_in_order_and_not_too_many() -> None:
    rules = "\n".join(f"    a{number} <-> nonsense{number}" for number in range(30))
    text = (HERE / "errors" / "unknown-target-message.map").read_text().replace("    at <-> timestmp as rfc3339", rules)
    with pytest.raises(MappingError) as caught:
        check(parse(text, "x.map"))
    lines = [d.span.line for d in caught.value.diagnostics if d.span]
    assert len(lines) == 20
    assert lines == sorted(lines)
