"""`pond get` and `pond list` at the prompt: readable, harmless to a terminal, exact as JSON, clear when refused."""

import json
import os
import pty
import re
import struct
import subprocess
import termios
from fcntl import ioctl
from pathlib import Path
from typing import Any

import pytest

from pond.sessions.writing import prepare
from pond.substrate.catalog import Catalog
from pond.substrate.store import Store
from tests.cli.command import command, environment, pond, shown
from tests.operations import invented

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\u202egnp.exe\x7f\0"
WIDE = "\u68ee\u306e\u8a18\u9332" * 30  # two columns each


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("cli") / "lake"
    store = Store(Catalog(str(place)))
    prepare(store)
    evil = f"evil {EVIL}"
    call = invented.message("walnut", "m2", "assistant", at=2)
    parts = [
        invented.part(call, 0, "text", text="One moment."),
        invented.part(call, 1, "tool_call", name="Bash", params={"command": "ls"}, provider_executed=False),
        invented.part(call, 2, "text", "injected", text="by the harness"),
    ]
    walnut = [invented.said("walnut", "m1", "Count\tthe trees.\nAll of them.", at=1), [call, *parts]]
    walnut += [invented.said("walnut", f"m{n}", f"text {n}", at=n) for n in range(3, 30)]
    invented.store_all(
        store,
        [
            (invented.session("walnut"), walnut),
            (
                invented.session("walnut/agent-1", parent_session_id="walnut"),
                [invented.said("walnut/agent-1", "m1", "Hi")],
            ),
            (invented.session(evil, source_agent=EVIL, project=EVIL), [invented.said(evil, EVIL, EVIL, at=59)]),
            (invented.session("wide", project="/srv/" + WIDE), [invented.said("wide", "w", WIDE, at=50)]),
        ],
    )
    return place


def _read(lake: Path, *arguments: str) -> str:
    done = pond(*arguments, "--lake", lake)
    assert (done.code, done.err) == (0, "")
    return done.out.decode()


def _json(lake: Path, *arguments: str) -> Any:
    return json.loads(_read(lake, *arguments, "--json"))


def test_a_session_reads_as_a_conversation(lake: Path) -> None:
    assert _read(lake, "get", "waln", "--limit", "2") == (
        "session  walnut  codex  /srv/orchard\n"
        "\n--- user  2026-05-04 00:01:00  m1\nCount\tthe trees.\nAll of them.\n"
        "\n--- assistant  2026-05-04 00:02:00  m2\nOne moment.\n[tool_call Bash 16 bytes]\n"
        "\n… 27 more: --after m2\n"
    )


def test_the_end_of_a_session_comes_with_the_way_back(lake: Path) -> None:
    assert _read(lake, "get", "walnut", "--tail", "1") == (
        "session  walnut  codex  /srv/orchard\n\n… 28 earlier: --tail N --after m29\n"
        "\n--- user  2026-05-04 00:29:00  m29\ntext 29\n"
    )
    assert [m["id"] for m in _json(lake, "get", "walnut", "--tail", "2", "--after", "m29")["messages"]] == [
        "m27",
        "m28",
    ]


def test_a_message_is_shown_whole_between_its_neighbours(lake: Path) -> None:
    assert _read(lake, "get", "m2", "--session", "walnut", "--context", "1") == (
        "session  walnut  codex  /srv/orchard\n"
        "\n--- user  2026-05-04 00:01:00  m1\nCount\tthe trees.\nAll of them.\n"
        '\n=== assistant  2026-05-04 00:02:00  m2\nOne moment.\n[tool_call Bash]\n{"command":"ls"}\n'
        "[injected text]\nby the harness\n"
        "\n--- user  2026-05-04 00:03:00  m3\ntext 3\n"
    )


