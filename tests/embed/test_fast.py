"""A model that is left to fastembed: its vectors are fastembed's, and whatever goes wrong is a typed error."""

from __future__ import annotations

import builtins
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pond.embed.embedder import opened
from pond.embed.faults import BadVectors, Broken, EmbedError, NotInstalled
from pond.embed.model import Model

KNOWN = "sentence-transformers/all-MiniLM-L6-v2"  # to fastembed, which looks for its network under another name


@pytest.fixture
def folder(tmp_path: Path, minilm: Model) -> Path:
    """Return the files of the small real model, as fastembed wants them."""
    assert minilm.folder is not None
    folder = Path(shutil.copytree(minilm.folder, tmp_path / "model"))
    (folder / minilm.file).rename(folder / "model.onnx")
    (folder / "config.json").write_text('{"pad_token_id": 0}')
    (folder / "special_tokens_map.json").write_text("{}")
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 256, "pad_token": "[PAD]"}')
    return folder


@pytest.fixture
def fast(folder: Path, minilm: Model) -> Model:
    return replace(minilm, name=KNOWN, kind="fastembed", folder=folder, file="model.onnx")


def test_vectors_are_those_of_the_same_files(fast: Model, minilm: Model) -> None:
    found, expected = opened(fast), opened(minilm)
    assert np.abs(found.passages(["fern"]) - expected.passages(["fern"])).max() < 1e-5
    assert np.abs(found.query("fern") - expected.query("fern")).max() < 1e-5


@pytest.mark.parametrize("gone", ["model.onnx", "tokenizer.json"])
def test_a_file_that_is_missing(fast: Model, folder: Path, gone: str) -> None:
    (folder / gone).unlink()
    _fails(fast, Broken, "model-broken")


def test_half_a_network(fast: Model, folder: Path) -> None:
    file = folder / "model.onnx"
    file.write_bytes(file.read_bytes()[: 1 << 20])
    _fails(fast, Broken, "model-broken")


def test_a_name_that_fastembed_does_not_know(fast: Model) -> None:
    _fails(replace(fast, name="nobody/nothing"), Broken, "model-broken")


def test_a_network_that_fails_on_a_text(fast: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    made = opened(fast)

    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError("Non-zero status code\nand a long story")

    monkeypatch.setattr(made._encoder._model.model.model, "run", fail)  # type: ignore[attr-defined]
    for ask in (made.query, lambda text: made.passages([text])):
        with pytest.raises(BadVectors, match=r"the network fails: Non-zero status code$") as raised:
            ask("fern")
        assert raised.value.diagnostics[0].code == "model-answer"


def test_no_fastembed(fast: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *given: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "fastembed":
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        return real(name, *given, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    _fails(fast, NotInstalled, "model-library")


def _fails(model: Model, kind: type[EmbedError], code: str) -> None:
    with pytest.raises(kind) as raised:
        opened(model).query("fern")
    diagnostic = raised.value.diagnostics[0]
    assert diagnostic.code == code
    assert "\n" not in diagnostic.message
