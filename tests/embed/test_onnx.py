"""A model of this machine gives the vectors that fastembed gives, whatever it is asked beside them."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pond.diagnostics.diagnostic import PondError
from pond.embed import folder
from pond.embed.bulk import batched, embedded
from pond.embed.check import check
from pond.embed.embedder import opened
from pond.embed.model import Model

TEXTS = [
    "How do I reset my password?",
    "лес и поле",
    "def merge(left, right): return {**left, **right}",
    "東京タワーはどこですか",
    "",
    "word " * 2000,
]


def test_vectors_are_those_of_fastembed(minilm: Model) -> None:
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    TextEmbedding.add_custom_model(
        "pond/test", PoolingType.MEAN, True, ModelSource(hf="pond/nowhere"), 384, model_file=minilm.file
    )
    theirs = TextEmbedding("pond/test", specific_model_path=str(minilm.folder), threads=1)
    made = opened(replace(minilm, max_tokens=256))  # as much of a long text as fastembed takes
    # One by one: in a network of whole numbers a text's neighbours in a batch change its last digits.
    expected = np.array(list(theirs.embed(TEXTS, batch_size=1)))
    found = np.concatenate([made.passages([text]) for text in TEXTS])
    assert np.abs(expected - found).max() < 1e-5
    assert made.dimensions == 384


def test_meaning_is_what_brings_texts_together(minilm: Model) -> None:
    made = opened(minilm)
    query = made.query("Which tests are flaky on the build server?")
    near, far = made.passages(["The same test fails on the CI machine one time in ten", "Water the ferns twice a week"])
    assert float(query @ near) > float(query @ far) + 0.1


def test_a_question_and_a_text_have_their_prefixes(minilm: Model) -> None:
    plain = opened(minilm)
    with_prefixes = opened(replace(minilm, query_prefix="question: ", passage_prefix="answer: "))
    assert np.array_equal(with_prefixes.query("why"), plain.passages(["question: why"])[0])
    assert np.array_equal(with_prefixes.passages(["why"]), plain.passages(["answer: why"]))


def test_a_cut_vector_is_the_beginning_of_the_whole_one(minilm: Model) -> None:
    whole, cut = opened(minilm).query("fern"), opened(replace(minilm, dimensions=64)).query("fern")
    assert np.allclose(cut, whole[:64] / np.linalg.norm(whole[:64]), atol=1e-6)
    with pytest.raises(PondError, match="expected 500 dimensions, found 384"):
        opened(replace(minilm, dimensions=500)).query("fern")


def test_the_beginning_of_a_text_is_what_counts(minilm: Model) -> None:
    begin, rest = "the ferns need water " * 40, "and the build server is red " * 40
    assert np.array_equal(*opened(minilm).passages([begin, begin + rest]))
    more = opened(replace(minilm, max_tokens=250)).passages([begin, begin + rest])
    assert np.abs(more[0] - more[1]).max() > 0.01


def test_pooling_belongs_to_the_model(minilm: Model) -> None:
    mean, cls, last = (opened(replace(minilm, pooling=each)).query("fern tray") for each in ("mean", "cls", "last"))
    assert min(np.abs(mean - cls).max(), np.abs(mean - last).max(), np.abs(cls - last).max()) > 0.01


def test_many_texts_on_several_threads_are_the_same_as_one_by_one(minilm: Model) -> None:
    made = opened(minilm)
    texts = [f"message {number} about {'ferns ' * (number % 40)}" for number in range(100)]
    rows = np.zeros((100, 384), dtype=np.float32)
    for batch in embedded(made, texts, threads=2):
        assert batch.vectors is not None
        rows[batch.places] = batch.vectors
    with ThreadPoolExecutor(2) as pool:
        alone = np.concatenate(list(pool.map(lambda text: made.passages([text]), texts)))
    assert (rows * alone).sum(axis=1).min() > 0.95


def test_batches_are_of_like_length_and_miss_nothing() -> None:
    texts = ["x" * (number * 37 % 3000) for number in range(500)]
    batches = list(batched(texts, 16))
    assert sorted(place for batch in batches for place in batch) == list(range(500))
    assert all(4 <= len(batch) <= 16 for batch in batches[:-1])
    lengths = [len(texts[place]) for batch in batches for place in batch]
    assert lengths == sorted(lengths, reverse=True)


def test_the_self_test_passes_and_measures(minilm: Model) -> None:
    found = check(minilm)
    assert (found.name, found.dimensions) == (minilm.name, 384)
    assert found.near > found.far + 0.3
    assert found.texts_per_second > 1


# --- what is broken ---------------------------------------------------------------------------------------------------


@pytest.fixture
def copy(minilm: Model, tmp_path: Path) -> Path:
    assert minilm.folder is not None
    return Path(shutil.copytree(minilm.folder, tmp_path / "copy"))


def _broken(place: Path) -> str:
    with pytest.raises(PondError) as raised:
        check(folder.read(place, "mine"))
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code == "model-broken"
    return diagnostic.message


@pytest.mark.parametrize("file", ["model_quantized.onnx", "tokenizer.json"])
def test_a_missing_file(copy: Path, file: str) -> None:
    (copy / file).unlink()
    assert f"its file `{file}` is missing" in _broken(copy)


def test_half_a_network(copy: Path) -> None:
    network = copy / "model_quantized.onnx"
    network.write_bytes(network.read_bytes()[: 10 << 20])
    assert "has changed since it was added" in _broken(copy)
    (copy / folder.NOTE).unlink()
    assert "its files cannot be read" in _broken(copy)


def test_a_network_that_does_not_take_what_its_tokenizer_gives(minilm: Model, copy: Path) -> None:
    (copy / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 2000}))
    made = opened(replace(folder.read(copy, "mine"), max_tokens=2000))
    assert made.passages(["short"]).shape == (1, 384)
    with pytest.raises(PondError, match="model `minilm-l6-int8`: the network fails: "):
        made.passages(["ferns and trays " * 600])
    texts = ["short", "ferns and trays " * 600, "short, too"]
    refused = [place for batch in embedded(made, texts, threads=1) if batch.refused for place in batch.places]
    assert refused == [1]  # it does not cost the others


@pytest.mark.parametrize("file", ["tokenizer.json", "tokenizer_config.json", folder.NOTE])
def test_a_file_that_is_not_what_it_should_be(copy: Path, file: str) -> None:
    (copy / file).write_text("{ half")
    assert "cannot be read" in _broken(copy)
    (copy / file).write_text("[]")
    assert "cannot be read" in (message := _broken(copy)) or "holds no object" in message


def test_an_empty_directory_and_none(tmp_path: Path) -> None:
    assert "expected a file `model.onnx`, found none" in _broken(tmp_path)
    assert "there is no directory" in _broken(tmp_path / "nowhere")


def test_a_directory_without_a_note_is_understood_by_its_files(copy: Path) -> None:
    (copy / folder.NOTE).unlink()
    assert folder.read(copy, "mine").pooling == "mean"
    (copy / "1_Pooling").mkdir()
    (copy / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    found = folder.read(copy, "mine")
    assert (found.file, found.pooling, found.label) == ("model_quantized.onnx", "cls", "mine")
