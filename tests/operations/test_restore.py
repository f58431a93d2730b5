"""Restoring from the lake: families, forks, what is already there, names that are data, and what cannot be done."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pond.codec.finding import find_files
from pond.codec.paths import beside
from pond.codec.registry import CANONICAL, adapter, clients
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.diagnostics.diagnostic import UsageError
from pond.lake.chosen import every, named
from pond.model.equal import same
from pond.model.json_text import JsonObject
from pond.restore.restoring import OWN
from pond.sessions import load
from pond.sessions.rows import Rows
from pond.sessions.writing import write_rows
from pond.substrate.signals import Unavailable
from pond.substrate.store import Store
from tests.lake.build import SUBAGENTS, TOURS, lake, store_session, tables
from tests.laws.passage import read, strict_values, to_canonical
from tests.laws.rows import HEADER, PROJECT, SESSION, TIME, prompt, said, turn
from tests.operations.stored import Out, files_below, restored

FORK, ARCHIVED = (adapter("codex").folder / "fixtures" / case for case in ("fork", "archived"))


def _codes(out: Out) -> list[str]:
    return [diagnostic.code for diagnostic in out.report.diagnostics]


def _losses(out: Out) -> list[tuple[str, str]]:
    return [(loss.kind, loss.what) for losses in out.report.losses for loss in losses.all()]


# --- families --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "folder", [*SUBAGENTS, *TOURS, FORK, ARCHIVED], ids=lambda folder: f"{folder.parts[-3]}/{folder.name}"
)
def test_a_whole_store_comes_back_file_for_file(folder: Path, tmp_path: Path) -> None:
    store = lake(tmp_path / "lake", folder)
    out = restored(store, every(store, None, None), ConversionRequest(OWN), tmp_path / "out")
    assert _codes(out) == []
    source = _session_files(folder)
    lists = {adapter(client).list_name for client in clients()}  # they name other sessions, too
    made = {name: data for name, data in out.files.items() if name not in lists}
    assert made.keys() == source.keys()
    for name, data in made.items():
        assert same(strict_values(data), strict_values(source[name])), name


def _session_files(folder: Path) -> dict[str, bytes]:
    """Return the session files of a store and those next to them; a client keeps other files there too."""
    sessions = list(find_files(folder, Report()))
    names = [name for client in clients() for name in adapter(client).module.BESIDE]
    kept = {*sessions, *(path for session in sessions for _, path in beside(session, tuple(names)))}
    return {name: data for name, data in files_below(folder).items() if folder / name in kept}


@pytest.mark.rule("adapter-lineage-complete-restore")
@pytest.mark.parametrize("to", [OWN, CANONICAL, "claude-code", "codex"])
@pytest.mark.parametrize("folder", SUBAGENTS, ids=lambda folder: folder.parts[-3])
def test_children_come_along(folder: Path, to: str, tmp_path: Path) -> None:
    store = lake(tmp_path / "lake", folder)
    rows = every(store, None, None)
    parent = next(row for row in rows if any(child.get("parent_session_id") == row["id"] for child in rows))
    family = {row["id"] for row in rows if parent["id"] in (row["id"], row.get("parent_session_id"))}
    out = restored(store, [parent], ConversionRequest(to), tmp_path / "out")
    assert len(family) > 1
    assert out.paths.keys() == family
    assert all(path.is_file() for path in out.paths.values())


def _rollout(folder: Path, session_id: str, parent: str | None = None, **meta: Any) -> None:
    """Write a rollout of Codex that another one spawned, or that is told to be something else."""
    payload = {**HEADER["payload"], "id": session_id, **({"parent_thread_id": parent} if parent else {}), **meta}
    path = folder / f"sessions/2026/01/02/rollout-2026-01-02T03-04-05-{session_id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [{**HEADER, "ordinal": 0, "payload": payload}, {**prompt(f"I am {session_id}."), "ordinal": 1}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _deep(tmp_path: Path) -> Store:
    for session_id, parent in (("a", None), ("b", "a"), ("c", "b"), ("other", None)):
        _rollout(tmp_path / "in", session_id, parent)
    return lake(tmp_path / "lake", tmp_path / "in")


@pytest.mark.rule("adapter-lineage-complete-restore")
def test_a_family_too_deep_for_the_target_is_refused_whole(tmp_path: Path) -> None:
    store = _deep(tmp_path)
    out = restored(store, named(store, ["a"]), ConversionRequest("claude-code"), tmp_path / "out")
    assert set(_codes(out)) == {"foreign-too-deep"}
    assert (out.paths, out.files) == ({}, {})


def test_other_families_go_on_and_the_own_client_holds_its_own(tmp_path: Path) -> None:
    store = _deep(tmp_path)
    out = restored(store, every(store, None, None), ConversionRequest("claude-code"), tmp_path / "out")
    assert out.paths.keys() == {"other"}
    assert restored(store, named(store, ["a"]), ConversionRequest(OWN), tmp_path / "own").paths.keys() == {
        "a",
        "b",
        "c",
    }


# --- forks -----------------------------------------------------------------------------------------------------------


def _base(session_id: str, end: int = 9) -> JsonObject:
    return {"forked_from_id": session_id, "history_base": {"thread_id": session_id, "end_ordinal_exclusive": end}}


def _text(out: Out) -> str:
    return b"".join(out.files.values()).decode()


def test_a_fork_finds_its_beginning_in_the_lake(tmp_path: Path) -> None:
    _rollout(tmp_path / "in", "trunk")
    _rollout(tmp_path / "in", "twig", **_base("trunk"))
    store = lake(tmp_path / "lake", tmp_path / "in")
    out = restored(store, named(store, ["twig"]), ConversionRequest("claude-code"), tmp_path / "out")
    assert out.paths.keys() == {"twig"}
    assert _text(out).index("I am trunk.") < _text(out).index("I am twig.")


def test_a_beginning_that_is_not_stored_is_a_loss(tmp_path: Path) -> None:
    _rollout(tmp_path / "in", "twig", **_base("trunk"))
    store = lake(tmp_path / "lake", tmp_path / "in")
    out = restored(store, named(store, ["twig"]), ConversionRequest("claude-code"), tmp_path / "out")
    assert ("beginning-missing", "trunk") in _losses(out)
    assert "I am twig." in _text(out)


def test_forks_that_begin_in_each_other_end(tmp_path: Path) -> None:
    _rollout(tmp_path / "in", "egg", **_base("hen"))
    _rollout(tmp_path / "in", "hen", **_base("egg"))
    store = lake(tmp_path / "lake", tmp_path / "in")
    out = restored(store, named(store, ["egg"]), ConversionRequest("claude-code"), tmp_path / "out")
    assert ("beginning-missing", "egg") in _losses(out)
    assert out.paths["egg"].read_text().count("I am hen.") == 1
    assert restored(store, named(store, ["egg"]), ConversionRequest(OWN), tmp_path / "own").paths.keys() == {
        "egg",
        "hen",
    }


@pytest.mark.rule("adapter-lineage-complete-restore")
def test_its_own_client_gets_the_session_a_fork_begins_in(tmp_path: Path) -> None:
    """Codex reads the beginning from the other file: without it the session would not stand on its own."""
    _rollout(tmp_path / "in", "trunk")
    _rollout(tmp_path / "in", "twig", **_base("trunk"))
    _rollout(tmp_path / "in", "other", **_base("trunk"))
    store = lake(tmp_path / "lake", tmp_path / "in")
    assert restored(store, named(store, ["twig"]), ConversionRequest(OWN), tmp_path / "out").paths.keys() == {
        "twig",
        "trunk",
    }


def test_moved_paths_are_moved_in_the_beginning_too(tmp_path: Path) -> None:
    _rollout(tmp_path / "in", PROJECT.replace("/", ""))
    _rollout(tmp_path / "in", "trunk", instructions=f"look at {PROJECT}/a")
    _rollout(tmp_path / "in", "twig", **_base("trunk"))
    path = next((tmp_path / "in").rglob("*-trunk.jsonl"))
    path.write_text(path.read_text() + json.dumps({**prompt(f"Read {PROJECT}/fern."), "ordinal": 2}) + "\n")
    store = lake(tmp_path / "lake", tmp_path / "in")
    order = ConversionRequest("claude-code", paths=((PROJECT, "/srv/bench"),))
    out = restored(store, named(store, ["twig"]), order, tmp_path / "out")
    assert "Read /srv/bench/fern." in _text(out)
    assert PROJECT not in _text(out)


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", [OWN, "codex", CANONICAL])
def test_another_file_in_the_way_stays_and_the_others_are_written(to: str, tmp_path: Path) -> None:
    store = lake(tmp_path / "lake", SUBAGENTS[0])
    rows = every(store, None, None)
    places = restored(store, rows, ConversionRequest(to), tmp_path / "first").paths
    taken = places[rows[0]["id"]].relative_to(tmp_path / "first")
    mine = tmp_path / "out" / taken
    mine.parent.mkdir(parents=True)
    mine.write_bytes(b"mine\n")
    out = restored(store, rows, ConversionRequest(to), tmp_path / "out")
    assert _codes(out) == ["output-exists"]
    assert mine.read_bytes() == b"mine\n"
    assert out.paths.keys() == {row["id"] for row in rows[1:]}


@pytest.mark.parametrize("to", [OWN, "codex"])
def test_the_file_is_dated_by_its_last_message(to: str, tmp_path: Path) -> None:
    store = lake(tmp_path / "lake", TOURS[0])
    (row,) = every(store, None, None)
    out = restored(store, [row], ConversionRequest(to), tmp_path / "out")
    (path,) = out.paths.values()
    last = max(value["timestamp"] for value in strict_values(path.read_bytes()) if "timestamp" in value)
    assert path.stat().st_mtime == datetime.fromisoformat(last).timestamp()


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_what_was_stored_from_canonical_text_comes_back_natively(client: str, tmp_path: Path) -> None:
    folder = TOURS[client == "codex"]
    (file,) = folder.rglob("*.jsonl")
    (tmp_path / "in").mkdir()
    (tmp_path / "in/any.jsonl").write_bytes(to_canonical(file, client))
    store = lake(tmp_path / "lake", tmp_path / "in")
    out = restored(store, every(store, None, None), ConversionRequest(OWN), tmp_path / "out")
    assert _codes(out) == []
    assert same(strict_values(out.files[file.relative_to(folder).as_posix()]), strict_values(file.read_bytes()))


def _lake_of(tmp_path: Path, *sessions: tuple[JsonObject, list[list[JsonObject]]]) -> Store:
    store = lake(tmp_path / "lake")
    for row, groups in sessions:
        store_session(store, row, groups)
    return store


def _plain(tmp_path: Path) -> tuple[JsonObject, list[list[JsonObject]]]:
    path = tmp_path / f"in/projects/-home-ada-bench/{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(turn("user", [said("Hello.")])) + "\n")
    passage = read(path, "claude-code")
    return passage.session, passage.groups


def test_files_beside_a_session_that_were_stored_by_two_runs_all_come_back(tmp_path: Path) -> None:
    row, groups = _plain(tmp_path)
    store = _lake_of(tmp_path, (row, groups))
    folder = tmp_path / f"in/projects/-home-ada-bench/{SESSION}/tool-results"
    folder.mkdir(parents=True)
    for name in ("one.txt", "two.txt"):
        (folder / name).write_text(name)
        rows = Rows(row)
        rows.take(read(folder.parent.with_suffix(".jsonl"), "claude-code").groups[-1])
        write_rows(store, *tables(rows))
    out = restored(store, [row], ConversionRequest(OWN), tmp_path / "out")
    names = [f"projects/-home-ada-bench/{SESSION}/tool-results/{name}" for name in ("one.txt", "two.txt")]
    assert {name: out.files.get(name) for name in names} == dict(zip(names, (b"one.txt", b"two.txt"), strict=True))


# --- names are data --------------------------------------------------------------------------------------------------

HOSTILE = ["../../x", "/etc/x", "a\0b", "x" * 5000, "..", ".", "a/../../../b", "..\\..\\x", "\ud800", "...jsonl", "~/x"]


def _renamed(name: str) -> Callable[[JsonObject], JsonObject]:
    return lambda row: {**row, "options": {**row["options"], "pond": {"path": name}}}


def _reidentified(name: str) -> Callable[[JsonObject], JsonObject]:
    return lambda row: {**row, "id": name, "options": {}}


@pytest.mark.parametrize("change", [_renamed, _reidentified])
@pytest.mark.parametrize("to", [OWN, CANONICAL, "codex"])
def test_no_name_leaves_the_directory(
    to: str, change: Callable[[str], Callable[[JsonObject], JsonObject]], tmp_path: Path
) -> None:
    row, groups = _plain(tmp_path)
    rows = [change(name)({**row, "id": f"s-{number}"}) for number, name in enumerate(HOSTILE)]
    mine = [[[{**event, "session_id": row["id"]} for event in group] for group in groups] for row in rows]
    store = _lake_of(tmp_path, *zip(rows, mine, strict=True))
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    for number, row in enumerate(rows):
        out = restored(store, [row], ConversionRequest(to), tmp_path / f"deep/er/{number}")
        new = {path for path in tmp_path.rglob("*") if path.is_file()} - before
        assert [path for path in new if not path.is_relative_to(out.folder)] == []
        assert len(out.files) == 1 or (change is _renamed and _codes(out) == ["output-place"])
        before |= new


def test_no_file_beside_a_session_leaves_the_directory(tmp_path: Path) -> None:
    row, groups = _plain(tmp_path)
    store = _lake_of(tmp_path)
    for number, name in enumerate([*HOSTILE, "{stem}/../../x", "{stem}"]):
        own = {**row, "id": f"s-{number}"}
        own["options"] = {"pond": {"path": "projects/-home-ada/...jsonl"}, "source": {"beside": {name: {"a": 1}}}}
        events = [[{**event, "session_id": own["id"]} for event in group] for group in groups]
        store_session(store, own, [*events, _beside(own["id"], name)])
        out = restored(store, [own], ConversionRequest(OWN), tmp_path / f"deep/er/{number}")
        strange = [path for path in tmp_path.rglob("*") if path.is_file() and path.read_bytes() in (b"x", b'{"a":1}')]
        assert [path for path in strange if not path.is_relative_to(tmp_path / "deep/er")] == []
        assert [name for name in out.files if not name.startswith("projects/")] == []


def _beside(session_id: str, name: str) -> list[JsonObject]:
    """Return the events of a file next to a session, under any name."""
    head = {"kind": "message", "role": "user", "id": "b", "session_id": session_id}
    part: JsonObject = {"kind": "part", "id": "b:0", "session_id": session_id, "message_id": "b", "type": "file"}
    part |= {"data": "eA==", "media_type": "text/plain", "provenance": "injected", "options": {}}
    return [{**head, "options": {"pond": {"as": "beside", "file": name}}}, part]


# --- what cannot be done ---------------------------------------------------------------------------------------------


def test_what_is_not_stored_is_not_found(tmp_path: Path) -> None:
    store = lake(tmp_path / "lake", TOURS[0])
    asked: list[Callable[[], list[JsonObject]]] = [
        lambda: named(store, ["nobody"]),
        lambda: every(store, "/nowhere", None),
        lambda: every(store, None, "codex"),
        lambda: every(lake(tmp_path / "empty"), None, None),
    ]
    for ask in asked:
        with pytest.raises(UsageError) as refused:
            ask()
        assert [diagnostic.code for diagnostic in refused.value.diagnostics] == ["lake-not-found"]


def test_all_can_be_narrowed(tmp_path: Path) -> None:
    store = lake(tmp_path / "lake", *TOURS)
    both = every(store, None, None)
    for row in both:
        found = [every(store, row["project"], row["source_agent"]), every(store, None, row["source_agent"])]
        assert found == [[row], [row]]


def test_a_session_named_twice_is_restored_once(tmp_path: Path) -> None:
    store = lake(tmp_path / "lake", TOURS[0])
    (row,) = every(store, None, None)
    assert named(store, [row["id"], row["id"][:8]]) == [row]


@pytest.mark.parametrize(
    ("change", "code"),
    [({"source_agent": "nobody"}, "foreign-no-client"), ({"options": {"pond": {"path": 5}}}, "canonical-broken")],
)
def test_a_session_that_cannot_be_written_is_named_and_the_others_are(
    change: JsonObject, code: str, tmp_path: Path
) -> None:
    row, groups = _plain(tmp_path)
    bad = {**row, "id": "bad", **change}
    store = _lake_of(tmp_path, (bad, [[{**event, "session_id": "bad"} for event in group] for group in groups]))
    store_session(store, row, groups)
    out = restored(store, every(store, None, None), ConversionRequest(OWN), tmp_path / "out")
    assert (_codes(out), list(out.paths)) == ([code], [SESSION])


def test_a_lake_that_does_not_answer_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each further session would only wait for it again."""
    store = lake(tmp_path / "lake", *TOURS)
    rows = every(store, None, None)

    def silent(store: Store, session_id: str) -> Any:
        raise Unavailable("reading", "no answer", 3)

    monkeypatch.setattr(load, "groups", silent)
    with pytest.raises(Unavailable):
        restored(store, rows, ConversionRequest(OWN), tmp_path / "out")
    assert files_below(tmp_path / "out") == {}


def test_a_loss_of_content_can_be_refused(tmp_path: Path) -> None:
    pdf = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0x"}}
    path = tmp_path / f"in/projects/-home-ada-bench/{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(turn("user", [pdf, said("What does it say?")], timestamp=TIME)) + "\n")
    store = lake(tmp_path / "lake", tmp_path / "in")
    out = restored(store, every(store, None, None), ConversionRequest("codex", on_loss="raise"), tmp_path / "out")
    assert (_codes(out), out.files) == (["foreign-loss"], {})
