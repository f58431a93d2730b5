"""JSON values as the tests understand them: an oracle that shares no code with pond."""

import json
from decimal import Decimal
from math import isinf
from pathlib import Path

Exact = object  # nested dict, list, str, bool, None and ("int" | "float" | "huge", spelling)


def exact(text: bytes | str) -> Exact:
    """Return the value with every number tagged: 1, 1.0 and true differ; so do 0.0 and -0.0; 1e400 is kept."""
    return json.loads(
        text,
        parse_int=lambda digits: ("int", "0" if digits == "-0" else digits),
        parse_float=_float,
        parse_constant=lambda name: ("huge", name),
    )


def _float(text: str) -> tuple[str, str]:
    value = float(text)
    if not isinf(value):
        return "float", value.hex()
    digits, _, exponent = text.lower().partition("e")
    return ("huge", str(Decimal(text).normalize())) if len(exponent) < 18 else ("huge", f"{digits}e{int(exponent)}")


def values(text: bytes) -> list[Exact]:
    """Return the values of JSONL text, one a line."""
    return [exact(line) for line in text.split(b"\n") if line.strip()]


def values_of(file: Path) -> list[Exact]:
    """Return the values of a JSONL file."""
    return values(file.read_bytes())
