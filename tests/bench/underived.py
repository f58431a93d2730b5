"""`pond` with nothing derived for search: no terms, no labels, no count of common terms. What ingest costs without."""

import sys
from types import ModuleType
from typing import Any

from pond.sessions import labels, rows


def switch_off() -> None:
    """Let ingest leave the derived columns empty; reading processes are forked later, and do the same."""
    vars(rows)["terms"] = lambda text: None
    vars(rows)["held"] = lambda parts: []
    labels.Turn.hear = lambda self, part: None  # type: ignore[method-assign]
    # These import Lance, which must wait until the reading processes are forked.
    _stand_in("pond.intake.deriving", derive=lambda store, progress: 0, Progress=Any)
    _stand_in("pond.sessions.rarity", renew=lambda store: False)


def _stand_in(name: str, **members: Any) -> None:
    module = ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module


if __name__ == "__main__":
    switch_off()
    from pond.cli.main import main

    sys.exit(main())
