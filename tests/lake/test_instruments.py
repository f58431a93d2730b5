"""The instruments of the lake's tests do what they say: else a lake that fails would pass."""

import errno
import fcntl
import http.client
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import lance
import pyarrow as pa
import pytest

from tests.house.tree import ROOT
from tests.lake import disk, kill
from tests.lake.proxy import Fault, Plan, Proxy
from tests.lake.s3 import Store, serving

KEY = {"lance-schema:unenforced-primary-key:position": "1"}
SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False, metadata=KEY), pa.field("text", pa.string())])
AT_ONCE = {"client_max_retries": "0", "lance_aimd_max_retries": "0"}  # no retries below the ones under test


def rows(first: int, last: int, text: str = "stone") -> pa.Table:
    """Return rows with the ids from `first` up to, not including, `last`."""
    return pa.table({"id": range(first, last), "text": [text] * (last - first)}, schema=SCHEMA)


def merge(dataset: lance.LanceDataset, table: pa.Table) -> None:
    dataset.merge_insert().use_index(False).when_not_matched_insert_all().execute(table)


def create(store: Store, **options: str) -> lance.LanceDataset:
    return lance.write_dataset(rows(0, 10), store.uri, storage_options=store.storage_options | options)


def ids(store: Store) -> list[int]:
    return sorted(lance.dataset(store.uri, storage_options=store.storage_options).to_table()["id"].to_pylist())


def test_a_server_answers_until_it_is_stopped() -> None:
    with serving() as port:
        store = Store(port, "a")
        store.write("b/c d", b"stone")
        assert (store.objects(), store.read("b/c d"), Store(port, "b").objects()) == (["b/c d"], b"stone", [])
        store.delete("b/c d")
        assert store.objects() == []
        with pytest.raises(RuntimeError, match="404"):
            store.read("b/c d")
    with pytest.raises(ConnectionRefusedError):
        store.objects()


@pytest.mark.parametrize("time", [1, 2])
def test_each_test_has_an_empty_prefix(s3: Store, time: int) -> None:
    assert s3.objects() == []
    s3.write(f"stone {time}", b"")


def test_a_list_of_more_than_a_page_is_whole(s3: Store) -> None:
    names = ["a", "b", "c", "d", "e"]
    for name in names:
        s3.write(name, b"")
    assert s3.objects(a_page=2) == names


def test_without_a_plan_the_proxy_changes_nothing(s3: Store, proxy: Proxy) -> None:
    through = s3.through(proxy.server_port)
    dataset = create(through)
    merge(dataset, rows(5, 20))
    merge(dataset, rows(20, 24, "stone" * 1_500_000))  # more than one upload may hold
    dataset.optimize.compact_files()
    assert ids(through) == ids(s3) == list(range(24))
    assert [through.read(name) for name in through.objects()] == [s3.read(name) for name in s3.objects()]
    assert lance.dataset(through.uri, version=1, storage_options=through.storage_options).count_rows() == 10
    through.delete(through.objects()[0])
    assert proxy.faults().total() == 0
    assert {"DELETE", "GET", "HEAD", "POST", "PUT"} <= {each.request.split()[0] for each in proxy.exchanges}
    assert {200, 206} <= {each.status for each in proxy.exchanges}
    assert any("partNumber" in each.request for each in proxy.exchanges)


def test_a_condition_is_forwarded(s3: Store, proxy: Proxy) -> None:
    through = s3.through(proxy.server_port)
    create(through)
    taken = next(name for name in s3.objects() if name.startswith("_versions/"))
    connection = http.client.HTTPConnection("127.0.0.1", proxy.server_port, timeout=10)
    for _ in range(2):  # on one connection: the proxy keeps it open
        headers = {"If-None-Match": "*", "Authorization": "AWS test:test"}
        connection.request("PUT", f"/pond-test/{s3.prefix}/{taken}", b"mine", headers)
        answer = connection.getresponse()
        assert (answer.status, b"PreconditionFailed" in answer.read()) == (412, True)
    connection.close()
    assert s3.read(taken) != b"mine"


