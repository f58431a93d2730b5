"""Run the official inspector and the official conformance suite against pond: `python -m tests.mcp.conformance`."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.cli.command import POND
from tests.clients.install import NODE, NotInstalled, Package, default_prefix, install, program
from tests.house.tree import ROOT
from tests.mcp.talking import conversation, store, variables
from tests.transports.server import serving

SUITE = Package("mcp", "@modelcontextprotocol/conformance", "0.1.16", ".bin/conformance")
INSPECTOR = Package("mcp-inspector", "@modelcontextprotocol/inspector", "2.12.0", ".bin/mcp-inspector")
BASELINE = ROOT / "tests/mcp/conformance.yml"
_PATIENCE = 300.0  # seconds
# What the inspector asks for, over both transports, and a word that the answer has.
_ASKED = (
    (["--method", "tools/list"], "pond_sql_query"),
    (["--method", "resources/list"], "stats://pond"),
    (["--method", "prompts/list"], "recall"),
    (["--method", "resources/read", "--uri", "stats://pond"], "searchable_messages"),
    (["--method", "tools/call", "--tool-name", "pond_search", "--tool-arg", "query=lamp"], "=== session [1]"),
    (["--method", "tools/call", "--tool-name", "pond_get", "--tool-arg", "session_id=oak"], "messages 1-6 of 6"),
)


def _run(words: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, env=environment, timeout=_PATIENCE, check=False)


def _inspected(prefix: Path, target: list[str], environment: dict[str, str]) -> int:
    """Return how many answers of the inspector were wrong."""
    inspector, wrong = str(program(prefix, INSPECTOR)), 0
    for words, expected in _ASKED:
        done = _run([inspector, "--cli", *target, *words], environment)
        good = done.returncode == 0 and expected in done.stdout
        wrong += not good
        print(f"{'yes' if good else 'NO '} inspector, {target[0].rpartition('/')[2]}: {' '.join(words)}")
        if not good:
            print(f"      {done.stderr.strip()[-500:] or done.stdout[-500:]}")
    return wrong


def _conforms(prefix: Path, url: str, environment: dict[str, str]) -> int:
    words = [str(program(prefix, SUITE)), "server", "--url", url, "--expected-failures", str(BASELINE)]
    done = _run(words, environment)
    print(done.stdout.partition("=== SUMMARY ===")[2].strip() or done.stdout[-2000:] + done.stderr[-2000:])
    return done.returncode


def main() -> int:
    """Return 0 where everything that applies is as it should be."""
    prefix = default_prefix().absolute()
    try:
        for line in install(prefix, (NODE, SUITE, INSPECTOR)):
            print(line)
        node = str(program(prefix, NODE).parent)
    except NotInstalled as fault:
        print(fault, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="pond-conformance-") as folder:
        lake = Path(folder) / "lake"
        store(lake, conversation("oak", 3))
        environment: dict[str, Any] = variables(lake, PATH=f"{node}{os.pathsep}{os.environ['PATH']}")
        wrong = _inspected(prefix, [_started(lake)], environment)
        with serving(lake) as server:
            url = f"http://127.0.0.1:{server.port}/mcp"
            wrong += _inspected(prefix, [url, "--transport", "http"], environment)
            failed = _conforms(prefix, url, environment)
    print(json.dumps({"inspector_wrong": wrong, "conformance": failed}))
    return int(bool(wrong or failed))


def _started(lake: Path) -> str:
    """Return a program of one word: the inspector passes no variables on, and takes words with hyphens for its own."""
    script = lake.parent / "pond-mcp"
    script.write_text(f"#!/bin/sh\nPYTHONPATH='{ROOT}' POND_LAKE='{lake}' exec {' '.join(POND)} mcp\n")
    script.chmod(0o755)
    return str(script)


if __name__ == "__main__":
    sys.exit(main())
