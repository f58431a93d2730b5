"""What `pond convert --to` another client promises on the command line: reports, refusals, families, moved paths."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pond.codec.registry import adapter, clients
from pond.model.equal import same
from pond.portable.loss import CONTENT, KINDS
from tests.cli.command import pond
from tests.cli.sessions import CLAUDE_CODE, CODEX, Client, dumps, session_id
from tests.laws.corpus import fixture_files
from tests.laws.passage import read, strict_values

ARCHIVED = adapter("codex").folder / "fixtures" / "archived"
ROADS = [(CLAUDE_CODE, "codex"), (CODEX, "claude-code")]


def rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def made(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _is_origin(row: Any) -> bool:
    return type(row) is dict and row.get("type") == "pond_origin"


def came_from(path: Path) -> list[str]:
    """Return the sessions that a written file says its rows come from, the oldest first."""
    found: list[str] = next(
        row["payload"]["from"]["sessions"] for row in strict_values(path.read_bytes()) if _is_origin(row)
    )
    return found


def own(path: Path) -> list[Any]:
    """Return the rows of a file without those, and the members of others, that say where they come from."""
    kept = [row for row in rows(path) if not _is_origin(row)]
    return [{name: value for name, value in row.items() if name != "pond"} for row in kept]


# --- where it goes, and what is said ---


@pytest.mark.parametrize(("source", "target"), ROADS)
def test_a_session_goes_into_the_others_layout_and_the_way_on_is_said(
    source: Client, target: str, tmp_path: Path
) -> None:
    file = source.session(tmp_path / "in", "layout")
    done = pond("convert", file, "--to", target, "-o", f"{tmp_path}/out/")
    assert (done.code, done.errors) == (0, []), done.err
    (place,) = made(tmp_path / "out")
    folder, command = ("sessions/", "codex resume") if target == "codex" else ("projects/", "claude --resume")
    assert place.startswith(folder)
    assert session_id("layout") not in place
    assert came_from(tmp_path / "out" / place) == [session_id("layout")]
    assert f"\n  {command} {Path(place).stem[-36:]}\n" in done.err


@pytest.mark.parametrize(("source", "target"), ROADS)
def test_a_second_run_changes_nothing(source: Client, target: str, tmp_path: Path) -> None:
    file = source.session(tmp_path / "in", "again")
    for _ in range(2):
        done = pond("convert", file, "--to", target, "-o", f"{tmp_path}/out/")
        assert (done.code, done.errors) == (0, []), done.err
    assert len(made(tmp_path / "out")) == 1


@pytest.mark.parametrize(("source", "target"), ROADS)
def test_the_file_is_dated_by_its_last_message(source: Client, target: str, tmp_path: Path) -> None:
    """Both clients offer the newest file first."""
    file = source.session(tmp_path / "in", "date")
    pond("convert", file, "--to", target, "-o", f"{tmp_path}/out/")
    (place,) = (tmp_path / "out").rglob("*.jsonl")
    last = max(row["timestamp"] for row in rows(place) if "timestamp" in row)
    assert place.stat().st_mtime == datetime.fromisoformat(last).timestamp()


def test_a_session_without_a_message_is_not_written(tmp_path: Path) -> None:
    file = CLAUDE_CODE.file(tmp_path, session_id("e"), dumps([{"type": "mode", "mode": "x", "sessionId": "e"}]))
    done = pond("convert", file, "--to", "codex", "--project", "/home/mira", "-o", f"{tmp_path}/out/")
    assert [fault.code for fault in done.faults] == ["foreign-empty"], done.err
    assert "nothing was written for it" in done.err
    assert done.code == 0
    assert not (tmp_path / "out").exists() or made(tmp_path / "out") == []


def test_sessions_without_a_message_do_not_make_a_store_fail(tmp_path: Path) -> None:
    CLAUDE_CODE.file(tmp_path / "in", session_id("e"), dumps([{"type": "mode", "mode": "x", "sessionId": "e"}]))
    CLAUDE_CODE.session(tmp_path / "in", "full")
    done = pond("convert", tmp_path / "in", "--to", "codex", "-o", f"{tmp_path}/out/")
    assert ([fault.code for fault in done.faults], done.code) == (["foreign-empty"], 0), done.err
    assert len(made(tmp_path / "out")) == 1


def test_a_stream_goes_into_a_directory_too(tmp_path: Path) -> None:
    """What comes by a pipe can be read but once."""
    file = CLAUDE_CODE.session(tmp_path / "in", "pipe")
    done = pond("convert", "-", "--to", "codex", "-o", f"{tmp_path}/out/", stdin=file.read_bytes())
    assert (done.code, len(made(tmp_path / "out"))) == (0, 1), done.err


# --- losses ---


def _with_pdf(folder: Path) -> Path:
    pdf = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0x"}}
    content = [pdf, {"type": "text", "text": "What does it say?"}]
    session = session_id("pdf")
    row: dict[str, Any] = {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": session, "cwd": "/home/mira"}
    row |= {"timestamp": "2026-01-02T03:04:05.000Z", "message": {"role": "user", "content": content}}
    return CLAUDE_CODE.file(folder, session, dumps([row]))


def test_the_loss_report_names_what_is_lost_and_where(tmp_path: Path) -> None:
    file = _with_pdf(tmp_path / "in")
    done = pond("convert", file, "--to", "codex", "-o", f"{tmp_path}/out/", "--loss-report", tmp_path / "loss.jsonl")
    assert done.code == 0
    (lost,) = [entry for entry in rows(tmp_path / "loss.jsonl") if entry["class"] == "content"]
    assert (lost["kind"], lost["message"], lost["part"]) == ("file-left-out", "u1", "u1:0")
    assert (lost["what"], lost["count"], lost["bytes"]) == ("application/pdf", 1, 8)
    assert lost["where"] == f"{file}:1"
    assert "file left out" in done.err


def test_a_loss_of_content_can_be_refused(tmp_path: Path) -> None:
    file = _with_pdf(tmp_path / "in")
    done = pond("convert", file, "--to", "codex", "-o", f"{tmp_path}/out/", "--on-loss", "raise")
    assert [fault.code for fault in done.errors] == ["foreign-loss"], done.err
    assert done.code == 1
    assert not list((tmp_path / "out").rglob("*.jsonl"))


def _with_a_hologram(source: Client, folder: Path) -> tuple[Path, Any]:
    """Write a session whose prompt holds, before its text, a block that no mapping names."""
    block = {"type": "hologram", "of": "a fern"}
    session, time = session_id("hologram"), "2026-01-02T03:04:05.000Z"
    if source is CLAUDE_CODE:
        content = [block, {"type": "text", "text": "Is it dry?"}]
        row = {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": session, "cwd": "/home/mira"}
        return source.file(folder, session, dumps([{**row, "timestamp": time, "message": {"content": content}}])), block
    item = {"type": "message", "role": "user", "content": [block, {"type": "input_text", "text": "Is it dry?"}]}
    head = {"timestamp": time, "type": "session_meta", "payload": {"id": session, "cwd": "/home/mira"}}
    return source.file(
        folder, session, dumps([head, {"timestamp": time, "type": "response_item", "payload": item}])
    ), block


@pytest.mark.parametrize(("source", "target"), ROADS)
@pytest.mark.rule("adapter-integrity-no-silent-drops")
def test_an_unknown_block_is_content(source: Client, target: str, tmp_path: Path) -> None:
    file, block = _with_a_hologram(source, tmp_path / "in")
    done = pond("convert", file, "--to", target, "-o", f"{tmp_path}/out/", "--loss-report", tmp_path / "loss.jsonl")
    assert done.code == 0
    (lost,) = [entry for entry in rows(tmp_path / "loss.jsonl") if entry["class"] == "content"]
    size = len(json.dumps(block, separators=(",", ":")))
    assert (lost["kind"], lost["what"], lost["count"], lost["bytes"]) == ("block-left-out", "hologram", 1, size)
    assert lost["where"] == f"{file}:{1 if source is CLAUDE_CODE else 2}"
    refused = pond("convert", file, "--to", target, "-o", f"{tmp_path}/none/", "--on-loss", "raise")
    assert [fault.code for fault in refused.errors] == ["foreign-loss"], refused.err
    assert refused.code == 1


def test_a_document_at_an_address_is_no_picture(tmp_path: Path) -> None:
    """Its type is nowhere said; sent as a picture, it would make the service refuse the request."""
    source = {"type": "url", "url": "https://plants.invalid/moss"}
    given = [{"type": "document", "source": source, "title": "moss"}, {"type": "text", "text": "Is it dry?"}]
    session = session_id("address")
    row = {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": session, "cwd": "/home/mira"}
    message = {"timestamp": "2026-01-02T03:04:05.000Z", "message": {"role": "user", "content": given}}
    file = CLAUDE_CODE.file(tmp_path / "in", session, dumps([{**row, **message}]))
    done = pond("convert", file, "--to", "codex", "-o", f"{tmp_path}/out/")
    assert "file left out" in done.err
    (made_file,) = (tmp_path / "out").rglob("*.jsonl")
    assert "input_image" not in made_file.read_text(encoding="utf-8")
    other = tmp_path / "other.jsonl"
    pond("convert", file, "--to", "canonical", "-o", other)
    events = [{**event, "source_agent": "gemini-cli"} if event["kind"] == "session" else event for event in rows(other)]
    for event in events:
        if event.get("type") == "file":
            event |= {"media_type": "application/pdf", "options": {}}
    (tmp_path / "again.jsonl").write_bytes(b"\n".join(dumps(events)))
    assert pond("convert", tmp_path / "again.jsonl", "--to", "claude-code", "-o", f"{tmp_path}/back/").code == 0
    (back,) = (tmp_path / "back").rglob("*.jsonl")
    assert next(row for row in own(back) if "message" in row)["message"]["content"][0] == {
        "type": "document",
        "source": source,
        "title": "moss",
    }


def test_words_in_the_models_place_are_not_the_models(tmp_path: Path) -> None:
    (file,) = [file.path for file in fixture_files() if file.case == "content-blocks"]
    pond("convert", file, "--to", "codex", "-o", f"{tmp_path}/out/", "--loss-report", tmp_path / "loss")
    (made_file,) = (tmp_path / "out").rglob("*.jsonl")
    assert "No response requested." not in made_file.read_text(encoding="utf-8")
    assert [entry["class"] for entry in rows(tmp_path / "loss") if entry["kind"] == "harness-message"] == [
        "context"
    ] * 2


def test_losses_can_be_passed_over_in_silence(tmp_path: Path) -> None:
    file = _with_pdf(tmp_path / "in")
    done = pond("convert", file, "--to", "codex", "-o", f"{tmp_path}/out/", "--on-loss", "ignore")
    assert done.code == 0
    assert "left out" not in done.err


def test_an_unknown_answer_to_losses_is_refused(tmp_path: Path) -> None:
    done = pond("convert", _with_pdf(tmp_path), "--to", "codex", "--on-loss", "shrug")
    assert (done.code, done.out) == (2, b"")


def test_json_has_the_sums_and_the_way_on(tmp_path: Path) -> None:
    done = pond("convert", _with_pdf(tmp_path / "in"), "--to", "codex", "-o", f"{tmp_path}/out/", "--json")
    told = json.loads(done.out)
    assert told["losses"]["file-left-out"] == 1
    assert told["resume"] == [
        {
            "client": "codex",
            "session": Path(made(tmp_path / "out")[0]).stem[-36:],
            "place": made(tmp_path / "out")[0],
            "directory": "/home/mira",
            "command": f"codex resume {Path(made(tmp_path / 'out')[0]).stem[-36:]}",
        }
    ]


@pytest.mark.parametrize("client", clients())
def test_what_a_target_cannot_hold_is_declared(client: str) -> None:
    """Each content loss that a target's lowering names is listed in its gaps, and `pond clients` shows it."""
    text = (adapter(client).folder / "lowering.py").read_text(encoding="utf-8")
    declared = {gap.get("loss") for gap in adapter(client).declared()["gap"]} - {None}
    assert declared == {kind for kind, (weight, _, _) in KINDS.items() if weight == CONTENT and f'add("{kind}"' in text}
    shown = pond("clients").out.decode()
    assert all(gap["what"] in shown for gap in adapter(client).declared()["gap"])


