"""Changes and restores of pods, killed at points spread over their work, and what they leave behind."""

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pond.diagnostics.diagnostic import PondError
from pond.operations.service import Service
from pond.pods.faults import NoPod
from pond.pods.store import PodStore
from tests.cli.command import command, environment
from tests.lake import kill
from tests.lake.crash import Outcome
from tests.pods import agents, writer


@dataclass(frozen=True)
class Work:
    """What is killed, in a folder of its own: how that is made ready, and what is wrong right after and in the end."""

    name: str
    words: Callable[[Path], list[str]]
    amiss: Callable[[Path], list[str]]
    ended: Callable[[Path], list[str]]
    template: Path | None = None


def crashes(work: Work, room: Path, count: int, seed: int) -> Iterator[Outcome]:
    """Kill it at `count` points; look at what is there right after, and once it was run again."""
    whole = _run(work, room / "measured", None)
    assert whole.code == 0, whole.output
    shutil.rmtree(room / "measured")
    for number, point in enumerate(kill.points(whole, count, seed)):
        place = room / f"point-{number}"
        ending = _run(work, place, point)
        wrong = work.amiss(place)
        try:
            wrong += [f"after: {each}" for each in work.ended(place)]
        except PondError as error:
            wrong.append(f"run again: {error}")
        seen = len(PodStore(place / "pods").names())
        yield Outcome(ending.killed, min(1.0, ending.done / max(1, whole.done)), seen, wrong)
        shutil.rmtree(place)


def _run(work: Work, place: Path, point: kill.Point | None) -> kill.Ending:
    if work.template is not None:
        shutil.copytree(work.template, place)
    else:
        place.mkdir()
    return kill.run(work.words(place), kill.Tree(place), point, environment(TMPDIR=str(place)))


# --- changes ---------------------------------------------------------------------------------------------------------


def changing(room: Path) -> Work:
    """Many changes, each acknowledged: whatever was acknowledged is there, and what was not is whole or absent."""
    module = [sys.executable, "-m", "tests.pods.writer"]

    def ended(place: Path) -> list[str]:
        writer.main(str(place / "pods"), str(place / "done"))
        return [*_changed(place), *_litter(place)]

    return Work("pods, changes", lambda place: [*module, str(place / "pods"), str(place / "done")], _changed, ended)


def _changed(place: Path) -> list[str]:
    done = place / "done"
    acknowledged = len(done.read_text().split()) if done.exists() else 0
    try:
        found = {*PodStore(place / "pods").read("gardener")["peers"]}
    except NoPod:
        found = set()
    allowed = [writer.expected(acknowledged), writer.expected(acknowledged + 1)]
    return [] if found in allowed else [f"{acknowledged} changes were acknowledged, found {sorted(found)}"]


def _litter(place: Path) -> list[str]:
    """Return what is in the root besides records; a folder without one may be there, and nothing else."""
    files = [file for file in (place / "pods").rglob("*") if file.is_file()]
    return [f"left behind: {file}" for file in files if file.name != "metadata.json" or file.parent.name != "gardener"]


# --- restore ---------------------------------------------------------------------------------------------------------


def restoring(room: Path) -> Work:
    """A restore that reclaims two children and tells the session: once, however often it was begun."""
    template = room / "template"
    template.mkdir()
    service = agents.service(template)
    agents.active(service)
    for name in ("grafter", "pruner"):
        agents.change(service, "gardener", "add_child", child=agents.child(name, f"/srv/orchard/{name}"))

    def words(place: Path) -> list[str]:
        return command(["pod", "restore", "gardener", "--root", place / "pods", "--lake", place / "lake"])

    return Work("pods, restore", words, _half_restored, _restored, template)


def _half_restored(place: Path) -> list[str]:
    """Return what is wrong with a restore that may have got anywhere: nobody is told of what did not happen."""
    service = Service(agents.settings(place))
    pod = agents.pods(place).read("gardener")
    reclaimed, told = pod["reclaimed"], agents.notices(service)
    wrong = []
    if (len(pod["children"]), len(reclaimed)) not in ((2, 0), (0, 1)):
        wrong.append(f"{len(pod['children'])} children and {len(reclaimed)} reclaims")
    if len(told) > len(reclaimed):
        wrong.append("the session was told of what is not on record")
    if len(told) < len(reclaimed) - len(pod["notices_due"]):
        wrong.append("a notification is neither there nor due")
    return wrong + _history(service)


def _history(service: Service) -> list[str]:
    own = [message["id"] for message in agents.messages(service) if not message["id"].startswith("pond/")]
    return [] if own == ["m0", "m1", "m2"] else [f"the history is {own}"]


def _restored(place: Path) -> list[str]:
    service = Service(agents.settings(place))
    found = agents.restore(service)
    (reclaim,) = found["pod"]["reclaimed"]
    told = [notice["id"] for notice in agents.notices(service)]
    wrong = [] if told == [f"pond/reclaim/{reclaim['id']}"] else [f"told {told}"]
    if found["pod"]["children"] or found["pod"]["notices_due"] or found["messages"] != 4:
        wrong.append(f"not restored: {found}")
    again = agents.restore(service)["reclaims"]
    return wrong + _history(service) + [f"told again of {each}" for each in again]
