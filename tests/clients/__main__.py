"""Run the acceptance matrix with the real clients: `python -m tests.clients`."""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path

from tests.clients import conversion
from tests.clients.captures import captured
from tests.clients.cases import CASES
from tests.clients.claude import ClaudeCode
from tests.clients.client import Client
from tests.clients.codex import Codex
from tests.clients.controls import CASE, DAMAGES
from tests.clients.install import NODE, NotInstalled, default_prefix, install, program
from tests.clients.isolation import isolate, room
from tests.clients.matrix import Cell, Source, Trial, judge_cell
from tests.clients.script import Case
from tests.clients.table import COLUMNS, table, write_page

LONGEST = 5  # so many reasons of one cell are printed
UNSEEN = ("2000 turns",)  # no screen shows them all


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.clients", description=__doc__)
    parser.add_argument("--prefix", type=Path, help="where the clients are (POND_CLIENTS, else a folder of the cache)")
    parser.add_argument("--install", action="store_true", help="fetch the clients first, where they are not there yet")
    parser.add_argument(
        "--only", metavar="TEXT", help="only the cells whose name has this in it; `*` stands for anything"
    )
    parser.add_argument("--keep-origin", action="store_true", help="convert with --keep-origin")
    parser.add_argument("--json", action="store_true", help="print the cells as JSON, one a line")
    parser.add_argument("--write-docs", action="store_true", help="put the table into docs/clients.md")
    options = parser.parse_args(words)
    if options.only and options.write_docs:
        parser.error("--write-docs needs the whole matrix, not --only a part")
    return options


def _source(case: Case) -> Source:
    return Source(case.name, lambda client, store, work: client.write(case, store, work))


def _cells(clients: dict[str, Client], path: tuple[str, ...], only: str) -> Iterator[Cell]:
    """Yield the matrix, one verdict after the other: the machine may be small."""
    for source, target in COLUMNS:
        for row in [*map(_source, CASES), *captured(clients[source])]:
            if fnmatchcase(f"{row.name}: {source} -> {target}", f"*{only}*"):
                with room(path) as made:
                    yield judge_cell(Trial(row, clients[source], clients[target], made, looks=_homes(row)))


def _homes(row: Source) -> tuple[str, ...]:
    """Return the homes in which a row's screens are read: a recorded session's in both kinds."""
    if row.name in UNSEEN:
        return ()
    return ("fresh", "used") if row.old is not None else ("fresh",)


def _controls(clients: dict[str, Client], path: tuple[str, ...], only: str) -> Iterator[tuple[str, Cell]]:
    """Yield what the judge says of damaged sessions."""
    for client in clients.values():
        for name, damage in DAMAGES.items():
            label = f"control: {name}: {client.short}"
            if fnmatchcase(label, f"*{only}*"):
                with room(path) as made:
                    yield label, judge_cell(Trial(_source(CASE), client, client, made, damage))


def main(words: list[str]) -> int:
    """Run what was asked for; 0 where every cell is good and every damage was noticed."""
    options = _arguments(words)
    if options.keep_origin:
        conversion.FLAGS.append("--keep-origin")
    prefix = (options.prefix or default_prefix()).absolute()
    say = sys.stderr if options.json else sys.stdout
    try:
        if options.install:
            for line in install(prefix):
                print(line, file=say)
        clients: dict[str, Client] = {"claude": ClaudeCode(prefix), "codex": Codex(prefix)}
        path = (str(program(prefix, NODE).parent),)
    except NotInstalled as fault:
        print(fault, file=sys.stderr)
        return 2
    alone = isolate([word for word in words if word != "--install"])
    print("network: loopback only" if alone else "network: NOT cut off, this system allows no namespace", file=say)
    if not os.environ.get("POND_CAPTURES"):
        print("captures: none, because POND_CAPTURES is not set", file=say)
    cells, refused, controls = [], 0, 0
    for cell in _cells(clients, path, options.only or ""):
        cells.append(cell)
        said = "NO " if cell.reasons else "yes"
        print(f"{said} {cell.case}: {cell.source} -> {cell.target} ({cell.seconds} s)", file=say)
        for line in [*cell.reasons[:LONGEST], *cell.notes]:
            print(f"      {line}", file=say)
        if options.json:
            print(json.dumps(asdict(cell)), flush=True)
    for label, cell in _controls(clients, path, options.only or ""):
        controls += 1
        refused += bool(cell.reasons)
        said = f"refused: {cell.reasons[0]}" if cell.reasons else "NOT NOTICED"
        print(f"{label}: {said}", file=say)
    print(f"\n{table(cells)}\n", file=say)
    if options.write_docs:
        write_page(cells, refused, controls)
    return int(any(cell.reasons for cell in cells) or refused < controls)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
