"""The pods of one root: `{root}/{name}/metadata.json`. Callers say what to change, and never write what they read."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pond.pods import changes, files, names, record
from pond.pods.faults import BadChange, Moved, NameTaken, NoPod

if TYPE_CHECKING:
    from pond.types import Pod, PodChange, PodChild, PodPointer, ReclaimReason

_PATIENCE = 30.0  # seconds to wait for another change of a pod


class PodStore:
    """The pods below a directory of this machine, which is made when the first one is.

    Every change is made under the lock of its pod: it is read, changed, and on disk before the call returns.
    """

    def __init__(self, root: str | Path, patience: float = _PATIENCE) -> None:
        self.root, self._patience = Path(os.path.realpath(root)), patience

    def names(self) -> list[str]:
        """Return the names of all folders that hold a record, sorted, also of those that cannot be read."""
        try:
            with files.failing(f"list `{self.root}`"):
                found = os.listdir(self.root)
        except FileNotFoundError:
            return []
        return sorted(name for name in found if os.path.lexists(self.root / name / files.RECORD))

    def read(self, name: str) -> Pod:
        """Return a pod; raise NoPod where there is none, and Corrupt where what is there is not its record."""
        data = files.content(self._folder(name), name)
        if data is None:
            raise NoPod(name)
        return record.read(data, name)

    def change(self, name: str, change: PodChange) -> Pod:
        """Make one change and return the pod as it is then; whatever sets or adds something makes a missing pod."""
        make = change["op"] not in changes.NEEDS_POD
        return self._update(name, lambda pod: changes.changed(pod, change), make=make)

    def reclaim_gone(
        self, name: str, pointer: PodPointer, gone: Collection[tuple[PodChild, ReclaimReason]]
    ) -> Pod:  # fmt: skip
        """Reclaim children that are gone, unless they changed since they were asked; the session is to be told.

        A child that was spawned again since is left alone. Raise Moved if the pod points elsewhere by now.
        """

        def without(pod: Pod) -> Pod:
            if pod.get("active") != pointer:
                raise Moved(f"pod `{name}` was pointed elsewhere while it was restored")
            still = [(child, reason) for child, reason in gone if child in pod["children"]]
            return changes.reclaimed(pod, still, pointer["session_id"])

        return self._update(name, without)

    def told(self, name: str, reclaims: Collection[str]) -> Pod:
        """Note that the sessions of some reclaims have been told of them."""
        return self._update(name, lambda pod: changes.told(pod, reclaims))

    def remove(self, name: str, *, force: bool = False) -> bool:
        """Remove a pod's record, and tell whether there was one; `force` removes also one that cannot be read."""
        folder = self._folder(name)
        try:
            # Pods are made and removed one at a time, so the folder of a new pod is still there.
            with self._locked_root(name), files.locked(folder, name, self._patience) as handle:
                if not os.path.lexists(folder / files.RECORD):
                    return False
                if not force:
                    self.read(name)
                files.remove(handle, folder, name)
                return True
        except FileNotFoundError:
            return False

    def _folder(self, name: str) -> Path:
        return self.root / names.checked(name)

    def _update(self, name: str, change: Callable[[Pod], Pod], *, make: bool = False) -> Pod:
        folder = self._folder(name)
        try:
            with files.locked(folder, name, self._patience) as handle:
                return self._write(handle, name, self.read(name), change)
        except (FileNotFoundError, NoPod):
            if not make:
                raise NoPod(name) from None
        with self._new(folder, name) as handle:
            try:
                return self._write(handle, name, self.read(name), change)
            except NoPod:  # nobody else has made it meanwhile
                return self._write(handle, name, None, change)

    def _write(self, handle: int, name: str, before: Pod | None, change: Callable[[Pod], Pod]) -> Pod:
        after = change(before or record.blank(name))
        if before is not None and record.same(before, after):
            return before
        if reason := record.misfit(after):
            raise BadChange(f"the change does not fit pod `{name}`: {reason}")
        data = record.written(after)
        if len(data) > record.MOST_BYTES:
            raise BadChange(f"pod `{name}` would have more than {record.MOST_BYTES} bytes")
        files.replace(handle, data, name)
        return after

    @contextlib.contextmanager
    def _new(self, folder: Path, name: str) -> Iterator[int]:
        """Make a pod's folder and hold its lock; pods are made one at a time, so that no two names are alike."""
        files.make_folder(self.root)
        with self._locked_root(name):
            self._refuse_alike(name, self.names())
            files.make_folder(folder)
            with files.locked(folder, name, self._patience) as handle:
                yield handle

    def _locked_root(self, name: str) -> contextlib.AbstractContextManager[int]:
        return files.locked(self.root, name, self._patience)

    def _refuse_alike(self, name: str, others: Iterable[str]) -> None:
        for other in others:
            if other != name and names.folded(other) == names.folded(name):
                raise NameTaken(f"there is a pod `{other}`, and some file systems cannot tell `{name}` from it")
