"""Whatever a file, a directory or a disk does, `pond convert` names it and converts all the rest."""

import json
import os
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Done, finish, obey_permissions, pond, start
from tests.cli.exact import values, values_of
from tests.cli.sessions import CLAUDE_CODE, CLIENTS, CODEX, Client, Record, dump, dumps, session_id

both_clients = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
no_silent_drops = pytest.mark.rule("adapter-integrity-no-silent-drops")
lossless = pytest.mark.rule("adapter-native-restore-lossless")

SESSION = session_id("hostile")
NOT_WRITTEN = 1  # the exit code where the input was fine and the output was not


def _between(client: Client, directory: Path, *hostile: bytes, end: bytes = b"\n") -> tuple[Path, int, list[bytes]]:
    """Write a session with `hostile` lines in its middle: the file, the first such line, the healthy lines."""
    healthy = dumps(client.records(SESSION, 2))
    middle = len(healthy) // 2
    file = client.file(directory / "in", SESSION, [*healthy[:middle], *hostile, *healthy[middle:]], end)
    return file, middle + 1, healthy


def _convert(client: Client, file: Path, directory: Path) -> tuple[Done, Path]:
    """Convert `file` to its own client's form, into an output directory with nothing else in it."""
    out = directory / "out"
    out.mkdir()
    return pond("convert", file, "--to", client.name, "-o", out / file.name), out / file.name


def _only(file: Path) -> None:
    """Check that nothing but `file` is in its directory: no temporary file, nothing half-written."""
    assert [entry.name for entry in file.parent.iterdir()] == [file.name]


def _rejected(client: Client, directory: Path, code: str, *hostile: bytes) -> None:
    """Check that each hostile line is named with `code` and that every other record comes back."""
    file, first, healthy = _between(client, directory, *hostile)
    done, out = _convert(client, file, directory)
    assert done.places() == [(file.name, first + n, code) for n in range(len(hostile))], done.err
    assert done.code == 1
    assert values_of(out) == values(b"\n".join(healthy))
    _only(out)


def _kept(client: Client, directory: Path, *odd: bytes) -> None:
    """Check that odd but readable lines come back value-equal, at once and by way of canonical text."""
    file, _, _ = _between(client, directory, *odd)
    done, out = _convert(client, file, directory)
    assert (done.code, done.errors) == (0, []), done.err
    assert values_of(out) == values_of(file)
    _only(out)
    canonical = pond("convert", file, "--to", "canonical")
    assert canonical.code == 0, canonical.err
    back = pond("convert", "-", "--to", client.name, stdin=canonical.out)
    assert back.code == 0, back.err
    assert values(back.out) == values_of(file)


def _spoken(client: Client, text: object) -> Record:
    """Return a record of the client in which a person says `text`."""
    record = next(r for r in client.records(session_id("spoken"), 1) if "where is Saturn" in dump(r).decode())
    if client is CLAUDE_CODE:
        return {**record, "sessionId": SESSION, "message": {"role": "user", "content": text}}
    return {**record, "payload": {**record["payload"], "content": [{"type": "input_text", "text": text}]}}


def _beside(client: Client, record: Record, key: str, value: str) -> bytes:
    """Return `record` as a line with one more member, spelled exactly `"key":value`, at each object level."""
    inner = "message" if client is CLAUDE_CODE else "payload"
    line = dump({**record, inner: {**record[inner], "@@": 0}, "@@": 0}).decode()
    return line.replace('"@@":0', f"{key}:{value}").encode()


# --- files that are not what they seem ---------------------------------------------------------------------------


