"""Rollouts that the client compressed are the sessions they were: read by every command, in bounded memory."""

import io
import json
import random
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest

from pond.codec import unpacked as unpacking
from pond.codec.finding import FoundSource, expand
from pond.codec.report import Report
from pond.codec.unpacked import Unpacked, plain
from pond.codec.verify import verify_job
from pond.config.settings import Settings
from pond.diagnostics.diagnostic import SourceFault
from pond.intake.ingest import ingest
from pond.intake.request import Request
from pond.model.compressed import first_bytes, unpacked
from pond.model.equal import same
from tests.cli.command import pond
from tests.cli.sessions import CODEX, session_id
from tests.laws.passage import strict_values
from tests.operations.stored import files_below


def packed(text: bytes) -> bytes:
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, "zstd") as stream:
        stream.write(text)
    return bytes(out.getvalue().to_pybytes())


def compressed(path: Path) -> Path:
    """Compress a file as the client does: beside it, and then it goes."""
    made = path.with_name(f"{path.name}.zst")
    made.write_bytes(packed(path.read_bytes()))
    path.unlink()
    return made


def text_of(data: bytes) -> tuple[bytes, str | None]:
    """Return the text of compressed data, and the code of what is wrong with it."""
    with plain(io.BufferedRandom(_raw(data)), "x") as file:
        return file.read(), file.fault.code if isinstance(file, Unpacked) and file.fault else None


def _raw(data: bytes) -> io.FileIO:
    raw = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - `plain` closes it
    raw.write(data)
    raw.seek(0)
    return raw


TEXT = b"".join(b'{"n":%d,"noise":"%x"}\n' % (n, random.Random(n).getrandbits(200)) for n in range(6000))


def test_frames_behind_each_other_are_one_text() -> None:
    assert text_of(packed(TEXT)) == (TEXT, None)
    assert text_of(packed(TEXT) + packed(b"more\n")) == (TEXT + b"more\n", None)
    assert text_of(TEXT) == (TEXT, None)


@pytest.mark.parametrize("cut", [10, 5000, 100_000, -30, -1])
def test_what_was_cut_off_gives_what_is_there(cut: int) -> None:
    text, code = text_of(packed(TEXT)[:cut])
    assert code == "source-compressed"
    assert TEXT.startswith(text)


def test_all_text_before_the_damage_is_read() -> None:
    assert text_of(packed(TEXT) + b"garbage") == (TEXT, "source-compressed")
    whole = packed(TEXT)
    text, code = text_of(whole[:150_000] + b"\xff" * 64 + whole[150_064:])
    assert code == "source-compressed"
    assert TEXT.startswith(text)


def test_a_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "_FREE", 1 << 20)
    assert text_of(packed(bytes(1 << 20)))[1] is None
    with pytest.raises(SourceFault) as refused:
        text_of(packed(bytes(8 << 20)))
    assert refused.value.diagnostics[0].code == "source-too-large"


def test_pieces_are_small(tmp_path: Path) -> None:
    (tmp_path / "x.zst").write_bytes(packed(bytes(64 << 20)))
    with open(tmp_path / "x.zst", "rb") as file:
        assert max(map(len, unpacked(file))) <= 1 << 20
    assert first_bytes(tmp_path / "x.zst", 100_000) == bytes(100_000)
    assert first_bytes(tmp_path / "gone", 100) == b""


def test_a_store_is_read_and_the_plain_file_comes_first(tmp_path: Path) -> None:
    """As the client does where it finds both."""
    one = compressed(CODEX.session(tmp_path / "in", "one"))
    two = CODEX.session(tmp_path / "in", "two")
    two.with_name(f"{two.name}.zst").write_bytes(b"half")
    (tmp_path / "in" / "numbers.jsonl.zst").write_bytes(packed(b"1\n"))
    assert {job.path for job in expand([str(tmp_path / "in")], Report())} == {one, two}


def test_verify_compares_the_text(tmp_path: Path) -> None:
    made = compressed(CODEX.session(tmp_path, "one"))
    verdict = verify_job(FoundSource(made, str(made)))
    assert (verdict.client, verdict.report.diagnostics) == ("codex", [])
    assert verdict.equal == verdict.records > 5


