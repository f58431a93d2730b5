"""The folder of a model: its files, and what pond notes about them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pond.embed.faults import Broken
from pond.embed.model import KINDS, POOLINGS, Model

NOTE = "pond-model.json"
TOKENIZER = "tokenizer.json"
_FACTS = (
    "kind", "file", "pooling", "query_prefix", "passage_prefix", "max_tokens", "license", "languages", "sha256",
    "full_dimensions",
)  # fmt: skip
_PLACES = ("", "onnx")  # where networks lie
_USUAL = ("model.onnx", "model_optimized.onnx", "model_quantized.onnx")  # the first that is there counts
_MOST_TOKENS = 512  # where nothing says how many the network was trained for
_LONGEST = 1 << 16
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class TokenizerFacts:
    """What a tokenizer must be told: the longest text, and what fills up a shorter one."""

    max_tokens: int
    pad: str


def read(folder: Path, name: str) -> Model:
    """Return the model of a folder: as it is noted there, otherwise by what the usual files say."""
    note = _json(folder / NOTE, name)
    facts = {fact: note[fact] for fact in _FACTS if note.get(fact) is not None} if note else _found(folder, name)
    if facts.get("kind", "onnx") not in KINDS or facts.get("pooling", "mean") not in POOLINGS:
        raise Broken(name, f"its note `{NOTE}` cannot be read")
    model = Model(note.get("name", name), folder=folder, **facts)
    for file in (model.file, *([TOKENIZER] if model.kind == "onnx" else [])):
        if not (folder / file).is_file():
            raise Broken(name, f"its file `{file}` is missing")
    return model


def write_note(folder: Path, model: Model) -> None:
    """Note what belongs to a model beside its files."""
    facts = {"name": model.name, **{fact: getattr(model, fact) for fact in _FACTS}}
    (folder / NOTE).write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def bytes_of(folder: Path) -> int:
    """Return how large a folder is."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def hash_of(path: Path) -> str:
    """Return the hash of a file."""
    digest = sha256()
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def tokenizer_facts(folder: Path, name: str) -> TokenizerFacts:
    """Return what the files beside the tokenizer say of it."""
    about = _json(folder / "tokenizer_config.json", name)
    token = about.get("pad_token", "[PAD]")
    token = token["content"] if isinstance(token, dict) else token
    longest = about.get("model_max_length")
    tokens = longest if isinstance(longest, int) and 0 < longest <= _LONGEST else _MOST_TOKENS
    return TokenizerFacts(tokens, token or "[PAD]")


def _found(folder: Path, name: str) -> dict[str, Any]:
    if not folder.is_dir():
        raise Broken(name, f"there is no directory `{folder}`", help="`embed.directory` names the model's directory")
    pooling = _json(folder / "1_Pooling" / "config.json", name)
    cls = pooling.get("pooling_mode_cls_token") is True
    return {"file": _network(folder, name), "pooling": "cls" if cls else "mean"}


def _network(folder: Path, name: str) -> str:
    found = list(_networks(folder))
    usual = [file for file in found if Path(file).name in _USUAL]
    if not found or (not usual and len(found) > 1):
        raise Broken(name, f"expected a file `{_USUAL[0]}`, found {'none' if not found else 'several others'}",
                     help="the directory must hold an ONNX network and `tokenizer.json`")  # fmt: skip
    return min(usual, key=lambda file: _USUAL.index(Path(file).name)) if usual else found[0]


def _networks(folder: Path) -> Iterator[str]:
    for place in _PLACES:
        yield from sorted(str(file.relative_to(folder)) for file in (folder / place).glob("*.onnx"))


def _json(path: Path, name: str) -> dict[str, Any]:
    """Return the object in a file; an empty one where there is no file."""
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise Broken(name, f"its file `{path.name}` cannot be read") from error
    if not isinstance(value, dict):
        raise Broken(name, f"its file `{path.name}` holds no object")
    return value
