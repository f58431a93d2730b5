"""`pond pod`: named agents at the prompt."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Done, pond
from tests.house.tree import ROOT
from tests.lake.build import lake as build_lake

TOUR = ROOT / "adapters" / "codex" / "fixtures" / "tour"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a lake with a session, and its id."""
    place = tmp_path_factory.mktemp("lake")
    build_lake(place, TOUR)
    return place, json.loads(pond("list", "--json", "--lake", place).out)["sessions"][0]["id"]


def _pod(root: Path, *words: str | Path) -> Done:
    return pond("pod", *words, variables={"POND_PODS_ROOT": str(root)})


def _json(root: Path, *words: str | Path) -> Any:
    done = _pod(root, *words, "--json")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


def test_a_pod_from_its_first_change_to_its_restore(session: tuple[Path, str], tmp_path: Path) -> None:
    lake, id = session
    root = tmp_path / "pods"
    assert _pod(root, "list").out == b"There are no pods yet.\n"
    assert _json(root, "set-pending", "gardener", id)["pod"]["active"] == {"session_id": id}
    assert _json(root, "set-active", "gardener", id, "seg-1")["pod"]["active"]["segment_id"] == "seg-1"
    added = _json(
        root, "add-child", "gardener", "grafter", "--write", "/srv/a", "--write", "/srv/b", "--read", "/srv",
        "--socket", tmp_path / "grafter.sock", "--callback", "/run/gardener.sock",
    )  # fmt: skip
    (child,) = added["pod"]["children"]
    assert [(scope["permission"], scope["target"], scope["recursive"]) for scope in child["scopes"]] == [
        ("write", "/srv/a", True), ("write", "/srv/b", True), ("read", "/srv", True),
    ]  # fmt: skip
    assert (child["socket_path"], child["callback_address"]) == (str(tmp_path / "grafter.sock"), "/run/gardener.sock")
    flat = _json(root, "add-child", "gardener", "pruner", "--write", "/srv/c", "--flat")["pod"]["children"][1]
    assert flat["scopes"] == [{"target": "/srv/c", "permission": "write", "recursive": False}]
    assert [each["reason"] for each in _reclaimed(_json(root, "reclaim", "gardener", "pruner"))] == ["requested"]
    restored = _json(root, "restore", "gardener", "--lake", lake)
    assert (restored["session"]["id"], restored["deny"]) == (id, [])
    assert [each["reason"] for each in _reclaimed(restored)] == ["requested", "missing"]
    assert _json(root, "show", "gardener")["pod"] == restored["pod"]
    (entry,) = _json(root, "list")["pods"]
    assert (entry["name"], entry["children"], entry["reclaims"]) == ("gardener", 0, 2)
    shown = pond("get", restored["notices"][0], "--lake", lake)
    assert "grafter" in shown.out.decode()
    assert _json(root, "remove", "gardener") == {"removed": True}
    assert _json(root, "remove", "gardener") == {"removed": False}


def _reclaimed(response: Any) -> list[dict[str, str]]:
    return [child for reclaim in response["pod"]["reclaimed"] for child in reclaim["children"]]


def test_people_see_what_a_pod_is(session: tuple[Path, str], tmp_path: Path) -> None:
    lake, id = session
    for words in (
        ("set-active", "gardener", id, "seg-1"),
        ("add-child", "gardener", "grafter", "--write", "/srv/a"),
        ("set-pending", "miller", id),
    ):
        assert _pod(tmp_path, *words).code == 0
    lines = _pod(tmp_path, "show", "gardener").out.decode().splitlines()
    assert lines == ["pod        gardener", f"active     {id}  seg-1", "child      grafter  write /srv/a"]
    table = [line.split() for line in _pod(tmp_path, "list").out.decode().splitlines()]
    assert table[1:] == [["gardener", id, "seg-1", "1"], ["miller", id]]
    restored = _pod(tmp_path, "restore", "gardener", "--lake", lake).out.decode()
    assert "(missing)" in restored
    assert "told       pond/reclaim/" in restored


@pytest.mark.parametrize(
    ("words", "code", "exit"),
    [
        (("show", "nobody"), "pods-missing", 2),
        (("restore", "nobody"), "pods-missing", 2),
        (("reclaim", "nobody", "x"), "pods-missing", 2),
        (("set-pending", "../x", "s"), "pods-name", 2),
        (("set-pending", "x", ""), "pods-change", 2),
        (("add-child", "x", "con"), "pods-change", 2),
        (("restore", "waiting"), "pods-pending", 2),
        (("restore", "idle"), "pods-inactive", 2),
        (("show", "broken"), "pods-corrupt", 1),
        (("set-pending", "broken", "s"), "pods-corrupt", 1),
        (("remove", "broken"), "pods-corrupt", 1),
        (("list", "--root", "/dev/null/x"), "pods-storage", 1),
    ],
)
def test_a_refusal_has_its_code_and_exit(words: tuple[str, ...], code: str, exit: int, tmp_path: Path) -> None:
    _pod(tmp_path, "set-pending", "waiting", "s")
    _pod(tmp_path, "add-child", "idle", "kid")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "metadata.json").write_text("{")
    done = _pod(tmp_path, *words)
    assert (done.code, [fault.code for fault in done.errors]) == (exit, [code]), done.err
    assert done.out == b""


def test_a_broken_record_is_listed_and_goes_only_by_force(tmp_path: Path) -> None:
    _pod(tmp_path, "set-pending", "gardener", "s")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "metadata.json").write_text("{")
    done = _pod(tmp_path, "list")
    assert done.code == 1
    assert [line.split()[0] for line in done.out.decode().splitlines()] == ["name", "broken", "gardener"]
    assert "is not JSON" in done.out.decode()
    assert _json(tmp_path, "remove", "broken", "--force") == {"removed": True}
    assert _pod(tmp_path, "list").code == 0


def test_the_lake_is_no_place_for_pods(tmp_path: Path) -> None:
    done = pond("pod", "list", variables={"POND_LAKE": str(tmp_path), "POND_PODS_ROOT": str(tmp_path / "pods")})
    assert (done.code, [fault.code for fault in done.errors]) == (2, ["pods-place"])


def test_without_a_setting_pods_lie_beside_the_lake(tmp_path: Path) -> None:
    home = {"XDG_DATA_HOME": str(tmp_path), "POND_LAKE": "", "POND_PODS_ROOT": ""}
    assert pond("pod", "set-pending", "gardener", "s", variables=home).code == 0
    assert [*tmp_path.rglob("*.json")] == [tmp_path / "pond" / "pods" / "gardener" / "metadata.json"]


def test_nothing_in_a_record_steers_the_terminal(tmp_path: Path) -> None:
    _pod(tmp_path, "add-child", "gardener", "kid", "--write", "/srv/\x1b[31mred\nline")
    shown = _pod(tmp_path, "show", "gardener").out
    assert b"\x1b" not in shown
    assert shown.count(b"\n") == 3