# --- families ---


def _codex(folder: Path, seed: str, parent: str | None = None, **more: object) -> Path:
    first, *rest = CODEX.records(session_id(seed), 1)
    if parent is not None:
        spawn = {"thread_spawn": {"parent_thread_id": session_id(parent), "depth": 1}}
        first["payload"] |= {"parent_thread_id": session_id(parent), "source": {"subagent": spawn}}
    return CODEX.file(folder, session_id(seed), dumps([first, *rest]))


@pytest.mark.rule("adapter-lineage-complete-restore")
def test_children_come_along_with_the_file_that_is_named(tmp_path: Path) -> None:
    parent = _codex(tmp_path / "in", "mother")
    _codex(tmp_path / "in", "daughter", "mother")
    _codex(tmp_path / "in", "stranger")
    done = pond("convert", parent, "--to", "claude-code", "-o", f"{tmp_path}/out/")
    assert done.code == 0, done.err
    mother, child = sorted(made(tmp_path / "out"), key=len)
    assert came_from(tmp_path / "out" / mother) == [session_id("mother")]
    assert child.startswith(f"{mother.removesuffix('.jsonl')}/subagents/agent-")
    assert came_from(tmp_path / "out" / child) == [session_id("daughter")]
    assert {row["isSidechain"] for row in own(tmp_path / "out" / child)} == {True}


