"""`pond skill`: tells clients when to use pond."""

import difflib
import os
from pathlib import Path
from typing import Annotated

import typer

from pond.cli.asking import agreed, own_home
from pond.cli.terminal import say
from pond.diagnostics.visible import one_line_of
from pond.registration.files import put, text_of
from pond.registration.skill import TEXT, places


def install(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the change, and make none.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take the skill out again.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; needed where nobody can answer.")] = False,
) -> int:
    """Put pond's SKILL.md into ~/.agents/skills and ~/.claude/skills, or take it out again."""
    wanted = "" if undo else TEXT
    changing = [(file, found) for file in places(own_home(os.environ)) if (found := text_of(file)) != wanted]
    for file, found in changing:
        for line in difflib.unified_diff(
            found.splitlines(), wanted.splitlines(), str(file), str(file), lineterm="", n=1
        ):
            say(one_line_of(f"  {line}"))
    if not changing or dry_run:
        say("nothing was changed" if changing else "nothing to do")
        return 0
    if not yes and not agreed(f"Change {len(changing)} file{'s' * (len(changing) > 1)}?", "--yes"):
        say("nothing was changed")
        return 1
    for file, found in changing:
        put(file, found, wanted or None)
        if undo:
            _emptied(file.parent)
        say(one_line_of(f"{'taken out' if undo else 'installed'}   {file}"))
    return 0


def _emptied(folder: Path) -> None:
    """Remove the skill's own folder, if nothing else is in it."""
    try:
        folder.rmdir()
    except OSError:
        return


commands = {"install": install}