def test_verify_names_the_damage_and_compares_the_rest(tmp_path: Path) -> None:
    made = compressed(CODEX.session(tmp_path, "one", turns=300))
    made.write_bytes(made.read_bytes()[:-200])
    verdict = verify_job(FoundSource(made, str(made)))
    assert {fault.code for fault in verdict.report.diagnostics} <= {"source-compressed", "source-not-json"}
    assert verdict.report.diagnostics[0].code == "source-compressed"
    assert verdict.equal == verdict.records > 0


def test_convert_gives_what_the_plain_file_gives(tmp_path: Path) -> None:
    path = CODEX.session(tmp_path / "in", "one")
    for to in ("canonical", "codex", "claude-code"):
        assert pond("convert", tmp_path / "in", "--to", to, "-o", f"{tmp_path}/{to}/").code == 0
    stream = pond("convert", path, "--to", "canonical").out
    made = compressed(path)
    for to in ("canonical", "codex", "claude-code"):
        done = pond("convert", tmp_path / "in", "--to", to, "-o", f"{tmp_path}/{to}-again/")
        assert done.code == 0, done.err
        assert files_below(tmp_path / f"{to}-again") == files_below(tmp_path / to) != {}
    assert pond("convert", made, "--to", "canonical").out == stream
    (native,) = files_below(tmp_path / "codex").values()
    assert pond("convert", "-", "--to", "codex", stdin=made.read_bytes()).out == native


def ingested(tmp_path: Path) -> dict[str, object]:
    done = pond("ingest", tmp_path / "in", "--lake", tmp_path / "lake", "--json")
    assert done.code == 0, done.err
    told: dict[str, object] = json.loads(done.out)
    return told


@pytest.mark.rule("adapter-integrity-additive-sync")
def test_a_rollout_that_is_compressed_later_is_the_same_session(tmp_path: Path) -> None:
    path = CODEX.session(tmp_path / "in", "one")
    text = path.read_bytes()
    assert ingested(tmp_path)["new"] != {"sessions": 0, "messages": 0, "parts": 0}
    compressed(path)
    assert ingested(tmp_path)["new"] == {"sessions": 0, "messages": 0, "parts": 0}
    again = ingested(tmp_path)
    assert again["files"] == {"new": 0, "unchanged": 1, "grown": 0, "rewritten": 0}
    done = pond("restore", session_id("one"), "--lake", tmp_path / "lake", "-o", tmp_path / "out")
    assert done.code == 0, done.err
    ((place, restored),) = files_below(tmp_path / "out").items()
    assert place == path.relative_to(tmp_path / "in").as_posix()
    assert same(strict_values(restored), strict_values(text))


def test_a_compressed_rollout_that_is_unpacked_and_goes_on_grows(tmp_path: Path) -> None:
    """What the client does when a person resumes it."""
    path = CODEX.session(tmp_path / "in", "one")
    text = path.read_bytes()
    made = compressed(path)
    first = ingested(tmp_path)["new"]
    made.unlink()
    path.write_bytes(text + CODEX.session(tmp_path / "other", "one", turns=5).read_bytes()[len(text) :])
    assert ingested(tmp_path)["new"] != first
    done = pond("restore", session_id("one"), "--lake", tmp_path / "lake", "-o", tmp_path / "out")
    (restored,) = files_below(tmp_path / "out").values()
    assert (done.code, same(strict_values(restored), strict_values(path.read_bytes()))) == (0, True)


def test_a_damaged_one_is_reported_and_its_beginning_stored(tmp_path: Path) -> None:
    made = compressed(CODEX.session(tmp_path / "in", "one", turns=300))
    made.write_bytes(made.read_bytes()[:-200])
    done = pond("ingest", tmp_path / "in", "--lake", tmp_path / "lake")
    assert done.code == 1
    assert done.errors[0].code == "source-compressed"
    assert " 0 messages" not in done.out.decode()


@pytest.mark.parametrize("share", [0.02, 0.5])
def test_a_damaged_one_is_not_waited_for(share: float, tmp_path: Path) -> None:
    made = compressed(CODEX.session(tmp_path / "in", "one", turns=300))
    data = made.read_bytes()
    made.write_bytes(data[: int(len(data) * share)])
    live = Request([(str(tmp_path / "in"), None)], live=True, processes=1)
    done = ingest(Settings(lake=str(tmp_path / "lake")), live)
    assert "source-compressed" in {fault.code for fault in done.report.faults}
    assert done.unfinished == 0
    again = ingest(Settings(lake=str(tmp_path / "lake")), live)
    assert "source-compressed" in {problem["code"] for problem in again.known}, "it is shown until it is mended"
