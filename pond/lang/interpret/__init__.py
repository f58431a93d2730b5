"""The meaning of a mapping, spelled out slowly: the oracle that the compiled functions are tested against."""

from pond.lang.interpret.read import read
from pond.lang.interpret.write import write

__all__ = ["read", "write"]
