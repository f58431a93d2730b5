"""Records on disk: what cannot be read is told and kept, what a later version wrote survives, no litter is left."""

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pond.operations.pods import list_pods
from pond.operations.service import Service
from pond.pods import files
from pond.pods.faults import BadChange, Busy, Corrupt, NoPod, PodError, StorageFailed
from pond.pods.store import PodStore
from tests.house.tree import ROOT
from tests.pods import agents

LATER = {
    "version": 7, "name": "gardener", "mood": {"today": 1.0, "big": 12345678901234567890123}, "notices_due": [],
    "active": {"session_id": "oak", "segment_id": "s", "generation": 4}, "peers": [], "reclaimed": [],
    "workspace": {"root": "/srv", "mount": "ro"},
    "children": [{"name": "grafter", "scopes": [], "generation": 4}, {"name": "weeder", "scopes": []}],
}  # fmt: skip


def _put(root: Path, text: str | bytes, name: str = "gardener") -> Path:
    file = root / name / "metadata.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


@pytest.fixture
def store(tmp_path: Path) -> PodStore:
    return PodStore(tmp_path / "pods")


# --- unknown fields --------------------------------------------------------------------------------------------------


def test_unknown_fields_of_a_newer_version_survive_every_update(store: PodStore) -> None:
    file = _put(store.root, json.dumps(LATER))
    store.change("gardener", {"op": "set_active", "session_id": "elm", "segment_id": "t"})
    store.change("gardener", {"op": "set_workspace", "workspace": {"id": "orchard"}})
    store.change("gardener", {"op": "add_child", "child": agents.child("grafter", "/new")})
    store.change("gardener", {"op": "set_children", "children": [agents.child("grafter", "/newer")]})
    store.change("gardener", {"op": "add_peer", "peer": "beekeeper"})
    found = json.loads(file.read_text())
    assert (found["version"], found["mood"]) == (7, LATER["mood"])
    assert '"today":1.0' in file.read_text(), "a float is no integer"
    assert found["active"] == {"session_id": "elm", "segment_id": "t", "generation": 4}
    assert found["workspace"] == {"id": "orchard", "mount": "ro"}
    (child,) = found["children"]
    assert (child["generation"], child["scopes"][0]["target"]) == (4, "/newer")
    store.change("gardener", {"op": "reclaim", "children": ["grafter"]})
    assert json.loads(file.read_text())["reclaimed"][0]["children"][0]["generation"] == 4


# --- records that are none -------------------------------------------------------------------------------------------

