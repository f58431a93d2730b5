"""Faults of Lance are tried again for a bounded time, and told by what they mean."""

from collections.abc import Callable
from pathlib import Path

import lance
import pyarrow as pa
import pytest

from pond.diagnostics.diagnostic import Diagnostic, PondError, UsageError
from pond.substrate.catalog import Catalog
from pond.substrate.retry import ATTEMPTS, brief, meaning_of, with_retries
from pond.substrate.signals import Conflict, Damaged, Exhausted, LakeError, Refused, Unavailable
from pond.substrate.store import Store
from tests.lake.plain import THINGS

pytestmark = pytest.mark.rule("lance-retry-jitter")

PLACE = ", /build/lance/rust/lance/src/io/commit.rs:979:23"
RACE = "Retryable commit conflict for version 7: another one was first"


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let nobody wait; note for how long it would have been."""
    noted: list[float] = []
    monkeypatch.setattr("pond.substrate.retry.time.sleep", noted.append)
    return noted


class Fails:
    """Fails a number of times, then answers."""

    def __init__(self, times: int, error: BaseException) -> None:
        self.times, self.error, self.calls = times, error, 0

    def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self.times:
            raise self.error
        return "done"


@pytest.mark.parametrize("times", range(ATTEMPTS))
@pytest.mark.parametrize("text", [RACE, "Generic S3 error: 503 Slow Down", "error decoding response body"])
def test_a_passing_fault_costs_time_and_nothing_else(times: int, text: str) -> None:
    call = Fails(times, OSError(text))
    renewed: list[int] = []
    assert with_retries("writing", call, lambda: renewed.append(call.calls)) == "done"
    assert call.calls == times + 1
    assert renewed == list(range(1, times + 1))  # before every attempt but the first


@pytest.mark.parametrize(
    "error",
    [
        OSError(RACE + PLACE),
        OSError("Too many concurrent writers. Attempted 50 retries."),
        OSError("Incompatible transaction: this UpdateConfig is incompatible with another"),
        lance.commit.CommitConflictError("somebody else", True),
    ],
)
def test_lost_races_are_a_conflict_that_counts_them(error: OSError) -> None:
    call = Fails(99, error)
    with pytest.raises(Conflict) as caught:
        with_retries("compacting `things`", call)
    assert caught.value.attempts == call.calls == ATTEMPTS
    assert str(caught.value) == f"compacting `things`: other writers came first {ATTEMPTS} times"


LASTING: list[tuple[str, type[LakeError]]] = [
    ("LanceError(IO): Permission denied (os error 13)" + PLACE, Unavailable),
    ("LanceError(IO): No space left on device (os error 28)", Unavailable),
    ("Generic LocalFileSystem error: Read-only file system (os error 30)", Unavailable),
    ("IO error for operation on x/_versions: Not a directory (os error 20)", Unavailable),
    ("Generic S3 error: <Code>AccessDenied</Code>", Unavailable),
    ("Generic S3 error: <Code>SignatureDoesNotMatch</Code>", Unavailable),
    ("Invalid user input: No object store provider found for scheme: 'foo'", Unavailable),
    ("LanceError(IO): file size is too small" + PLACE, Damaged),
    ("Invalid user input: file does not appear to be a Lance file (invalid magic: [1, 2])", Damaged),
    ("Encountered corrupt file binary mini-block", Damaged),
    ("Invalid user input: Schema error: No field named zz.", Refused),
    ("Append with different schema: `a` should have type string, location: /x/y.rs:1:1", Refused),
]


@pytest.mark.parametrize(("text", "signal"), LASTING)
@pytest.mark.parametrize("kind", [OSError, ValueError, pa.ArrowInvalid])
def test_a_lasting_fault_is_told_at_once(
    text: str, signal: type[LakeError], kind: type[Exception], pauses: list[float]
) -> None:
    call = Fails(99, kind(text))
    with pytest.raises(signal):
        with_retries("writing `things`", call)
    assert (call.calls, pauses) == (1, [])


@pytest.mark.parametrize("kind", [OSError, ValueError, pa.ArrowInvalid])
def test_a_storage_that_stays_away_is_unavailable_whatever_type_the_error_has(kind: type[Exception]) -> None:
    text = "Generic S3 error: Error performing GET http://h/b/things.lance/_versions/1.manifest - HTTP error"
    with pytest.raises(Unavailable, match="6 attempts") as caught:
        with_retries("opening `things`", Fails(99, kind(text)))
    assert caught.value.attempts == ATTEMPTS


def test_a_file_that_stays_away_is_damage() -> None:
    # Once, it may just have been cleaned up behind a reader's back; a renewed handle does not name it any more.
    error = pa.ArrowInvalid("External error: Not found: lake/things.lance/data/01.lance" + PLACE)
    assert with_retries("reading", Fails(2, error)) == "done"
    with pytest.raises(Damaged, match=r"not found: lake/things\.lance/data/01\.lance$"):
        with_retries("reading", Fails(99, error))


def test_a_panic_is_damage() -> None:
    class PanicException(BaseException):
        """As Lance's bindings raise it."""

    call = Fails(99, PanicException("index out of bounds"))
    with pytest.raises(Damaged, match="index out of bounds"):
        with_retries("reading", call)
    assert call.calls == 1


