"""`pond golden`: what a change did to the goldens, and whether stored rows kept their keys."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from pond.cli.show import print_json
from pond.cli.terminal import say
from pond.diagnostics.diagnostic import Diagnostic, UsageError


def run(
    base: Annotated[str, typer.Option("--base", metavar="REV", help="The git revision to compare with.")] = "HEAD",
    json: Annotated[bool, typer.Option("--json", help="Print as JSON, with every finding.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print as Markdown, for a comment on a change.")] = False,
) -> int:
    from pond.golden.check import check
    from pond.golden.render import as_markdown, as_object, as_text

    if json and markdown:
        raise UsageError(Diagnostic("usage", "`--json` and `--markdown` cannot be used together"))
    found = check(Path.cwd(), base)
    if json:
        print_json(as_object(found), sys.stdout)
    else:
        say((as_markdown if markdown else as_text)(found), end="")
    return found.exit_code
