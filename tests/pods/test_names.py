"""Names that are one safe file name everywhere, and refusals that say why."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pond.pods import names
from pond.pods.faults import BadChange, BadName, NameTaken
from pond.pods.store import PodStore


@pytest.mark.parametrize(
    "name", ["a", "gardener", "the gardener", "v1.2", "園丁", "Ærø", "a" * 100, "-x", "_", "~", "COM", "nulls"]
)
def test_a_safe_name_is_taken(name: str, tmp_path: Path) -> None:
    store = PodStore(tmp_path)
    store.change(name, {"op": "add_peer", "peer": name})
    assert (store.names(), store.read(name)["peers"]) == ([name], [name])


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "empty"),
        (".", "dot"), ("..", "dot"), (".hidden", "dot"), ("end.", "dot"), (" a", "space"), ("a ", "space"),
        ("a/b", "paths"), ("../x", "paths"), ("/etc", "paths"), ("a\\b", "paths"), ("c:", "paths"), ("a*", "paths"),
        ("a?", "paths"), ('a"', "paths"), ("a<", "paths"), ("a>", "paths"), ("a|b", "paths"),
        ("nul\0nul", "invisible"), ("a\nb", "invisible"), ("\x1b[31m", "invisible"),
        ("half\ud800", "invisible"), ("zero\u200bwidth", "invisible"), ("del\x7f", "invisible"),
        ("con", "device"), ("NUL", "device"), ("aux.txt", "device"), ("Com1", "device"), ("lpt9.a.b", "device"),
        ("com¹", "device"), ("con .x", "device"),
        ("e\u0301", "NFC"),
        ("a" * 101, "100 bytes"), ("園" * 34, "100 bytes"),
    ],
)  # fmt: skip
def test_an_unsafe_name_is_refused_with_its_reason(name: str, why: str, tmp_path: Path) -> None:
    store = PodStore(tmp_path / "pods")
    with pytest.raises(BadName, match=why):
        store.read(name)
    with pytest.raises(BadName, match=why):
        store.remove(name)
    with pytest.raises(BadName, match=why):
        store.change(name, {"op": "add_peer", "peer": "x"})
    with pytest.raises(BadChange):
        store.change("x", {"op": "add_peer", "peer": name})
    with pytest.raises(BadChange):
        store.change("x", {"op": "add_child", "child": {"name": name, "scopes": []}})
    assert [*tmp_path.rglob("*.json")] == []


def test_a_name_that_is_no_text_is_refused() -> None:
    with pytest.raises(BadName, match="must be text"):
        names.checked(7)


@pytest.mark.parametrize(("one", "other"), [("Gardener", "gardener"), ("straße", "STRASSE"), ("Ærø", "ærø")])
def test_names_that_some_file_systems_take_for_one_are_refused(one: str, other: str, tmp_path: Path) -> None:
    store = PodStore(tmp_path)
    store.change(one, {"op": "add_peer", "peer": "x"})
    with pytest.raises(NameTaken, match=one):
        store.change(other, {"op": "add_peer", "peer": "y"})
    store.remove(one)
    store.change(other, {"op": "add_peer", "peer": "y"})
    assert store.names() == [other]


@given(st.text(max_size=120))
def test_every_name_that_is_taken_is_a_single_component(name: str) -> None:
    try:
        names.checked(name)
    except BadName:
        return
    assert Path("/root", name).resolve() == Path("/root") / name
    assert name == name.strip(" ")
    assert len(name.encode()) <= 255
