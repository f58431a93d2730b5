"""`pond map check|fmt|explain`: the tools of a person who writes a mapping."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from pond.cli.show import print_json
from pond.cli.terminal import say, warn
from pond.codec.registry import adapter
from pond.diagnostics.diagnostic import Diagnostic, MappingError, UsageError
from pond.diagnostics.render import as_json, pictures
from pond.diagnostics.visible import one_line_of


def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Mapping files.")],
    json: Annotated[bool, typer.Option("--json", help="Print diagnostics as JSON lines.")] = False,
) -> int:
    """Check mapping files, and show where every mistake is."""
    from pond.lang.check import check as check_mapping
    from pond.lang.parse import parse

    code = 0
    for file in files:
        text = _read(file)
        try:
            check_mapping(parse(text, file))
        except MappingError as error:
            code = 1
            if json:
                for diagnostic in error.diagnostics:
                    print_json(as_json(diagnostic), sys.stdout)
            else:
                say(pictures(error.diagnostics, text))
    return code


def fmt(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Mapping files, changed in place.")],
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit with 1 if a file is not formatted.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the files that were formatted as JSON.")] = False,
) -> int:
    """Rewrite mapping files in the standard layout."""
    from pond.lang.fmt import format_map
    from pond.lang.parse import parse

    code, changed = 0, list[str]()
    for file in files:
        text = _read(file)
        try:
            parse(text, file)
        except MappingError as error:
            warn(pictures(error.diagnostics, text))
            code = 1
            continue
        formatted = format_map(text)
        if formatted != text:
            changed.append(file)
            if not json:
                say(f"{'would format' if check else 'formatted'} {one_line_of(file)}")
            code = max(code, int(check))
            if not check:
                Path(file).write_text(formatted, encoding="utf-8")
    if json:
        print_json({"files": changed, "changed": not check}, sys.stdout)
    return code


def explain(
    client: Annotated[str, typer.Argument(metavar="CLIENT", help="A client from `pond clients`.")],
    source: Annotated[bool, typer.Option("--source", help="Print the compiled Python instead.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> int:
    """Explain what a mapping does with every kind of record."""
    from pond.lang.check import check as check_mapping
    from pond.lang.compile import compile_plan
    from pond.lang.explain import explain as explain_plan
    from pond.lang.explain import explain_json
    from pond.lang.parse import parse

    file = adapter(client).folder / f"{adapter(client).folder.name}.map"
    plan = check_mapping(parse(_read(str(file)), file.name))
    if source:
        say(compile_plan(plan), end="")
    elif json:
        print_json(explain_json(plan), sys.stdout)
    else:
        say(explain_plan(plan), end="")
    return 0


def _read(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not UTF-8 text"
        raise UsageError(Diagnostic("usage", f"cannot read `{file}`: {reason.lower()}")) from None


commands = {"check": check, "fmt": fmt, "explain": explain}