@both_clients
@pytest.mark.parametrize("content", [b"", b"\n\n  \n\r\n\t\n"], ids=["empty", "blank-lines"])
def test_a_file_without_records_is_named_and_is_no_error(client: Client, content: bytes, tmp_path: Path) -> None:
    empty = client.file(tmp_path / "in", session_id("empty"), [])
    empty.write_bytes(content)
    healthy = client.session(tmp_path / "in", "beside")
    done = pond("convert", tmp_path / "in", "--to", client.name, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert [(Path(f.file).name, f.code) for f in done.faults] == [(empty.name, "source-empty")]
    assert _tree(tmp_path / "out") == {healthy.relative_to(tmp_path / "in").as_posix()}


def _tree(directory: Path) -> set[str]:
    return {file.relative_to(directory).as_posix() for file in directory.rglob("*") if not file.is_dir()}


BINARY = bytes(range(256)) * 40
TEXT = b"\n".join(dumps(CLAUDE_CODE.records(session_id("utf-16"), 1))).decode() + "\n"
NOT_TEXT = {
    "binary": BINARY,
    "utf-16-with-bom": TEXT.encode("utf-16"),
    "utf-16-without-bom": TEXT.encode("utf-16-le"),
    "utf-16-big-endian": TEXT.encode("utf-16-be"),
    "gzip": b"\x1f\x8b\x08\x00" + BINARY,
    "nul-bytes": bytes(4096),
}


@no_silent_drops
@pytest.mark.parametrize("kind", NOT_TEXT)
def test_a_file_that_is_no_text_is_named_and_its_neighbours_converted(kind: str, tmp_path: Path) -> None:
    healthy = CLAUDE_CODE.session(tmp_path / "in", "beside")
    odd = healthy.with_name("odd.jsonl")
    odd.write_bytes(NOT_TEXT[kind])
    done = pond("convert", tmp_path / "in", "--to", "claude-code", "-o", tmp_path / "out")
    assert done.code == 1, done.err
    assert {Path(fault.file).name for fault in done.errors} == {odd.name}
    assert len(done.err) < 4000, "a file full of rubbish must not fill the screen"
    [name] = _tree(tmp_path / "out")
    assert values_of(tmp_path / "out" / name) == values_of(healthy)


@pytest.mark.parametrize("kind", NOT_TEXT)
def test_a_file_that_is_no_text_gives_no_output(kind: str, tmp_path: Path) -> None:
    odd = tmp_path / "odd.jsonl"
    odd.write_bytes(NOT_TEXT[kind])
    out = tmp_path / "out"
    out.mkdir()
    done = pond("convert", odd, "--to", "canonical", "-o", out / "odd.jsonl")
    assert done.code in (1, 2)
    assert done.errors
    assert {Path(fault.file).name for fault in done.errors} == {"odd.jsonl"}
    assert list(out.iterdir()) == []


@both_clients
def test_a_byte_order_mark_is_not_data(client: Client, tmp_path: Path) -> None:
    file = client.session(tmp_path / "in", "bom")
    plain = file.read_bytes()
    file.write_bytes(b"\xef\xbb\xbf" + plain)
    done, out = _convert(client, file, tmp_path)
    assert (done.code, done.errors) == (0, []), done.err
    assert values_of(out) == values(plain)
    _only(out)


@both_clients
def test_windows_line_ends_are_not_data(client: Client, tmp_path: Path) -> None:
    file, _, healthy = _between(client, tmp_path, b"", end=b"\r\n")
    done, out = _convert(client, file, tmp_path)
    assert (done.code, done.errors) == (0, []), done.err
    assert values_of(out) == values(b"\n".join(healthy))


@lossless
@both_clients
def test_one_line_of_50_megabytes(client: Client, tmp_path: Path) -> None:
    line = dump(_spoken(client, "brass and glass, " * (50_000_000 // 17)))
    file, _, _ = _between(client, tmp_path, line)
    done, out = _convert(client, file, tmp_path)
    assert (done.code, done.errors) == (0, []), done.err
    assert out.stat().st_size > 49_000_000
    assert values_of(out) == values_of(file)
    _only(out)


# --- lines -------------------------------------------------------------------------------------------------------


@no_silent_drops
@both_clients
@pytest.mark.parametrize("brackets", ["[]", '{"a":}'], ids=["arrays", "objects"])
def test_ten_thousand_levels_are_refused(client: Client, brackets: str, tmp_path: Path) -> None:
    opening, closing = brackets[:-1], brackets[-1]
    deep = opening * 10_000 + "0" + closing * 10_000
    inside = dump(_spoken(client, "@@")).replace(b'"@@"', deep.encode())
    _rejected(client, tmp_path, "source-too-deep", inside)


@lossless
@both_clients
def test_four_hundred_levels_are_kept(client: Client, tmp_path: Path) -> None:
    inside = dump(_spoken(client, "@@")).replace(b'"@@"', b'{"a":[' * 200 + b"0" + b"]}" * 200)
    _kept(client, tmp_path, inside)


@no_silent_drops
@both_clients
@pytest.mark.parametrize("cut", [0.1, 0.5, 0.99])
def test_a_cut_off_last_line_is_named(client: Client, cut: float, tmp_path: Path) -> None:
    file, _, healthy = _between(client, tmp_path)
    last = healthy[-1][: int(len(healthy[-1]) * cut)]
    file.write_bytes(b"\n".join([*healthy[:-1], last]))
    done, out = _convert(client, file, tmp_path)
    assert done.places() == [(file.name, len(healthy), "source-not-json")], done.err
    assert done.code == 1
    assert values_of(out) == values(b"\n".join(healthy[:-1]))
    _only(out)


@lossless
@both_clients
def test_a_last_line_without_an_end_is_whole(client: Client, tmp_path: Path) -> None:
    file, _, healthy = _between(client, tmp_path)
    file.write_bytes(b"\n".join(healthy))
    done, out = _convert(client, file, tmp_path)
    assert (done.code, done.errors) == (0, []), done.err
    assert values_of(out) == values_of(file)


@no_silent_drops
@both_clients
def test_a_block_of_zeros_before_the_first_record_costs_one_line(client: Client, tmp_path: Path) -> None:
    file, _, healthy = _between(client, tmp_path)
    file.write_bytes(b"\n".join([bytes(512), *healthy, b""]))
    done, out = _convert(client, file, tmp_path)
    assert (done.code, done.places()) == (1, [(file.name, 1, "source-not-json")])
    assert values_of(out) == values(b"\n".join(healthy))


@no_silent_drops
@both_clients
def test_a_last_line_cut_inside_a_character_is_named(client: Client, tmp_path: Path) -> None:
    file, _, healthy = _between(client, tmp_path)
    whole = next(line for line in healthy if "♄".encode() in line)
    file.write_bytes(b"\n".join([*healthy, whole[: whole.index("♄".encode()) + 1]]))
    done, out = _convert(client, file, tmp_path)
    [(name, line, code)] = done.places()
    assert (done.code, name, line) == (1, file.name, len(healthy) + 1)
    assert code in ("source-encoding", "source-not-json")
    assert values_of(out) == values(b"\n".join(healthy))


@lossless
@both_clients
def test_lines_that_are_no_object_are_carried_and_said(client: Client, tmp_path: Path) -> None:
    odd = [b'["type","user"]', b"7", b'"user"', b"null", b"true", b"-0.0", b"[]", b"1e400"]
    _kept(client, tmp_path, *odd)
    file, _, _ = _between(client, tmp_path / "again", *odd)
    said = pond("convert", file, "--to", "canonical").err
    assert "not an object" in said
    assert f"({len(odd)})" in said


@no_silent_drops
@both_clients
def test_lines_that_are_no_json(client: Client, tmp_path: Path) -> None:
    whole = dump(_spoken(client, "hello"))
    _rejected(
        client,
        tmp_path,
        "source-not-json",
        b"{",
        b"}",
        b"{'type':'user'}",
        b'{"type":"user",}',
        whole + whole,
        whole + b" // said",
        b'{"type":undefined}',
        b"\xef\xbb\xbf" + whole,
    )


@no_silent_drops
@both_clients
def test_raw_nul_bytes_are_named(client: Client, tmp_path: Path) -> None:
    whole = dump(_spoken(client, "hello"))
    _rejected(client, tmp_path, "source-not-json", bytes(512), whole.replace(b"hello", b"hel\0lo"), bytes(3) + whole)


@no_silent_drops
@both_clients
def test_bytes_that_are_no_utf_8_are_named(client: Client, tmp_path: Path) -> None:
    whole = dump(_spoken(client, "hello"))
    latin, surrogate = whole.replace(b"hello", b"h\xe9llo"), whole.replace(b"hello", b"\xed\xa0\xbd")
    _rejected(client, tmp_path, "source-encoding", latin, surrogate, whole.replace(b"hello", b"\xc0\xaf"))


# --- values ------------------------------------------------------------------------------------------------------


@lossless
@both_clients
def test_escaped_nul_characters_are_kept(client: Client, tmp_path: Path) -> None:
    said = dump(_spoken(client, "a\0b\0"))
    assert b"\\u0000" in said
    _kept(client, tmp_path, said, _beside(client, _spoken(client, "keys"), '"n\\u0000l"', '"\\u0000"'))


@lossless
@both_clients
def test_lone_surrogates_are_kept(client: Client, tmp_path: Path) -> None:
    said = dump(_spoken(client, "cut off \ud83d and \udc00\ud800 and whole \U0001fa90"))
    assert b"\\ud83d" in said
    _kept(client, tmp_path, said, _beside(client, _spoken(client, "keys"), '"\\udc00"', '["\\ud83d"]'))


NUMBERS = {
    "forty-digits": ["1" + "234567890" * 4 + "123", "-" + "9876543210" * 4],
    "beyond-64-bits": ["18446744073709551616", "-9223372036854775809", "9007199254740993"],
    "five-thousand-digits": ["7" * 5000, "-" + "123456789" * 1000],
    "nineteen-digits-of-exponent": ["1e9999999999999999999", "-2.5E+9999999999999999999"],
    "nan": ["NaN"],
    "infinity": ["Infinity", "-Infinity"],
    "1e400": ["1e400", "-1e400", "1.50E+999"],
    "minus-zero": ["-0.0", "-0", "0.0", "-0e5"],
    "spellings": ["1.0", "1e2", "1E2", "100", "100.0"],
    "exact-floats": ["0.1", "5e-324", "1e-400", "1.7976931348623157e308", "123456789.12345678901234567890"],
}


@lossless
@both_clients
@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_are_kept(client: Client, kind: str, tmp_path: Path) -> None:
    record = _spoken(client, "how far?")
    odd = [_beside(client, record, '"odd"', number) for number in NUMBERS[kind]]
    _kept(client, tmp_path, *odd, _beside(client, record, '"list"', f"[{','.join(NUMBERS[kind])}]"))


@no_silent_drops
@both_clients
def test_a_repeated_key_is_named_and_the_last_value_kept(client: Client, tmp_path: Path) -> None:
    record = _spoken(client, "twice")
    top = _beside(client, record, '"k":1,"k"', "2")
    nested = dump(_spoken(client, "@@")).replace(b'"@@"', b'[{"type":"text","text":"a","text":"b"}]')
    file, first, _ = _between(client, tmp_path, top, nested)
    done, out = _convert(client, file, tmp_path)
    assert done.code == 1
    assert {fault.code for fault in done.errors} == {"source-duplicate-key"}, done.err
    assert {(Path(fault.file).name, fault.line) for fault in done.errors} == {
        (file.name, first),
        (file.name, first + 1),
    }
    assert values_of(out) == values_of(file), "the stdlib keeps the last value too"
    _only(out)


ODD_STRINGS = [
    "",
    " ",
    "\u2028\u2029\x85\x0b\x0c",
    "\\",
    '"',
    "\\u0041",
    "</script>",
    "\U0010ffff\ufffe",
    "a\r\nb",
    "\x7f",
]


@lossless
@both_clients
def test_odd_strings_and_keys_are_kept(client: Client, tmp_path: Path) -> None:
    record = _spoken(client, "odd")
    inner = "message" if client is CLAUDE_CODE else "payload"
    as_keys = {
        **record,
        inner: {**record[inner], **{text: text for text in ODD_STRINGS}},
        **dict.fromkeys(ODD_STRINGS, 1),
    }
    said = [_spoken(client, text) for text in ODD_STRINGS]
    many = {**record, **{f"key{n}": n for n in range(2000)}}
    _kept(client, tmp_path, *dumps([as_keys, *said, many]))


JSON_TYPES: tuple[Any, ...] = (
    None,
    True,
    7,
    1.5,
    "text",
    "",
    [],
    [1],
    ["text"],
    {},
    {"type": "text"},
    [{"type": "text"}],
)


def _replaced(value: Any, types: tuple[Any, ...] = JSON_TYPES) -> Iterator[Any]:
    """Give `value` with each member at each level in turn replaced by each JSON type, and once left out."""
    if isinstance(value, dict):
        for key in value:
            without = {k: v for k, v in value.items() if k != key}
            yield without
            yield from ({**value, key: odd} for odd in types)
            yield from ({**value, key: inside} for inside in _replaced(value[key], types))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from ([*value[:index], odd, *value[index + 1 :]] for odd in types)
            yield from ([*value[:index], inside, *value[index + 1 :]] for inside in _replaced(item, types))


@lossless
@both_clients
def test_wrong_types_in_every_field_are_kept(client: Client, tmp_path: Path) -> None:
    normal = client.records(SESSION, 1)
    wrong = []
    for number, record in enumerate(normal):
        for variant, odd in enumerate(_replaced(record)):
            if odd.get("uuid") == record.get("uuid") is not None:
                odd["uuid"] = session_id(f"{number}/{variant}")  # one id many times has a test of its own
            wrong.append(odd)
    assert len(wrong) > 800
    file = client.file(tmp_path / "in", SESSION, dumps([*normal, *wrong, *normal]))
    done, out = _convert(client, file, tmp_path)
    assert (done.code, done.errors) == (0, []), done.err[:2000]
    assert "source-type" in {fault.code for fault in done.faults}
    assert {Path(fault.file).name for fault in done.faults if fault.file} <= {file.name}
    assert values_of(out) == values_of(file)
    canonical = pond("convert", file, "--to", "canonical")
    back = pond("convert", "-", "--to", client.name, stdin=canonical.out)
    assert (canonical.code, back.code) == (0, 0), back.err[:2000]
    assert values(back.out) == values_of(file)


@lossless
@both_clients
def test_wrong_types_in_the_first_record_are_kept(client: Client, tmp_path: Path) -> None:
    """The first record also says whose session it is: each wrong type gets a session of its own."""
    first, *others = client.records(SESSION, 1)
    written = {}
    for n, odd in enumerate(_replaced(first)):
        name = session_id(f"first {n}")
        written[client.path(name)] = dumps([odd, *others])
        client.file(tmp_path / "in", name, written[client.path(name)])
    done = pond("convert", tmp_path / "in", "--from", client.name, "--to", client.name, "-o", tmp_path / "out")
    assert (done.code, done.errors) == (0, []), done.err[:2000]
    assert _tree(tmp_path / "out") == set(written)
    for name, lines in written.items():
        assert values_of(tmp_path / "out" / name) == values(b"\n".join(lines)), lines[0]


# --- contents of a directory -------------------------------------------------------------------------------------


def _store(client: Client, directory: Path) -> Path:
    """Write two healthy sessions and return the folder of the last."""
    client.session(directory, "one")
    return client.session(directory, "two").parent


def _converted(client: Client, directory: Path) -> Callable[[Done], None]:
    """Return a check that both healthy sessions of `directory/in` are in `directory/out`, and nothing else."""

    def check(done: Done) -> None:
        names = {client.path(session_id(seed)) for seed in ("one", "two")}
        assert _tree(directory / "out") == names, done.err
        for name in names:
            assert values_of(directory / "out" / name) == values_of(directory / "in" / name)

    return check


@no_silent_drops
@both_clients
def test_unreadable_files_and_directories_are_named(client: Client, tmp_path: Path) -> None:
    folder = _store(client, tmp_path / "in")
    locked = client.session(tmp_path / "in", "locked")
    locked.chmod(0)
    (folder / "dangling.jsonl").symlink_to("nowhere.jsonl")
    (folder / "sealed").mkdir()
    (folder / "sealed").chmod(0)
    try:
        done = pond("convert", tmp_path / "in", "--to", client.name, "-o", tmp_path / "out", before=obey_permissions)
    finally:
        (folder / "sealed").chmod(0o700)
    assert done.code == 1, done.err
    assert {(Path(f.file).name, f.code) for f in done.errors} == {
        (locked.name, "source-unreadable"),
        ("dangling.jsonl", "source-unreadable"),
        ("sealed", "source-unreadable"),
    }
    _converted(client, tmp_path)(done)


def test_an_unreadable_input_by_name_is_refused(tmp_path: Path) -> None:
    file = CODEX.session(tmp_path, "locked")
    file.chmod(0)
    for target in (file, tmp_path / "absent.jsonl"):
        done = pond("convert", target, "--to", "canonical", before=obey_permissions)
        assert (done.code, done.out) == (2, b"")
        assert [(Path(f.file).name, f.code) for f in done.errors] == [(target.name, "source-unreadable")], done.err


@no_silent_drops
@both_clients
def test_a_directory_named_like_a_session_is_searched(client: Client, tmp_path: Path) -> None:
    folder = _store(client, tmp_path / "in")
    (folder / "x.jsonl").mkdir()
    done = pond("convert", tmp_path / "in", "--to", client.name, "-o", tmp_path / "out")
    assert (done.code, done.errors) == (0, []), done.err
    _converted(client, tmp_path)(done)


@no_silent_drops
@both_clients
def test_pipes_and_sockets_in_a_directory_are_named(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _store(client, tmp_path / "in")
    os.mkfifo(folder / "pipe.jsonl")
    monkeypatch.chdir(folder)  # a socket's name may be 100 bytes long at most
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.jsonl")
        done = pond("convert", tmp_path / "in", "--to", client.name, "-o", tmp_path / "out")
    assert done.code == 1, done.err
    assert {(Path(f.file).name, f.code) for f in done.errors} == {
        ("pipe.jsonl", "source-not-a-file"),
        ("socket.jsonl", "source-not-a-file"),
    }
    _converted(client, tmp_path)(done)


@both_clients
def test_a_pipe_by_name_is_read_as_standard_input_is(client: Client, tmp_path: Path) -> None:
    """As a shell's `<(command)` gives one."""
    file, pipe = client.session(tmp_path, "piped"), tmp_path / "pipe"
    os.mkfifo(pipe)
    process = start("convert", pipe, "--to", client.name)
    pipe.write_bytes(file.read_bytes())
    done = finish(process)
    assert (done.code, done.errors) == (0, []), done.err
    assert values(done.out) == values_of(file)


@no_silent_drops
@pytest.mark.parametrize("what", ["socket", "device"])
def test_what_is_no_file_is_refused_by_name(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        done = pond("convert", "socket" if what == "socket" else "/dev/null", "--to", "canonical")
    assert (done.code, done.out) == (2, b"")
    assert [f.code for f in done.errors] == ["source-not-a-file"], done.err


@no_silent_drops
@both_clients
def test_symlink_loops_end(client: Client, tmp_path: Path) -> None:
    folder = _store(client, tmp_path / "in")
    (folder / "up").symlink_to("..", target_is_directory=True)
    (folder / "self").symlink_to(".", target_is_directory=True)
    (folder / "ring.jsonl").symlink_to("ring.jsonl")
    done = pond("convert", tmp_path / "in", "--to", client.name, "-o", tmp_path / "out")
    assert done.code == 1, done.err
    assert ("ring.jsonl", "source-unreadable") in {(Path(f.file).name, f.code) for f in done.errors}
    _converted(client, tmp_path)(done)


def test_odd_file_names_are_converted(tmp_path: Path) -> None:
    folder = CLAUDE_CODE.session(tmp_path / "in", "plain").parent
    names = ["-o.jsonl", "a b.jsonl", "new\nline.jsonl", "ünï.jsonl", "..hidden.jsonl", "%s{0}.jsonl"]
    for n, name in enumerate(names):
        (folder / name).write_bytes(b"\n".join(dumps(CLAUDE_CODE.records(session_id(f"odd {n}"), 1))))
    (folder / os.fsdecode(b"byte\xff.jsonl")).write_bytes(b"{\n")
    done = pond("convert", tmp_path / "in", "--to", "claude-code", "-o", tmp_path / "out")
    assert done.code == 1, done.err
    assert [fault.code for fault in done.errors][:1] != [], done.err
    for name in names:
        target = tmp_path / "out" / folder.relative_to(tmp_path / "in") / name
        assert values_of(target) == values_of(folder / name)


# --- where the output goes ---------------------------------------------------------------------------------------


@both_clients
def test_a_full_disk_behind_stdout_is_said(client: Client, tmp_path: Path) -> None:
    file = client.session(tmp_path / "in", "full", turns=200)
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        done = pond("convert", file, "--to", "canonical", stdout=full)
    finally:
        os.close(full)
    assert [f.code for f in done.errors] == ["output-failed"], done.err
    assert done.code == NOT_WRITTEN


@both_clients
def test_a_device_is_no_output(client: Client, tmp_path: Path) -> None:
    file = client.session(tmp_path / "in", "device")
    done = pond("convert", file, "--to", "canonical", "-o", "/dev/full")
    assert done.code == NOT_WRITTEN
    assert [f.code for f in done.errors] in (["output-failed"], ["output-exists"]), done.err
    assert Path("/dev/full").is_char_device()


def _disk_of_64_kilobytes() -> None:
    """Let no file of this process grow beyond 64 KB: what a disk that fills up in the middle looks like."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))


@both_clients
@pytest.mark.parametrize("target", ["canonical", "own"])
def test_a_disk_that_fills_up_leaves_nothing_half_written(client: Client, target: str, tmp_path: Path) -> None:
    file = client.session(tmp_path / "in", "growing", turns=200)
    assert file.stat().st_size > 1 << 17
    out = tmp_path / "out"
    out.mkdir()
    name = client.name if target == "own" else target
    done = pond("convert", file, "--to", name, "-o", out / "s.jsonl", before=_disk_of_64_kilobytes)
    assert done.code == NOT_WRITTEN
    assert [f.code for f in done.errors] == ["output-failed"], done.err
    assert list(out.iterdir()) == []


def test_a_disk_that_fills_up_keeps_the_sessions_that_fit(tmp_path: Path) -> None:
    CODEX.session(tmp_path / "in", "growing", turns=200)
    small = CODEX.session(tmp_path / "in", "small", turns=1)
    done = pond("convert", tmp_path / "in", "--to", "codex", "-o", tmp_path / "out", before=_disk_of_64_kilobytes)
    assert done.code == NOT_WRITTEN
    assert [f.code for f in done.errors] == ["output-failed"], done.err
    assert _tree(tmp_path / "out") <= {small.relative_to(tmp_path / "in").as_posix()}


@both_clients
def test_a_directory_that_may_not_be_written_to(client: Client, tmp_path: Path) -> None:
    file = client.session(tmp_path / "in", "sealed")
    out = tmp_path / "out"
    out.mkdir()
    out.chmod(0o555)
    try:
        one = pond("convert", file, "--to", client.name, "-o", out / "s.jsonl", before=obey_permissions)
        many = pond("convert", tmp_path / "in", "--to", client.name, "-o", out, before=obey_permissions)
    finally:
        out.chmod(0o755)
    for done in (one, many):
        assert done.code == NOT_WRITTEN
        assert {f.code for f in done.errors} == {"output-failed"}, done.err
    assert list(out.iterdir()) == []


@both_clients
def test_an_output_below_a_file_is_refused(client: Client, tmp_path: Path) -> None:
    file = client.session(tmp_path / "in", "below")
    (tmp_path / "occupied").write_text("a file\n")
    done = pond("convert", file, "--to", client.name, "-o", tmp_path / "occupied" / "s.jsonl")
    assert done.code == NOT_WRITTEN
    assert [f.code for f in done.errors] == ["output-failed"], done.err
    assert (tmp_path / "occupied").read_text() == "a file\n"


@both_clients
def test_an_output_in_a_missing_directory_is_whole(client: Client, tmp_path: Path) -> None:
    file = client.session(tmp_path / "in", "missing")
    out = tmp_path / "not" / "yet" / "s.jsonl"
    done = pond("convert", file, "--to", client.name, "-o", out)
    assert (done.code, done.errors) == (0, []), done.err
    assert values_of(out) == values_of(file)
    _only(out)


def test_the_input_is_never_the_output(tmp_path: Path) -> None:
    file = CLAUDE_CODE.session(tmp_path, "same")
    before = file.read_bytes()
    done = pond("convert", file, "--to", "canonical", "-o", file)
    assert done.code == NOT_WRITTEN
    assert [f.code for f in done.errors] == ["output-exists"], done.err
    assert file.read_bytes() == before
    _only(file)


# --- interruptions -----------------------------------------------------------------------------------------------


@both_clients
def test_a_reader_that_goes_away_is_no_error(client: Client, tmp_path: Path) -> None:
    file = client.session(tmp_path / "in", "head", turns=2000)
    process = start("convert", file, "--to", "canonical")
    assert process.stdout is not None
    first = process.stdout.readline()
    process.stdout.close()
    process.stdout = None
    done = finish(process)
    assert json.loads(first)["kind"] == "session"
    assert done.err == ""
    assert done.code in (0, -signal.SIGPIPE, 128 + signal.SIGPIPE)


def _in_the_middle(client: Client, out: Path) -> subprocess.Popen[bytes]:
    """Start a convert that has read much and waits for more."""
    process = start("convert", "-", "--to", client.name, "-o", out, stdin=subprocess.PIPE)
    assert process.stdin is not None
    for line in dumps(client.records(SESSION, 400)):
        process.stdin.write(line + b"\n")  # blocks until all but a pipe's buffer has been read
    process.stdin.flush()
    time.sleep(0.1)
    assert process.poll() is None
    return process


@both_clients
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_signal_in_the_middle_leaves_nothing(client: Client, how: signal.Signals, tmp_path: Path) -> None:
    process = _in_the_middle(client, tmp_path / "s.jsonl")
    process.send_signal(how)
    process.wait(timeout=20)
    assert process.stdin is not None
    process.stdin.close()
    process.stdin = None
    done = finish(process)
    assert done.code in (-how, 128 + how)
    assert list(tmp_path.iterdir()) == []


def _signal_once_writing(process: subprocess.Popen[bytes], out: Path, how: signal.Signals) -> Done:
    """Send `how` to the whole process group, as a terminal does, as soon as one of it has a file open in `out`."""
    while process.poll() is None and not _has_open(process.pid, out):
        time.sleep(0.0005)
    if process.poll() is None:
        os.killpg(process.pid, how)
    return finish(process)


def _has_open(group: int, folder: Path) -> bool:
    """Tell whether a process of the group has a file of `folder` open; a file that is being written has no name yet."""
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            if os.getpgid(int(process.name)) == group:
                opened = [os.readlink(link) for link in (process / "fd").iterdir()]
                if any(target.startswith(f"{folder}/") for target in opened):
                    return True
        except OSError:
            continue  # it has ended meanwhile
    return False


@both_clients
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_signal_while_writing_leaves_nothing(client: Client, how: signal.Signals, tmp_path: Path) -> None:
    file = client.session(tmp_path / "in", "stopped", turns=4000)
    out = tmp_path / "out"
    out.mkdir()
    process = start("convert", file, "--to", client.name, "-o", out / "s.jsonl", before=os.setsid)
    done = _signal_once_writing(process, out, how)
    assert done.code in (-how, 128 + how), "the signal came too late to say anything"
    assert list(out.iterdir()) == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_signal_to_several_processes_leaves_whole_files_only(how: signal.Signals, tmp_path: Path) -> None:
    for n in range(12):
        CODEX.session(tmp_path / "in", f"many {n}", turns=500)
    out = tmp_path / "out"
    out.mkdir()
    words: list[str | Path] = ["convert", tmp_path / "in", "--to", "codex", "-o", out, "--jobs", "2"]
    done = _signal_once_writing(start(*words, before=os.setsid), out, how)
    assert done.code in (-how, 128 + how), "the signal came too late to say anything"
    assert _tree(out) <= _tree(tmp_path / "in")
    for name in _tree(out):
        assert values_of(out / name) == values_of(tmp_path / "in" / name)


def test_a_reader_that_goes_away_stops_several_processes(tmp_path: Path) -> None:
    for n in range(12):
        CODEX.session(tmp_path / "in", f"many {n}", turns=200)
    process = start("convert", tmp_path / "in", "--to", "canonical", "--jobs", "2")
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["kind"] == "session"
    process.stdout.close()
    process.stdout = None
    done = finish(process)
    assert done.err == ""
    assert done.code in (0, -signal.SIGPIPE, 128 + signal.SIGPIPE)


@both_clients
def test_a_kill_in_the_middle_leaves_no_file_of_that_name(client: Client, tmp_path: Path) -> None:
    file = client.session(tmp_path / "in", "killed", turns=3000)
    out = tmp_path / "out"
    out.mkdir()
    process = start("convert", file, "--to", client.name, "-o", out / "s.jsonl")
    while process.poll() is None and not list(out.iterdir()):
        time.sleep(0.001)
    process.kill()
    process.communicate()
    if (out / "s.jsonl").exists():
        assert values_of(out / "s.jsonl") == values_of(file)
    again = pond("convert", file, "--to", client.name, "-o", out / "s.jsonl")
    assert again.code == 0, again.err
    assert values_of(out / "s.jsonl") == values_of(file)


@both_clients
def test_two_converts_of_one_session_to_one_file(client: Client, tmp_path: Path) -> None:
    file = client.session(tmp_path / "in", "twins", turns=300)
    out = tmp_path / "out"
    out.mkdir()
    twins = [start("convert", file, "--to", client.name, "-o", out / "s.jsonl") for _ in range(2)]
    for twin in twins:
        done = finish(twin)
        assert (done.code, done.errors) == (0, []), done.err
    assert values_of(out / "s.jsonl") == values_of(file)
    _only(out / "s.jsonl")


@both_clients
def test_converts_of_different_sessions_to_one_file_let_one_win(client: Client, tmp_path: Path) -> None:
    files = [client.session(tmp_path / "in", f"rival {n}", turns=300) for n in range(3)]
    out = tmp_path / "out"
    out.mkdir()
    rivals = [start("convert", file, "--to", client.name, "-o", out / "s.jsonl") for file in files]
    done = [finish(rival) for rival in rivals]
    winners = [file for file, one in zip(files, done, strict=True) if one.code == 0]
    assert len(winners) == 1, [one.err for one in done]
    assert {f.code for one in done for f in one.errors} == {"output-exists"}
    assert values_of(out / "s.jsonl") == values_of(winners[0])
    _only(out / "s.jsonl")


# --- canonical events are input like any other -------------------------------------------------------------------


@pytest.fixture(scope="module")
def canonical(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Record]]:
    """Return a small session of each client as canonical events."""
    directory = tmp_path_factory.mktemp("canonical")
    done = {
        client.name: pond("convert", client.session(directory, "events", 1), "--to", "canonical") for client in CLIENTS
    }
    return {name: [json.loads(line) for line in one.out.splitlines()] for name, one in done.items()}


@pytest.mark.rule("adapter-integrity-opaque-ids")
@both_clients
@pytest.mark.parametrize(
    "name",
    [
        "../../evil.jsonl",
        "ABSOLUTE/evil.jsonl",
        "a/../../../evil.jsonl",
        "..\\..\\evil.jsonl",
        "nul\0.jsonl",
        "",
        "x" * 5000,
    ],
)
def test_names_in_a_stream_never_leave_the_output_directory(
    client: Client, name: str, canonical: dict[str, list[Record]], tmp_path: Path
) -> None:
    name = name.replace("ABSOLUTE", str(tmp_path))
    session, *events = canonical[client.name]
    evil = {**session, "options": {**session["options"], "pond": {**session["options"]["pond"], "path": name}}}
    evil["options"]["source"] = {"beside": {name: {"evil": True}}}
    message = next(event for event in events if event["kind"] == "message")
    beside = {**message, "id": "beside", "role": "user", "options": {"pond": {"as": "beside", "file": name}}}
    part = {"kind": "part", "id": "beside:0", "session_id": session["id"], "message_id": "beside", "type": "file"}
    part |= {"media_type": "text/plain", "data": "ZXZpbA==", "provenance": "injected", "options": {}}
    out = tmp_path / "below" / "out"
    out.mkdir(parents=True)
    pond("convert", "-", "--to", client.name, "-o", out, stdin=b"\n".join(dumps([evil, *events, beside, part])))
    assert [entry.name for entry in tmp_path.iterdir()] == ["below"]
    assert [entry.name for entry in (tmp_path / "below").iterdir()] == ["out"]


@both_clients
def test_session_ids_never_leave_the_output_directory(
    client: Client, canonical: dict[str, list[Record]], tmp_path: Path
) -> None:
    session, *events = canonical[client.name]
    lines: list[Record] = []
    for own in ("../../evil", "/evil", "a\0b", ".", "..", "~", "x" * 5000):
        pond_options = {key: value for key, value in session["options"]["pond"].items() if key != "path"}
        lines.append({**session, "id": own, "options": {"pond": pond_options}})
        lines += [{**event, "session_id": own} for event in events]
    out = tmp_path / "below" / "out"
    out.mkdir(parents=True)
    done = pond("convert", "-", "--to", client.name, "-o", out, stdin=b"\n".join(dumps(lines)))
    assert [entry.name for entry in tmp_path.iterdir()] == ["below"]
    assert [entry.name for entry in (tmp_path / "below").iterdir()] == ["out"]
    assert _tree(out), done.err


@no_silent_drops
@both_clients
def test_wrong_types_in_every_canonical_field_are_named(
    client: Client, canonical: dict[str, list[Record]], tmp_path: Path
) -> None:
    """Each wrong event has its own session, so that one cannot hide another."""
    session, *_ = events = canonical[client.name]
    lines: list[bytes] = []
    promised = set()
    for position, event in enumerate(events):
        for variant, odd in enumerate(_replaced(event, (None, 7, "", [], {}))):
            own = f"s{position}-{variant}"
            row = {**session, "id": own, "options": {**session["options"], "pond": {**session["options"]["pond"]}}}
            row["options"]["pond"]["path"] = f"{own}.jsonl"
            healthy = [row, *({**other, "session_id": own} for other in events[1:])]
            if odd.get("session_id") == event.get("session_id") is not None:
                odd["session_id"] = own
            healthy[position] = odd
            if position:
                promised.add(f"{own}.jsonl")
            lines += dumps(healthy)
    source = tmp_path / "events.jsonl"
    source.write_bytes(b"\n".join(lines))
    out = tmp_path / "out"
    out.mkdir()
    done = pond("convert", source, "--to", client.name, "-o", out)
    assert done.code == 1, done.err[-2000:]
    named = {fault.code for fault in done.errors}
    assert named <= {"canonical-broken", "usage-foreign", "output-exists", "source-no-id"}, done.err[-2000:]
    assert promised <= _tree(out), "a session whose own row is healthy is written, whatever stood before it"


# --- effort ------------------------------------------------------------------------------------------------------


def _cpu_seconds(*words: str | Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = finish(start(*words))
    assert done.code == 0, done.err[:2000]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def test_one_id_many_times_costs_no_more_than_many_ids(tmp_path: Path) -> None:
    """Records that share an id and differ are told apart without comparing each with all."""
    record = next(r for r in CLAUDE_CODE.records(SESSION, 1) if r["type"] == "user")
    different = [{**record, "uuid": session_id(str(n)), "seen": n} for n in range(400)]
    same = [{**record, "seen": n} for n in range(400)]
    files = [CLAUDE_CODE.file(tmp_path / name, SESSION, dumps(rows)) for name, rows in (("a", different), ("b", same))]
    plain, hostile = (_cpu_seconds("convert", file, "--to", "claude-code") for file in files)
    assert hostile < 3 * plain, f"{hostile:.2f} s against {plain:.2f} s"


def test_a_document_without_records_is_named(tmp_path: Path) -> None:
    """A canonical session may claim to be a document and bring nothing to make one of."""
    row = {
        "kind": "session",
        "id": "s",
        "project": "/p",
        "source_agent": "codex",
        "options": {"pond": {"form": "document"}},
    }
    source = tmp_path / "events.jsonl"
    source.write_bytes(dumps([row])[0])
    done = pond("convert", source, "--to", "codex", "-o", tmp_path / "out.json")
    assert [f.code for f in done.errors] == ["canonical-broken"], done.err
    assert done.code == 1
    assert not (tmp_path / "out.json").exists()


@both_clients
def test_marks_that_promise_more_than_there_is_are_named(
    client: Client, canonical: dict[str, list[Record]], tmp_path: Path
) -> None:
    """A `weave` tells the writer which item comes from where; it may lie."""
    events = [{**event, "options": {**event["options"]}} for event in canonical[client.name]]
    liars = 0
    for event in events:
        if event["kind"] == "message" and event["role"] in ("user", "assistant"):
            event["options"]["pond"] = {
                **event["options"]["pond"],
                "weave": {"message.content": "0000000", "payload.content": "rrr0"},
            }
            liars += 1
    assert liars
    source = tmp_path / "events.jsonl"
    source.write_bytes(b"\n".join(dumps(events)))
    done = pond("convert", source, "--to", client.name, "-o", tmp_path / "out.jsonl")
    assert done.code == 1
    assert {f.code for f in done.errors} == {"canonical-broken"}, done.err
