"""`pond mcp`: pond as the memory of coding clients."""

from pond.cli.config import Lake
from pond.transports.mcp.stdio import serve


def run(lake: Lake = None) -> int:
    serve(lake)
