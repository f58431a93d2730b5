"""What helps, in the words of the command that is running: only options it has are named.

The floors below the command line say what is wrong and do not know who asked. `main` says here which command runs.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pond.cli.quick import options_of
from pond.diagnostics.diagnostic import Diagnostic

# Code -> the options that help, the first that the command has, and what to do with it; "" stands for no option.
_WAYS: dict[str, dict[str, str]] = {
    "source-unrecognised": {
        "--from": "name the client with --from; {help}",
        "--client": "name the client with --client; {help}",
        "": "`pond ingest --client CLIENT FILE` stores it as that client's; {help}",
    },
    "source-no-project": {
        "--project": "name it with --project DIR",
        "": "`pond ingest --project DIR FILE` stores it",
    },
    "foreign-no-client": {"--to": "--to CLIENT writes it for another client; {help}"},
    "output-place": {"--to": "--to canonical writes the session under any name"},
    "foreign-loss": {"--on-loss": "--on-loss warn writes the session anyway"},
    "archive-erased": {"--erased": "--erased brings them back"},
    "lake-not-found": {"": "`pond list` shows what is there"},
    "model-unknown": {
        "--from": "`pond model list --all` shows what can be fetched, --from DIRECTORY adds any other",
        "": "`pond model list` shows those of this machine, `pond model add` adds one",
    },
    "model-unreachable": {"--from": "{help}; without one, --from DIRECTORY adds a copy"},
    "model-dimensions": {
        "--force-embed": "if the model was replaced, --force-embed embeds everything again",
        "": "if the model was replaced, `pond sync --force-embed` embeds everything again",
    },
    "pods-missing": {"": "`pond pod list` shows what is there"},
    "lake-missing": {"": "`pond sync` creates one from the sessions on this machine"},
}
_ARCHIVE = ".pond"

_running: list[Callable[..., Any]] = []


def begin(function: Callable[..., Any]) -> None:
    """Say which command runs."""
    _running[:] = [function]


def helped(diagnostic: Diagnostic) -> Diagnostic:
    """Return a diagnostic with the help that the running command can give."""
    if diagnostic.code == "source-unrecognised" and diagnostic.span and diagnostic.span.file.endswith(_ARCHIVE):
        return replace(diagnostic, help="if this is an archive, `pond import` stores it")
    ways = _WAYS.get(diagnostic.code)
    if ways is None:
        return diagnostic
    offered = options_of(_running[0]) if _running else {}
    way = next((text for option, text in ways.items() if not option or option in offered), "{help}")
    return replace(diagnostic, help=way.format(help=diagnostic.help))
