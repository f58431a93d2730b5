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
    done = invented.message("walnut", "m2r", "tool", at=2)
    results = [
        ("c1", False, "one\ntwo\n"),
        ("c2", True, "No such file\nmore"),
        ("c3", False, [{"type": "text", "text": "3"}]),
    ]
    walnut[1][2:3] = [
        invented.part(
            call, 1, "tool_call", name="Bash", params={"command": "ls"}, provider_executed=False, call_id="c1"
        ),
        invented.part(
            call, 3, "tool_call", name="Read", params={"file_path": "/a"}, provider_executed=False, call_id="c2"
        ),
        invented.part(
            call,
            4,
            "tool_call",
            name="shell",
            params={"command": ["bash", "-lc", "wc -l a"]},
            provider_executed=False,
            call_id="c3",
        ),
        invented.part(call, 5, "reasoning", text=""),
    ]
    walnut.append(
        [
            done,
            *(
                invented.part(done, n, "tool_result", call_id=id, is_failure=bad, result=text)
                for n, (id, bad, text) in enumerate(results)
            ),
        ]
    )
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
            (invented.session("pictures"), _pictures()),
            (invented.session("only-picture"), [_picture("only-picture", "p", "oak.png")]),
            (invented.session("silent"), [[invented.message("silent", "s", "system")]]),
            (invented.session("wide", project="/srv/" + WIDE), [invented.said("wide", "w", WIDE, at=50)]),
        ],
    )
    return place


def _picture(session: str, id: str, name: str, *texts: str, again: bool = False) -> list[Any]:
    message = invented.message(session, id, "user")
    message["options"] = {"pond": {"again": True}} if again else {}
    file = invented.part(message, 0, "file", media_type="image/png", file_name=name, data="AAAA")
    return [message, file, *(invented.part(message, n, "text", text=text) for n, text in enumerate(texts, 1))]


def _pictures() -> list[Any]:
    again = _picture("pictures", "p2", "tree.png", "Look at this.", again=True)
    return [_picture("pictures", "p1", "tree.png", "Look at this."), again]


def _read(lake: Path, *arguments: str) -> str:
    done = pond(*arguments, "--lake", lake)
    assert (done.code, done.err) == (0, "")
    return done.out.decode()


def _json(lake: Path, *arguments: str) -> Any:
    return json.loads(_read(lake, *arguments, "--json"))


def test_a_session_reads_as_a_conversation(lake: Path) -> None:
    assert _read(lake, "get", "waln", "--limit", "2") == (
        "session  walnut  codex  /srv/orchard\nchild    pond get walnut/agent-1  Hi\n"
        "\nuser  2026-05-04 00:01  m1\nCount\tthe trees.\nAll of them.\n"
        "\nassistant  00:02  m2\nOne moment.\n"
        "  Bash  ls -> 2 lines\n  Read  /a -> failed: No such file\n  shell  wc -l a -> 3\n"
        "\n… 27 more: pond get walnut --after m2r (--all shows the rest)\n"
    )
    rest = _read(lake, "get", "walnut", "--after", "m2r", "--limit", "26")
    assert [line for line in rest.splitlines() if line.startswith("text")] == [f"text {n}" for n in range(3, 29)]
    assert rest.splitlines()[-1] == "… 1 more: pond get walnut --after m28 (--all shows the rest)"
    everything = _read(lake, "get", "walnut", "--all")
    assert everything.count("text ") == 27
    assert "…" not in everything


def test_the_end_of_a_session_comes_with_the_way_back(lake: Path) -> None:
    assert _read(lake, "get", "walnut", "--tail", "1") == (
        "session  walnut  codex  /srv/orchard\nchild    pond get walnut/agent-1  Hi\n"
        "\n… 28 earlier: pond get walnut --tail N --after m29 (--all shows the rest)\n"
        "\nuser  2026-05-04 00:29  m29\ntext 29\n"
    )
    earlier = _read(lake, "get", "walnut", "--tail", "2", "--after", "m29")
    assert [line for line in earlier.splitlines() if line.startswith("text")] == ["text 27", "text 28"]
    assert _read(lake, "get", "walnut", "--tail", "29").count("earlier") == 0
    assert [m["id"] for m in _json(lake, "get", "walnut", "--tail", "2", "--after", "m29")["messages"]] == [
        "m27",
        "m28",
    ]


