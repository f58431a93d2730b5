"""Emit the reference pages: the types of the schemas, the diagnostic codes, and the settings."""

import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING
from pathlib import Path
from typing import Any

from codegen.emit_schema import canonical_bundle, wire_bundle
from codegen.metamodel import (
    AnyType,
    Const,
    Definition,
    EnumType,
    Field,
    ListOf,
    MapOf,
    Model,
    ObjectType,
    OneOrMoreType,
    Primitive,
    Ref,
    ScalarType,
    TypeExpr,
    UnionType,
    read_model,
)
from codegen.output import MARK, REFERENCE, ROOT
from pond.config.kinds import OptionTable
from pond.config.listing import as_text
from pond.config.settings import SETTINGS, Setting
from pond.diagnostics.codes import CODES, Code
from pond.diagnostics.failures import REASONS, Failure

EXAMPLES = Path("schema/examples")
_LONGEST_EXAMPLE = 48
_WIDTH = 120
_TERMS = "The [glossary](../glossary.md) explains the terms that are pond's own."


def targets() -> dict[Path, str]:
    """Return the reference pages by path."""
    return {
        REFERENCE / "types.md": types_page(read_model(canonical_bundle()), read_model(wire_bundle())),
        REFERENCE / "errors.md": errors_page(CODES),
        REFERENCE / "request-errors.md": failures_page(Failure, REASONS),
        REFERENCE / "configuration.md": settings_page(SETTINGS.values()),
    }


def types_page(canonical: Model, wire: Model) -> str:
    """Return the page on all types: the canonical ones, then those that only the wire has."""
    known = {each.name for each in canonical.definitions}
    added = tuple(each for each in wire.definitions if each.name not in known)
    lines = [
        f"<!-- {MARK} from schema/; do not edit. -->",
        "",
        "# Types",
        "",
        "The schemas themselves, one self-contained file each, are in `schema/bundle/` ([schemas](../schemas.md) says",
        "what else is). Examples of every type, right and wrong, are in `schema/examples/`.",
        _TERMS,
        "",
        *_chapter(canonical.title, canonical.description, canonical.definitions),
        *_chapter(wire.title, wire.description, added),
    ]
    return "\n".join(map(_wrapped, lines)).rstrip() + "\n"


def errors_page(codes: Mapping[str, Code]) -> str:
    """Return the page on diagnostic codes, sorted by code."""
    lines = [
        f"<!-- {MARK} from pond/diagnostics/codes.py; do not edit. -->",
        "",
        "# Diagnostics",
        "",
        _TERMS,
        "",
        *_table(
            ("code", "severity", "meaning"),
            ((f"[`{each.code}`](#{each.code})", each.severity, each.meaning) for _, each in sorted(codes.items())),
        ),
    ]
    for _, each in sorted(codes.items()):
        lines += [f"## {each.code}", "", f"{each.severity}: {each.meaning}", "", f"**Why.** {each.why}", ""]
        lines += ["```text", each.example.rstrip("\n"), "```", "", f"**What to do.** {each.fix}", ""]
    return "\n".join(map(_wrapped, lines)).rstrip() + "\n"