@pytest.mark.rule("adapter-lineage-complete-restore")
def test_a_thread_comes_along_that_names_its_parent_in_its_source_only(tmp_path: Path) -> None:
    """The parent is archived, the thread it spawned is not: the two folders are one store."""
    (parent,) = (ARCHIVED / "archived_sessions").glob("*.jsonl")
    done = pond("convert", parent, "--to", "claude-code", "-o", f"{tmp_path}/out/")
    assert done.code == 0, done.err
    mother, child = sorted(made(tmp_path / "out"), key=len)
    assert child.startswith(f"{mother.removesuffix('.jsonl')}/subagents/agent-")


@pytest.mark.rule("adapter-lineage-complete-restore")
def test_children_lie_beside_a_file_that_is_named(tmp_path: Path) -> None:
    parent = _codex(tmp_path / "in", "mother")
    _codex(tmp_path / "in", "daughter", "mother")
    done = pond("convert", parent, "--to", "claude-code", "-o", tmp_path / "out" / "renamed.jsonl")
    assert done.code == 0, done.err
    own, child = made(tmp_path / "out")
    assert own == "renamed.jsonl"
    assert child.startswith("renamed/subagents/agent-")


@pytest.mark.rule("adapter-lineage-complete-restore")
def test_a_stream_names_the_children_it_cannot_hold(tmp_path: Path) -> None:
    parent = _codex(tmp_path / "in", "mother")
    daughter = _codex(tmp_path / "in", "daughter", "mother")
    done = pond("convert", parent, "--to", "claude-code", "--loss-report", tmp_path / "loss.jsonl")
    assert done.code == 0, done.err
    assert [e["what"] for e in rows(tmp_path / "loss.jsonl") if e["kind"] == "children-left-out"] == [str(daughter)]


