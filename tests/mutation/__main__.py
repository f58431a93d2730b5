"""Break one rule at a time and see whether a test notices: `python -m tests.mutation [TEST PATHS]`.

Each change is made in a copy of the tree, so that nothing here is touched. A change that the mapping checker refuses
counts as noticed. Exit code 1 where some change went unnoticed.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from pond.diagnostics.diagnostic import MappingError
from pond.lang.check import check
from pond.lang.parse import parse
from tests.mutation.mutants import Mutant, of_conversions, of_mapping

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = (
    "tests/golden/test_golden.py",
    "tests/laws",
    "tests/lang/test_adapters.py",
    "tests/foreign/test_there_and_back.py",
)
CONVERSIONS = (Path("pond/model/instants.py"), Path("pond/lang/conversions.py"))
CONVERSION_TESTS = "tests/lang/test_conversions.py"
COPIED = ("pond", "adapters", "schema", "codegen", "golden", "tests", "pyproject.toml")
LIMIT = 300  # seconds for one run: a change may also make something endless

REFUSED, KILLED, SURVIVED = "refused", "killed", "SURVIVED"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the changes, print a table, return 1 where one survived."""
    options = _options(arguments)
    options.tests = [path for path in options.tests if (ROOT / path.partition("::")[0]).exists()]
    found = [m for m in _all_mutants() if options.only in str(m)]
    if options.sample and options.sample < len(found):
        found = sorted(random.Random(options.seed).sample(found, options.sample), key=str)
    with tempfile.TemporaryDirectory() as directory:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(options.jobs):
            copies.put(_copied(Path(directory) / str(number)))
        if not _baseline(copies, options.tests):
            return 2
        began = time.monotonic()
        with ThreadPoolExecutor(options.jobs) as pool:
            verdicts = list(pool.map(lambda mutant: _judge(mutant, copies, options.tests), found))
    return _summary(verdicts, time.monotonic() - began)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description="Break one rule at a time.")
    parser.add_argument(
        "tests", nargs="*", default=DEFAULT, help=f"tests that must notice (default: {' '.join(DEFAULT)})"
    )
    parser.add_argument("--only", default="", help="only changes whose description holds this text")
    parser.add_argument("--sample", type=int, default=0, help="try this many of the changes, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="which sample")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (default: 2)")
    return parser.parse_args(arguments)


def _all_mutants() -> Iterator[Mutant]:
    for path in sorted(ROOT.glob("adapters/*/*.map")):
        yield from of_mapping(path.relative_to(ROOT), path.read_text(encoding="utf-8"))
    for file in CONVERSIONS:
        yield from of_conversions(file, (ROOT / file).read_text(encoding="utf-8"))


def _copied(to: Path) -> Path:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            to.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, to / name)
    return to


def _pytest(tree: Path, tests: Sequence[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "POND_SOAK": "1"}
    return subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, check=False, timeout=LIMIT
    )


def _baseline(copies: "SimpleQueue[Path]", tests: Sequence[str]) -> bool:
    """Tell whether the tests pass before anything is broken; nothing can be learnt from tests that fail anyway."""
    tree = copies.get()
    done = _pytest(tree, [*tests, CONVERSION_TESTS])
    copies.put(tree)
    if done.returncode != 0:
        print(
            done.stdout[-4000:],
            done.stderr[-2000:],
            "the tests fail before anything is broken",
            sep="\n",
            file=sys.stderr,
        )
    return done.returncode == 0


def _judge(mutant: Mutant, copies: "SimpleQueue[Path]", tests: Sequence[str]) -> tuple[Mutant, str]:
    verdict = REFUSED if _is_refused(mutant) else ""
    if not verdict:
        tree = copies.get()
        file = tree / mutant.file
        whole = file.read_bytes()
        try:
            file.write_text(mutant.text, encoding="utf-8")
            wanted = [*tests, CONVERSION_TESTS] if mutant.file in CONVERSIONS else tests
            verdict = SURVIVED if _pytest(tree, wanted).returncode == 0 else KILLED
        except subprocess.TimeoutExpired:
            verdict = KILLED
        finally:
            file.write_bytes(whole)
            copies.put(tree)
    print(f"{verdict:9} {mutant}", flush=True)
    return mutant, verdict


def _is_refused(mutant: Mutant) -> bool:
    if mutant.file.suffix != ".map":
        return False
    try:
        check(parse(mutant.text, mutant.file.name))
    except MappingError:
        return True
    return False


def _summary(verdicts: list[tuple[Mutant, str]], seconds: float) -> int:
    counts = Counter((mutant.file.name, verdict) for mutant, verdict in verdicts)
    print(f"\n{'file':24} {REFUSED:>9} {KILLED:>9} {SURVIVED:>9}")
    for name in dict.fromkeys(mutant.file.name for mutant, _ in verdicts):
        print(f"{name:24}" + "".join(f" {counts[name, verdict]:>9}" for verdict in (REFUSED, KILLED, SURVIVED)))
    survivors = [mutant for mutant, verdict in verdicts if verdict == SURVIVED]
    print(f"{len(verdicts)} changes in {seconds:.0f} s, {len(survivors)} unnoticed")
    for mutant in survivors:
        print(f"  {mutant}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
