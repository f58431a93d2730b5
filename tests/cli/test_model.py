"""`pond model` and the embed stage at the prompt: with a real model, from adding it to removing it."""

import json
from pathlib import Path

import pytest

from pond.embed.model import Model
from tests.cli.command import Done, pond
from tests.embed.lakes import filled
from tests.embed.real import minilm_model


@pytest.fixture(scope="module")
def minilm() -> Model:
    return minilm_model()


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    filled(tmp_path / "lake", 20)
    return {"HOME": str(tmp_path), "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", "POND_LAKE": str(tmp_path / "lake")}


def _pond(home: dict[str, str], *words: str | Path, **more: str) -> Done:
    return pond(*words, variables={**home, **more})


def test_from_adding_a_model_to_removing_it(home: dict[str, str], minilm: Model) -> None:
    assert minilm.folder is not None
    assert _pond(home, "model", "list").out.startswith(b"no models on this machine")
    added = _pond(home, "model", "add", "mine", "--from", minilm.folder, "--languages", "English")
    assert (added.code, added.err) == (0, "")
    assert b"mine works: 384 dimensions" in added.out
    assert b'model = "mine"' in added.out
    (listed,) = json.loads(_pond(home, "model", "list", "--json").out)
    assert (listed["name"], listed["dimensions"], listed["here"], listed["used"]) == ("mine", 384, True, False)
    assert b"Apache-2.0, English" in _pond(home, "model", "list").out

    using = {"POND_EMBED_MODEL": "mine"}
    assert b"20 are not embedded with mine yet" in _pond(home, "status", **using).out
    assert _pond(home, "sync", "--only", "embed", **using).out == b"embedded  20 messages with mine\n"
    told = json.loads(_pond(home, "sync", "--only", "embed", "--json", **using).out)
    assert told["embed"] == {
        "enabled": True, "model": "mine", "embedded": 0, "refused": 0, "waiting": 0, "fault": None,
    }  # fmt: skip
    assert b"embeddings   20 of 20 messages, mine 20\n" in _pond(home, "status", **using).out
    assert json.loads(_pond(home, "status", "--json", **using).out)["embeddings"] == {
        "texts": 20, "models": {"mine": 20}, "configured": "mine",
    }  # fmt: skip
    assert b"in use" in _pond(home, "model", "list", **using).out

    checked = json.loads(_pond(home, "model", "check", "--json", **using).out)
    assert (checked["name"], checked["dimensions"]) == ("mine", 384)
    assert b"removed mine" in _pond(home, "model", "remove", "mine").out
    gone = _pond(home, "sync", "--only", "embed", **using)
    assert (gone.code, [fault.code for fault in gone.faults]) == (1, ["model-unknown"])


def test_a_directory_in_place_without_copying_it(home: dict[str, str], minilm: Model) -> None:
    using = {"POND_EMBED_MODEL": "mine", "POND_EMBED_DIRECTORY": str(minilm.folder), "POND_EMBED_DIMENSIONS": "64"}
    assert _pond(home, "sync", "--only", "embed", **using).out == b"embedded  20 messages with mine@64\n"


@pytest.mark.parametrize(
    ("words", "code", "fault"),
    [
        (["check"], 2, "usage"),
        (["check", "nobody"], 2, "model-unknown"),
        (["remove", "nobody"], 2, "model-unknown"),
        (["add", "no/such-model"], 2, "model-unknown"),
        (["add", "x", "--from", "nowhere"], 1, "model-broken"),
        (["add", "x", "--from", ".", "--pooling", "max"], 2, "usage"),
    ],
)
def test_what_cannot_be_done_is_said(home: dict[str, str], words: list[str], code: int, fault: str) -> None:
    done = _pond(home, "model", *words)
    assert (done.code, done.out, [each.code for each in done.faults]) == (code, b"", [fault])


def test_a_name_can_be_added_once(home: dict[str, str], minilm: Model) -> None:
    assert minilm.folder is not None
    _pond(home, "model", "add", "mine", "--from", minilm.folder)
    again = _pond(home, "model", "add", "mine", "--from", minilm.folder)
    assert (again.code, [each.code for each in again.faults]) == (2, ["model-exists"])


def test_a_broken_or_absent_model_does_not_hide_the_others(home: dict[str, str], minilm: Model, tmp_path: Path) -> None:
    assert minilm.folder is not None
    _pond(home, "model", "add", "mine", "--from", minilm.folder)
    _pond(home, "model", "add", "torn", "--from", minilm.folder)
    models = next(tmp_path.rglob("torn")).parent
    (models / "torn" / "pond-model.json").write_text("{ half")
    listed = _pond(home, "model", "list", POND_EMBED_MODEL="gone")
    assert (listed.code, listed.err) == (0, "")
    assert b"mine  here" in listed.out
    assert b"broken: `pond model check` says why" in listed.out
    checked = _pond(home, "model", "check", "torn")
    assert (checked.code, [each.code for each in checked.faults]) == (1, ["model-broken"])
    assert _pond(home, "model", "check", "mine", POND_EMBED_MODEL="gone").code == 0


def test_what_an_interrupted_fetch_left_can_be_removed(home: dict[str, str], minilm: Model, tmp_path: Path) -> None:
    assert minilm.folder is not None
    _pond(home, "model", "add", "mine", "--from", minilm.folder)
    whole = next(tmp_path.rglob("mine"))
    part = whole.rename(whole.with_name("some--half.part"))
    assert b"removed some/half" in _pond(home, "model", "remove", "some/half").out
    assert not part.exists()


def test_off_is_said_where_it_matters(home: dict[str, str]) -> None:
    assert _pond(home, "sync", "--only", "embed").out.startswith(b"embed     nothing to do: embedding is off")
    forced = _pond(home, "sync", "--only", "embed", "--force-embed")
    assert (forced.code, [each.code for each in forced.faults]) == (2, ["usage"])
    assert json.loads(_pond(home, "sync", "--only", "embed", "--json").out)["embed"] == {"enabled": False}
    no_key = {"POND_EMBED_MODEL": "x", "POND_EMBED_ENDPOINT": "http://127.0.0.1:9", "POND_EMBED_KEY_VARIABLE": "NONE"}
    assert "which is not set" in _pond(home, "sync", "--only", "embed", **no_key).err
