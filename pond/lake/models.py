"""Which model the settings mean: the one place that turns them into a model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pond.config.locations import default_models
from pond.config.settings import Settings
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.embed import folder, registry
from pond.embed.model import Model

_TOLD = ("dimensions", "pooling", "query_prefix", "passage_prefix", "max_tokens")  # override the model's own


def models_folder(settings: Settings, environ: Mapping[str, str]) -> Path:
    """Return the directory that holds the models of this machine."""
    return Path(settings.embed.models or default_models(environ))


def configured(settings: Settings, environ: Mapping[str, str] = os.environ) -> Model | None:
    """Return the model for embedding messages; None if embedding is off. Nothing is opened."""
    given = settings.embed
    if given.model is None:
        return None
    found = _found(settings, given.model, environ)
    told: dict[str, Any] = {name: getattr(given, name) for name in _TOLD if getattr(given, name) is not None}
    return replace(found, name=given.model, **told)


def label(settings: Settings) -> str | None:
    """Return the label for vectors of the configured model, without looking at the model; None if it is off."""
    given = settings.embed
    return given.model and Model(given.model, dimensions=given.dimensions).label


def _found(settings: Settings, name: str, environ: Mapping[str, str]) -> Model:
    given = settings.embed
    if given.endpoint is not None:
        return Model(name, "endpoint", endpoint=given.endpoint, key=_key(settings, environ), timeout=given.timeout)
    if given.directory is not None:
        return folder.read(Path(given.directory), name)
    return registry.find(models_folder(settings, environ), name)


def _key(settings: Settings, environ: Mapping[str, str]) -> str | None:
    variable = settings.embed.key_variable
    if variable is not None and not environ.get(variable):
        what = f"`embed.key_variable` names the variable `{variable}`, which is not set"
        raise UsageError(Diagnostic("usage", what))
    return None if variable is None else environ[variable]
