"""Under which name Claude Code shows a call: its own tools as they are, all others as those of an MCP server."""

from __future__ import annotations

import re

from pond.model.json_text import Json

# Its own tools, each with an argument that a call of it always has: a tool of the same name may be another client's.
_OWN = {
    "Agent": "prompt", "AskUserQuestion": "questions", "Bash": "command", "BashOutput": "bash_id", "Edit": "file_path",
    "ExitPlanMode": "plan", "Glob": "pattern", "Grep": "pattern", "KillShell": "shell_id", "LS": "path",
    "MultiEdit": "file_path", "NotebookEdit": "notebook_path", "NotebookRead": "notebook_path", "Read": "file_path",
    "Skill": "skill", "Task": "prompt", "TaskCreate": "subject", "TaskOutput": "task_id", "TaskStop": "task_id",
    "TaskUpdate": "taskId", "TodoWrite": "todos", "ToolSearch": "query", "WebFetch": "url", "WebSearch": "query",
    "Write": "file_path",
}  # fmt: skip
_MCP = "mcp__"
_LONGEST = 128  # characters of a name that the service takes
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")


def shown_name(name: str, params: Json, client: str) -> str:
    """Return the name under which the screen shows a call; a name that it does not know shows nothing."""
    own = _OWN.get(name)
    if name.startswith(_MCP) or (own is not None and type(params) is dict and own in params):
        return name
    return _NOT_IN_A_NAME.sub("_", f"{_MCP}{client}__{name}")[:_LONGEST]