@pytest.mark.rule("adapter-lineage-complete-restore")
def test_a_family_too_deep_for_the_target_is_refused_whole(tmp_path: Path) -> None:
    """Never a part of one; another family of the same store is written all the same."""
    for seed, parent in (("old", None), ("middle", "old"), ("young", "middle"), ("aunt", "old"), ("other", None)):
        _codex(tmp_path / "in", seed, parent)
    done = pond("convert", tmp_path / "in", "--to", "claude-code", "-o", f"{tmp_path}/out/")
    assert {fault.code for fault in done.errors} == {"foreign-too-deep"}, done.err
    assert done.code == 1
    assert [came_from(tmp_path / "out" / place) for place in made(tmp_path / "out")] == [[session_id("other")]]
    canonical = pond("convert", tmp_path / "in", "--to", "canonical")
    assert canonical.code == 0


def test_a_target_that_holds_more_generations_takes_them(tmp_path: Path) -> None:
    spawned: dict[str, Any] = {
        "parentUuid": None,
        "isSidechain": True,
        "sessionId": "s",
        "cwd": "/home/mira",
        "type": "user",
    }
    spawned |= {"uuid": "u1", "timestamp": "2026-01-02T03:04:05.000Z", "message": {"role": "user", "content": "Go."}}
    events = pond("convert", "-", "--from", "claude-code", "--to", "canonical", stdin=dumps([spawned])[0]).out
    told = [json.loads(line) for line in events.splitlines()]
    stream = []
    for number in range(4):
        for event in told:
            copy = {**event, "id" if event["kind"] == "session" else "session_id": f"gen{number}"}
            if event["kind"] == "session" and number:
                copy["parent_session_id"] = f"gen{number - 1}"
            stream.append(copy)
    text = b"\n".join(dumps(stream)) + b"\n"
    (tmp_path / "in.jsonl").write_bytes(text)
    done = pond("convert", tmp_path / "in.jsonl", "--to", "codex", "-o", f"{tmp_path}/out/")
    assert done.code == 0, done.err
    assert len(made(tmp_path / "out")) == 4
    for event in stream:
        event["options"] = {}  # nobody's records
        if event["kind"] == "session":
            event["source_agent"] = "codex"  # the same family, on its way to a client that holds one generation
    text = b"\n".join(dumps(stream)) + b"\n"
    refused = pond("convert", "-", "--to", "claude-code", "-o", f"{tmp_path}/none/", stdin=text)
    assert {fault.code for fault in refused.errors} == {"foreign-too-deep"}, refused.err
    assert not list((tmp_path / "none").rglob("*.jsonl"))


