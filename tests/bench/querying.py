"""What queries cost beside what they cannot do without: a join beside Lance's reads, a group-by beside one in memory.

As a program it measures one lake.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from pond.sessions.tables import MESSAGES, PARTS, SESSIONS
from pond.sql.engine import Engine, Limits
from pond.substrate import predicate, read
from pond.substrate.store import Store
from tests.bench.figures import Figure
from tests.bench.lakes import Lakes, opened, optimize
from tests.bench.stored import middle
from tests.bench.watch import watched

JOIN_LIMIT, GROUP_LIMIT = 5.0, 2.0
_JOIN = """
SELECT s.project, m.id, m.role, p.type, p.variant_data
FROM sessions s JOIN messages m ON m.session_id = s.id
JOIN parts p ON p.session_id = m.session_id AND p.message_id = m.id
WHERE s.id = {}
"""
_GROUP = """
SELECT project, count(*), count(DISTINCT session_id), min(timestamp), max(timestamp) FROM messages GROUP BY project
"""
_COLUMNS = ("project", "session_id", "timestamp")
_TIMES = 9


def join(lakes: Lakes, rounds: int) -> list[Figure]:
    """Measure a join over all tables for one session against reading its rows from each of them."""
    found = _measured(lakes, rounds)
    detail = {name: found[name] for name in ("messages", "join CPU ms", "reads CPU ms", "one read CPU ms")}
    value = found["join CPU ms"] / found["reads CPU ms"]
    return [Figure("sql: join of one session", value, "x Lance reads", JOIN_LIMIT, at_least=False, detail=detail)]


def group(lakes: Lakes, rounds: int) -> list[Figure]:
    """Measure a group-by over all messages against the same in DuckDB over the columns in memory."""
    found = _measured(lakes, rounds)
    detail = {name: found[name] for name in ("messages", "group CPU ms", "in memory CPU ms")}
    value = found["group CPU ms"] / found["in memory CPU ms"]
    return [Figure("sql: group by project", value, "x in memory", GROUP_LIMIT, at_least=False, detail=detail)]


def _measured(lakes: Lakes, rounds: int) -> dict[str, float]:
    """Return the best of several processes, each number for itself."""
    lake = lakes.large_lake.lake
    optimize(lake)
    best: dict[str, float] = {}
    for _ in range(rounds):
        done = watched([sys.executable, "-m", "tests.bench.querying", str(lake), middle(lake)])
        for name, value in json.loads(done.output).items():
            best[name] = min(best.get(name, value), value)
    return best


def _best(work: Callable[[], object]) -> float:
    """Return the CPU time of some work, in milliseconds: the best of several."""
    best = float("inf")
    for _ in range(_TIMES):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best * 1000


def _reads(store: Store, session: str) -> None:
    """Read what the join reads."""
    read.rows(store, SESSIONS, ["id", "project"], predicate.equals("id", session))
    here = predicate.equals("session_id", session)
    read.rows(store, MESSAGES, ["session_id", "id", "role"], here)
    read.rows(store, PARTS, ["session_id", "message_id", "type", "variant_data"], here)


def main(lake: str, session: str) -> None:
    """Print what the queries and their counterparts take."""
    store, engine = opened(Path(lake)), Engine(Limits(600, 4096, 2))
    here = predicate.equals("session_id", session)

    def run(query: str) -> None:
        assert sum(batch.num_rows for batch in engine.run(store, query)[1]) > 0

    with duckdb.connect(config={"threads": 2}) as memory:
        memory.register("messages", read.rows(store, MESSAGES, _COLUMNS))
        found = {
            "messages": float(read.count(store, MESSAGES)),
            "join CPU ms": _best(lambda: run(_JOIN.format(predicate.text(session)))),
            "reads CPU ms": _best(lambda: _reads(store, session)),
            "one read CPU ms": _best(lambda: read.rows(store, MESSAGES, ["session_id", "id", "role"], here)),
            "group CPU ms": _best(lambda: run(_GROUP)),
            "in memory CPU ms": _best(lambda: memory.sql(_GROUP).to_arrow_table()),
        }
    print(json.dumps(found), flush=True)
    engine.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
