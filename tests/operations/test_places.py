"""Where restored files go: to places that the client itself would use, by names that came from it, and nowhere else."""

import json
import shutil
from pathlib import Path

import pytest

from adapters.claude_code.lowering import slug
from pond.codec.placing import safe_beside
from pond.codec.registry import CANONICAL
from pond.codec.request import ConversionRequest
from pond.diagnostics.diagnostic import SourceFault
from pond.lake.chosen import every
from pond.model.equal import same
from pond.model.json_text import JsonObject
from pond.restore.restoring import OWN
from tests.cli.command import pond
from tests.lake.build import TOURS, lake, store_session
from tests.laws.passage import read, strict_values, to_canonical
from tests.laws.rows import SESSION, said, turn
from tests.operations.stored import Out, restored

Session = tuple[JsonObject, list[list[JsonObject]]]
DOCUMENT = TOURS[1].parent / "legacy-document" / "sessions"


def _codes(out: Out) -> list[str]:
    return [diagnostic.code for diagnostic in out.report.diagnostics]


def _session(folder: Path, id: str = SESSION) -> Session:
    path = folder / f"projects/-home-ada-bench/{id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**turn("user", [said("Hello.")]), "sessionId": id}) + "\n")
    passage = read(path, "claude-code")
    return passage.session, passage.groups


def _at(session: Session, path: str, **pond: object) -> Session:
    row, groups = session
    return {**row, "options": {"pond": {**row["options"]["pond"], "path": path, **pond}}}, groups


# --- the client's own places -----------------------------------------------------------------------------------------

