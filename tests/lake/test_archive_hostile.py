"""An archive that is not what it should be is refused before the lake hears of it."""

import random
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

from pond.lake.import_ import import_
from pond.sessions.archive import container
from pond.sessions.archive import manifest as manifest_module
from pond.sessions.archive.manifest import Extent
from pond.sessions.archive.refusal import ArchiveError
from pond.sessions.tables import PARTS, SESSIONS
from pond.sessions.writing import prepare
from pond.substrate.catalog import Catalog
from pond.substrate.store import Store
from pond.substrate.table import VERSION
from tests.lake.archives import Box, Row, archive_of, batch, difference, exported, packed, rows_of, sessions, versions
from tests.lake.talk import talk

pytestmark = pytest.mark.usefixtures("warm_check")

PICTURE = bytes(range(256)) * 4


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A lake with two sessions; one of them has the same picture twice."""
    store = Store(Catalog(str(tmp_path_factory.mktemp("source") / "lake")))
    prepare(store)
    talk(store, "spoken", 3)
    talk(store, "drawn", 3, pictures=[PICTURE, PICTURE, PICTURE[::-1]])
    return store


@pytest.fixture(scope="module")
def honest(source: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported(source, tmp_path_factory.mktemp("honest") / "a.pond")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(Catalog(str(tmp_path_factory.mktemp("kept") / "lake")))
    prepare(store)
    talk(store, "mine", 1)
    return store


@pytest.fixture
def lake(kept: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A lake that must stay as it is, and a place for temporary files that must be empty afterwards."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    before = versions(kept)
    yield kept
    assert versions(kept) == before
    assert sessions(kept).keys() == {"mine"}
    assert list(temporary.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith("bad")] == ["temporary"]


def refusal(lake: Store, path: Path) -> tuple[str, str]:
    """Return the code and the message with which an archive is refused."""
    with pytest.raises(ArchiveError) as refused:
        import_(lake, path)
    (found,) = refused.value.diagnostics
    assert found.span is not None
    assert found.span.file == str(path)
    assert found.help == "nothing was changed"
    return found.code, found.message


# --- not an archive ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [b"", b"PK", b"PK\x05\x06" + bytes(18), b"a plain text\n" * 100, bytes(70_000)])
def test_what_is_no_archive(text: bytes, lake: Store, tmp_path: Path) -> None:
    path = tmp_path / "bad.pond"
    path.write_bytes(text)
    assert refusal(lake, path)[0] == "archive-unreadable"


@pytest.mark.parametrize("share", [0.01, 0.3, 0.7, 0.95, 0.999])
def test_an_archive_cut_short(share: float, honest: Path, lake: Store, tmp_path: Path) -> None:
    path = tmp_path / "bad.pond"
    whole = honest.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    assert refusal(lake, path)[0] == "archive-unreadable"


# --- members ----------------------------------------------------------------------------------------------------------

OUTSIDE = [
    "../bad.txt",
    "sessions.lance/../../bad.txt",
    "/etc/bad.txt",
    "sessions.lance/data/../../../bad.lance",
    "C:\\bad.txt",
    "..\\bad.txt",
    "sessions.lance/data/a\x00b.lance",
    "ledger.lance/data/00.lance",
    "sessions.lance/_indices/00/index.idx",
    "sessions.lance/_deletions/0-1-2.arrow",
    "sessions.lance/data/00.lance\n",
    "sessions.lance/data/\u0660.lance",
    "sessions.lance/data/",
    "sessions.lance//data/00.lance",
    "note.txt",
]


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("name", OUTSIDE)
def test_a_member_that_is_no_file_of_a_table(
    name: str, listed: bool, honest: Path, lake: Store, tmp_path: Path
) -> None:
    box = Box.of(honest)
    box.put(name, b"bad", hashed=listed)
    code, message = refusal(lake, box.write(tmp_path / "bad.pond"))
    assert code == "archive-member"
    assert message.endswith(("is no file of a table", "is not a plain file"))


def test_a_manifest_that_lists_a_file_outside_without_having_it(honest: Path, lake: Store, tmp_path: Path) -> None:
    box = Box.of(honest)
    box.change(lambda value: value["members"].__setitem__("../bad.txt", {"size": 0, "sha256": "0" * 64}))
    assert refusal(lake, box.write(tmp_path / "bad.pond"))[0] == "archive-member"


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFDIR])
def test_a_link_a_device_or_a_folder(kind: int, honest: Path, lake: Store, tmp_path: Path) -> None:
    box = Box.of(honest)
    box.put(box.name(".lance"), b"/etc/passwd", mode=kind | 0o777)
    code, message = refusal(lake, box.write(tmp_path / "bad.pond"))
    assert (code, "plain file" in message) == ("archive-member", True)


def test_a_member_that_stands_twice(honest: Path, lake: Store, tmp_path: Path) -> None:
    box = Box.of(honest)
    box.members.append(box.members[-1])
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = box.write(tmp_path / "bad.pond")
    assert refusal(lake, path) == ("archive-member", f"`{box.members[-1][0].filename}` stands twice")


def test_a_compressed_member(honest: Path, lake: Store, tmp_path: Path) -> None:
    box = Box.of(honest)
    box.put(box.name(".lance"), bytes(1_000_000), compression=zipfile.ZIP_DEFLATED)
    code, message = refusal(lake, box.write(tmp_path / "bad.pond"))
    assert (code, "compressed" in message) == ("archive-member", True)


def test_an_encrypted_member(honest: Path, lake: Store, tmp_path: Path) -> None:
    path = tmp_path / "bad.pond"
    data = bytearray(honest.read_bytes())
    for start in _headers(data, b"PK\x01\x02"):
        data[start + 8] |= 1
    path.write_bytes(data)
    assert refusal(lake, path)[0] == "archive-member"


def test_a_member_too_many(honest: Path, lake: Store, tmp_path: Path) -> None:
    box = Box.of(honest)
    box.put("parts.lance/data/00.lance", b"more", hashed=False)
    assert refusal(lake, box.write(tmp_path / "bad.pond"))[0] == "archive-member"


def test_a_member_that_no_table_reads(honest: Path, lake: Store, tmp_path: Path) -> None:
    box = Box.of(honest)
    box.put("parts.lance/data/00.lance", b"more")
    code, message = refusal(lake, box.write(tmp_path / "bad.pond"))
    assert (code, "`parts`" in message) == ("archive-schema", True)


@pytest.mark.parametrize("end", [".lance", ".manifest"])
def test_a_member_that_is_missing(end: str, honest: Path, lake: Store, tmp_path: Path) -> None:
    box = Box.of(honest)
    box.drop(box.name(end))
    assert refusal(lake, box.write(tmp_path / "bad.pond"))[0] == "archive-member"


@pytest.mark.parametrize("end", [".lance", ".manifest"])
def test_a_file_that_neither_archive_nor_manifest_has(end: str, honest: Path, lake: Store, tmp_path: Path) -> None:
    box = Box.of(honest)
    name = box.name(end)
    box.drop(name)
    box.change(lambda value: value["members"].pop(name))
    assert refusal(lake, box.write(tmp_path / "bad.pond"))[0] == "archive-schema"


@pytest.mark.parametrize("there", [True, False])
def test_more_members_than_any_archive_has(
    there: bool, honest: Path, lake: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = Box.of(honest)
    for number in range(20):
        box.put(f"parts.lance/data/{number:02}.lance", b"", hashed=not there)
        if not there:
            box.drop(f"parts.lance/data/{number:02}.lance")
    path = box.write(tmp_path / "bad.pond")
    monkeypatch.setattr(manifest_module, "MOST_MEMBERS", 20)
    assert refusal(lake, path)[0] == "archive-too-large"


# --- hashes and claims ------------------------------------------------------------------------------------------------


def test_bytes_that_were_changed(honest: Path, lake: Store, tmp_path: Path) -> None:
    box = Box.of(honest)
    name = box.name(".lance")
    box.put(name, box.data(name)[:-1] + b"?", hashed=False)
    assert refusal(lake, box.write(tmp_path / "bad.pond"))[0] == "archive-hash"


def test_a_size_that_is_another(honest: Path, lake: Store, tmp_path: Path) -> None:
    box = Box.of(honest)
    name = box.name(".lance")
    box.put(name, box.data(name) + b"more", hashed=False)
    assert refusal(lake, box.write(tmp_path / "bad.pond"))[0] == "archive-hash"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda m: m.clear(), "archive-unreadable"),
        (lambda m: m.update(format="1"), "archive-unreadable"),
        (lambda m: m.update(format=0), "archive-unreadable"),
        (lambda m: m.update(format=2), "archive-newer"),
        (lambda m: m.update(tables={}), "archive-unreadable"),
        (lambda m: m.update(members=[]), "archive-unreadable"),
        (lambda m: m["tables"].update(ledger=m["tables"]["parts"]), "archive-unreadable"),
        (lambda m: m["tables"]["parts"].update(rows=-1), "archive-unreadable"),
        (lambda m: m["tables"]["parts"].update(rows=True), "archive-unreadable"),
        (lambda m: m["tables"]["parts"].update(bytes=1.5), "archive-unreadable"),
        (lambda m: m["tables"]["parts"].update(version=PARTS.version + 1), "archive-newer"),
        (lambda m: m["tables"]["parts"].update(rows=1 << 40), "archive-too-large"),
        (lambda m: m["tables"]["parts"].update(bytes=1 << 50), "archive-too-large"),
        (lambda m: m["tables"]["parts"].update(rows=1), "archive-too-large"),
        (lambda m: m["tables"]["parts"].update(bytes=1), "archive-too-large"),
        (lambda m: m["tables"]["parts"].update(rows=1000), "archive-rows"),
        (lambda m: m["tables"]["parts"].update(bytes=1_000_000), "archive-rows"),
        (lambda m: next(iter(m["members"].values())).update(size=None), "archive-unreadable"),
        (lambda m: next(iter(m["members"].values())).update(sha256="x" * 64), "archive-unreadable"),
        (lambda m: next(iter(m["members"].values())).update(sha256="0" * 64), "archive-hash"),
    ],
)
def test_a_manifest_that_says_something_else(
    change: Callable[[Any], object], code: str, honest: Path, lake: Store, tmp_path: Path
) -> None:
    box = Box.of(honest)
    box.change(change)
    assert refusal(lake, box.write(tmp_path / "bad.pond"))[0] == code


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b'{"format":1,"format":1}', b"\xff", b"[" * 100_000, b'{"format":1' + b" " * 1000]
)
def test_a_manifest_that_is_none(text: bytes, honest: Path, lake: Store, tmp_path: Path) -> None:
    box = Box.of(honest)
    box.put("manifest.json", text)
    assert refusal(lake, box.write(tmp_path / "bad.pond"))[0] == "archive-unreadable"


def test_no_manifest(honest: Path, lake: Store, tmp_path: Path) -> None:
    box = Box.of(honest)
    box.drop("manifest.json")
    assert refusal(lake, box.write(tmp_path / "bad.pond"))[0] == "archive-unreadable"


# --- bombs ------------------------------------------------------------------------------------------------------------


def _headers(data: bytes | bytearray, signature: bytes) -> Iterator[int]:
    start = data.find(signature)
    while start >= 0:
        yield start
        start = data.find(signature, start + 4)


def test_members_that_claim_to_be_huge(honest: Path, lake: Store, tmp_path: Path) -> None:
    data = bytearray(honest.read_bytes())
    for start in _headers(data, b"PK\x01\x02"):
        struct.pack_into("<II", data, start + 20, 0xFFFF_0000, 0xFFFF_0000)
    path = tmp_path / "bad.pond"
    path.write_bytes(data)
    assert refusal(lake, path)[0] == "archive-too-large"


def test_members_that_share_their_bytes(honest: Path, lake: Store, tmp_path: Path) -> None:
    """Many names for one large run of bytes unpack to many times the archive's size."""
    box = Box.of(honest)
    box.put("parts.lance/data/00.lance", bytes(200_000))
    path = box.write(tmp_path / "bad.pond")
    with zipfile.ZipFile(path, "a") as archive:
        large = archive.getinfo("parts.lance/data/00.lance")
        for number in range(1, 9):
            again = zipfile.ZipInfo(f"parts.lance/data/0{number}.lance")
            again.header_offset, again.CRC = large.header_offset, large.CRC
            again.file_size = again.compress_size = large.file_size
            archive.filelist.append(again)
        archive._didModify = True  # type: ignore[attr-defined]
    assert refusal(lake, path)[0] == "archive-too-large"


