"""The one place that knows where the client folders and the schemas are.

In a wheel they are inside the package; in a checkout they are at the top of the tree, beside the package.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
# Only a built package has `schema` inside it. `adapters` would not show it: pond/adapters is in the checkout too.
_HOME = _PACKAGE if (_PACKAGE / "schema").is_dir() else _PACKAGE.parent


def adapters_dir() -> Path:
    """Return the directory whose sub-directories are the clients."""
    return _HOME / "adapters"


def schema_dir() -> Path:
    """Return the directory of the JSON Schemas."""
    return _HOME / "schema"