# --- another machine ---


@pytest.mark.parametrize("target", ["claude-code", "codex", "canonical"])
def test_paths_move_wherever_they_stand(target: str, tmp_path: Path) -> None:
    session = session_id("move")
    text = "see /home/mira/orrery/x.txt, /home/mira/orrery-old/y and file:///home/mira/orrery. /mnt/home/mira/orrery"
    base = {"sessionId": session, "cwd": "/home/mira/orrery", "timestamp": "2026-01-02T03:04:05.000Z"}
    call: dict[str, Any] = {
        "type": "tool_use",
        "id": "t1",
        "name": "Read",
        "input": {"file_path": "/home/mira/orrery/a b.txt"},
    }
    call["input"] |= {"data": "/home/mira/orrery/d", "id": "/home/mira/orrery/i", "type": "/home/mira/orrery/t"}
    said = [
        {**base, "type": "user", "uuid": "u1", "parentUuid": None, "message": {"role": "user", "content": text}},
        {**base, "type": "assistant", "uuid": "u2", "parentUuid": "u1", "message": {"id": "m", "content": [call]}},
    ]
    file = tmp_path / "in" / "projects" / "-home-mira-orrery" / f"{session}.jsonl"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"\n".join(dumps(said)))
    done = pond(
        "convert", tmp_path / "in", "--to", target, "-o", f"{tmp_path}/out/", "--map-path", "/home/mira/orrery=/srv/o"
    )
    assert done.code == 0, done.err
    (place,) = made(tmp_path / "out")
    written = (tmp_path / "out" / place).read_text(encoding="utf-8")
    moved = "see /srv/o/x.txt, /home/mira/orrery-old/y and file:///srv/o. /mnt/home/mira/orrery"
    assert moved in written
    assert "/srv/o/a b.txt" in written
    assert "/home/mira/orrery/" not in written
    assert ("-srv-o" in place) == (target != "codex")
    assert "values changed" in done.err