ELSEWHERE = {
    "claude-code": [
        "settings.json", "settings.local.json", "CLAUDE.md", "commands/x.md", "hooks/run.sh", ".claude.json", "x",
        "projects/-home-ada/settings.json", "projects/-home-ada/x/y.jsonl", "agents/x.jsonl", "history.jsonl",
        "../x.jsonl", "/etc/x.jsonl", "projects/../x.jsonl", "projects/./x.jsonl", "projects//x.jsonl", "./x.jsonl",
    ],
    "codex": [
        "config.toml", "AGENTS.md", "sessions/x.md", "session_index.jsonl", "history.jsonl", "prompts/x.jsonl",
        "sessions/2026/rollout-x.sh", "skills/rollout-x.jsonl",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("client", "path"), [(client, path) for client, paths in ELSEWHERE.items() for path in paths])
def test_a_stored_path_that_is_no_session_of_its_client_is_refused(client: str, path: str, tmp_path: Path) -> None:
    (file,) = TOURS[client == "codex"].rglob("*.jsonl")
    passage = read(file, client)
    good = _session(tmp_path / "in")
    store = lake(tmp_path / "lake")
    for row, groups in (_at((passage.session, passage.groups), path), good):
        store_session(store, row, groups)
    out = restored(store, every(store, None, None), ConversionRequest(OWN), tmp_path / "out")
    assert _codes(out) == ["output-place"]
    assert list(out.paths) == [good[0]["id"]], "the others are written"
    assert list(out.files) == [good[0]["options"]["pond"]["path"]]
    canonical = restored(store, every(store, None, None), ConversionRequest(CANONICAL), tmp_path / "canonical")
    assert _codes(canonical) == []
    assert len(canonical.files) == 2
    assert all(name.endswith(".canonical.jsonl") for name in canonical.files)


@pytest.mark.parametrize("path", ["settings.json", "hooks/run.sh", "../settings.jsonl"])
def test_canonical_text_cannot_name_such_a_place_either(path: str, tmp_path: Path) -> None:
    (file,) = TOURS[0].rglob("*.jsonl")
    head, _, rest = to_canonical(file, "claude-code").partition(b"\n")
    row = json.loads(head)
    row["options"]["pond"]["path"] = path
    text = json.dumps(row).encode() + b"\n" + rest
    done = pond("convert", "-", "--to", "claude-code", "-o", f"{tmp_path}/out/", stdin=text)
    assert (done.code, [fault.code for fault in done.errors]) == (1, ["output-place"])
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("name", ["hooks.json", "auth.json", "full.json"])
def test_a_document_with_a_name_of_its_own_takes_a_name_that_its_client_gives(name: str, tmp_path: Path) -> None:
    """Codex reads settings from `.json` files in its directory; a session is never one of them."""
    source = tmp_path / "in" / name
    source.parent.mkdir()
    shutil.copy(min(DOCUMENT.iterdir()), source)
    store = lake(tmp_path / "lake")
    passage = read(source, "codex")
    store_session(store, passage.session, passage.groups)
    out = restored(store, every(store, None, None), ConversionRequest(OWN), tmp_path / "out")
    assert _codes(out) == []
    assert list(out.files) == [f"sessions/rollout-{name}"]
    assert same(json.loads(out.files[f"sessions/rollout-{name}"]), json.loads(source.read_bytes()))


@pytest.mark.parametrize("name", ["hooks", "rollout-a"])
def test_the_name_of_a_canonical_file_is_no_way_around(name: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / f"in/{name}.canonical.jsonl").write_bytes(to_canonical(min(DOCUMENT.iterdir()), "codex"))
    done = pond("convert", tmp_path / "in", "--to", "codex", "-o", tmp_path / "out")
    assert done.code == 0, done.err
    (made,) = (tmp_path / "out").rglob("*.json")
    assert made.relative_to(tmp_path / "out").as_posix() == {
        "hooks": "sessions/rollout-hooks.json", "rollout-a": "rollout-a.json",
    }[name]  # fmt: skip


@pytest.mark.parametrize("name", ["full.jsonl", "notes.txt", "plain", "settings.json", "a\\b:c.jsonl"])
def test_a_session_from_a_file_of_any_name_comes_back(name: str, tmp_path: Path) -> None:
    (file,) = TOURS[0].rglob("*.jsonl")
    (tmp_path / name).write_bytes(file.read_bytes())
    done = pond("ingest", tmp_path / name, "--lake", tmp_path / "lake")
    assert done.code == 0, done.err
    done = pond("restore", "--all", "-o", tmp_path / "out", "--lake", tmp_path / "lake")
    assert done.code == 0, done.err
    (made,) = (tmp_path / "out").rglob("*.*")
    assert made.name == (name if name.endswith(".jsonl") else file.name)
    assert same(strict_values(made.read_bytes()), strict_values(file.read_bytes()))


def test_an_id_is_a_name_and_no_path(tmp_path: Path) -> None:
    row, groups = _session(tmp_path / "in")
    own = {**row, "id": "../a/b", "options": {"pond": {"map": "claude-code/1"}}}
    store = lake(tmp_path / "lake")
    store_session(store, own, [[{**event, "session_id": own["id"]} for event in group] for group in groups])
    out = restored(store, [own], ConversionRequest(OWN), tmp_path / "out")
    assert (_codes(out), list(out.files)) == ([], [".._a_b.jsonl"])


# --- files beside a session ------------------------------------------------------------------------------------------

NOT_BESIDE = [
    "{stem}/settings.json", "settings.json", "../settings.json", "{stem}/../settings.json", "{stem}", "{stem}.jsonl",
    "{stem}/tool-results/../x", "{stem}/tool-results/a/b", "{stem}/tool-results/", "{stem}/tool-results/..",
    "/etc/x", "{stem}.meta.json/x", "x/{stem}.meta.json", "",
]  # fmt: skip


@pytest.mark.parametrize("name", NOT_BESIDE)
def test_a_file_that_its_client_would_not_keep_beside_a_session_is_refused(name: str, tmp_path: Path) -> None:
    row, groups = _session(tmp_path / "in")
    options = {**row["options"], "source": {"beside": {name: {"a": 1}, "{stem}.meta.json": {"b": 2}}}}
    head = {"kind": "message", "role": "user", "id": "b", "session_id": row["id"]}
    part = {"kind": "part", "id": "b:0", "session_id": row["id"], "message_id": "b", "type": "file", "data": "eA=="}
    part |= {"media_type": "text/plain", "provenance": "injected", "options": {}}
    store = lake(tmp_path / "lake")
    mark: JsonObject = {**head, "options": {"pond": {"as": "beside", "file": name}}}
    store_session(store, {**row, "options": options}, [*groups, [mark, part]])
    out = restored(store, every(store, None, None), ConversionRequest(OWN), tmp_path / "out")
    assert _codes(out) == ["output-place", "output-place"]
    place = f"projects/-home-ada-bench/{SESSION}"
    assert list(out.files) == [f"{place}.jsonl", f"{place}.meta.json"]


def test_a_client_that_keeps_nothing_beside_a_session_gets_nothing(tmp_path: Path) -> None:
    (file,) = TOURS[1].rglob("*.jsonl")
    passage = read(file, "codex")
    options = {**passage.session["options"], "source": {"beside": {"{stem}.meta.json": {"a": 1}}}}
    store = lake(tmp_path / "lake")
    store_session(store, {**passage.session, "options": options}, passage.groups)
    out = restored(store, every(store, None, None), ConversionRequest(OWN), tmp_path / "out")
    assert (_codes(out), len(out.files)) == (["output-place"], 1)


# --- links -----------------------------------------------------------------------------------------------------------


def test_a_link_that_leads_out_of_the_directory_is_not_followed(tmp_path: Path) -> None:
    row, groups = _session(tmp_path / "in")
    store = lake(tmp_path / "lake")
    store_session(store, row, groups)
    (tmp_path / "outside").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out/projects").symlink_to(tmp_path / "outside")
    out = restored(store, [row], ConversionRequest(OWN), tmp_path / "out")
    assert (_codes(out), out.paths) == (["output-place"], {})
    assert list((tmp_path / "outside").iterdir()) == []
    done = pond("convert", tmp_path / "in", "--to", "claude-code", "-o", tmp_path / "out")
    assert (done.code, [fault.code for fault in done.errors]) == (1, ["output-place"])
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_link_that_stays_within_the_directory_is_followed(tmp_path: Path) -> None:
    row, groups = _session(tmp_path / "in")
    store = lake(tmp_path / "lake")
    store_session(store, row, groups)
    (tmp_path / "out/store").mkdir(parents=True)
    (tmp_path / "out/projects").symlink_to("store")
    (tmp_path / "link").symlink_to("out")
    out = restored(store, [row], ConversionRequest(OWN), tmp_path / "link")
    assert (_codes(out), len(out.paths)) == ([], 1)
    assert len(list((tmp_path / "out/store").rglob("*.jsonl"))) == 1


def test_a_file_beside_a_session_does_not_follow_a_link(tmp_path: Path) -> None:
    place = tmp_path / "out/s.jsonl"
    place.parent.mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "out/s").symlink_to(tmp_path / "outside")
    with pytest.raises(SourceFault):
        safe_beside(place, "{stem}/tool-results/x.txt")


