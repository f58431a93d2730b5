"""Let the real clients use pond as their memory: `python -m tests.clients.memory`.

Each is registered by `pond mcp install`, in a home that it has never seen and in one that it has used. A model of ours
calls the tool; what comes back to the model must be the transcript, whole. The model server is that of the folder in
POND_ORACLE (`mock_model.py`), which speaks the protocols of all these clients.
"""

import argparse
import importlib.util
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.command import POND
from tests.clients.install import NODE, REMEMBERING, NotInstalled, default_prefix, install, program
from tests.clients.isolation import Room, isolate, room
from tests.clients.rememberers import REMEMBERERS, Rememberer
from tests.house.tree import ROOT
from tests.mcp.talking import conversation, store, talking

PAGE = ROOT / "docs/mcp.md"
_BEGIN, _END = "<!-- begin: written by `python -m tests.clients.memory --write-docs` -->", "<!-- end -->"
PROMPT, WARM = "Recall the lighthouse please", "Warm the kettle"
ARGUMENTS = {"query": "lamp of the lighthouse", "max_bytes": 7500}
HOMES = ("fresh", "used")


@dataclass(frozen=True)
class Verdict:
    """How one client did in one home; good where there is no reason."""

    client: str
    home: str
    reason: str
    seconds: float


def _model(log: Path, scenario: dict[str, Any]) -> Any:
    folder = os.environ.get("POND_ORACLE")
    if not folder:
        raise NotInstalled("POND_ORACLE names no folder with mock_model.py")
    spec = importlib.util.spec_from_file_location("mock_model", Path(folder) / "mock_model.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.MockModel(str(log), scenario=scenario).start()


def _scenario(client: Rememberer) -> dict[str, Any]:
    replies: list[Any] = [{"tool_calls": [call]} for call in client.calls(ARGUMENTS)]
    turns = [
        {"prompt": PROMPT, "replies": [*replies, {"text": "Recalled."}], "needs_tools": True},
        {"prompt": WARM, "replies": [{"text": "It is warm."}]},
    ]
    return {"turns": turns, "default": {"text": "Side answer."}}


def _lake(folder: Path) -> tuple[Path, str]:
    """Return a lake, and what pond answers from it."""
    place = folder / "lake"
    for number in range(8):
        text = f"the lamp of the lighthouse, lens {number}, turn {{n}}: " + f"brass and glass {number} " * 30
        store(place, conversation(f"light{number}", 3, text=text))
    with talking(place) as talk:
        talk.greet()
        return place, talk.call("pond_search", **ARGUMENTS)


def _tried(name: str, home: str, prefix: Path, lake: Path, expected: str, keep: bool) -> Verdict:
    client, begun = REMEMBERERS[name], time.monotonic()
    found = program(prefix, client.package)
    with room((str(program(prefix, NODE).parent),)) as made:
        made.home.mkdir()
        model = _model(made.root / "requests.jsonl", _scenario(client))
        try:
            reason = _run(name, client, home, made, str(found), model, lake, expected)
            if reason and keep:
                reason += "\n" + json.dumps(model.entries()[-1:])[-3000:]
        finally:
            model.stop()
    return Verdict(name, home, reason, time.monotonic() - begun)


def _run(
    name: str, client: Rememberer, home: str, made: Room, found: str, model: Any, lake: Path, expected: str
) -> str:  # fmt: skip
    environment = made.environment(**client.variables(model.url, made.home))
    if home == "used":
        client.settle(made.home, model.url)
        made.run(client.words(found, WARM), environment)
    reason = _registered(name, made, found, lake)
    if reason:
        return reason
    if home == "fresh":
        client.settle(made.home, model.url)
    done = made.run(client.words(found, PROMPT), environment)
    results = [
        result["text"] for entry in model.entries() for message in entry.get("messages", ())
        for result in message["tool_results"]
    ]  # fmt: skip
    if any(_is_whole(expected, text) for text in results):
        return ""
    if not results:
        return f"no result reached the model; exit code {done.code}: {(done.stderr or done.stdout)[-600:]}"
    return f"the result is not whole: {results[-1][:600]}"


def _registered(name: str, made: Room, found: str, lake: Path) -> str:
    folder = made.root / "bin"
    folder.mkdir()
    (folder / name).symlink_to(found)
    own = made.environment(POND_LAKE=str(lake), PYTHONPATH=str(ROOT))
    own["PATH"] = f"{folder}:{own['PATH']}"
    del own["XDG_DATA_HOME"]
    done = made.run([*POND, "mcp", "install", "--yes", "--client", name], own)
    if done.code != 0 or "checked" not in done.stdout:
        return f"not registered: {done.stderr or done.stdout}"
    return "" if f"as `{name} mcp add` writes it" in done.stdout else f"not by its own command: {done.stdout[:200]}"


def _is_whole(expected: str, text: str) -> bool:
    """Tell whether a transcript came whole; some clients wrap it, or write it as JSON."""
    forms = (text, text.replace("\\n", "\n").replace('\\"', '"'))
    return any(_timeless(expected).strip() in _timeless(form) for form in forms)


def _timeless(text: str) -> str:
    """Return a transcript without its cursors: they say when they were asked for."""
    return re.sub(r'cursor="[\w-]+"', "cursor", text)


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.clients.memory", description=__doc__)
    parser.add_argument("--prefix", type=Path, help="where the clients are (POND_CLIENTS, else a folder of the cache)")
    parser.add_argument("--install", action="store_true", help="fetch the clients first, where they are not there yet")
    parser.add_argument("--only", metavar="NAME", help="only this client")
    parser.add_argument("--show", action="store_true", help="show what the model was sent, where something is wrong")
    parser.add_argument("--write-docs", action="store_true", help="put the table into docs/mcp.md")
    return parser.parse_args(words)


def _verdicts(options: argparse.Namespace, prefix: Path) -> Iterator[Verdict]:
    with room() as made:
        lake, expected = _lake(made.root)
        for name in REMEMBERERS:
            for home in HOMES if options.only in (None, name) else ():
                yield _tried(name, home, prefix, lake, expected, options.show)


def _table(verdicts: list[Verdict]) -> str:
    lines = ["| client | version | tool as the model calls it | fresh home | used home |", "|---|---|---|---|---|"]
    for name, client in REMEMBERERS.items():
        found = {each.home: each for each in verdicts if each.client == name}
        words = ["-" if home not in found else "no" if found[home].reason else "yes" for home in HOMES]
        call = client.calls({})[-1]
        tool = " ".join(f"`{part}`" for part in (call.get("namespace"), call["name"]) if part)
        lines.append(f"| {name} | {client.package.version} | {tool} | {' | '.join(words)} |")
    return "\n".join(lines)


def _write_page(table: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(_BEGIN)
    _, mark, after = rest.partition(_END)
    assert mark, f"{PAGE} does not have the two marks"
    PAGE.write_text(f"{before}{_BEGIN}\n\n{table}\n\n{_END}{after}", encoding="utf-8")


def main(words: list[str]) -> int:
    """Try what was asked for; 0 where the transcript came whole in every home."""
    options = _arguments(words)
    prefix = (options.prefix or default_prefix()).absolute()
    if not os.environ.get("POND_ORACLE"):
        print("not run: pond as a memory, because POND_ORACLE is not set")
        return 0
    try:
        if options.install:
            for line in install(prefix, REMEMBERING):
                print(line)
        program(prefix, NODE)
    except NotInstalled as fault:
        print(fault, file=sys.stderr)
        return 2
    alone = isolate([word for word in words if word != "--install"], "tests.clients.memory")
    print("network: loopback only" if alone else "network: NOT cut off, this system allows no namespace")
    verdicts = []
    for each in _verdicts(options, prefix):
        verdicts.append(each)
        print(
            f"{'NO ' if each.reason else 'yes'} {each.client} in a {each.home} home ({each.seconds:.0f} s)", flush=True
        )
        if each.reason:
            print(f"      {each.reason}", flush=True)
    print(f"\n{_table(verdicts)}")
    if options.write_docs:
        _write_page(_table(verdicts))
    return int(any(each.reason for each in verdicts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