@pytest.mark.parametrize(
    ("fault", "options", "message", "reached"),
    [
        (Fault.SLOW_DOWN, {}, "503 Service Unavailable.*SlowDown", False),
        (Fault.DROP, {}, "error sending request", False),
        (Fault.RESET, {}, "error sending request", False),
        (Fault.LOSE, {}, "error sending request", True),
        (Fault.CUT, {}, "error sending request", True),
        (Fault.DELAY, {"timeout": "200ms"}, "error sending request", True),
    ],
)
def test_each_fault_reaches_the_writer(
    s3: Store, proxy: Proxy, fault: Fault, options: dict[str, str], message: str, reached: bool
) -> None:
    dataset, before = create(s3.through(proxy.server_port), **AT_ONCE, **options), s3.objects()
    with (
        proxy.spoiling(Plan({fault: 1.0}, only="^PUT .*/data/")),
        pytest.raises(OSError, match=f"(?s)LanceError.IO.*{message}"),
    ):
        merge(dataset, rows(10, 20))
    assert proxy.faults() == {fault: 1}
    assert (len(s3.objects()) > len(before)) is reached
    merge(dataset, rows(10, 20))  # the plan is over
    assert ids(s3) == list(range(20))


@pytest.mark.parametrize("fault", [Fault.CUT, Fault.SLOW_DOWN])
def test_each_fault_reaches_the_reader(s3: Store, proxy: Proxy, fault: Fault) -> None:
    dataset = create(s3.through(proxy.server_port), **AT_ONCE)
    with (
        proxy.spoiling(Plan({fault: 1.0}, only="^GET .*/data/")),
        pytest.raises(pa.ArrowInvalid, match=r"LanceError.IO"),
    ):
        dataset.to_table()
    assert set(proxy.faults()) == {fault}
    assert dataset.to_table().num_rows == 10


def test_a_commit_whose_answer_is_lost_is_done_once(s3: Store, proxy: Proxy) -> None:
    dataset = create(s3.through(proxy.server_port))
    with proxy.spoiling(Plan({Fault.LOSE: 1.0}, only="^PUT .*/_versions/", at_most=1)):
        merge(dataset, rows(10, 20))
    assert proxy.faults() == {Fault.LOSE: 1}
    assert ids(s3) == list(range(20))
    assert len([name for name in s3.objects() if name.endswith(".manifest")]) == 2


def test_a_plan_draws_its_shares_and_the_same_for_the_same_seed() -> None:
    def draws(seed: int) -> list[Fault | None]:
        plan = Plan({Fault.DROP: 0.2, Fault.CUT: 0.1}, seed)
        return [plan.draw("GET /x") for _ in range(1000)]

    assert draws(1) == draws(1) != draws(2)
    assert [round(draws(1).count(fault) / 1000, 1) for fault in (Fault.DROP, Fault.CUT, None)] == [0.2, 0.1, 0.7]


def test_a_plan_keeps_to_its_requests_and_its_number() -> None:
    plan = Plan({Fault.DROP: 1.0}, only="^PUT", at_most=2)
    asked = ["GET /x", "PUT /x", "PUT /y", "PUT /z"]
    assert [plan.draw(request) for request in asked] == [None, Fault.DROP, Fault.DROP, None]


# Holds a lock, and has no pipe of its parent's.
HOLDING = """
import fcntl, pathlib, sys, time
lock = open(sys.argv[1], "w")
fcntl.flock(lock, fcntl.LOCK_EX)
pathlib.Path(sys.argv[1] + ".held").touch()
time.sleep(600)
"""

# Makes a file every two milliseconds.
WORKING = """
import pathlib, sys, time
for number in range(40):
    (pathlib.Path(sys.argv[1]) / str(number)).touch()
    time.sleep(0.002)
print("done")
"""

# Starts the one, and does the other.
BOTH = f"""
import pathlib, subprocess, sys, time
subprocess.Popen([sys.executable, "-S", "-c", {HOLDING!r}, sys.argv[2]], stdin=-3, stdout=-3, stderr=-3)
while not pathlib.Path(sys.argv[2] + ".held").exists():
    time.sleep(0.001)
{WORKING}
"""


def script(text: str, *words: Path) -> list[str]:
    return [sys.executable, "-S", "-c", text, *map(str, words)]


def is_free(lock: Path) -> bool:
    """Say whether nobody holds the lock; the system gives it back when a process is dead, buried or not."""
    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@pytest.mark.parametrize("point", [None, kill.Point(20, 0.0)])