def test_everything_is_shown_to_those_who_ask(lake: Path) -> None:
    page = _read(lake, "get", "walnut", "--full", "--limit", "2")
    assert page.startswith("session  walnut  codex  /srv/orchard\n")
    assert (
        "--- assistant  2026-05-04 00:02:00  m2\nOne moment.\n"
        '[tool call Bash]\n{"command":"ls"}\n[tool call Read]\n{"file_path":"/a"}\n[tool call shell]\n'
        '{"command":["bash","-lc","wc -l a"]}\n[added by the client: text]\nby the harness\n'
    ) in page
    assert "--- tool  2026-05-04 00:02:00  m2r\n[tool result]\none\ntwo\n\n[tool result failed]\nNo such file\n" in page
    assert "reasoning" not in page  # it is empty


def test_a_child_names_its_parent_and_files_are_named(lake: Path) -> None:
    assert _read(lake, "get", "walnut/agent-1").splitlines()[1] == "origin   child of pond get walnut"
    page = _read(lake, "get", "pictures")
    assert "[image tree.png image/png, 3 B]" in page
    assert page.count("Look at this.") == 1  # the prompt that the client recorded twice
    assert "Nothing was said here" in _read(lake, "get", "silent")
    named = {row["id"]: row.get("title") for row in _json(lake, "list")["sessions"]}
    assert (named["pictures"], named["only-picture"]) == ("Look at this.", "[oak.png]")


def test_times_are_those_of_the_place(lake: Path) -> None:
    place = {"TZ": "America/New_York"}
    done = pond("get", "walnut", "--limit", "1", "--lake", lake, variables=place)
    assert "\nuser  2026-05-03 20:01  m1\n" in done.out.decode()
    listed = pond("list", "--lake", lake, "--since", "2026-05-03T20:50", variables=place).out.decode()
    assert [re.findall("2026-05-03 ..:..", line) for line in listed.splitlines()[1:]] == [
        ["2026-05-03 20:59"],
        ["2026-05-03 20:50"],
    ]
    one = pond(
        "list",
        "--lake",
        lake,
        "--after",
        "2026-05-04T00:50Z",
        "--before",
        "2026-05-03T20:51",
        "--json",
        variables=place,
    )
    (row,) = json.loads(one.out)["sessions"]
    assert (row["id"], row["active_at"]) == ("wide", "2026-05-04T00:50:00.000Z")


def test_a_message_is_shown_whole_between_its_neighbours(lake: Path) -> None:
    assert _read(lake, "get", "m2", "--session", "walnut", "--context", "1", "--limit", "3") == (
        "session  walnut  codex  /srv/orchard\n"
        "\n--- user  2026-05-04 00:01:00  m1\nCount\tthe trees.\nAll of them.\n"
        '\n=== assistant  2026-05-04 00:02:00  m2\nOne moment.\n[tool call Bash]\n{"command":"ls"}\n'
        '[tool call Read]\n{"file_path":"/a"}\n'
        "\n… 3 more parts: --after m2:3\n"
        "\n--- tool  2026-05-04 00:02:00  m2r\n[tool result, 8 B]\n[tool result, 17 B]\n[tool result, 28 B]\n"
    )


def test_json_is_the_response_of_the_wire(lake: Path) -> None:
    page = _json(lake, "get", "walnut", "--mode", "verbatim", "--after", "m1", "--limit", "1")
    assert (page["response_mode"], page["messages_remaining"]) == ("verbatim", 28)
    assert [part["id"] for part in page["messages"][0]["content"]] == ["m2:0", "m2:1", "m2:3", "m2:4", "m2:5", "m2:2"]
    assert _json(lake, "get", "evil")["messages"][0]["id"] == EVIL
    assert _json(lake, "get", "m2")["response_mode"] == "message"


def test_a_list_names_what_can_be_read(lake: Path) -> None:
    lines = _read(lake, "list", "--limit", "3").splitlines()
    assert lines[0].split() == ["id", "last", "active", "client", "msgs", "subs", "project", "title"]
    assert re.split("  +", lines[3]) == [
        "walnut",
        "2026-05-04 00:29",
        "codex",
        "29",
        "1",
        "/srv/orchard",
        "Count the trees.",
    ]
    assert (
        _read(lake, "list", "--limit", "1").splitlines()[-1]
        == "… 5 more: pond list --limit 2, or --since, --project, --client"
    )
    children = _json(lake, "list", "--parent", "waln")
    assert [each["id"] for each in children["sessions"]] == ["walnut/agent-1"]
    assert pond("list", "--client", "nobody", "--lake", lake).code == 2
    assert "None of the 7 sessions" in _read(lake, "list", "--project", "/nowhere")
    assert len(_json(lake, "list", "--all", "--since", "2026-05-04", "--until", "2026-05-05")["sessions"]) == 3


@pytest.mark.parametrize(
    "arguments", [["list"], ["get", "evil"], ["get", "evil", "--full"], ["get", f"none {EVIL[:-1]}\n"]]
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
        ["get", "walnut", "--mode", "x", "--json"],
        ["get", "walnut", "--mode", "verbatim"],
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
