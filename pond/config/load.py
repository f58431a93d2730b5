"""Combines the settings: defaults, `pond.toml`, `POND_*` variables, flags; later ones win."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from pond.config.document import Document, read_document
from pond.config.kinds import OptionTable, PathBase, SettingKind, Unfit, describe, printable
from pond.config.locations import NAMED_FILE, default_lake, home
from pond.config.settings import PREFIX, SETTINGS, TABLES, Setting, Settings, build
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.nearest import nearest
from pond.diagnostics.span import Span

_MOST_FAULTS = 20
# A variable with the prefix POND_ may belong to another program, so only a near miss counts as a typo.
_SLIP = 0.85

_KeyPath: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """A value that fits its setting (or one option of it), and where it was written."""

    path: _KeyPath
    value: object
    source: str


def load(flags: Mapping[str, object] | None = None, environ: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings of this run, or raise UsageError with everything that is wrong with them.

    `flags` has values by setting name (`sync.interval`); None means that a flag was not given.
    """
    document = read_document(environ)
    here = PathBase(home(environ), Path())
    found: dict[_KeyPath, _Found] = {}
    faults: list[Diagnostic] = []
    for each in chain(_in_file(document, here), _in_environment(environ, here), _in_flags(flags or {}, here)):
        if isinstance(each, Diagnostic):
            faults.append(each)
        else:
            found[each.path] = each
    if faults:
        raise UsageError(*faults[:_MOST_FAULTS])
    if ("lake",) not in found:  # the one default that depends on the machine
        found["lake",] = _Found(("lake",), default_lake(environ), "default")
    return _put_together(found)


def _put_together(found: Mapping[_KeyPath, _Found]) -> Settings:
    values = {path: each.value for path, each in found.items() if path in SETTINGS}
    sources: dict[str, str] = {}
    for path, setting in SETTINGS.items():
        if not isinstance(setting.kind, OptionTable):
            sources[setting.name] = found[path].source if path in found else "default"
            continue
        options = {option[-1]: each for option, each in sorted(found.items()) if option[:-1] == path}
        values[path] = {name: each.value for name, each in options.items()}
        # Each option has its own source; a table without options has its default.
        sources |= {f"{setting.name}.{name}": each.source for name, each in options.items()}
        if not options:
            sources[setting.name] = "default"
    return build(values, sources)


# --- pond.toml --------------------------------------------------------------------------------------------------------


def _in_file(document: Document | None, here: PathBase) -> Iterator[_Found | Diagnostic]:
    if document is not None:
        yield from _in_table(document, (), document.table, PathBase(here.home, document.file.parent))


def _in_table(
    document: Document, path: _KeyPath, table: Mapping[str, Any], base: PathBase
) -> Iterator[_Found | Diagnostic]:
    for key, value in table.items():
        at = (*path, key)
        setting, span = SETTINGS.get(at), document.span(at)
        if setting is not None and isinstance(setting.kind, OptionTable) and isinstance(value, dict):
            yield from _options(document, setting, value, base)
        elif setting is not None:
            source = f"{document.file.name}:{span.line}"
            yield _checked(setting.kind, at, value, base, source, setting.name, span)
        elif at not in TABLES:
            known = map(_dotted, (*SETTINGS, *TABLES))
            yield _unknown(_dotted(at), nearest(_dotted(at), known), span)
        elif isinstance(value, dict):
            yield from _in_table(document, at, value, base)
        else:
            yield _unfit(_dotted(at), f"a table `[{_dotted(at)}]`", describe(value), span)


def _options(
    document: Document, setting: Setting, table: Mapping[str, Any], base: PathBase
) -> Iterator[_Found | Diagnostic]:
    assert isinstance(setting.kind, OptionTable)
    for name, value in table.items():
        at = (*setting.path, name)
        span, option = document.span(at), setting.kind.option(name)
        if not setting.kind.accepts(name):
            meant = _dotted((*setting.path, name.lower())) if setting.kind.accepts(name.lower()) else None
            yield _unknown(_dotted(at), meant, span)
        else:
            source = f"{document.file.name}:{span.line}"
            yield _checked(option, at, value, base, source, _dotted(at), span, secret=setting.kind.secret)


def _dotted(path: _KeyPath) -> str:
    return printable(".".join(path))


# --- variables and flags ----------------------------------------------------------------------------------------------


def _in_environment(environ: Mapping[str, str], here: PathBase) -> Iterator[_Found | Diagnostic]:
    for variable, text in sorted(environ.items()):
        if not text or not variable.startswith(PREFIX):
            continue  # an empty variable counts as not set
        if meant := _setting_of(variable):
            setting, path = meant
            table = setting.kind if isinstance(setting.kind, OptionTable) else None
            kind = table.option(path[-1]) if table else setting.kind
            secret = table is not None and table.secret
            yield _checked(kind, path, kind.from_text(text), here, variable, variable, secret=secret)
        elif variable != NAMED_FILE and (close := _nearly(variable)):
            yield _unknown(variable, close)


def _setting_of(variable: str) -> tuple[Setting, _KeyPath] | None:
    """Return what a variable sets: a setting, or one option of a table."""
    for setting in SETTINGS.values():
        option = variable.removeprefix(setting.variable)
        if not isinstance(setting.kind, OptionTable):
            if not option:
                return setting, setting.path
        elif option != variable and option == option.upper() and setting.kind.accepts(option.lower()):
            return setting, (*setting.path, option.lower())
    return None


def _nearly(variable: str) -> str | None:
    """Return the variable that was probably meant."""
    if _setting_of(variable.upper()):
        return variable.upper()
    known = [*(each.variable for each in SETTINGS.values()), NAMED_FILE]
    return nearest(variable, known, _SLIP)


def _in_flags(flags: Mapping[str, object], here: PathBase) -> Iterator[_Found | Diagnostic]:
    by_name = {each.name: each for each in SETTINGS.values() if not isinstance(each.kind, OptionTable)}
    for name, value in flags.items():
        setting = by_name[name]
        if value is not None:
            meant = setting.kind.from_text(value) if isinstance(value, str) else value
            yield _checked(setting.kind, setting.path, meant, here, setting.flag, setting.flag)


# --- faults -----------------------------------------------------------------------------------------------------------


def _checked(
    kind: SettingKind,
    path: _KeyPath,
    value: object,
    base: PathBase,
    source: str,
    name: str,
    span: Span | None = None,
    *,
    secret: bool = False,
) -> _Found | Diagnostic:
    try:
        return _Found(path, kind.check(value, base), source)
    except Unfit:
        return _unfit(name, kind.expected, describe(value, secret), span)


def _unfit(name: str, expected: str, found: str, span: Span | None) -> Diagnostic:
    return Diagnostic("config-value", f"`{name}`: expected {expected}, found {found}", span)


def _unknown(name: str, meant: str | None, span: Span | None = None) -> Diagnostic:
    help = f"did you mean `{meant}`?" if meant else "`pond config show` lists the settings"
    return Diagnostic("config-unknown-key", f"unknown setting `{name}`", span, help=help)
