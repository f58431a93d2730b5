"""The meaning of a mapping, executed slowly: the oracle against which the compiled functions are tested."""

from pond.lang.interpret.read import read
from pond.lang.interpret.write import write

__all__ = ["read", "write"]
