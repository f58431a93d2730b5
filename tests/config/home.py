"""A home directory of one's own, with or without a `pond.toml`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from pond.config.load import load
from pond.config.settings import Settings
from pond.diagnostics.diagnostic import Diagnostic, UsageError


@dataclass(frozen=True)
class Home:
    """A directory that stands for `~`."""

    path: Path

    @property
    def file(self) -> Path:
        """Where the configuration is looked for by default."""
        return self.path / ".config/pond/pond.toml"

    def write(self, content: str | bytes) -> None:
        """Put `content` into the configuration file."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(content.encode() if isinstance(content, str) else content)

    def load(self, flags: Mapping[str, object] | None = None, /, **variables: str) -> Settings:
        """Load with this home and no variable but those given."""
        return load(flags, {"HOME": str(self.path), **variables})

    def refusal(self, flags: Mapping[str, object] | None = None, /, **variables: str) -> tuple[Diagnostic, ...]:
        """Return what a load that must be refused says."""
        with pytest.raises(UsageError) as refused:
            self.load(flags, **variables)
        return refused.value.diagnostics
