"""The models of this machine: one folder each, below one directory; and what fastembed knows to fetch."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.embed import folder as folders
from pond.embed.faults import Broken, NotInstalled, Unknown
from pond.embed.model import Kind, Model, Pooling

RECOMMENDED = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
Progress = Callable[[int, int], None]  # bytes done, and of how many

_PART = ".part"  # what the folder of a model is called until it is whole
_LANGUAGES = re.compile(r"[^,(]*(?:english|chinese|spanish|german|multi-?lingual)[^,(]*(?:\([^)]*\))?", re.I)
# How fastembed's classes pool; a model of any other is left to fastembed itself.
_POOLING: dict[str, Pooling] = {
    "OnnxTextEmbedding": "cls", "PooledNormalizedEmbedding": "mean", "PooledEmbedding": "mean",
}  # fmt: skip
_SEARCHING = "Represent this sentence for searching relevant passages: "
# What a model was trained to see before a question and before a text; fastembed's list does not say it.
_PREFIXES = (
    (re.compile(r"^intfloat/.*e5-"), "query: ", "passage: "),
    (re.compile(r"^nomic-ai/"), "search_query: ", "search_document: "),
    (re.compile(r"^(?:BAAI/bge-.*-en|mixedbread-ai/mxbai|snowflake/snowflake-arctic)"), _SEARCHING, ""),
    (re.compile(r"^google/embeddinggemma"), "task: search result | query: ", "title: none | text: "),
    (
        re.compile(r"^Qwen/Qwen3-Embedding"),
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
        "",
    ),
)


@dataclass(frozen=True, slots=True)
class Known:
    """A model that can be fetched by its name."""

    model: Model
    dimensions: int
    gigabytes: float
    repository: str
    files: tuple[str, ...]


def place(models: Path, name: str) -> Path:
    """Return the folder of a model: its name as one harmless segment of a path."""
    return models / re.sub(r"[^A-Za-z0-9._-]", lambda found: f"%{ord(found[0]):02x}", name.replace("/", "--"))


def installed(models: Path) -> Iterator[Model]:
    """Yield the models that are there, by name; of a broken one nothing but its name is known."""
    for note in sorted(models.glob(f"*/{folders.NOTE}")):
        if note.parent.suffix != _PART:
            name = note.parent.name.replace("--", "/")
            try:
                yield folders.read(note.parent, name)
            except Broken:
                yield Model(name, folder=note.parent, languages="broken: `pond model check` says why")


def find(models: Path, name: str) -> Model:
    """Return a model that is there; raise Unknown where there is none."""
    folder = place(models, name)
    if not folder.is_dir():
        raise Unknown(name)
    return folders.read(folder, name)


def add_folder(models: Path, source: Path, model: Model) -> Model:
    """Copy a model from a directory, with what is known of it; raise where one of that name is there."""
    _is_new(models, model.name)
    models.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(suffix=_PART, dir=models))
    try:
        shutil.copytree(source, made, dirs_exist_ok=True)
        return _kept(models, made, replace(model, folder=made))
    finally:
        shutil.rmtree(made, ignore_errors=True)


def add_known(models: Path, known: Known, progress: Progress) -> Model:
    """Fetch a model by its name; what an interrupted fetch left is used, and nothing half is ever taken for a model."""
    from pond.embed.download import download  # talks to servers, which takes a while to import

    _is_new(models, known.model.name)
    made = place(models, known.model.name).with_name(place(models, known.model.name).name + _PART)
    made.mkdir(parents=True, exist_ok=True)
    download(known.repository, known.files, made, progress)
    return _kept(models, made, replace(known.model, folder=made))


def note(model: Model) -> None:
    """Note what has become known of a model of this machine."""
    assert model.folder is not None
    folders.write_note(model.folder, model)


def remove(models: Path, name: str) -> int:
    """Delete a model, and what an interrupted fetch left of it; return how many bytes that were."""
    folder = place(models, name)
    there = [each for each in (folder, folder.with_name(folder.name + _PART)) if each.is_dir()]
    if not there:
        raise Unknown(name)
    size = sum(map(folders.bytes_of, there))
    for each in there:
        shutil.rmtree(each)
    return size


def catalogue() -> Iterator[Known]:
    """Yield what fastembed knows to fetch. Takes seconds: fastembed is imported."""
    try:
        from fastembed import TextEmbedding
    except ImportError as error:
        raise NotInstalled(error.name or "fastembed") from None
    for kind in TextEmbedding.EMBEDDINGS_REGISTRY:
        yield from (_known(kind.__name__, each) for each in kind._list_supported_models() if each.sources.hf)


def _known(kind: str, about: Any) -> Known:
    language = _LANGUAGES.search(about.description)
    query, passage = next(((q, p) for pattern, q, p in _PREFIXES if pattern.search(about.model)), ("", ""))
    runs: Kind = "onnx" if kind in _POOLING else "fastembed"
    model = Model(
        about.model, runs, file=about.model_file, pooling=_POOLING.get(kind, "mean"), query_prefix=query,
        passage_prefix=passage, license=about.license, languages=language[0].strip() if language else "",
    )  # fmt: skip
    files = (about.model_file, *about.additional_files)
    return Known(model, about.dim, about.size_in_GB, about.sources.hf, files)


def _is_new(models: Path, name: str) -> None:
    if place(models, name).exists():
        help = f"`pond model remove {name}` deletes it"
        raise UsageError(Diagnostic("model-exists", f"model `{name}` already exists", help=help))


def _kept(models: Path, made: Path, model: Model) -> Model:
    """Note what is known of a model, see that its files are there, and give its folder its name."""
    whole = replace(model, sha256=folders.hash_of(made / model.file)) if (made / model.file).is_file() else model
    folders.write_note(made, whole)
    folders.read(made, model.name)
    home = place(models, model.name)
    made.rename(home)
    return replace(whole, folder=home)
