"""Queries to start with. `pond sql --schema` prints them, the page about SQL has them, and the tests run them."""

from __future__ import annotations

EXAMPLES: tuple[tuple[str, str], ...] = (
    (
        "Activity by project in the last week",
        """SELECT project, count(*) AS messages, count(DISTINCT session_id) AS sessions
FROM messages
WHERE timestamp >= now() - INTERVAL '7 days'
GROUP BY project
ORDER BY messages DESC""",
    ),
    (
        "The newest sessions, and how each began",
        """WITH first AS (
  SELECT session_id, arg_min(search_text, position) AS prompt
  FROM messages
  WHERE role = 'user' AND search_text IS NOT NULL
  GROUP BY session_id
)
SELECT s.created_at, s.source_agent, s.project, left(f.prompt, 80) AS prompt
FROM sessions s JOIN first f ON f.session_id = s.id
ORDER BY s.created_at DESC
LIMIT 20""",
    ),
    (
        "Tools, how often each was called and how often it failed",
        """SELECT c.variant_data->>'$.name' AS tool, count(*) AS calls,
       count(*) FILTER (WHERE (r.variant_data->>'$.is_failure')::BOOLEAN) AS failed
FROM parts c
LEFT JOIN parts r
  ON r.session_id = c.session_id AND r.type = 'tool_result'
 AND r.variant_data->>'$.call_id' = c.variant_data->>'$.call_id'
WHERE c.type = 'tool_call'
GROUP BY tool
ORDER BY calls DESC""",
    ),
    (
        "What search finds, joined with the messages themselves",
        """SELECT search.rank, search.score, m.timestamp, m.role, left(m.search_text, 80) AS said
FROM search('windows build', 20)
JOIN messages m ON m.session_id = search.session_id AND m.id = search.message_id
ORDER BY search.rank""",
    ),
    (
        "Subagents by kind",
        """SELECT agent, count(DISTINCT session_id) AS sessions, count(*) AS messages
FROM messages
WHERE agent IS NOT NULL
GROUP BY agent
ORDER BY sessions DESC""",
    ),
    (
        "Models, from what Claude Code records about each answer",
        """SELECT options->>'$.anthropic.model' AS model, count(*) AS records
FROM messages
WHERE role = 'assistant' AND source_agent = 'claude-code'
GROUP BY model
ORDER BY records DESC""",
    ),
    (
        "The next page: order by keys, and continue after the last row",
        """SELECT timestamp, id, role
FROM messages
WHERE (timestamp, id) < (TIMESTAMPTZ '2026-06-05T08:14:22Z', 'the-last-id')
ORDER BY timestamp DESC, id DESC
LIMIT 100""",
    ),
)