def test_a_list_of_members_without_end(
    honest: Path, lake: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container, "_MOST_AT_ONCE", 300)
    path = tmp_path / "bad.pond"
    path.write_bytes(honest.read_bytes())
    assert refusal(lake, path)[0] == "archive-too-large"


def test_a_table_that_unpacks_to_more_than_it_says(source: Store, lake: Store, tmp_path: Path) -> None:
    rows = rows_of(source)
    spoken = rows["messages"][0]
    rows["messages"] = [{**spoken, "id": f"m{n}", "content": "a" * 10_000} for n in range(2000)]
    path = archive_of(tmp_path / "bad.pond", rows, {"messages": Extent(1, 6, 2000)})
    assert path.stat().st_size < 300_000
    assert refusal(lake, path)[0] == "archive-too-large"


# --- tables that are not ours -----------------------------------------------------------------------------------------


def _replaced(source: Store, path: Path, table: Any, write: Callable[[Path], object]) -> Path:
    """Write an archive of the source's rows in which one table's place was filled by `write`."""
    archive_of(path, rows_of(source))
    folder = path.with_suffix(".tables")
    place = folder / f"{table.name}.lance"
    for file in sorted(place.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    write(place)
    for extra in ("_transactions", "_indices"):
        for file in sorted((place / extra).rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()
    (place / "_versions" / "latest_version_hint.json").unlink(missing_ok=True)
    for version in sorted((place / "_versions").glob("*.manifest"))[1:]:
        version.unlink()
    return packed(folder, path, {table.name: Extent(1, 6, 2000)})


def _written(schema: pa.Schema, place: Path, **options: Any) -> Any:
    return lance.write_dataset(schema.empty_table(), str(place), data_storage_version="2.2", **options)


_COLUMNS = list(SESSIONS.columns)
_V1 = {VERSION: "1"}
WRONG = {
    "a column less": (pa.schema(_COLUMNS[:-1], _V1), "archive-schema"),
    "a column more": (pa.schema([*_COLUMNS, pa.field("x", pa.string())], _V1), "archive-schema"),
    "another type": (pa.schema([*_COLUMNS[:-1], pa.field("ingested_at", pa.int64())], _V1), "archive-schema"),
    "no key": (pa.schema([pa.field("id", pa.string()), *_COLUMNS[1:]], _V1), "archive-schema"),
    "no version": (pa.schema(_COLUMNS), "archive-schema"),
    "a strange version": (pa.schema(_COLUMNS, metadata={VERSION: "one"}), "archive-schema"),
    "a newer version": (pa.schema(_COLUMNS, metadata={VERSION: str(PARTS.version + 1)}), "archive-newer"),
}  # fmt: skip


@pytest.mark.rule("lance-dataset-schema-version")
@pytest.mark.parametrize("case", WRONG)
def test_a_table_of_another_form(case: str, source: Store, lake: Store, tmp_path: Path) -> None:
    schema, code = WRONG[case]
    path = _replaced(source, tmp_path / "bad.pond", SESSIONS, lambda place: _written(schema, place))
    assert refusal(lake, path)[0] == code


def test_a_table_with_deleted_rows(source: Store, lake: Store, tmp_path: Path) -> None:
    def write(place: Path) -> None:
        rows = pa.Table.from_batches([batch(SESSIONS, rows_of(source)["sessions"])])
        lance.write_dataset(rows, str(place), data_storage_version="2.2").delete("id = 'spoken'")

    path = tmp_path / "bad.pond"
    with pytest.raises(ArchiveError):  # its deletion file has no place in an archive; without it the table is broken
        import_(lake, _replaced(source, path, SESSIONS, write))


def test_a_table_that_reads_files_elsewhere(source: Store, lake: Store, tmp_path: Path) -> None:
    def write(place: Path) -> None:
        original = lance.dataset(source.catalog.location("sessions"))
        original.shallow_clone(str(place), original.version)

    path = _replaced(source, tmp_path / "bad.pond", SESSIONS, write)
    code, message = refusal(lake, path)
    assert (code, "other places" in message) == ("archive-schema", True)


def test_a_payload_that_is_a_file_of_this_machine(source: Store, lake: Store, tmp_path: Path) -> None:
    """Lance would read the file named and hand its bytes over as the payload."""
    secret = tmp_path / "bad-secret"
    secret.write_bytes(PICTURE)
    rows = rows_of(source)["parts"]
    for row in rows:
        row["data"] = f"file://{secret}" if row["data"] is not None else None

    def write(place: Path) -> None:
        table = pa.Table.from_batches([batch(PARTS, rows)])
        lance.write_dataset(
            table, str(place), data_storage_version="2.2", enable_stable_row_ids=True,
            allow_external_blob_outside_bases=True,
        )  # fmt: skip

    code, message = refusal(lake, _replaced(source, tmp_path / "bad.pond", PARTS, write))
    assert (code, "outside" in message) == ("archive-schema", True)


# --- rows that do not fit together ------------------------------------------------------------------------------------


def _first(table: str, **changes: object) -> Callable[[dict[str, list[Row]]], object]:
    return lambda rows: rows[table][0].update(changes)


def _held(**changes: object) -> Callable[[dict[str, list[Row]]], object]:
    return lambda rows: next(row for row in rows["parts"] if row["data"] is not None).update(changes)


def _twice(table: str) -> Callable[[dict[str, list[Row]]], object]:
    return lambda rows: rows[table].append(rows[table][0])


def _forget_payloads(rows: dict[str, list[Row]]) -> None:
    for row in rows["parts"]:
        row.update(data=None, data_size=None)


ODD_ROWS = {
    "a session less": lambda rows: rows["sessions"].pop(),
    "a key twice in sessions": _twice("sessions"),
    "a key twice in messages": _twice("messages"),
    "a key twice in parts": _twice("parts"),
    "a message of another project": _first("messages", project="/elsewhere"),
    "a message of another client": _first("messages", source_agent="codex"),
    "a message of no session": _first("messages", session_id="nobody"),
    "a part of no session": _first("parts", session_id="nobody"),
    "an unknown role": _first("messages", role="king"),
    "an unknown part": _first("parts", type="riddle"),
    "an unknown provenance": _first("parts", provenance="hearsay"),
    "no role": _first("messages", role=None),
    "no project": _first("sessions", project=None),
    "an empty project": _first("sessions", project=""),
    "no position": _first("parts", position=None),
    "options that are no JSON": _first("messages", options="{"),
    "options that are no object": _first("sessions", options="[]"),
    "options of a part that are no object": _first("parts", options="1"),
    "options without end": _first("messages", options="[" * 100_000),
    "a variant that is no object": _first("parts", variant_data="[]"),
    "an escape that nobody wrote": _first("sessions", source_agent="\x01\\xzz"),
    "a time that no calendar has": _first("sessions", created_at=(1 << 62)),
    "a payload of another hash": _held(data_hash="0" * 64),
    "a payload of another size": _held(data_size=1),
    "a payload of other bytes": _held(data=PICTURE + b"!"),
    "a payload with nowhere to go": _held(payloads=None),
    "a payload that goes where nothing is": _held(payloads='[[["data","deep"],1024,null]]'),
    "a payload that is spelled in no way": _held(payloads='[[["data"],1024,{"lines":[0,""]}]]'),
    "payloads that are nowhere": _forget_payloads,
    "a repeated payload of no part": _first("messages", payloads='[[["pond"],7,7]]'),
}


@pytest.mark.parametrize("case", ODD_ROWS)
def test_rows_that_do_not_fit_together(case: str, source: Store, lake: Store, tmp_path: Path) -> None:
    rows = rows_of(source)
    ODD_ROWS[case](rows)
    code, message = refusal(lake, archive_of(tmp_path / "bad.pond", rows))
    assert code == "archive-rows", message


# --- chance -----------------------------------------------------------------------------------------------------------


def _is_refused(lake: Store, path: Path) -> bool:
    try:
        import_(lake, path)
    except ArchiveError:
        return True
    return False


def test_any_changed_byte_is_refused_or_changes_nothing(source: Store, honest: Path, tmp_path: Path) -> None:
    draw = random.Random(7)
    whole = honest.read_bytes()
    edges = [
        at + draw.randrange(60)
        for sign in (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06")
        for at in _headers(whole, sign)
    ]
    refused = 0
    for number, at in enumerate([*edges, *(draw.randrange(len(whole)) for _ in range(60))]):
        data = bytearray(whole)
        data[min(at, len(data) - 1)] ^= 1 << draw.randrange(8)
        path, target = tmp_path / "bad.pond", Store(Catalog(str(tmp_path / f"lake{number}")))
        path.write_bytes(data)
        if _is_refused(target, path):
            assert not (tmp_path / f"lake{number}").exists()
            refused += 1
        else:
            assert difference(source, target) is None
    assert refused > 60


@pytest.mark.parametrize("seed", range(8))
def test_any_changed_byte_of_a_table_that_was_hashed_again_does_no_harm(
    seed: int, honest: Path, tmp_path: Path
) -> None:
    """Hashes are not signatures: anyone can hash a changed table again. It must still crash no process of ours."""
    draw = random.Random(seed)
    box = Box.of(honest)
    name = draw.choice([entry.filename for entry, _ in box.members if entry.filename != "manifest.json"])
    data = bytearray(box.data(name))
    for _ in range(draw.choice([1, 1, 4])):
        data[-1 - min(len(data) - 1, int(draw.expovariate(1 / 300)))] ^= 1 << draw.randrange(8)
    box.put(name, bytes(data))
    target = Store(Catalog(str(tmp_path / "lake")))
    if _is_refused(target, box.write(tmp_path / "bad.pond")):
        assert not (tmp_path / "lake").exists()
    else:
        assert sessions(target).keys() == {"spoken", "drawn"}


def test_the_honest_archive_is_taken(source: Store, honest: Path, tmp_path: Path) -> None:
    """Whatever is refused above is refused for the change that was made to this one."""
    target, again = (Store(Catalog(str(tmp_path / name))) for name in ("lake", "again"))
    import_(target, honest)
    import_(again, Box.of(honest).write(tmp_path / "b.pond"))
    assert difference(source, target) is None
    assert difference(source, again) is None
    import_(target, archive_of(tmp_path / "c.pond", rows_of(source)))
