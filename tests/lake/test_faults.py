"""Storage that is broken, full, closed or far away: a typed error, nothing lost, and all is well once it is fixed."""

import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import lance
import pytest

from pond.config.settings import Settings
from pond.intake.ingest import ingest
from pond.intake.request import Request
from pond.sessions.lake import opened
from pond.sessions.tables import MESSAGES, SESSIONS
from pond.substrate import read
from pond.substrate.catalog import Catalog
from pond.substrate.signals import Damaged, LakeError, Unavailable
from pond.substrate.store import client_options
from tests.cli.command import pond
from tests.lake import disk
from tests.lake.build import SUBAGENTS, TOURS
from tests.lake.proxy import Fault, Plan, Proxy
from tests.lake.s3 import Store
from tests.lake.sound import Content, content, differences, unsound

AT_ONCE = {"client_max_retries": "0", "lance_aimd_max_retries": "0"}  # no retries below the ones under test
ALL_KINDS = (Fault.SLOW_DOWN, Fault.DROP, Fault.RESET, Fault.LOSE, Fault.CUT)


def local(place: Path) -> Settings:
    return Settings(lake=str(place))


def remote(store: Store, **options: str) -> Settings:
    return Settings(lake=store.uri, storage=store.storage_options | options)


def take_in(settings: Settings, *folders: Path) -> None:
    ingest(settings, Request([(str(folder), None) for folder in folders], processes=1))


def refused(settings: Settings) -> str:
    """Try to add sessions; return the code and the reason of the refusal."""
    with pytest.raises(LakeError) as caught:
        take_in(settings, *TOURS, *SUBAGENTS)
    (told,) = caught.value.diagnostics
    assert "\n" not in told.message
    assert ".rs:" not in told.message
    return f"{told.code}: {told.message}"


