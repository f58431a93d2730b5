"""Whole stores: session files of several clients side by side, sound ones and damaged ones, and what is no file."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.damage import Damage
from tests.fuzz.seeds import Seed, canonical_seeds, seeds

_RECORDS = 300  # that a file has, about; fixtures are shorter and are continued
_NAMES = ["full.jsonl", "a b.jsonl", "x\ny.jsonl", "\x1b[31m.jsonl", "\udcff.jsonl", "*.jsonl", "'.jsonl", "-.jsonl"]


@dataclass(frozen=True)
class File:
    """A session file; one that is not `sound` was damaged, and must only be reported."""

    place: str
    data: bytes
    sound: bool
    readable: bool = True
    native: bytes | None = None  # what its client would have; None where it is the client's own file

    @property
    def is_canonical(self) -> bool:
        return self.native is not None


@dataclass
class Store:
    """A directory with sessions, and with things that only look like them (`odd`: place and how to make it)."""

    files: list[File] = field(default_factory=list)
    odd: list[tuple[str, Callable[[Path], object]]] = field(default_factory=list)

    def add(self, file: File) -> None:
        if self._is_free(file.place):
            self.files.append(file)

    def add_odd(self, place: str, make: Callable[[Path], object]) -> None:
        if self._is_free(place):
            self.odd.append((place, make))

    def _is_free(self, place: str) -> bool:
        assert not place.startswith("/"), "a store lies in its own directory"
        taken = [*(file.place for file in self.files), *(place for place, _ in self.odd)]
        return not any(place == each or place.startswith(f"{each}/") or each.startswith(f"{place}/") for each in taken)

    def write(self, root: Path) -> None:
        """Make the directory."""
        for file in self.files:
            self.write_file(root, file, len(file.data))
        for place, make in self.odd:
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            make(root / place)

    def write_file(self, root: Path, file: File, size: int) -> None:
        """Write a file, or its beginning."""
        path = root / file.place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_bytes(file.data[:size])
        if not file.readable:
            path.chmod(0)


def build(dice: Random) -> Store:
    """Draw a store."""
    store = Store()
    chosen = [dice.choice(seeds()) for _ in range(dice.choice([2, 3, 4, 6, 8]))]
    lines = [line for seed in chosen if seed.is_log for line in seed.lines]
    for seed in chosen:
        store.add(_file(dice, seed, Damage(dice, lines)))
    for extra in _EXTRAS:
        if dice.random() < 0.2:
            extra(dice, store)
    return store


def _file(dice: Random, seed: Seed, damage: Damage) -> File:
    place = dice.choice(["", "", "", "other/"]) + seed.place
    if not seed.is_log:
        return File(place, b"".join(seed.lines), sound=True)
    lines = seed.longer(max(1, _RECORDS // max(1, len(seed.lines))))
    if dice.random() < 0.5:
        return File(place, b"".join(lines), sound=True)
    return File(place, damage.done_to(lines), sound=False)


# --- what else is there ----------------------------------------------------------------------------------------------


def _elsewhere(dice: Random, store: Store) -> Iterator[File]:
    """Give a log of the store with another place: another project, another directory, another name."""
    logs = [file for file in store.files if file.place.endswith(".jsonl") and file.readable and not file.is_canonical]
    if logs:
        file = dice.choice(logs)
        folder, name = os.path.split(file.place)
        others = [f"moved/{file.place}", f"{folder}-other/{name}", os.path.join(folder, dice.choice(_NAMES))]
        yield replace(file, place=dice.choice(others))


def _copy(dice: Random, store: Store) -> None:
    """Add the same session a second time."""
    for file in _elsewhere(dice, store):
        store.add(file)


def _beginning(dice: Random, store: Store) -> None:
    """Add the beginning of a session, as an older copy has it."""
    for file in _elsewhere(dice, store):
        lines = file.data.splitlines(keepends=True)
        store.add(replace(file, data=b"".join(lines[: dice.randint(0, len(lines))])))


def _namesake(dice: Random, store: Store) -> None:
    """Add another session under the same id: its records are the same at first, and others later."""
    for file in _elsewhere(dice, store):
        lines = file.data.splitlines(keepends=True)
        store.add(replace(file, data=b"".join(lines[: len(lines) // 2] + lines[-len(lines) // 4 :])))


def _impostor(dice: Random, store: Store) -> None:
    """Add a session of one client where another keeps its own."""
    one, other = dice.choice(seeds()), dice.choice(seeds())
    if one.is_log and other.is_log:
        store.add(File(one.place, b"".join(other.lines), sound=one.client == other.client))


def _odd_name(dice: Random, store: Store) -> None:
    seed = dice.choice(seeds())
    if seed.is_log:
        place = os.path.join(os.path.dirname(seed.place), dice.choice(_NAMES))
        store.add(File(place, b"".join(seed.lines), sound=True))


def _canonical(dice: Random, store: Store) -> None:
    """Add sessions that come as canonical text, sound or damaged."""
    for _ in range(2):
        seed = dice.choice(canonical_seeds())
        lines = list(seed.lines)
        if dice.random() < 0.4:
            store.add(File(seed.place, b"".join(lines), sound=True, native=seed.native))
        else:
            store.add(File(seed.place, Damage(dice, lines).done_to(lines), sound=False, native=b""))


def _unreadable(dice: Random, store: Store) -> None:
    seed = dice.choice(seeds())
    store.add(File(f"locked/{seed.place}", b"".join(seed.lines), sound=False, readable=False))


def _empty(dice: Random, store: Store) -> None:
    store.add(File(f"empty/{dice.choice(seeds()).place}", dice.choice([b"", b"\n", b"\n \n", b"\xef\xbb\xbf"]), False))


def _link(dice: Random, store: Store) -> None:
    """Add a link: to nothing, to itself, to a session, to its own directory."""
    targets: list[Callable[[Path], Any]] = [
        lambda path: path.symlink_to("nowhere.jsonl"),
        lambda path: path.symlink_to(path.name),
        lambda path: path.symlink_to("."),
        lambda path: path.symlink_to("/dev/null"),
    ]
    if files := [file.place for file in store.files if file.readable]:
        session = dice.choice(files)
        targets.append(lambda path: path.symlink_to(os.path.relpath(f"/{session}", f"/{os.path.dirname(place)}")))
    place = f"links/{dice.choice(seeds()).place}"
    store.add_odd(place, dice.choice(targets))


def _pipe(dice: Random, store: Store) -> None:
    store.add_odd(f"pipes/{dice.choice(seeds()).place}", os.mkfifo)


def _folder(dice: Random, store: Store) -> None:
    store.add_odd(f"folders/{dice.choice(seeds()).place}", lambda path: path.mkdir())


_EXTRAS = [
    _copy, _beginning, _namesake, _impostor, _odd_name, _canonical, _unreadable, _empty, _link, _pipe, _folder,
]  # fmt: skip
