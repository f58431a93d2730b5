"""A model is downloaded by its name, continued if that was interrupted, and never half there."""

from pathlib import Path

from pond.embed import registry
from pond.embed.model import Model
from tests.cli.command import Done, pond
from tests.embed.hub import serving

# In fastembed's list; the hub of the test gives it other files of the same form.
NAME = "sentence-transformers/all-MiniLM-L6-v2"
FILES = {
    "model.onnx": "model_quantized.onnx",
    "tokenizer.json": "tokenizer.json",
    "tokenizer_config.json": "tokenizer_config.json",
    "README.md": "pond-model.json",
}


def _add(hub: str, models: Path) -> Done:
    return pond("model", "add", NAME, variables={"HF_ENDPOINT": hub, "POND_EMBED_MODELS": str(models)})


def test_a_model_is_fetched_tested_and_listed(minilm: Model, tmp_path: Path) -> None:
    assert minilm.folder is not None
    models = tmp_path / "models"
    with serving(minilm.folder, FILES) as hub:
        done = _add(hub.url, models)
        assert (done.code, done.err) == (0, "")
        assert b"works: 384 dimensions" in done.out
    (made,) = registry.installed(models)
    assert (made.name, made.pooling, made.license, made.full_dimensions) == (NAME, "mean", "apache-2.0", 384)
    listed = pond("model", "list", "--json", variables={"POND_EMBED_MODELS": str(models)})
    assert NAME.encode() in listed.out
    assert not list(models.glob("*.part"))
    assert not (registry.place(models, NAME) / "README.md").exists()  # only what the model needs


def test_an_interrupted_fetch_leaves_no_model_and_is_gone_on_with(minilm: Model, tmp_path: Path) -> None:
    assert minilm.folder is not None
    models = tmp_path / "models"
    with serving(minilm.folder, FILES) as hub:
        hub.break_after = 12 << 20
        done = _add(hub.url, models)
        assert done.code == 1
        assert "model-unreachable" in done.err
        assert list(registry.installed(models)) == []
        unknown = pond("sync", "--only", "embed", "--lake", tmp_path / "lake",
                       variables={"POND_EMBED_MODELS": str(models), "POND_EMBED_MODEL": NAME})  # fmt: skip
        assert [fault.code for fault in unknown.faults] == ["model-unknown"]
        before, hub.break_after, hub.ranges = hub.sent, None, []
        done = _add(hub.url, models)
        assert (done.code, done.err) == (0, "")
        assert any(not asked.startswith("bytes=0-") for asked in hub.ranges)
        assert hub.sent - before < 15 << 20  # not all of the 23 MB again
        assert _add(hub.url, models).faults[0].code == "model-exists"
    assert len(list(registry.installed(models))) == 1


def test_no_network_is_said_plainly(tmp_path: Path) -> None:
    done = _add("http://127.0.0.1:9", tmp_path / "models")
    assert (done.code, done.out) == (1, b"")
    assert "model-unreachable: fetching `Qdrant/all-MiniLM-L6-v2-onnx`: connection refused" in done.err
    assert "--from DIRECTORY" in done.err


def test_a_model_that_fails_its_test_is_not_kept(minilm: Model, tmp_path: Path) -> None:
    assert minilm.folder is not None
    models = tmp_path / "models"
    with serving(minilm.folder, {**FILES, "model.onnx": "tokenizer.json"}) as hub:
        done = _add(hub.url, models)
    assert (done.code, [fault.code for fault in done.faults]) == (1, ["model-broken"])
    assert list(models.iterdir()) == []


def test_what_the_hub_gives_is_compared_with_what_it_promised(minilm: Model, tmp_path: Path) -> None:
    assert minilm.folder is not None
    models = tmp_path / "models"
    with serving(minilm.folder, FILES) as hub:
        hub.promised = {"model.onnx": "0" * 64}
        done = _add(hub.url, models)
        assert (done.code, [fault.code for fault in done.faults]) == (1, ["model-broken"])
        assert list(registry.installed(models)) == []
        hub.promised = {}
        assert _add(hub.url, models).code == 0
