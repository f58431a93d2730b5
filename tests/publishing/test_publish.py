"""`pond schema`: what is published, where it goes, and what is refused."""

import json
import shutil
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pond._locate import schema_dir
from pond.publishing import bundle
from pond.publishing.check import check
from tests.cli.command import pond
from tests.golden.repository import Repository
from tests.house.tree import ROOT
from tests.schema.examples import GOOD

LIMIT = "v1/wire.schema.json#/$defs/ListRequest/properties/limit/maximum"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Publish to a directory."""
    done = pond("schema", "publish", "--out", str(tmp_path / "out"))
    assert (done.code, done.err) == (0, "")
    return tmp_path / "out"


def _edited(file: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    value = json.loads(file.read_text())
    edit(value)
    file.write_text(json.dumps(value))


def _took_more(wire: dict[str, Any]) -> None:
    wire["$defs"]["ListRequest"]["properties"]["limit"]["maximum"] = 20_000


def test_what_is_published_is_all_there_and_a_second_time_changes_nothing(out: Path) -> None:
    names = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    bundled = {f"v1/{name}" for name in ("canonical.schema.json", "wire.schema.json", "openapi.json", "pond.d.ts")}
    assert names == bundled | {"index.html"} | {f"v1/examples/{each.type}/{each.name}.json" for each in GOOD}
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    done = pond("schema", "publish", "--out", str(out))
    assert done.out.decode() == f"published {len(names)} files to {out}: 0 written, {len(names)} unchanged\n"
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before


def test_a_published_example_fits_the_published_schema(out: Path) -> None:
    schema = json.loads((out / "v1/wire.schema.json").read_text())
    files = sorted((out / "v1/examples").glob("*/*.json"))
    for file in files:
        validator = Draft202012Validator({**schema, "$ref": f"#/$defs/{file.parent.name}"})
        assert list(validator.iter_errors(json.loads(file.read_text()))) == [], file


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.links += filter(None, [found.get("href"), found.get("src")])
        self.ids |= set(filter(None, [found.get("id")]))


def test_the_index_leads_to_every_file_and_nowhere_else(out: Path) -> None:
    page = _Links()
    page.feed((out / "index.html").read_text(encoding="utf-8"))
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()} - {"index.html"}
    assert {link for link in page.links if not link.startswith("#")} == files
    assert {link[1:] for link in page.links if link.startswith("#")} <= page.ids


def test_publishing_never_breaks_what_is_published(out: Path) -> None:
    _edited(out / "v1/wire.schema.json", _took_more)
    before = (out / "v1/wire.schema.json").read_bytes()
    done = pond("schema", "publish", "--out", str(out))
    assert (done.code, [fault.code for fault in done.errors]) == (1, ["schema-broken"])
    assert f"{LIMIT}: was 20000, is 10000" in done.err
    assert (out / "v1/wire.schema.json").read_bytes() == before


def test_publishing_where_nothing_can_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = pond("schema", "publish", "--out", str(tmp_path / "file"))
    assert (done.code, [fault.code for fault in done.errors]) == (2, ["usage"])


def test_a_break_is_named_and_ends_with_1(out: Path) -> None:
    assert pond("schema", "check", "--against", str(out)).out.decode() == f"no breaking changes since {out}\n"
    _edited(out / "v1/wire.schema.json", _took_more)
    done = pond("schema", "check", "--against", str(out))
    assert (done.code, done.out.decode().splitlines()) == (
        1,
        [f"{LIMIT}: was 20000, is 10000", f"1 breaking change since {out}"],
    )
    done = pond("schema", "check", "--against", str(out), "--json")
    assert (done.code, json.loads(done.out)) == (1, [{"at": LIMIT, "change": "was 20000, is 10000"}])


@pytest.mark.parametrize("content", ["{", "[]"])
def test_what_is_no_schema_is_refused(out: Path, content: str) -> None:
    (out / "v1/wire.schema.json").write_text(content)
    done = pond("schema", "check", "--against", str(out))
    assert (done.code, [fault.code for fault in done.errors]) == (2, ["usage"])
    assert "wire.schema.json" in done.err


def test_a_directory_without_schemas_is_refused(tmp_path: Path) -> None:
    done = pond("schema", "check", "--against", str(tmp_path))
    assert (done.code, [fault.code for fault in done.errors]) == (2, ["usage"])
    assert "holds no published schemas" in done.err


def test_a_revision_is_compared_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = Repository.create(tmp_path / "pond")
    shutil.copytree(schema_dir() / "bundle", repository.path / "schema/bundle")
    _edited(repository.path / "schema/bundle/v1/wire.schema.json", _took_more)
    repository.git("add", ".")
    repository.git("commit", "--quiet", "--message", "wider")
    shutil.copytree(schema_dir() / "bundle", repository.path / "schema/bundle", dirs_exist_ok=True)
    monkeypatch.setattr(bundle, "schema_dir", lambda: repository.path / "schema")
    assert [f"{each.at}: {each.change}" for each in check("HEAD")] == [f"{LIMIT}: was 20000, is 10000"]


def test_a_file_and_a_type_are_shown() -> None:
    listed = [line.split()[0] for line in pond("schema", "list").out.decode().splitlines()]
    assert listed == ["v1/canonical.schema.json", "v1/wire.schema.json", "v1/openapi.json", "v1/pond.d.ts"]
    for file in listed:
        assert pond("schema", "show", file).out == (schema_dir() / "bundle" / file).read_bytes()
    shown = json.loads(pond("schema", "show", "FlatHit").out)
    assert set(shown["$defs"]) == {"FlatHit", "SessionId", "MessageId", "Role", "Timestamp", "Score", "Match"}
    Draft202012Validator(shown).validate(next(each.value for each in GOOD if each.type == "FlatHit"))


def test_a_list_is_json_for_a_script() -> None:
    found = json.loads(pond("schema", "list", "--json").out)
    assert found[0] == {
        "file": "v1/canonical.schema.json",
        "id": "urn:pond:schema:canonical:1",
        "title": "Canonical model",
    }


def test_an_unknown_name_is_refused_with_a_near_one() -> None:
    done = pond("schema", "show", "FlatHits")
    assert (done.code, [fault.code for fault in done.errors]) == (2, ["usage"])
    assert "did you mean `FlatHit`?" in done.err


def test_make_test_compares_with_the_version_published_last() -> None:
    recipe = subprocess.run(
        ["make", "--dry-run", "--always-make", "test"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "pond schema check --against schema/published" in recipe.stdout
    assert {path.name for path in (ROOT / "schema/published/v1").iterdir()} == {
        path.name for path in (ROOT / "schema/bundle/v1").glob("*.json")
    }