def completes(settings: Settings, more: Content) -> None:
    take_in(settings, *TOURS, *SUBAGENTS)
    assert differences(content(opened(settings)), more) == []


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with some sessions; to be copied."""
    place = tmp_path_factory.mktemp("lakes") / "begun"
    take_in(local(place), *TOURS)
    return place


@pytest.fixture(scope="module")
def more(tmp_path_factory: pytest.TempPathFactory) -> Content:
    """What a lake holds once further sessions were added."""
    settings = local(tmp_path_factory.mktemp("lakes") / "more")
    take_in(settings, *TOURS, *SUBAGENTS)
    return content(opened(settings))


@pytest.fixture
def lake(begun: Path, tmp_path: Path) -> Path:
    return shutil.copytree(begun, tmp_path / "lake")


# --- spoilt files ----------------------------------------------------------------------------------------------------


def newest(lake: Path) -> Path:
    return min((lake / "messages.lance/_versions").glob("*.manifest"))


def data(lake: Path) -> Path:
    return next((lake / "messages.lance/data").glob("*.lance"))


def _halved(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def _garbled(file: Path) -> None:
    file.write_bytes(bytes(reversed(file.read_bytes())))


SPOILT: dict[str, tuple[Callable[[Path], object], str]] = {
    "newest manifest missing": (lambda lake: newest(lake).unlink(), "version 11 is gone, found 10"),
    "newest manifest all zeroes": (
        lambda lake: newest(lake).write_bytes(bytes(newest(lake).stat().st_size)),
        "version 11 is gone, found 0",
    ),
    "newest manifest empty": (lambda lake: newest(lake).write_bytes(b""), "opening `messages`"),
    "newest manifest halved": (lambda lake: _halved(newest(lake)), "opening `messages`"),
    "newest manifest garbled": (lambda lake: _garbled(newest(lake)), "opening `messages`"),
    "no manifest": (lambda lake: shutil.rmtree(lake / "messages.lance/_versions"), "no manifest leads to them"),
    "data file missing": (lambda lake: data(lake).unlink(), "reading `messages`: not found: "),
    "data file halved": (lambda lake: _halved(data(lake)), "reading `messages`"),
    "data file garbled": (lambda lake: _garbled(data(lake)), "reading `messages`"),
}


@pytest.mark.parametrize("what", SPOILT)
def test_a_spoilt_file_is_damage_and_nothing_is_written(
    what: str, lake: Path, begun: Path, more: Content, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pond.substrate.retry.time.sleep", lambda _: None)
    spoil, reason = SPOILT[what]
    spoil(lake)
    before = _files(lake)
    said = refused(local(lake))
    assert said.startswith("lake-damaged: ")
    assert reason in said
    assert _files(lake) == before
    shutil.copytree(begun, lake, dirs_exist_ok=True)  # from a backup
    completes(local(lake), more)


def _files(lake: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in lake.rglob("*") if path.is_file()}


@pytest.mark.parametrize("what", ["newest manifest missing", "newest manifest all zeroes"])
def test_a_manifest_that_goes_away_under_a_reader_is_damage(what: str, lake: Path) -> None:
    store = opened(local(lake))
    assert read.count(store, MESSAGES) > 0
    SPOILT[what][0](lake)
    with pytest.raises(Damaged, match="version 11 is gone"):
        read.count(store, MESSAGES)


def test_a_note_of_the_newest_version_that_cannot_be_read_does_no_harm(lake: Path, more: Content) -> None:
    for number, text in enumerate(["", "[]", '{"version": "x"}', '{"version": 1}']):
        hint = lake / f"{('sessions', 'messages', 'parts', 'ledger')[number]}.lance/_versions/latest_version_hint.json"
        hint.write_text(text)
    completes(local(lake), more)


@pytest.mark.rule("lance-dataset-schema-version")
def test_a_lake_of_a_newer_pond_is_left_alone(lake: Path) -> None:
    lance.dataset(str(lake / "messages.lance")).update_schema_metadata({"pond.schema_version": "3"})
    before = _files(lake)
    assert refused(local(lake)).startswith("lake-newer: table `messages` has schema version 3")
    assert _files(lake) == before


def test_a_table_that_another_process_makes_meanwhile_is_not_damaged(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, asked = lance.dataset, list[str]()

    def late(place: str, **options: Any) -> object:
        asked.append(place)
        if len(asked) == 1:
            raise ValueError(f"Dataset at path {place} was not found: Not found: {place}/_versions")
        return real(place, **options)

    monkeypatch.setattr(lance, "dataset", late)
    assert read.count(opened(local(lake)), SESSIONS) == 2


# --- disks -----------------------------------------------------------------------------------------------------------


def test_a_file_where_the_lake_should_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a lake")
    done = pond("ingest", *TOURS, "--lake", tmp_path / "file")
    assert done.code == 1
    assert (
        f"pond: lake-unavailable: opening `sessions`: {tmp_path}/file/sessions.lance/_versions: Not a dir" in done.err
    )


def test_a_full_disk_stops_an_ingest_and_the_next_completes_it(small_disk: Path, more: Content) -> None:
    lake = local(small_disk / "lake")
    reasons = []
    for leave in (0, 20_000, 50_000, 80_000):  # each begins where the one before had to stop
        ballast = disk.fill(small_disk, leave)
        reasons.append(refused(lake))
        ballast.unlink()
        assert unsound(opened(lake), more) == []
    assert all(said.startswith("lake-unavailable: ") for said in reasons)
    assert all("no space left on device" in said.lower() for said in reasons)
    assert not any("attempts" in said for said in reasons)  # no room now is no room in a second
    assert len({said.split(": ")[1] for said in reasons}) > 1  # it was stopped in different places
    completes(lake, more)


def test_a_lake_that_may_not_be_written_can_be_read(
    lake: Path, more: Content, read_only: Callable[[Path], AbstractContextManager[Path]]
) -> None:
    before = content(opened(local(lake)))
    with read_only(lake):
        assert differences(content(opened(local(lake))), before) == []
        take_in(local(lake), *TOURS)  # nothing is new
        said = refused(local(lake))
        assert said.startswith("lake-unavailable: writing `ledger`: ")  # new sessions are claimed first
        assert ".tmp" not in said
        assert "attempts" not in said
        assert refused(local(lake / "new")).startswith("lake-unavailable: making the lake: ")
    completes(local(lake), more)


# --- object stores ---------------------------------------------------------------------------------------------------


def test_a_user_decides_how_long_to_wait_for_an_object_store() -> None:
    given = {"TIMEOUT": "1s", "client_max_retries": "9"}
    options = client_options(Catalog("s3://bucket/lake", given))
    assert options.items() >= given.items()
    assert "timeout" not in options
    assert options["connect_timeout"] == "5s"
    assert client_options(Catalog("lake", {"a": "b"})) == {"a": "b"}


@pytest.mark.rule("lance-retry-jitter")
def test_an_ingest_gets_through_random_faults(s3: Store, proxy: Proxy, more: Content) -> None:
    through = s3.through(proxy.server_port)
    variables = {f"POND_STORAGE_{name.upper()}": value for name, value in through.storage_options.items()}
    with proxy.spoiling(Plan(dict.fromkeys(ALL_KINDS, 0.04), seed=1)):
        done = pond("ingest", *TOURS, *SUBAGENTS, "--lake", s3.uri, "--jobs", "1", variables=variables)
        read_through_faults = content(opened(remote(through)))
    assert len(proxy.faults()) == len(ALL_KINDS)
    assert (done.code, done.err) == (0, "")
    assert differences(content(opened(remote(s3))), more) == []
    assert differences(read_through_faults, more) == []


@pytest.mark.parametrize("fault", [Fault.SLOW_DOWN, Fault.RESET])
@pytest.mark.parametrize("asked", ["^PUT .*/messages.lance/_versions/", "^PUT .*/parts.lance/data/", "^GET .*/ledger"])
def test_a_storage_that_stays_away_is_said_and_the_next_run_completes(
    s3: Store, proxy: Proxy, more: Content, asked: str, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pond.substrate.retry.ATTEMPTS", 2)
    take_in(remote(s3), TOURS[0])
    with proxy.spoiling(Plan({fault: 1.0}, only=asked)):
        said = refused(remote(s3.through(proxy.server_port), **AT_ONCE))
    assert said.startswith("lake-unavailable: ")
    assert ("SlowDown" if fault is Fault.SLOW_DOWN else "does not answer") in said
    assert unsound(opened(remote(s3)), more) == []
    completes(remote(s3), more)


def test_a_bucket_that_is_not_there(s3: Store) -> None:
    nowhere = Settings(lake="s3://no-such-bucket/lake", storage=s3.storage_options)
    said = refused(nowhere)
    assert said == "lake-unavailable: opening `sessions`: the specified bucket does not exist (NoSuchBucket)"


def test_a_server_that_is_not_there(s3: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pond.substrate.retry.ATTEMPTS", 1)
    with pytest.raises(Unavailable, match="the storage does not answer"):
        read.count(opened(remote(s3.through(1), **AT_ONCE)), SESSIONS)


def test_spoilt_objects_are_damage_and_nothing_is_written(s3: Store) -> None:
    take_in(remote(s3), *TOURS)
    manifests = sorted(name for name in s3.objects() if name.startswith("messages.lance/_versions/"))
    kept = {name: s3.read(name) for name in manifests}
    for content_, reason in (
        (bytes(len(kept[manifests[0]])), "manifest is empty"),
        (b"", "opening"),
        (b"x", "opening"),
    ):
        s3.write(manifests[0], content_)
        assert refused(remote(s3)).startswith("lake-damaged: opening `messages`: ")
        assert reason in refused(remote(s3))
    for name in manifests:
        s3.delete(name)
    objects = s3.objects()
    assert "no manifest leads to them" in refused(remote(s3))
    assert s3.objects() == objects