def test_json_is_the_response_of_the_wire(lake: Path) -> None:
    page = _json(lake, "get", "walnut", "--mode", "verbatim", "--after", "m1", "--limit", "1")
    assert (page["response_mode"], page["messages_remaining"]) == ("verbatim", 27)
    assert [part["id"] for part in page["messages"][0]["content"]] == ["m2:0", "m2:1", "m2:2"]
    assert _json(lake, "get", "evil")["messages"][0]["id"] == EVIL
    assert _json(lake, "get", "m2")["response_mode"] == "message"


def test_a_list_names_what_can_be_read(lake: Path) -> None:
    lines = _read(lake, "list", "--limit", "3").splitlines()
    assert lines[0].split() == ["id", "active", "(UTC)", "client", "msgs", "subs", "project", "title"]
    assert re.split("  +", lines[3]) == [
        "walnut",
        "2026-05-04 00:29",
        "codex",
        "29",
        "1",
        "/srv/orchard",
        "Count the trees.",
    ]
    assert _read(lake, "list", "--limit", "1").splitlines()[-1] == "… 2 more: --limit N"
    children = _json(lake, "list", "--parent", "waln")
    assert [each["id"] for each in children["sessions"]] == ["walnut/agent-1"]
    assert pond("list", "--client", "nobody", "--lake", lake).code == 2
    assert "None of the 4 sessions" in _read(lake, "list", "--project", "/nowhere")
    assert len(_json(lake, "list", "--all", "--since", "2026-05-04", "--until", "2026-05-05")["sessions"]) == 3


@pytest.mark.parametrize(
    "arguments", [["list"], ["get", "evil"], ["get", "evil", "--mode", "verbatim"], ["get", f"none {EVIL[:-1]}\n"]]
)
def test_nothing_that_steers_a_terminal_gets_through(lake: Path, arguments: list[str]) -> None:
    done = pond(*arguments, "--lake", lake)
    shown = done.out.decode() + done.err
    assert "\\x1b" in shown
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown)
    assert len(done.err.splitlines()) <= 1


@pytest.mark.parametrize("columns", [84, 100, 150])
def test_a_list_fits_the_terminal(lake: Path, columns: int) -> None:
    main, side = pty.openpty()
    ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = {name: value for name, value in environment().items() if name != "COLUMNS"}
    process = subprocess.Popen(command(["list", "--lake", lake]), stdin=side, stdout=side, env=variables)
    os.close(side)
    lines = shown(main).decode().splitlines()
    assert process.wait(timeout=60) == 0
    (wide,) = [line for line in lines if line.startswith("wide")]
    assert wide.count("…") == 2  # the project and the title
    assert columns - 1 <= len(wide) + sum(char in WIDE for char in wide) <= columns


def test_what_is_not_there_is_said_and_nothing_is_made(lake: Path, tmp_path: Path) -> None:
    for arguments in (
        ["get", "beech"],
        ["get", "m1", "--session", "beech"],
        ["list", "--parent", "beech"],
        ["get", "walnut", "--after", "m0"],
    ):
        done = pond(*arguments, "--lake", lake)
        assert (done.code, done.out) == (2, b"")
        assert [fault.code for fault in done.errors] == ["lake-not-found"], done.err
    nowhere = tmp_path / "nowhere"
    for arguments in (["get", "walnut"], ["list"]):
        done = pond(*arguments, "--lake", nowhere)
        assert (done.code, done.out) == (2, b"")
        assert [fault.code for fault in done.errors] == ["lake-missing"], done.err
    assert not nowhere.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["get", "walnut", "--limit", "0"],
        ["get", "walnut", "--mode", "x"],
        ["get", "m2", "--context", "-1"],
        ["list", "--limit", "0"],
        ["list", "--since", "soon"],
        ["get", "walnut", "--limit", "many"],
    ],
)
def test_a_request_that_makes_no_sense_is_refused(lake: Path, arguments: list[str]) -> None:
    done = pond(*arguments, "--lake", lake)
    assert (done.code, done.out) == (2, b"")
    assert len(done.err) > 20
