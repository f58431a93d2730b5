"""A command that is interrupted ends at once, in one line, wherever it was."""

import signal
import subprocess
import sys

import pytest

from tests.cli.command import environment

# A verb that is interrupted while a native thread may still call back: the interpreter must not be taken down under it.
_PROGRAM = """
import atexit, os, signal, sys
import pond.cli.commands as commands
import pond.cli.main as main

class Inner:
    def __set_name__(self, owner, name):
        interrupt()

def interrupt():
    os.kill(os.getpid(), signal.{how})
    while True:
        pass

def run(**_):
    print("begun")
    {what}

class Last:
    def __del__(self, write=os.write):
        write(1, b"the interpreter was taken down")

last = Last()
atexit.register(lambda: print("temporary files are gone"))
module = type(sys)("verb")
module.run = run
sys.modules["verb"] = module
commands.VERBS["verb"] = ("verb", "", "")
sys.exit(main.main(["verb"]))
"""


def _run(how: str, what: str) -> subprocess.CompletedProcess[str]:
    program = _PROGRAM.format(how=how, what=what)
    return subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=False, timeout=60,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a run in the background ignores it
    )  # fmt: skip


@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM"])
def test_the_process_ends_without_taking_the_interpreter_down(how: str) -> None:
    done = _run(how, "interrupt()")
    assert (done.returncode, done.stdout, done.stderr) == (
        128 + signal.Signals[how],
        "begun\ntemporary files are gone\n",
        "pond: interrupted\n",
    )


def test_an_interrupt_that_python_wraps_is_one_all_the_same() -> None:
    """While a class is being made, whatever is raised becomes a RuntimeError; most of a start is making classes."""
    done = _run("SIGINT", "type('Made', (), {{'member': Inner()}})".replace("{{", "{").replace("}}", "}"))
    assert (done.returncode, done.stderr) == (130, "pond: interrupted\n")