@pytest.mark.parametrize("pair", ["nothing", "=/new", "/old=", "/=/new"])
def test_a_path_pair_that_is_none_is_refused(pair: str, tmp_path: Path) -> None:
    file = CODEX.session(tmp_path, "pair")
    done = pond("convert", file, "--to", "codex", "--map-path", pair)
    assert (done.code, done.out) == (2, b"")
    assert "OLD=NEW" in done.err


# --- beginnings in another session ---


def _fork(folder: Path, seed: str, base: str) -> Path:
    """Write a session whose beginning is in another one."""
    own, other = session_id(seed), session_id(base)
    first, *rest = CODEX.records(own, 1)
    first["payload"] |= {"forked_from_id": other, "history_base": {"thread_id": other, "end_ordinal_exclusive": 99}}
    words = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": f"{seed} in {_HOME}/a"}]}
    row = {**rest[0], "payload": words}
    rows = [{**row, "ordinal": number} for number, row in enumerate([first, row, *rest])]
    return CODEX.file(folder, own, dumps(rows))


_HOME = "/home/mira/orrery"


def test_sessions_that_begin_in_each_other_are_written_once_each(tmp_path: Path) -> None:
    file = _fork(tmp_path / "in", "egg", "hen")
    _fork(tmp_path / "in", "hen", "egg")
    done = pond("convert", file, "--to", "claude-code", "-o", f"{tmp_path}/out/")
    assert (done.code, done.errors) == (0, []), done.err
    (place,) = made(tmp_path / "out")
    written = (tmp_path / "out" / place).read_text(encoding="utf-8")
    assert [written.count(f"{seed} in ") for seed in ("hen", "egg")] == [1, 1]
    assert "earlier history is in another session" in done.err


def test_paths_are_moved_in_the_beginning_too(tmp_path: Path) -> None:
    file = _fork(tmp_path / "in", "twig", "trunk")
    _fork(tmp_path / "in", "trunk", "root")
    done = pond("convert", file, "--to", "claude-code", "-o", f"{tmp_path}/out/", "--map-path", f"{_HOME}=/srv/o")
    assert done.code == 0, done.err
    (place,) = made(tmp_path / "out")
    written = (tmp_path / "out" / place).read_text(encoding="utf-8")
    assert "trunk in /srv/o/a" in written
    assert _HOME not in written


# --- the way back ---


@pytest.mark.parametrize("client", clients())
def test_with_its_origin_kept_a_session_comes_back_value_equal(client: str, tmp_path: Path) -> None:
    """All fixtures there and back: every record, every file beside it; only sessions without a message stay behind."""
    target = next(other for other in clients() if other != client)
    fixtures = adapter(client).folder / "fixtures"
    there, back = tmp_path / "there", tmp_path / "back"
    assert pond("convert", fixtures, "--to", target, "--keep-origin", "-o", there).code in (0, 1)
    pond("convert", there, "--to", client, "-o", back)
    # Threads that came from a file are first: the file itself counts.
    files = sorted(back.rglob("*.jsonl"), key=lambda path: "subagents" not in path.parts)
    found = {came_from(path)[-2]: path for path in files if path.name != "session_index.jsonl"}
    names = {_id(path): id for id, path in found.items() if "subagents" not in path.parts}
    compared = 0
    for file in fixture_files():
        if file.client == client and (path := found.get(read(file.path, client).session["id"])) is not None:
            compared += 1
            assert _id(path) != _id(file.path) or "agent-" in path.name
            assert same(strict_values(file.path.read_bytes()), _under(names, path)), file
    assert compared > len([f for f in fixture_files() if f.client == client]) * 0.7