BROKEN = {
    "empty": b"",
    "cut off": b'{"version":1,"name":"gardener"',
    "no JSON": b"gardener",
    "no object": b"[]",
    "no UTF-8": b'{"version":1,"name":"\xff"}',
    "a key twice": json.dumps(LATER).replace('"peers": []', '"peers": [], "peers": ["x"]').encode(),
    "a field missing": json.dumps({**LATER, "peers": None}).encode(),
    "a wrong version": json.dumps({**LATER, "version": 0}).encode(),
    "another pod's": json.dumps({**LATER, "name": "miller"}).encode(),
    "a bad child": json.dumps({**LATER, "children": [{"name": "../x", "scopes": []}]}).encode(),
    "children alike": json.dumps({**LATER, "children": LATER["children"] * 2}).encode(),  # type: ignore[operator]
    "too large": b" " * (16 << 20) + json.dumps(LATER).encode(),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_a_corrupt_record_is_reported_and_listed_and_never_overwritten(
    broken: bytes, store: PodStore, tmp_path: Path
) -> None:
    file = _put(store.root, broken)
    for refused in (
        lambda: store.read("gardener"),
        lambda: store.change("gardener", {"op": "add_peer", "peer": "x"}),
        lambda: store.remove("gardener"),
    ):
        with pytest.raises(Corrupt, match="gardener"):
            refused()
    service = Service(agents.settings(tmp_path))
    (entry,) = list_pods(service, {"protocol_version": 1})["pods"]
    assert (entry["name"], entry["error"]["details"]["diagnostic"]) == ("gardener", "pods-corrupt")
    assert file.read_bytes() == broken
    assert store.remove("gardener", force=True)
    assert (store.names(), file.parent.exists()) == ([], False)


def test_a_folder_with_a_name_that_no_pod_has_is_listed(store: PodStore, tmp_path: Path) -> None:
    _put(store.root, json.dumps({**LATER, "name": "a:b"}), "a:b")
    (entry,) = list_pods(Service(agents.settings(tmp_path)), {"protocol_version": 1})["pods"]
    assert (entry["name"], entry["error"]["code"]) == ("a:b", "validation_failed")


def test_links_and_other_things_are_no_records(store: PodStore, tmp_path: Path) -> None:
    real = _put(tmp_path / "elsewhere", json.dumps(LATER))
    store.root.mkdir()
    (store.root / "gardener").symlink_to(real.parent)
    for name in ("link", "pipe", "folder"):
        (store.root / name).mkdir()
    (store.root / "link" / "metadata.json").symlink_to(real)
    os.mkfifo(store.root / "pipe" / "metadata.json")
    (store.root / "folder" / "metadata.json").mkdir()
    (store.root / "file").write_text("")
    assert store.names() == ["folder", "gardener", "link", "pipe"]
    for name in store.names():
        with pytest.raises(PodError) as refused:
            store.change(name, {"op": "add_peer", "peer": "x"})
        assert isinstance(refused.value, Corrupt | StorageFailed), name
    with pytest.raises(NoPod):
        store.read("file")
    assert json.loads(real.read_text()) == LATER


def test_a_change_that_leaves_no_record_is_refused(store: PodStore) -> None:
    store.change("gardener", {"op": "add_peer", "peer": "x"})
    twice = [agents.child("grafter"), agents.child("grafter")]
    with pytest.raises(BadChange, match="grafter"):
        store.change("gardener", {"op": "set_children", "children": twice})
    with pytest.raises(BadChange, match="bytes"):
        store.change("gardener", {"op": "set_manifest", "manifest": "x" * (17 << 20)})
    assert store.read("gardener")["children"] == []


@pytest.mark.parametrize("op", ["remove_child", "remove_peer", "reclaim"])
def test_what_takes_something_away_makes_no_pod(op: str, store: PodStore) -> None:
    change = {"op": op, "child": "x", "peer": "x", "children": ["x"]}
    with pytest.raises(NoPod):
        store.change("gardener", change)  # type: ignore[arg-type]
    assert not store.root.exists()


# --- files -----------------------------------------------------------------------------------------------------------


def test_a_change_that_changes_nothing_writes_nothing(store: PodStore) -> None:
    store.change("gardener", {"op": "set_manifest", "manifest": 1})
    file = store.root / "gardener" / "metadata.json"
    before = file.stat().st_ino
    store.change("gardener", {"op": "set_manifest", "manifest": 1})
    assert file.stat().st_ino == before
    store.change("gardener", {"op": "set_manifest", "manifest": 1.0})
    assert '"manifest":1.0' in file.read_text()


def test_records_are_their_owners_alone(store: PodStore) -> None:
    before = os.umask(0)
    try:
        store.change("gardener", {"op": "add_peer", "peer": "x"})
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (store.root, *sorted(store.root.rglob("*")))]
    assert modes == [0o700, 0o700, 0o600]


