"""The activity, as tables in memory: each message once, each answer once, each call once.

`docs/stats.md` says what each number means; the queries here are those definitions.
"""

from __future__ import annotations

import duckdb

from pond.stats.usage import TOKENS, usage

# Sessions in the order in which they began: shared history belongs to the first.
_ORDERED = """
CREATE TEMP TABLE ordered AS
SELECT id AS session_id, parent_session_id, row_number() OVER (ORDER BY created_at NULLS LAST, id) AS session
FROM sessions
"""

_STORED = """
CREATE TEMP TABLE stored AS
SELECT m.session_id, m.id, m.position, m.timestamp, m.role, m.source_agent AS client, m.project, m.agent,
       coalesce(m.elsewhere, false) AS elsewhere, o.session, o.parent_session_id,
       CASE WHEN m.search_text IS NULL THEN NULL ELSE hash(m.search_text) END AS text
FROM messages m JOIN ordered o ON o.session_id = m.session_id
"""

# A fork with new ids and times still says the same as its parent, up to where it diverged.
_FORKS = """
CREATE TEMP TABLE forks AS
WITH spoken AS (
  SELECT *, row_number() OVER (PARTITION BY session_id ORDER BY position, id) AS number
  FROM stored WHERE text IS NOT NULL AND agent IS NULL
)
SELECT child.session_id,
       coalesce(min(child.position) FILTER (WHERE parent.text IS DISTINCT FROM child.text), 9223372036854775807) AS own
FROM spoken child
LEFT JOIN spoken parent
  ON parent.session_id = child.parent_session_id AND parent.number = child.number AND parent.role = child.role
WHERE child.parent_session_id IS NOT NULL
GROUP BY child.session_id
"""

# What another row shows is settled already, and says nothing about the others.
# The same message has the same id, role and time, or the same words from the same role at the same time.
_KNOWN = """
CREATE TEMP TABLE known AS
WITH keys AS (
  SELECT *, CASE WHEN timestamp IS NOT NULL AND NOT elsewhere THEN hash(id, role, timestamp) END AS same,
         CASE WHEN timestamp IS NOT NULL AND text IS NOT NULL THEN hash(role, timestamp, text) END AS alike
  FROM stored
), same AS (
  SELECT same, min(session) AS first FROM keys WHERE same IS NOT NULL GROUP BY same HAVING first < max(session)
), alike AS (
  SELECT alike, min(session) AS first FROM keys WHERE alike IS NOT NULL GROUP BY alike HAVING first < max(session)
)
SELECT k.session_id, k.id, k.position, k.timestamp, k.role, k.client, k.project, k.agent, k.text,
       coalesce(k.position < f.own, false) OR coalesce(s.first < k.session, false)
         OR coalesce(a.first < k.session, false) OR k.elsewhere AS copied
FROM keys k
LEFT JOIN same s ON s.same = k.same
LEFT JOIN alike a ON a.alike = k.alike
LEFT JOIN forks f ON f.session_id = k.session_id
"""

# A queued prompt comes before the history that a fork copies, and once more after it.
_MESSAGES = """
CREATE TEMP TABLE counted AS
WITH spoken AS (
  SELECT session_id, id, role, text, copied, row_number() OVER (PARTITION BY session_id ORDER BY position, id) AS number
  FROM known WHERE text IS NOT NULL
), again AS (
  SELECT session_id, id FROM spoken WHERE NOT copied
  WINDOW w AS (PARTITION BY session_id ORDER BY number)
  QUALIFY role = 'user' AND lag(role) OVER w = 'user' AND lag(text) OVER w = text AND number - lag(number) OVER w > 1
)
SELECT k.session_id, k.id, k.timestamp, k.client, k.project, k.agent,
       k.text IS NOT NULL AND a.id IS NULL AS message,
       k.text IS NOT NULL AND a.id IS NULL AND k.role = 'user' AND k.agent IS NULL AS prompt
FROM known k LEFT JOIN again a ON a.session_id = k.session_id AND a.id = k.id
WHERE NOT k.copied
"""

# Several records of one answer: the last of them, in the session that had it first.
_USED = f"""
CREATE TEMP TABLE used AS
SELECT c.session_id, c.id, c.timestamp, c.client, c.project, c.agent, u.model,
       {", ".join(f"u.{name}" for name in TOKENS)}
FROM usage u
JOIN counted c ON c.session_id = u.session_id AND c.id = u.id
JOIN ordered o ON o.session_id = u.session_id
QUALIFY row_number() OVER (PARTITION BY u.answer ORDER BY o.session, u.position DESC) = 1
"""

_CALLS = """
CREATE TEMP TABLE calls AS
WITH failed AS (
  SELECT DISTINCT session_id, json_extract_string(variant_data, '$.call_id') AS call_id
  FROM parts WHERE type = 'tool_result' AND json_extract_string(variant_data, '$.is_failure') = 'true'
)
SELECT c.session_id, c.timestamp, c.client, c.project, c.agent, json_extract_string(p.variant_data, '$.name') AS tool,
       f.call_id IS NOT NULL AS failed
FROM parts p
JOIN counted c ON c.session_id = p.session_id AND c.id = p.message_id
LEFT JOIN failed f
  ON f.session_id = p.session_id AND f.call_id = json_extract_string(p.variant_data, '$.call_id')
WHERE p.type = 'tool_call'
"""

_UNWANTED = "DELETE FROM {table} t WHERE NOT EXISTS (FROM wanted w WHERE w.session_id = t.session_id AND w.id = t.id)"


def gather(connection: duckdb.DuckDBPyConnection, filtered: bool) -> None:
    """Make the tables `counted`, `used` and `calls`; with a filter, only for the messages in `wanted`."""
    connection.execute(f"CREATE TEMP TABLE usage AS {usage()}")
    for statement in (_ORDERED, _STORED, _FORKS, _KNOWN, _MESSAGES, _USED):
        connection.execute(statement)
    # Copies, and which record of an answer counts, do not depend on the filter.
    for table in ("counted", "used") if filtered else ():
        connection.execute(_UNWANTED.format(table=table))
    connection.execute(_CALLS)
