"""Whether what a conversion wrote is a session that its client takes."""

from tests.foreign.claude_rules import claude_faults
from tests.foreign.codex_rules import codex_faults
from tests.foreign.road import Made


def faults(made: Made) -> list[str]:
    """Return what is wrong with the files that a conversion wrote."""
    rewound = "rewound" in made.kinds
    found: list[str] = []
    for file, rows in made.rows():
        wrong = claude_faults(file, rows, rewound) if made.client == "claude-code" else codex_faults(file, rows)
        found += [f"{file.name}: {what}" for what in wrong]
    return found