def _wrapped(line: str) -> str:
    """Return a line of prose at the width of the pages. Code is not broken, and neither are tables and headings."""
    if len(line) <= _WIDTH or "\n" in line or line.startswith(("|", "#", "<", " ")):
        return line
    solid = re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", "\0"), line)
    lines = textwrap.wrap(solid, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ")


def failures_page(failures: Iterable[Failure], reasons: Mapping[str, str]) -> str:
    """Return the page on errors that can answer a request."""
    lines = [
        f"<!-- {MARK} from pond/diagnostics/failures.py; do not edit. -->",
        "",
        "# Errors of requests",
        "",
        "Every error has the same shape, an object `error` with `code`, `message` and `details`. The codes are a",
        "closed set, and the code alone says whether trying again can help.",
        "",
        *_table(
            ("code", "HTTP status", "try again"),
            ((f"`{each.code}`", str(each.status), _again(each)) for each in failures),
        ),
        "",
        "`details.reason` says more. This list grows. If you do not know a reason, use the code.",
        "",
        *_table(("reason", "meaning"), ((f"`{name}`", meaning) for name, meaning in reasons.items())),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _again(failure: Failure) -> str:
    return "once" if failure.once else "yes" if failure.retry else "no"


def settings_page(settings: Iterable[Setting]) -> str:
    """Return the page on settings, in the order of their declaration."""
    rows = ((f"`{each.name}`", each.kind.expected, _default(each), _variable(each), each.meaning) for each in settings)
    lines = [
        f"<!-- {MARK} from pond/config/settings.py; do not edit. -->",
        "",
        "# Settings",
        "",
        "What each may be and where it is set; [configuration](../configuration.md) says how they come together.",
        "",
        *_table(("setting", "takes", "default", "variable", "meaning"), rows),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _default(setting: Setting) -> str:
    text = setting.unset if setting.default is MISSING else as_text(setting.default, setting.unset)
    return text if text.isalpha() else f"`{text}`"


def _variable(setting: Setting) -> str:
    return f"`{setting.variable}{'<NAME>' if isinstance(setting.kind, OptionTable) else ''}`"


def _chapter(title: str, description: str, definitions: Iterable[Definition]) -> Iterator[str]:
    listed = tuple(definitions)
    yield from (f"## {title}", "", description, "")
    yield from (", ".join(_link(each.name) for each in listed) + ".", "")
    for definition in listed:
        yield from _section(definition)


def _section(definition: Definition) -> Iterator[str]:
    yield from (f"### {definition.name}", "", definition.description, "")
    match definition:
        case ObjectType():
            yield from _object(definition)
        case UnionType(discriminator=discriminator, members=members):
            yield from (f"One of, told apart by `{discriminator}`: {', '.join(map(_link, members))}.", "")
        case EnumType(values=values):
            yield from _table(("value", "meaning"), ((f"`{each.value}`", each.description) for each in values))
        case OneOrMoreType(name=name, item=item):
            yield from (f"Type: {_link(item)}, or a non-empty list of such. Examples: {_listed(_examples(name))}.", "")
        case ScalarType(name=name, type=type_):
            yield from (f"Type: {_type(type_)}. Examples: {_listed(_examples(name))}.", "")
        case AnyType(name=name):
            yield from (f"Type: any. Examples: {_listed(_examples(name))}.", "")


def _object(definition: ObjectType) -> Iterator[str]:
    examples = _examples(definition.name)
    rows = (
        (f"`{each.name}`", _type(each.type), "yes" if each.required else "", each.description, _sample(each, examples))
        for each in definition.fields
    )
    yield from _table(("field", "type", "required", "meaning", "example"), rows)
    for field, other in definition.needs:
        yield from (f"`{field}` never stands without `{other}`.", "")
    yield from ("Other fields are allowed." if definition.open else "No other field is allowed.", "")
    yield from ("```json", json.dumps(examples[0], indent=2, ensure_ascii=False), "```", "")


def _examples(name: str) -> list[Any]:
    """Return the valid examples of a type, the most complete one first."""
    files = sorted(file for file in (ROOT / EXAMPLES / name).glob("*.json") if not file.name.startswith("bad-"))
    if not files:
        raise FileNotFoundError(f"{EXAMPLES / name} has no example")
    loaded = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    return sorted(loaded, key=lambda each: -len(json.dumps(each)))


def _sample(field: Field, examples: Iterable[Mapping[str, Any]]) -> str:
    return next((_code(each[field.name]) for each in examples if field.name in each), "")


def _listed(values: Iterable[object]) -> str:
    return ", ".join(map(_code, values))


def _code(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    shown = text if len(text) <= _LONGEST_EXAMPLE else f"{text[: _LONGEST_EXAMPLE - 1]}…"
    # A text that holds backticks needs a longer fence.
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"


def _type(type_: TypeExpr) -> str:
    match type_:
        case Ref(name):
            return _link(name)
        case Const(value):
            return f"`{json.dumps(value)}`"
        case ListOf(item, non_empty):
            return f"{'non-empty list' if non_empty else 'list'} of {_type(item)}"
        case MapOf(value_type):
            return f"map of {_type(value_type)}"
        case Primitive(name, limits):
            return ", ".join([name, *(_limit(keyword, value) for keyword, value in limits)])


def _limit(keyword: str, value: str | int | float) -> str:
    match keyword, value:
        case "minLength", 1:
            return "not empty"
        case "minimum", _:
            return f"at least {value}"
        case "maximum", _:
            return f"at most {value}"
        case "pattern", _:
            return f"matching `{value}`"
        case _:
            return f"{keyword} {value}"


def _link(name: str) -> str:
    return f"[{name}](#{name.lower()})"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield _row(head)
    yield _row(("---",) * len(head))
    yield from map(_row, rows)
    yield ""


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
