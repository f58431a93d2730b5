"""Nobody but `pond/pods` knows where the records of pods lie, and nothing of sessions knows that there are pods."""

import re

from tests.house.tree import ROOT

SESSIONS = (
    "adapters",
    "codec",
    "golden",
    "intake",
    "lake",
    "lang",
    "portable",
    "restore",
    "search",
    "sessions",
    "substrate",
)


def test_nobody_else_names_the_files_of_pods() -> None:
    files = [file for top in ("pond", "adapters") for file in (ROOT / top).rglob("*.py")]
    naming = {str(file.relative_to(ROOT)) for file in files if "metadata.json" in file.read_text(encoding="utf-8")}
    assert naming == {
        "pond/pods/files.py",
        "pond/pods/store.py",  # in words
        "pond/diagnostics/codes.py",  # in a hint to people
    }


def test_the_floors_of_sessions_do_not_know_that_there_are_pods() -> None:
    known = [
        str(file.relative_to(ROOT))
        for floor in SESSIONS
        for file in (ROOT / "pond" / floor).rglob("*.py")
        if re.search(r"\bpods?\b", file.read_text(encoding="utf-8"), re.IGNORECASE)
    ]
    assert known == []


def test_the_canonical_model_has_no_field_of_a_pod() -> None:
    text = (ROOT / "schema" / "canonical.schema.json").read_text(encoding="utf-8")
    assert not re.search(r"\bpods?\b", text, re.IGNORECASE)
