"""What else is killed: optimize, erase, export and import. Each leaves a lake that a second run completes."""

import tempfile
from datetime import timedelta
from pathlib import Path

from pond.diagnostics.diagnostic import PondError
from pond.lake.erase import erase, family
from pond.lake.export import export
from pond.lake.import_ import import_
from pond.lake.optimize import optimize
from pond.lake.tombstones import stones
from pond.sessions.archive.select import Selection
from pond.sessions.stored_text import from_stored
from tests.cli.command import command
from tests.lake.crash import Scenario, filled, opened_at, take_in
from tests.lake.logs import Logs
from tests.lake.remains import holding, store_secret
from tests.lake.sound import Content, content, differences, unsound

_SECRET, _CHILD = "secret", "secret/child"
_ARCHIVE = "lake.pond"  # beside the lake


def optimizing(logs: Logs, room: Path) -> Scenario:
    """Compaction, index folding and cleanup of a lake in many pieces."""
    filled(logs, room / "pieces")
    whole = content(opened_at(room / "pieces"))
    return Scenario(
        "optimize", lambda lake: command(["optimize", "--keep", "0s", "--lake", lake]), whole, room / "pieces", whole,
        again=lambda lake: optimize(opened_at(lake), timedelta(0)),
    )  # fmt: skip


# --- erase -----------------------------------------------------------------------------------------------------------


def erasing(logs: Logs, room: Path) -> Scenario:
    """Two families: one whose files are still there, and one with a secret that no file of the lake may keep."""
    template = room / "with"
    filled(logs, template)
    store = opened_at(template)
    store_secret(store, _SECRET)
    store_secret(store, _CHILD, parent=_SECRET)
    before = content(store)
    roots = [_SECRET, _with_children(before)]
    going = {member for root in roots for member in family(store, root).members}
    rest = _without(before, going)

    def again(lake: Path) -> None:
        store = opened_at(lake)
        erase(store, [family(store, root) for root in roots], alone=True)
        take_in(lake, logs.root)

    return Scenario(
        "erase", lambda lake: command(["erase", *roots, "--yes", "--lake", lake]), rest, template, before, again=again,
        amiss=lambda lake: _half_erased(lake, before, rest, going), ended=holding,
    )  # fmt: skip


def _with_children(whole: Content) -> str:
    """Return a session that others descend from, as a person names it."""
    parents = (row["parent_session_id"] for row in whole["sessions"].values())
    return from_stored(min(id for id in parents if id not in (None, _SECRET) and (id,) in whole["sessions"]))


def _without(whole: Content, going: set[str]) -> Content:
    return {name: {key: row for key, row in rows.items() if key[0] not in going} for name, rows in whole.items()}


def _half_erased(lake: Path, before: Content, rest: Content, going: set[str]) -> list[str]:
    """Say what is wrong with a lake that some sessions are leaving: what goes is noted first, and nothing else goes."""
    store = opened_at(lake)
    wrong = unsound(store, before, rest, going)
    now, standing = content(store), stones(store)
    gone = {key[0] for name, rows in before.items() for key in rows if key not in now[name]}
    return wrong + [f"sessions: {id} is going without a tombstone" for id in sorted(gone - standing.keys())]


# --- export and import -----------------------------------------------------------------------------------------------


def exporting(logs: Logs, room: Path) -> Scenario:
    """An archive of a whole lake."""
    filled(logs, room / "full")
    whole = content(opened_at(room / "full"))

    def again(lake: Path) -> None:
        if not _beside(lake).exists():  # one that has its name is whole, and stays
            export(opened_at(lake), _beside(lake), Selection())

    return Scenario(
        "export", lambda lake: command(["export", "-o", _beside(lake), "--lake", lake]), whole, room / "full", whole,
        again=again, ended=lambda lake: _archived(lake, whole),
    )  # fmt: skip


def _beside(lake: Path) -> Path:
    return lake.parent / _ARCHIVE


def _archived(lake: Path, whole: Content) -> list[str]:
    """Say in what an archive differs from the lake, when it is imported; nothing of that stays."""
    with tempfile.TemporaryDirectory(dir=lake.parent) as folder:
        copy = opened_at(Path(folder) / "copy")
        try:
            faults = import_(copy, _beside(lake)).faults
        except PondError as error:
            return [f"archive: {error}"]
        return [f"archive: {each}" for each in [*faults, *differences(content(copy), whole)]]


def importing(logs: Logs, room: Path) -> Scenario:
    """An archive into no lake at all."""
    archive, whole = _packed(logs, room)
    return Scenario(
        "import", lambda lake: command(["import", archive, "--lake", lake]), whole,
        again=lambda lake: import_(opened_at(lake), archive),
    )  # fmt: skip


def importing_more(logs: Logs, room: Path, seed: int) -> Scenario:
    """An archive into a lake that holds some of its sessions, and the beginnings of others."""
    archive, whole = _packed(logs, room)
    logs.shorten(seed)
    take_in(room / "short", logs.root)
    logs.grow()
    before = content(opened_at(room / "short"))
    return Scenario(
        "import, some is there", lambda lake: command(["import", archive, "--lake", lake]), whole, room / "short",
        before, again=lambda lake: import_(opened_at(lake), archive),
    )  # fmt: skip


def _packed(logs: Logs, room: Path) -> tuple[Path, Content]:
    """Return an archive of all the files, and what a lake holds that took it in."""
    filled(logs, room / "full")
    export(opened_at(room / "full"), room / _ARCHIVE, Selection())
    return room / _ARCHIVE, content(opened_at(room / "full"))
