"""Numbers of sessions that real clients recorded, against the script that was played to them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pond.config.settings import Settings
from pond.intake.request import Request
from pond.operations.envelope import PROTOCOL
from pond.operations.service import Service
from pond.operations.stats import activity
from pond.operations.sync import ingest_files
from tests.laws.corpus import capture_files, capture_folders
from tests.laws.passage import read

_OUTPUT = 20  # tokens of a reply, where the script does not say
# Typed in place of what the script has: the client's own command, whose reply is a summary.
_COMMANDS = {("claude-code", "compact"): 1}
# Replies of the script that were never sent, by the number of the last: the client was stopped, or did not ask.
_NOT_SENT = {("claude-code", "killed-tool"): 1, ("codex", "killed-tool"): 1, ("codex", "maxtokens"): 1}
# Tokens that were sent and that the client did not note: a stream that broke off, the summary of a conversation.
_NOT_NOTED = {
    ("claude-code", "interrupted-stream"): _OUTPUT - 1,
    ("codex", "interrupted-stream"): _OUTPUT,
    ("claude-code", "compact"): _OUTPUT,
}


@pytest.fixture(scope="module")
def service(captures_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    service = Service(Settings(lake=str(tmp_path_factory.mktemp("captures") / "lake")))
    inputs = [(str(folder), None) for _, folder in capture_folders(captures_dir)]
    ingest_files(service, Request(inputs, None, processes=1))
    yield service
    service.close()


def test_every_scenario_counts_what_was_sent(captures_dir: Path, service: Service) -> None:
    files = capture_files(captures_dir)
    found: dict[tuple[str, str], Any] = {}
    expected: dict[tuple[str, str], Any] = {}
    for client, folder in capture_folders(captures_dir):
        script = json.loads((folder / "scenario.json").read_text(encoding="utf-8"))
        ids = [read(file.path, client).session["id"] for file in files if file.path.is_relative_to(folder)]
        name = client, folder.name
        numbers = activity(service, {"protocol_version": PROTOCOL, "filters": {"session_id": ids}})["totals"]
        found[name] = numbers["prompts"], numbers["tool_calls"], numbers["tokens"]["output"]
        expected[name] = _prompts(script, *name), _calls(script), _output(script, *name)
    assert len(found) > 30
    assert found == expected


def test_tokens_that_the_script_names_are_counted(captures_dir: Path, service: Service) -> None:
    request: Any = {"protocol_version": PROTOCOL, "filters": {"project": "*herbarium"}}
    totals = activity(service, request)["totals"]["tokens"]
    assert totals["input"] > 2 * 198_000  # one reply of each client says so


def _prompts(script: Any, client: str, scenario: str) -> int:
    """Return how many prompts a person typed: those of a turn with tools; a subagent's is the model's."""
    typed = [turn for turn in script["turns"] if turn.get("needs_tools") and not turn["prompt"].startswith("Inspect")]
    return len(typed) + _COMMANDS.get((client, scenario), 0)


def _calls(script: Any) -> int:
    return sum(len(reply.get("tool_calls", ())) for turn in script["turns"] for reply in turn["replies"])


def _output(script: Any, client: str, scenario: str) -> int:
    replies = [
        reply for turn in script["turns"] for reply in turn["replies"] if "error" not in reply or "text" in reply
    ]
    sent: int = sum(reply.get("usage", {}).get("output", _OUTPUT) for reply in replies)
    unsent = _OUTPUT * _NOT_SENT.get((client, scenario), 0)
    return sent - unsent - _NOT_NOTED.get((client, scenario), 0)
