"""The models of this machine: which exist, which can be downloaded, and whether they work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.progress import Progress, Watch, unwatched
from pond.operations.service import Service

if TYPE_CHECKING:
    from pond.embed.check import Checked


@dataclass(frozen=True, slots=True)
class Listed:
    """One model; `here` says whether it is on this machine, `used` whether messages are embedded with it."""

    name: str
    here: bool
    used: bool
    kind: str
    dimensions: int | None  # None if only opening it would show
    bytes: int
    license: str
    languages: str


@dataclass(frozen=True, slots=True)
class AddRequest:
    """Add a model: by a name that can be downloaded, or from a directory. Missing facts come from its files or from
    pond.
    """

    name: str
    directory: Path | None = None
    pooling: str | None = None
    query_prefix: str | None = None
    passage_prefix: str | None = None
    max_tokens: int | None = None
    license: str | None = None
    languages: str | None = None

    def told(self) -> dict[str, Any]:
        """Return what the request says about the model."""
        names = ("pooling", "query_prefix", "passage_prefix", "max_tokens", "license", "languages")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


def list_models(service: Service, *, everything: bool = False) -> list[Listed]:
    """Return the models of this machine and the configured one; with `everything` also those that can be downloaded."""
    from pond.embed import registry
    from pond.embed.faults import EmbedError
    from pond.embed.folder import bytes_of
    from pond.lake.models import configured, models_folder

    here = list(registry.installed(models_folder(service.settings, service.environ)))
    try:
        used = configured(service.settings, service.environ)
    except EmbedError:  # it is not here, or broken: the others are listed all the same
        used = None
    if used is not None and used.name not in {model.name for model in here}:
        here.append(used)
    found = [
        Listed(
            model.name, True, used is not None and model.name == used.name, model.kind,
            model.dimensions or model.full_dimensions,
            bytes_of(model.folder) if model.folder else 0, model.license, model.languages,
        )
        for model in here
    ]  # fmt: skip
    names = {each.name for each in found}
    return found + ([each for each in _fetchable() if each.name not in names] if everything else [])


def _fetchable() -> Sequence[Listed]:
    from pond.embed import registry

    return [
        Listed(
            each.model.name, False, False, each.model.kind, each.dimensions, int(each.gigabytes * 1e9),
            each.model.license, each.model.languages,
        )
        for each in registry.catalogue()
    ]  # fmt: skip


def add_model(service: Service, request: AddRequest, watch: Watch = unwatched) -> Checked:
    """Add a model and test it; one that fails its test is not kept."""
    from pond.embed import folder, registry
    from pond.embed.check import check
    from pond.embed.faults import EmbedError
    from pond.lake.models import models_folder

    models = models_folder(service.settings, service.environ)
    if request.directory is not None:
        model = replace(folder.read(request.directory, request.name), name=request.name, **request.told())
        made = registry.add_folder(models, request.directory, model)
    else:
        known = _known(request.name)
        known = replace(known, model=replace(known.model, **request.told()))
        made = registry.add_known(
            models, known, lambda done, of: watch(Progress(f"fetching {request.name}", done, of))
        )  # fmt: skip
    watch(Progress("testing"))
    try:
        done = check(made)
    except EmbedError:
        registry.remove(models, made.name)
        raise
    registry.note(replace(made, full_dimensions=done.dimensions))
    return done


def _known(name: str) -> Any:
    from pond.embed import registry
    from pond.embed.faults import Unknown

    found = {each.model.name.lower(): each for each in registry.catalogue()}
    if name.lower() not in found:
        raise Unknown(name, "can be fetched")
    return found[name.lower()]


def check_model(service: Service, name: str | None = None) -> Checked:
    """Test a model: the named one, otherwise the configured one."""
    from pond.embed import registry
    from pond.embed.check import check
    from pond.lake.models import configured, models_folder

    named = service.settings.embed.model
    if name is None and named is None:
        help = "name a model: `pond model list` shows them"
        raise UsageError(Diagnostic("usage", "no model is configured", help=help))
    if name in (None, named):
        used = configured(service.settings, service.environ)
        assert used is not None
        return check(used)
    assert name is not None
    return check(registry.find(models_folder(service.settings, service.environ), name))


def remove_model(service: Service, name: str) -> int:
    """Delete a model of this machine; return its size in bytes. Vectors that it made stay."""
    from pond.embed import registry
    from pond.lake.models import models_folder

    return registry.remove(models_folder(service.settings, service.environ), name)