def test_nothing_of_a_command_is_left_running(tmp_path: Path, point: kill.Point | None) -> None:
    work, lock = tmp_path / "work", tmp_path / "lock"
    work.mkdir()
    ending = kill.run(script(BOTH, work, lock), kill.Tree(work), point)
    assert (ending.killed, ending.code, ending.output) == ((False, 0, "done\n") if point is None else (True, None, ""))
    assert is_free(lock)
    left = len(list(work.iterdir()))
    assert ending.done == left == 40 if point is None else 20 <= ending.done <= left < 40


def test_a_command_that_does_not_end_is_ended(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError):
        kill.run(script(HOLDING, tmp_path / "lock"), kill.Tree(tmp_path / "work"), limit=1.0)
    assert is_free(tmp_path / "lock")


def test_a_command_may_say_more_than_a_pipe_holds(tmp_path: Path) -> None:
    ending = kill.run(script("print('stone' * 100_000)"), kill.Tree(tmp_path), limit=10.0)
    assert len(ending.output) == 500_001


def test_a_tree_counts_what_comes_and_what_goes(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    tree = kill.Tree(tmp_path)
    assert tree() == 0
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "stone").touch()
    assert tree() == 2
    (tmp_path / "old").unlink()
    assert tree() == tree() == 3


def test_the_points_are_spread_over_the_work() -> None:
    whole = kill.Ending(code=0, done=160, seconds=1.6, output="")
    drawn = kill.points(whole, 16, seed=3)
    assert drawn == kill.points(whole, 16, seed=3)
    assert drawn != kill.points(whole, 16, seed=4)
    assert sorted(point.count // 10 for point in drawn) == list(range(16))
    assert all(0 <= point.seconds < 0.01 for point in drawn)


def test_the_kills_are_spread_over_the_work(tmp_path: Path) -> None:
    def ending(name: str, point: kill.Point | None = None) -> kill.Ending:
        (tmp_path / name).mkdir()
        return kill.run(script(WORKING, tmp_path / name), kill.Tree(tmp_path / name), point)

    drawn = kill.points(ending("whole"), 16, seed=3)
    endings = [ending(str(number), point) for number, point in enumerate(drawn)]
    assert {each.done // 10 for each in endings if each.killed} >= {0, 1, 2, 3}


def test_a_full_disk_says_so(small_disk: Path) -> None:
    dataset = lance.write_dataset(rows(0, 10), small_disk / "x.lance")
    ballast = disk.fill(small_disk)
    with pytest.raises(OSError, match="No space left") as raised, (small_disk / "stone").open("wb", buffering=0) as out:
        out.write(b"x" * 10_000)
    assert raised.value.errno == errno.ENOSPC
    with pytest.raises(OSError, match="No space left on device"):
        merge(dataset, rows(10, 5000))
    assert lance.dataset(small_disk / "x.lance").count_rows() == 10
    ballast.unlink()
    merge(dataset, rows(10, 5000))
    assert lance.dataset(small_disk / "x.lance").count_rows() == 5000


def test_a_disk_can_be_filled_up_to_a_rest(small_disk: Path) -> None:
    disk.fill(small_disk, leave=100_000)
    (small_disk / "stone").write_bytes(b"x" * 90_000)
    with pytest.raises(OSError, match="No space left"):
        (small_disk / "boulder").write_bytes(b"x" * 30_000)


def test_a_read_only_directory_refuses(
    tmp_path: Path, read_only: Callable[[Path], AbstractContextManager[Path]]
) -> None:
    dataset = lance.write_dataset(rows(0, 10), tmp_path / "x.lance")
    with read_only(tmp_path / "x.lance") as directory:
        with pytest.raises(OSError) as raised:
            (directory / "stone").touch()
        assert raised.value.errno == (errno.EROFS if os.geteuid() == 0 else errno.EACCES)
        with pytest.raises(OSError, match=r"LanceError.IO"):
            merge(dataset, rows(10, 20))
        assert lance.dataset(directory).count_rows() == 10
    merge(dataset, rows(10, 20))
    assert lance.dataset(tmp_path / "x.lance").count_rows() == 20


def test_what_needs_a_mount_is_counted_where_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "test_disks.py").write_text("def test_one(small_disk): pass\ndef test_two(small_disk): pass\n")
    plugins = ["-p", "tests.lake.conftest", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-q", *plugins, str(tmp_path)]
    nowhere = {"PATH": str(tmp_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=ROOT, env=nowhere, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not run: 2 checks of full disks (no mount allowed)" in done.stdout.splitlines()
