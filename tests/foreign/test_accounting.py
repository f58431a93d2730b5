"""Nothing goes missing unseen: every Part of a session is in the output or in the loss report."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pond.codec.report import Report
from pond.model.json_text import JsonObject
from tests.foreign.accounting import lost_messages, misnamed, unaccounted
from tests.foreign.road import CLIENTS, OTHER, Made, convert, converted, whole
from tests.foreign.rules import faults
from tests.foreign.strategies import sessions
from tests.foreign.survival import survives
from tests.laws.corpus import SessionFile, capture_files, fixture_files, quick, sample_files
from tests.laws.passage import Passage, read


@pytest.mark.rule("adapter-integrity-no-silent-drops")
@pytest.mark.parametrize("target", CLIENTS)
@given(data=st.data())
def test_every_part_of_any_session(target: str, data: st.DataObject) -> None:
    """Nothing is unaccounted for, what was written is valid and in order, and it can be converted back."""
    events: list[JsonObject] = data.draw(sessions(data.draw(st.sampled_from([OTHER[target], "gemini-cli"]))))
    source = Passage(events[0], [events[1:]], Report())
    with converted(events, target) as made:
        assert made.report.errors == 0 or made.empty, made.report.diagnostics
        assert unaccounted(source, made) == []
        assert misnamed(source, made) == []
        assert list(lost_messages(source, made)) == []
        assert faults(made) == []
        if made.files:
            survives(source, made)
            _goes_on(made)


def _goes_on(made: Made) -> None:
    """Check that a converted session can be converted in its turn."""
    back = convert(made.main, OTHER[made.client], made.folder.with_name("back"))
    assert back.report.errors == 0 or back.empty, back.report.diagnostics
    assert faults(back) == []
    if back.files:
        survives(read(made.main, made.client), back)


def _problems(file: SessionFile, folder: Path) -> list[str]:
    made = convert(file.path, OTHER[file.client], folder, file.client)
    source = whole(file.path, file.client)
    found = [*unaccounted(source, made), *misnamed(source, made), *lost_messages(source, made)]
    return [f"{file}: {what}" for what in found]


@pytest.mark.parametrize("file", fixture_files(), ids=str)
@pytest.mark.rule("adapter-integrity-no-silent-drops")
def test_every_part_of_a_fixture(file: SessionFile, tmp_path: Path) -> None:
    assert _problems(file, tmp_path / "out") == []


def test_every_part_of_a_sample(samples_dir: Path, tmp_path: Path) -> None:
    files = quick(sample_files(samples_dir))
    assert [what for n, file in enumerate(files) for what in _problems(file, tmp_path / str(n))] == []


def test_every_part_of_a_capture(captures_dir: Path, tmp_path: Path) -> None:
    files = quick(capture_files(captures_dir))
    assert [what for n, file in enumerate(files) for what in _problems(file, tmp_path / str(n))] == []