def test_a_record_is_durable_before_it_has_its_name(store: PodStore, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def note(name: str) -> None:
        real = getattr(os, name)

        def noted(*args: object, **more: object) -> object:
            of_folder = name == "fsync" and stat.S_ISDIR(os.fstat(args[0]).st_mode)  # type: ignore[arg-type]
            done.append(name + (" folder" if of_folder else ""))
            return real(*args, **more)

        monkeypatch.setattr(os, name, noted)

    for name in ("fsync", "replace"):
        note(name)
    store.change("gardener", {"op": "add_peer", "peer": "x"})
    assert done[-3:] == ["fsync", "replace", "fsync folder"]
    assert done[:-3] == ["fsync folder"] * 2, "the new folders have names that last, too"


def test_what_a_killed_writer_left_goes_with_the_next_change(store: PodStore) -> None:
    store.change("gardener", {"op": "add_peer", "peer": "x"})
    folder = store.root / "gardener"
    (folder / ".metadata.json.0123").write_bytes(b"{half")
    (folder / "notes.txt").write_text("mine")
    assert store.read("gardener")["peers"] == ["x"]
    store.change("gardener", {"op": "add_peer", "peer": "y"})
    assert sorted(os.listdir(folder)) == ["metadata.json", "notes.txt"]
    store.remove("gardener")
    assert os.listdir(folder) == ["notes.txt"], "what is not the store's stays"


def test_a_failed_write_changes_nothing_and_says_why(store: PodStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.change("gardener", {"op": "add_peer", "peer": "x"})

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(StorageFailed, match="no space left"):
        store.change("gardener", {"op": "add_peer", "peer": "y"})
    assert os.listdir(store.root / "gardener") == ["metadata.json"]
    assert store.read("gardener")["peers"] == ["x"]


# --- several writers -------------------------------------------------------------------------------------------------


def test_a_pod_that_is_held_too_long_is_a_conflict(store: PodStore) -> None:
    store.change("gardener", {"op": "add_peer", "peer": "x"})
    hasty = PodStore(store.root, patience=0.05)
    with files.locked(store.root / "gardener", "gardener", 1), pytest.raises(Busy, match="gardener"):
        hasty.change("gardener", {"op": "add_peer", "peer": "y"})
    assert hasty.change("gardener", {"op": "add_peer", "peer": "y"})["peers"] == ["x", "y"]


def test_the_history_is_only_added_to(store: PodStore) -> None:
    for name in ("a", "b", "c"):
        store.change("gardener", {"op": "add_child", "child": agents.child(name, f"/{name}")})
        store.change("gardener", {"op": "reclaim", "children": [name]})
    found = store.read("gardener")["reclaimed"]
    assert [[child["name"] for child in each["children"]] for each in found] == [["a"], ["b"], ["c"]]
    assert len({each["id"] for each in found}) == 3


def test_whoever_waited_for_a_folder_that_was_replaced_changes_the_new_one(
    store: PodStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.change("gardener", {"op": "add_peer", "peer": "old"})
    folder, waiting, tried = store.root / "gardener", threading.Event(), files._has_locked

    def noted(handle: int, name: str) -> bool:
        got = tried(handle, name)
        if not got:
            waiting.set()
        return got

    with files.locked(folder, "gardener", 1):
        monkeypatch.setattr(files, "_has_locked", noted)
        late = threading.Thread(target=store.change, args=("gardener", {"op": "add_peer", "peer": "late"}))
        late.start()
        assert waiting.wait(30)
        folder.rename(store.root.parent / "away")
        _put(store.root, json.dumps({**LATER, "peers": ["new"]}))
    late.join()
    assert store.read("gardener")["peers"] == ["late", "new"]


def test_a_pod_that_is_removed_and_made_again_has_one_lock(store: PodStore) -> None:
    """Writers, removers and makers at once: a lock is always that of the existing folder."""
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(20):
                store.change("gardener", {"op": "add_peer", "peer": f"p{number}-{turn}"})
                if turn % 5 == number % 5:
                    store.remove("gardener")
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert all(os.listdir(folder) == ["metadata.json"] for folder in store.root.iterdir())


_ADD = """
import sys
from pond.pods.store import PodStore
store, number, count = PodStore(sys.argv[1]), sys.argv[2], int(sys.argv[3])
sys.stdin.readline()
for each in range(count):
    store.change("gardener", {"op": "add_child", "child": {"name": f"c{number}-{each}", "scopes": []}})
"""


def test_sixteen_processes_add_children_at_once_and_none_is_lost(store: PodStore) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _ADD, str(store.root), str(number), "8"], stdin=subprocess.PIPE, cwd=ROOT
        )
        for number in range(16)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.close()
    assert [process.wait(120) for process in processes] == [0] * 16
    names = {child["name"] for child in store.read("gardener")["children"]}
    assert names == {f"c{number}-{each}" for number in range(16) for each in range(8)}
    assert os.listdir(store.root / "gardener") == ["metadata.json"]