# --- names -----------------------------------------------------------------------------------------------------------


def test_the_folder_of_a_long_project_keeps_its_whole_name(tmp_path: Path) -> None:
    folder = slug("/home/ada/" + "long-" * 60)
    assert 200 < len(folder) <= 255
    longest = f"{'x' * 249}.jsonl"
    path = f"projects/{folder}/{longest}"
    row, groups = _at(_session(tmp_path / "in"), path)
    store = lake(tmp_path / "lake")
    store_session(store, row, groups)
    out = restored(store, [row], ConversionRequest(OWN), tmp_path / "out")
    assert (_codes(out), list(out.files)) == ([], [path])


def test_a_name_that_no_file_system_takes_is_cut_and_stays_its_own(tmp_path: Path) -> None:
    store = lake(tmp_path / "lake")
    for number in range(2):
        row, groups = _at(_session(tmp_path / "in", f"s-{number}"), f"projects/a/{'ü' * 300}{number}.jsonl")
        store_session(store, row, groups)
    for to in (OWN, CANONICAL):
        out = restored(store, every(store, None, None), ConversionRequest(to), tmp_path / f"out{to}")
        assert (_codes(out), len(out.files)) == ([], 2)
        assert all(200 < len(name.rpartition("/")[2].encode()) <= 255 for name in out.files)
        again = restored(store, every(store, None, None), ConversionRequest(to), tmp_path / f"out{to}")
        assert (_codes(again), again.files) == ([], out.files)


