"""`import pond`: quick, without a trace in the process it is imported into, and typed from outside."""

import subprocess
import sys
from pathlib import Path

import pytest

import pond
from tests.house.tree import ROOT

TOUR = next((ROOT / "adapters/claude_code/fixtures/tour").rglob("*.jsonl"))
HEAVY = ("lance", "pyarrow", "pydantic", "lark", "typer", "numpy", "typing")


def _python(code: str, folder: Path) -> str:
    """Run a program outside of the repository, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env={"PYTHONPATH": str(ROOT), "PATH": ""}, timeout=120, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_loads_nothing_else(tmp_path: Path) -> None:
    code = f"import sys, pond; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert _python(code, tmp_path) == "[]\n"


def test_importing_costs_little(tmp_path: Path) -> None:
    # In one process, in turns with what it is compared to; modules are forgotten in between. The least of many counts.
    code = """
import sys, time
def cost(name):
    best = float("inf")
    for _ in range(50):
        before = set(sys.modules)
        began = time.perf_counter()
        __import__(name)
        best = min(best, time.perf_counter() - began)
        for each in set(sys.modules) - before:
            del sys.modules[each]
    return best
print(cost("pond") / cost("json"))
"""
    assert float(_python(code, tmp_path)) <= 2


def test_nothing_in_the_process_changes(tmp_path: Path) -> None:
    code = f"""
import gc, os, signal, sys
def state():
    mask = os.umask(0); os.umask(mask)
    stops = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    return mask, dict(os.environ), gc.isenabled(), gc.get_freeze_count(), stops
import pyarrow
before, pool = state(), pyarrow.default_memory_pool().backend_name
import pond
with pond.Lake("lake") as lake:
    lake.ingest({str(TOUR)!r})
    list(lake.messages(next(lake.sessions())["id"]))
pond.convert({str(TOUR)!r}, to="codex")
assert state() == before
assert pyarrow.default_memory_pool().backend_name == pool
"""
    _python(code, tmp_path)


def test_ten_lines_of_a_program(tmp_path: Path) -> None:
    code = f"""
import pond
with pond.Lake("lake") as lake:
    lake.ingest({str(TOUR)!r})
    (session,) = lake.sessions()
    prompts = [m for m in lake.messages(session["id"]) if m["role"] == "user"]
    lake.restore(session["id"], output="again")
assert not pond.verify("again").different
moved = pond.convert({str(TOUR)!r}, to="codex", output="moved/")
print(session["title"], len(prompts) > 0, len(moved.losses) > 0)
"""
    assert _python(code, tmp_path) == "Tove's fern tray True True\n"


def test_every_name_is_there_and_no_other() -> None:
    assert dir(pond) == sorted(pond.__all__)
    assert all(getattr(pond, name) is not None for name in pond.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(pond, "nothing")  # noqa: B009 - a checker would refuse the name itself


def test_it_is_typed_from_outside(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import pond\n"
        "def texts(path: str) -> list[str]:\n"
        "    return [e['text'] for e in pond.read(path) if e['kind'] == 'part' and e['type'] == 'text']\n"
        "def titles(lake: pond.Lake) -> list[str]:\n"
        "    return [s.get('title', '') for s in lake.sessions(client='codex')]\n"
        "def kinds(path: str) -> list[str]:\n"
        "    return [loss.kind for loss in pond.convert(path, to='codex').losses]\n"
        "reveal_type(pond.Lake('x').stats()['sessions'])\n"
        "pond.convert('x', to=3)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(program)],
        cwd=tmp_path, env={"MYPYPATH": str(ROOT), "PATH": ""}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    found = [line.partition("program.py:")[2] for line in done.stdout.splitlines() if "program.py:" in line]
    assert [line.split(":", 2)[0] for line in found] == ["8", "9"], done.stdout
    assert found[0].endswith(('"int"', '"builtins.int"'))
    assert 'Argument "to"' in found[1]


def test_python_dash_m(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pond", "--version"], cwd=tmp_path, env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.startswith("pond ")