def _id(path: Path) -> str:
    return path.stem[-36:]


def _under(names: dict[str, str], path: Path) -> list[Any]:
    """Return the rows that a session had before it moved: under the names that it had then."""
    text = path.read_bytes()
    for new, old in names.items():
        text = text.replace(new.encode(), old.encode())
    kept = [row for row in strict_values(text) if not _is_origin(row)]
    return [
        {name: value for name, value in row.items() if name != "pond"} if type(row) is dict else row for row in kept
    ]


def test_what_another_client_added_hangs_on_the_last_record_of_its_own(tmp_path: Path) -> None:
    file = CLAUDE_CODE.session(tmp_path / "in", "borrowed")
    pond("convert", file, "--to", "codex", "--keep-origin", "-o", f"{tmp_path}/there/")
    (rollout,) = (tmp_path / "there").rglob("*.jsonl")
    time = "2031-01-02T03:04:05.000Z"
    words = [{"type": "input_text", "text": "Any news?"}]
    payload: dict[str, Any] = {"type": "message", "role": "user", "content": words}
    with rollout.open("ab") as out:
        out.write(dumps([{"timestamp": time, "type": "response_item", "payload": payload}])[0] + b"\n")
    done = pond("convert", tmp_path / "there", "--to", "claude-code", "-o", f"{tmp_path}/back/")
    assert done.code == 0, done.err
    (place,) = (tmp_path / "back").rglob("*.jsonl")
    *before, new = own(place)
    assert same([{**row, "sessionId": session_id("borrowed")} for row in before], rows(file))
    assert {row["sessionId"] for row in (*before, new)} == {place.stem} != {session_id("borrowed")}
    last = [row["uuid"] for row in before if "uuid" in row][-1]
    assert (new["message"]["content"], new["parentUuid"]) == ("Any news?", last)


@pytest.mark.parametrize(
    "payload",
    [
        {"session": 5},
        {"session": {"kind": "session", "id": "s", "project": "/p", "source_agent": "claude-code", "options": {}}},
        {"session": {"id": "", "project": "/p", "source_agent": "claude-code", "options": {}}},
        {"events": 7},
        {"events": [7]},
        {"events": [{"kind": "part", "options": {}}]},
        {"events": [{"kind": "message", "id": "m", "options": {"pond": {"as": "no such kind"}}}]},
        {"events": [{"kind": "message", "id": "m", "role": "user", "options": {"pond": {"as": "user"}}}]},
        "end",
        {"end": True},
    ],
)
@pytest.mark.parametrize("with_session", [False, True])
def test_rows_that_only_look_like_an_origin_break_nothing(payload: Any, with_session: bool, tmp_path: Path) -> None:
    """They are in files that other programs write; a person's words are still found."""
    first, *rest = CODEX.records(session_id("odd"), 1)
    row = {"timestamp": "2026-01-02T03:04:05.000Z", "type": "pond_origin"}
    own = {"kind": "session", "id": "s", "project": "/p", "source_agent": "claude-code", "options": {}}
    odd = [{**row, "payload": {"session": own}}] if with_session else []
    file = CODEX.file(tmp_path / "in", session_id("odd"), dumps([first, *odd, {**row, "payload": payload}, *rest]))
    done = pond("convert", file, "--to", "claude-code", "-o", f"{tmp_path}/out/", "--loss-report", tmp_path / "loss")
    assert done.code in (0, 1), done.err
    written = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "out").rglob("*.jsonl"))
    words = next(r["payload"]["content"][0]["text"] for r in rest if r["payload"].get("role") == "user")
    assert words in written or payload == {"end": True} or "without its end" in (tmp_path / "loss").read_text()
    again = pond("convert", file, "--to", "codex")
    assert again.code == 0
