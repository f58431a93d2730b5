"""Whose words: clients that say it are believed, and judge the patterns that decide where they say nothing.

The figures are what the patterns do now. A change of a span table may lower them; it fails where it raises one.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.laws.corpus import SessionFile, capture_files, fixture_files, sample_files
from tests.laws.labels import HARNESS, TYPED, judged
from tests.laws.rows import claude, turn


@dataclass(frozen=True)
class Figures:
    """How many texts are labelled at least, and how many of each label are taken for the opposite at most."""

    client: str
    labelled: int
    typed: int
    harness: int

    def __str__(self) -> str:
        return self.client


def _hold(figures: Figures, files: list[SessionFile], folder: Path) -> None:
    found = judged([file for file in files if file.client == figures.client], folder)
    print(found)
    assert found.labelled.total() >= figures.labelled, found
    assert len(found.mistaken[TYPED]) <= figures.typed, found
    assert len(found.mistaken[HARNESS]) <= figures.harness, found


@pytest.mark.rule("model-part-provenance")
@pytest.mark.parametrize("figures", [Figures("claude-code", 36, 0, 8), Figures("codex", 40, 2, 5)], ids=str)
def test_patterns_agree_with_the_labels_of_fixtures(figures: Figures, tmp_path: Path) -> None:
    """Some fixtures are made to be mistaken: nothing in these texts tells whose they are."""
    _hold(figures, fixture_files(), tmp_path)


@pytest.mark.parametrize("figures", [Figures("claude-code", 76, 0, 2), Figures("codex", 1, 0, 0)], ids=str)
def test_patterns_agree_with_the_labels_of_samples(figures: Figures, tmp_path: Path, samples_dir: Path) -> None:
    _hold(figures, sample_files(samples_dir), tmp_path)


@pytest.mark.parametrize("figures", [Figures("claude-code", 5, 0, 1), Figures("codex", 72, 2, 0)], ids=str)
def test_patterns_agree_with_the_labels_of_captures(figures: Figures, tmp_path: Path, captures_dir: Path) -> None:
    """Codex labels the lines around a picture as typed."""
    _hold(figures, capture_files(captures_dir), tmp_path)


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_a_label_that_is_there_decides(client: str, tmp_path: Path) -> None:
    found = judged([file for file in fixture_files() if file.client == client], tmp_path, hide=False)
    assert found.labelled[HARNESS] > 20
    assert found.mistaken[HARNESS] == []
    assert [text for text in found.mistaken[TYPED] if "image" not in text] == []


@pytest.mark.parametrize("text", ["Warmup", "Operation stopped by hook: is what I keep reading. Why?"])
def test_what_the_client_says_was_typed_is_not_judged_by_its_beginning(text: str, tmp_path: Path) -> None:
    """Without the label nothing tells such words from the harness's."""
    store = claude(tmp_path)
    rows = {kind: turn("user", text, origin={"kind": kind}) for kind in ("human", "task-notification", "weather")}
    said = {kind: [part["provenance"] for part in store.row(row).parts] for kind, row in rows.items()}
    assert said == {"human": ["conversational"], "task-notification": ["injected"], "weather": ["injected"]}