def test_a_slug_has_a_dash_for_each_code_unit() -> None:
    """Claude Code is JavaScript: a character outside the basic plane counts twice."""
    assert slug("/home/ada/🌿x") == "-home-ada---x"
    assert slug("/" + "🌿" * 100) == "-" * 200 + "-" + slug("/" + "🌿" * 100)[201:]


# --- one place, several sessions -------------------------------------------------------------------------------------


def _crowd(tmp_path: Path, path: str, count: int = 3) -> list[Session]:
    return [_at(_session(tmp_path / "in", f"s-{number}"), path) for number in range(count)]


@pytest.mark.parametrize("to", [OWN, CANONICAL])
@pytest.mark.parametrize("path", ["full.jsonl", "projects/-home-ada-bench/a.jsonl", "p/subagents/agent-a.jsonl"])
def test_sessions_with_one_stored_place_all_come_back(path: str, to: str, tmp_path: Path) -> None:
    store = lake(tmp_path / "lake")
    for row, groups in _crowd(tmp_path, path):
        store_session(store, row, groups)
    out = restored(store, every(store, None, None), ConversionRequest(to), tmp_path / "out")
    stem, suffix = path.removesuffix(".jsonl"), ".jsonl" if to == OWN else ".canonical.jsonl"
    assert list(out.files) == sorted([f"{stem}{suffix}", f"{stem}-s-1{suffix}", f"{stem}-s-2{suffix}"])
    assert [path.name for path in out.paths.values()] == [
        f"{Path(stem).name}{own}{suffix}" for own in ("", "-s-1", "-s-2")
    ]
    assert _codes(out) == ["output-renamed", "output-renamed"]
    assert out.report.errors == 0
    for id, made in out.paths.items():
        (session,) = {value.get("sessionId") or value["session_id"] for value in map(json.loads, _lines(made, to))}
        assert session == id
    again = restored(store, every(store, None, None), ConversionRequest(to), tmp_path / "out")
    assert (again.files, again.paths) == (out.files, out.paths)
    assert again.report.errors == 0


def _lines(made: Path, to: str) -> list[bytes]:
    return made.read_bytes().splitlines()[1 if to == CANONICAL else 0 :]


def test_a_place_that_another_session_got_is_nobody_elses(tmp_path: Path) -> None:
    store = lake(tmp_path / "lake")
    crowd = [*_crowd(tmp_path, "full.jsonl", 2), _at(_session(tmp_path / "in", "s-9"), "full-s-1.jsonl")]
    for row, groups in crowd:
        store_session(store, row, groups)
    out = restored(store, every(store, None, None), ConversionRequest(OWN), tmp_path / "out")
    assert out.report.errors == 0
    assert list(out.files) == ["full-s-1-s-9.jsonl", "full-s-1.jsonl", "full.jsonl"]


def test_the_summary_names_both(tmp_path: Path) -> None:
    (file,) = TOURS[0].rglob("*.jsonl")
    text = file.read_bytes()
    for number in range(2):
        path = tmp_path / f"home-{number}" / "full.jsonl"
        path.parent.mkdir()
        path.write_bytes(text.replace(file.stem.encode(), f"0000000{number}{file.stem[8:]}".encode()))
        assert pond("ingest", path, "--lake", tmp_path / "lake").code == 0
    done = pond("restore", "--all", "-o", tmp_path / "out", "--lake", tmp_path / "lake")
    assert done.code == 0, done.err
    made = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert made == [f"full-00000001{file.stem[8:]}.jsonl", "full.jsonl"]
    (fault,) = done.faults
    assert fault.code == "output-renamed"
    assert "00000000" in fault.reason
    assert "00000001" in fault.file
    assert made[0] in fault.reason
