"""`python -m tests.pods.writer ROOT DONE`: makes one change after the other, and writes down each acknowledged one.

What is written down has happened: a record that lacks it has lost a promise.
"""

import sys
from pathlib import Path

from pond.pods.store import PodStore

CHANGES = 40


def expected(changes: int) -> set[str]:
    """Return the peers of the pod after so many changes."""
    return {f"peer-{number:02}" for number in range(changes)}


def main(root: str, done: str) -> None:
    """Make the missing changes; they go to two pods in turn, and the first one is sometimes made again."""
    store = PodStore(root)
    with open(done, "a", encoding="ascii") as acknowledged:
        for number in range(len(Path(done).read_text().split()), CHANGES):
            peer = f"peer-{number:02}"
            store.change("gardener", {"op": "add_peer", "peer": peer})
            store.change(f"made-{number}", {"op": "set_pending", "session_id": peer})
            store.remove(f"made-{number}")
            acknowledged.write(f"{number}\n")
            acknowledged.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
