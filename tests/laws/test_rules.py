"""Rules of the spec that are promises about all clients at once, or about what must not be possible."""

import json
from pathlib import Path
from typing import Any

import pytest

from pond.codec import reader
from pond.codec.batch import convert_job
from pond.codec.convert import towards
from pond.codec.finding import FoundSource, find_files
from pond.codec.openfile import OpenFile
from pond.codec.opening import open_input
from pond.codec.registry import CANONICAL, adapter, clients
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.diagnostics.diagnostic import MappingError, PondError
from pond.lang.check import check
from pond.lang.fields import FALLBACKS, PART_TYPES, ROLES, fields_of
from pond.lang.parse import parse
from pond.model.bounds import bound
from pond.model.equal import same
from tests.laws.content import plan_of
from tests.laws.corpus import SessionFile, fixture_files, fixture_folders
from tests.laws.passage import read, restore_text, strict_values, to_canonical

MAPS = [adapter(client).folder / f"{adapter(client).folder.name}.map" for client in clients()]


@pytest.mark.rule("adapter-provenance-required")
@pytest.mark.parametrize("path", MAPS, ids=lambda path: path.stem)
def test_no_mapping_compiles_without_provenance(path: Path) -> None:
    """Take the provenance away from any Part of any mapping, and it is no mapping any more."""
    text = path.read_text(encoding="utf-8")
    check(parse(text, path.name))
    places = [
        n
        for n, line in enumerate(text.split("\n"))
        if "Part " in line and ("conversational" in line or "injected" in line)
    ]
    assert places
    for place in (places[0], places[len(places) // 2], places[-1]):
        lines = text.split("\n")
        lines[place] = lines[place].replace("conversational", "").replace("injected", "")
        with pytest.raises(MappingError) as refused:
            check(parse("\n".join(lines), path.name))
        assert {d.code for d in refused.value.diagnostics} == {"map-provenance-required"}


@pytest.mark.rule("model-no-synthesis")
@pytest.mark.rule("model-schema-honesty")
@pytest.mark.parametrize("client", clients())
def test_every_required_field_comes_from_the_record(client: str) -> None:
    """A required field is claimed from the source, or has one of the few fallbacks that the spec names."""
    plan = plan_of(client)
    for kind in plan.kinds:
        for part in kind.all_parts:
            filled = {target for rule in part.rules for target in rule.targets} | {fact.target for fact in part.facts}
            for name, field in fields_of(part.part).items():
                if field.required and not field.positional and name not in filled:
                    stated = name == "provider_executed" and "provider_executed" in dict(part.constants)
                    assert stated or (part.part, name) in FALLBACKS, f"{kind.label}: {part.part}.{name}"


@pytest.mark.rule("model-schema-honesty")
def test_what_some_client_cannot_say_is_optional() -> None:
    """A field that any fixture's event lacks is optional in the schema, and each required one is there everywhere."""
    names = {**{role: name for name, role in ROLES.items()}, **{kind: name for name, kind in PART_TYPES.items()}}
    for file in fixture_files():
        for event in read(file.path, file.client).events:
            name = "Session" if event["kind"] == "session" else names[event.get("role") or event["type"]]
            missing = {field for field, about in fields_of(name).items() if about.required} - event.keys()
            assert missing == set(), f"{file}: {name}"


@pytest.mark.rule("adapter-bounded-values")
@pytest.mark.parametrize("client", clients())
def test_a_value_too_large_becomes_a_marker(client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text gives way to its size, the rest of the record stays, and the cut is reported."""
    monkeypatch.setattr(reader, "MAX_TEXT", 4_000)
    file = next(f for f in fixture_files() if f.client == client and f.case == "tour")
    path = tmp_path / file.path.name
    plain = strict_values(file.path.read_bytes())
    plain[-1]["extra"] = {"large": "é" * 2_001, "small": "kept"}
    path.write_text("\n".join(map(json.dumps, [*plain, "é" * 2_001])) + "\n")
    passage = read(path, client)
    record, alone = (message["options"]["source"] for message in passage.messages[-2:])
    assert record["extra"] == {"large": "[pond: value of 4002 bytes not kept]", "small": "kept"}
    assert alone == "[pond: value of 4002 bytes not kept]"
    assert [d.code for d in passage.report.diagnostics if d.code == "source-truncated"] == [
        "source-truncated"
    ]  # counted


@pytest.mark.rule("adapter-bounded-values")
def test_the_bound_counts_bytes() -> None:
    sizes: list[int] = []
    assert bound({"a": ["é" * 5, "é" * 6]}, 10, sizes.append) == {"a": ["é" * 5, "[pond: value of 12 bytes not kept]"]}
    assert sizes == [12]


@pytest.mark.rule("adapter-lineage-complete-restore")
@pytest.mark.parametrize(
    ("client", "case"), [(client, folder.name) for client in clients() for folder in fixture_folders(client)]
)
def test_restoring_a_store_restores_the_children(client: str, case: str, tmp_path: Path) -> None:
    """A store taken to canonical and back has every session file it had, children and side files included."""
    (folder,) = [f for f in fixture_folders(client) if f.name == case]
    report = Report()
    jobs = [FoundSource(path, str(path), folder) for path in find_files(folder, report)]
    for job in jobs:
        report.add(convert_job(job, ConversionRequest(CANONICAL, client), tmp_path / "middle", tmp_path))
    for path in find_files(tmp_path / "middle", report):
        report.add(
            convert_job(
                FoundSource(path, str(path), tmp_path / "middle"),
                ConversionRequest(client),
                tmp_path / "back",
                tmp_path,
            )
        )
    assert [d for d in report.diagnostics if d.code != "source-duplicate-key" and d.severity == "error"] == []
    ignores = adapter(client).module.IGNORES
    there = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file() and p.name not in ignores}
    back = [p for p in (tmp_path / "back").rglob("*") if p.is_file() and p.name not in ignores]
    assert {p.relative_to(tmp_path / "back").as_posix() for p in back} == there


@pytest.mark.rule("adapter-lineage-complete-restore")
def test_children_name_a_parent_that_is_there() -> None:
    """In the fixtures that show helpers, a child's parent is a session of the same store."""
    shown = [f for f in fixture_files() if f.case in ("subagents", "legacy-agent-file")]
    rows = [(file.client, read(file.path, file.client).session) for file in shown]
    known = {(client, row["id"]) for client, row in rows}
    children = [(client, row["parent_session_id"]) for client, row in rows if "parent_session_id" in row]
    assert {client for client, _ in children} == set(clients())
    assert set(children) <= known


@pytest.mark.rule("adapter-native-restore-lossless")
@pytest.mark.parametrize("client", clients())
@pytest.mark.parametrize("target", clients())
def test_the_system_decides_whether_a_restore_is_native(client: str, target: str) -> None:
    """Origins are compared: the same client gets its records as they were, another one a session of its own dialect."""
    file = next(f for f in fixture_files() if f.client == client and f.case == "tour")
    with open(file.path, "rb") as source:
        request = ConversionRequest(target)
        (session,) = open_input(OpenFile(source, "tour", file.path), request, Report()).sessions
        session = towards(request, session, Report(), "tour")
        assert session.foreign == (client != target)
        assert session.row["source_agent"] == target
    restored = restore_text(to_canonical(file.path, client), target).values
    assert same(strict_values(file.path.read_bytes()), restored) == (client == target)


@pytest.mark.rule("adapter-integrity-no-silent-drops")
@pytest.mark.parametrize("client", clients())
@pytest.mark.parametrize("broken", [b'{"type": "user", "cut', b"\xff\xfe\xfd", b"not json"])
def test_a_broken_line_is_a_fault_with_its_place(client: str, broken: bytes, tmp_path: Path) -> None:
    """A line that cannot be read is told with file and line; the lines around it are read all the same."""
    file = next(f for f in fixture_files() if f.client == client and f.case == "tour")
    lines = file.path.read_bytes().rstrip(b"\n").split(b"\n")
    path = tmp_path / file.path.name
    path.write_bytes(b"\n".join([lines[0], broken, *lines[1:]]))
    passage = read(path, client)
    (fault,) = passage.report.diagnostics
    assert fault.span is not None
    assert (fault.span.file, fault.span.line) == (str(path), 2)
    assert len(passage.groups) == len(read(file.path, client).groups)


@pytest.mark.rule("adapter-transport-agnostic-seam")
@pytest.mark.parametrize("file", [f for f in fixture_files() if f.case == "tour"], ids=str)
def test_detection_looks_at_records_not_at_names(file: SessionFile, tmp_path: Path) -> None:
    """Under any name, the same bytes are the same client's session."""
    path = tmp_path / "found-in-a-drawer"
    path.write_bytes(file.path.read_bytes())
    assert read(path).session["source_agent"] == file.client


@pytest.mark.rule("adapter-transport-agnostic-seam")
@pytest.mark.parametrize(
    "row",
    [
        {"uuid": "u", "sessionId": "s", "type": "user", "message": {"role": "user", "parts": [{"text": "Sow."}]}},
        {"uuid": "u", "type": "assistant", "message": {"role": "model", "parts": []}},
        {"isSidechain": False, "message": {"parts": []}},
        {"type": "user", "message": {"parts": []}},
        {"uuid": "u", "sessionId": "s", "type": "system", "subtype": "ui_telemetry", "systemPayload": {}},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "Z0FB", "status": "completed"},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Dig."}]},
        {"type": "message", "session_id": "s", "timestamp": 1, "role": "user", "text": "Dig."},
    ],
    ids=str,
)
def test_rows_of_clients_that_look_alike_are_nobodys(row: dict[str, Any], tmp_path: Path) -> None:
    """Others take over an envelope, or write items of the same API: what they have or lack tells them apart."""
    path = tmp_path / "session.jsonl"
    path.write_text(json.dumps(row))
    with pytest.raises(PondError) as refused:
        read(path)
    assert [fault.code for fault in refused.value.diagnostics] == ["source-unrecognised"]


@pytest.mark.parametrize("name", ["journal.jsonl", "history.jsonl", "session_index.jsonl"])
def test_ledgers_of_a_client_are_no_sessions(name: str, tmp_path: Path) -> None:
    """They are among the sessions; naming one explicitly still works."""
    tour = next(file for file in fixture_files() if file.case == "tour")
    for place in (name, "session.jsonl"):
        (tmp_path / place).write_bytes(tour.path.read_bytes())
    report = Report()
    assert [path.name for path in find_files(tmp_path, report)] == ["session.jsonl"]
    assert report.errors == 0
    assert read(tmp_path / name).session["source_agent"] == tour.client


@pytest.mark.rule("adapter-integrity-opaque-ids")
def test_ids_are_never_taken_apart(tmp_path: Path) -> None:
    """A session restores from canonical text alone, whatever its ids look like: no reader parses them."""
    for file in fixture_files():
        if file.case in ("subagents", "tour"):
            text = to_canonical(file.path, file.client)
            own = read(file.path, file.client).session["id"]
            renamed = text.replace(json.dumps(own).encode(), b'"::a/b//c~2@7::"')
            session = json.loads(renamed.split(b"\n")[0])
            assert session["id"] == "::a/b//c~2@7::"
            assert len(restore_text(renamed, file.client).values) == len(strict_values(file.path.read_bytes()))
