"""The top of the tree stays small enough to read at a glance."""

from tests.house.tree import files

ALLOWED = {
    "LICENSE",
    "Makefile",
    "README.md",
    "adapters",
    "codegen",
    "docs",
    "golden",
    "pond",
    "pyproject.toml",
    "requirements.lock",
    "schema",
    "tests",
}


def test_only_the_agreed_entries_stand_at_the_top() -> None:
    entries = {name.parts[0] for name in files()}
    surplus = {entry for entry in entries if not entry.startswith(".")} - ALLOWED
    assert not surplus, f"move into a folder, or agree on it in docs/decisions/: {sorted(surplus)}"