EXHAUSTED = [
    "OS can't spawn worker thread: Resource temporarily unavailable (os error 11)",
    'called `Result::unwrap()` on an `Err` value: Os { code: 11, kind: WouldBlock, message: "Resource temporarily '
    'unavailable" }',
    'failed to spawn thread: Os { code: 12, kind: OutOfMemory, message: "Cannot allocate memory" }',
    "LanceError(IO): Too many open files (os error 24)",
    "LazyLock instance has previously been poisoned",
]


@pytest.mark.parametrize("text", EXHAUSTED)
@pytest.mark.parametrize("panics", [True, False])
def test_a_system_without_threads_or_memory_is_no_damage(text: str, panics: bool) -> None:
    class PanicException(BaseException):
        """As Lance's bindings raise it."""

    call = Fails(99, PanicException(text) if panics else RuntimeError(text))
    with pytest.raises(Exhausted) as caught:
        with_retries("reading", call)
    (told,) = caught.value.diagnostics
    assert (told.code, "backup" in told.help, call.calls) == ("lake-exhausted", False, 1)


@pytest.mark.parametrize("error", [KeyError("x"), TypeError("x"), KeyboardInterrupt()])
def test_what_is_not_of_lance_passes_through(error: BaseException) -> None:
    call = Fails(99, error)
    with pytest.raises(type(error)):
        with_retries("reading", call)
    assert call.calls == 1


def test_a_signal_of_an_inner_call_is_not_tried_again() -> None:
    call = Fails(99, UsageError(Diagnostic("usage", "no")))
    with pytest.raises(UsageError):
        with_retries("reading", call)
    assert call.calls == 1


def test_a_renewal_that_fails_counts_as_an_attempt() -> None:
    call = Fails(99, OSError(RACE))
    with pytest.raises(PondError):
        with_retries("reading", call, Fails(99, OSError(RACE)))
    assert call.calls == 1


def test_pauses_grow_differ_and_end(pauses: list[float]) -> None:
    runs = []
    for _ in range(50):
        pauses.clear()
        with pytest.raises(Conflict):
            with_retries("writing", Fails(99, OSError(RACE)))
        runs.append(tuple(pauses))
    for run in runs:
        assert len(run) == ATTEMPTS - 1
        for number, pause in enumerate(run):
            whole = 0.1 * 2**number
            assert whole / 2 <= pause <= whole
        assert sum(run) < 4
    assert len({run[0] for run in runs}) > 40


def test_a_message_keeps_what_a_person_can_use() -> None:
    text = (
        "External error: LanceError(IO): Generic LocalFileSystem error: No space left on device (os error 28)" + PLACE
    )
    assert brief(text) == "no space left on device (os error 28)"
    assert brief("Append with different schema: `a`, location: /x/y.rs:2:1") == "append with different schema: `a`"
    assert brief("") == "no reason was given"


# --- what Lance really says ------------------------------------------------------------------------------------------


def _table(place: Path) -> lance.LanceDataset:
    for number in range(3):
        lance.write_dataset(pa.table({"a": [number] * 9}), str(place), mode="append" if number else "create")
    return lance.dataset(str(place))


def _two_compactions(place: Path) -> None:
    _table(place)
    first, second = lance.dataset(str(place)), lance.dataset(str(place))
    first.optimize.compact_files()
    second.optimize.compact_files()


def _two_indexes(place: Path) -> None:
    _table(place)
    first, second = lance.dataset(str(place)), lance.dataset(str(place))
    first.optimize.compact_files()
    second.create_scalar_index("a", "BTREE")


def _two_settings(place: Path) -> None:
    _table(place)
    first, second = lance.dataset(str(place)), lance.dataset(str(place))
    first.update_config({"x": "1"})
    second.update_config({"x": "2"})


def _no_retries(place: Path) -> None:
    _table(place)
    first, second = lance.dataset(str(place)), lance.dataset(str(place))
    first.delete("a = 1")
    second.delete("a = 1", conflict_retries=0)


@pytest.mark.parametrize("lose", [_two_compactions, _two_indexes, _two_settings, _no_retries])
def test_races_that_are_really_lost(lose: Callable[[Path], None], tmp_path: Path) -> None:
    with pytest.raises(OSError) as caught:
        lose(tmp_path / "t")
    assert meaning_of(caught.value) == "race", str(caught.value)


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    options = {
        "aws_access_key_id": "a", "aws_secret_access_key": "b", "aws_region": "us-east-1", "allow_http": "true",
        "aws_endpoint": "http://127.0.0.1:1", "client_max_retries": "0", "retry_timeout": "1",
    }  # fmt: skip
    with pytest.raises(Unavailable):
        Store(Catalog("s3://bucket/lake", options)).existing(THINGS)


def test_a_question_that_cannot_be_asked(tmp_path: Path) -> None:
    with pytest.raises(Refused):
        with_retries("counting", lambda: _table(tmp_path / "t").count_rows("zz = 1"))
