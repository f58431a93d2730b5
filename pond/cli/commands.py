"""Every command, once: its module, its group, its help in one line, and an example.

`pond --help`, the help of each command, completion and the reference page are made from this, and `main` finds the
module here: no command is imported for the overview.
"""

from typing import Final, NamedTuple


class Verb(NamedTuple):
    """A command: its module has `run`, or `commands` for commands of its own, which have docstrings."""

    module: str
    group: str
    help: str


_LAKE, _MOVE, _KEEP, _SERVE, _SELF, _WORK = (
    "Your sessions",
    "Move sessions",
    "Look after the lake",
    "Serve programs and agents",
    "pond itself",
    "Work on pond",
)

VERBS: Final[dict[str, Verb]] = {
    "sync": Verb("pond.cli.sync", _LAKE, "Store new sessions from the clients on this machine in the lake."),
    "search": Verb("pond.cli.search", _LAKE, "Find messages by what was said in them, best sessions first."),
    "list": Verb("pond.cli.listing", _LAKE, "List sessions, most recently active first."),
    "get": Verb("pond.cli.get", _LAKE, "Read a session, a page at a time, or one of its messages."),
    "stats": Verb("pond.cli.stats", _LAKE, "Count sessions, prompts, tools and tokens by client, project and month."),
    "sql": Verb("pond.cli.sql", _LAKE, "Run a read-only SQL query over sessions, messages and parts."),
    "restore": Verb("pond.cli.restore", _MOVE, "Write stored sessions as files for their own client or another one."),
    "convert": Verb("pond.cli.convert", _MOVE, "Convert session files to another client's format."),
    "ingest": Verb("pond.cli.ingest", _MOVE, "Store sessions from any file or directory in the lake."),
    "export": Verb("pond.cli.export", _MOVE, "Write sessions to a compact archive, to back up or to share."),
    "import": Verb("pond.cli.import_", _MOVE, "Store the sessions of an archive in the lake."),
    "status": Verb("pond.cli.status", _KEEP, "Show what the lake holds, how fresh it is, and what needs attention."),
    "verify": Verb(
        "pond.cli.verify", _KEEP, "Prove on your own files that pond loses nothing on the way there and back."
    ),
    "optimize": Verb("pond.cli.optimize", _KEEP, "Make the lake small and fast: update indexes, merge files."),
    "erase": Verb("pond.cli.erase", _KEEP, "Erase sessions for good, so that no sync brings them back."),
    "mcp": Verb("pond.cli.mcp", _SERVE, "Give coding agents your past sessions over MCP."),
    "skill": Verb("pond.cli.skill", _SERVE, "Tell coding agents when to use pond."),
    "serve": Verb("pond.cli.serve", _SERVE, "Answer requests over HTTP: search, get, list, ingest and more."),
    "namespace": Verb("pond.cli.namespace", _SERVE, "Create and list the namespaces that a server keeps apart."),
    "pod": Verb("pond.cli.pod", _SERVE, "Show, change and restore the state of named agents."),
    "config": Verb("pond.cli.config", _SELF, "Show the settings in force and where each comes from."),
    "clients": Verb("pond.cli.clients", _SELF, "List the clients pond reads and writes, with known limits."),
    "model": Verb("pond.cli.model", _SELF, "List, add, check and remove embedding models."),
    "completion": Verb("pond.cli.completion", _SELF, "Print a script that makes your shell complete pond commands."),
    "map": Verb("pond.cli.map", _WORK, "Check, format and explain mapping files."),
    "schema": Verb("pond.cli.schema", _WORK, "List, print, publish and compare the schemas of pond's types."),
    "golden": Verb(
        "pond.cli.golden", _WORK, "Report what a change did to the goldens; exit 1 if stored rows are affected."
    ),
}

# Command -> lines to try, and what each does.
EXAMPLES: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "sync": (
        ("pond sync", "Store everything new."),
        ("pond sync --install --every 15m", "Keep the lake fresh from now on."),
    ),
    "search": (
        ('pond search "flaky test" --since 30d', "What was said about it in the last 30 days."),
        ("pond search retry role:user project:*api*", "Only your own prompts, in some projects."),
    ),
    "list": (
        ("pond list --since 7d", "Sessions active in the last week."),
        ("pond list --project . --client codex", "Sessions of one client in this directory."),
    ),
    "get": (
        ("pond get 4f1c2a90", "Read a session; a unique prefix of its id is enough."),
        ("pond get 4f1c2a90 --all --full", "All of it, with tool input and output."),
    ),
    "stats": (("pond stats --since 30d", "What you did in the last 30 days."),),
    "sql": (('pond sql "select role, count(*) from messages group by role"', "Count messages by role."),),
    "restore": (
        ("pond restore 4f1c2a90 -o out", "Write a session as its own client's files."),
        ("pond restore 4f1c2a90 --to codex -o ~/.codex", "Write it for Codex, to continue there."),
    ),
    "convert": (("pond convert session.jsonl --to codex -o out", "Convert one file; the lake is not used."),),
    "ingest": (("pond ingest ~/backup/projects", "Store sessions from a backup."),),
    "export": (("pond export --since 2026-01-01 -o sessions.pond", "Pack this year's sessions."),),
    "import": (("pond import sessions.pond", "Store what is new in an archive."),),
    "status": (("pond status", "One page about the lake."),),
    "verify": (("pond verify ~/.claude", "Check every session file of a client."),),
    "optimize": (("pond optimize", "Run it now and then; `pond status` says when it helps."),),
    "erase": (("pond erase 4f1c2a90", "Shows what would go, then asks."),),
    "mcp": (("pond mcp", "What a client runs; `pond mcp install` registers it."),),
    "mcp install": (("pond mcp install --client claude --dry-run", "Show what would change."),),
    "skill install": (("pond skill install", "Shows what it would write, then asks."),),
    "serve": (("pond serve --with-sync", "Serve this machine, and keep the lake fresh meanwhile."),),
    "namespace create": (("pond namespace create team-a", "Make an empty lake for a team."),),
    "namespace list": (("pond namespace list", "Show each namespace and its lake."),),
    "pod list": (("pond pod list", "One line for each pod."),),
    "pod show": (("pond pod show gardener", "Session, children, peers and history."),),
    "pod set-active": (("pond pod set-active gardener 4f1c2a90 seg-2", "Point the pod at a segment."),),
    "pod set-pending": (("pond pod set-pending gardener 4f1c2a90", "Reserve a session for the pod."),),
    "pod add-child": (("pond pod add-child gardener pruner --write src/", "Delegate a directory to a child."),),
    "pod reclaim": (("pond pod reclaim gardener pruner", "Take back what the child was given."),),
    "pod restore": (("pond pod restore gardener", "Clean up after children that are gone, and resume."),),
    "pod remove": (("pond pod remove gardener", "Delete the record; sessions stay."),),
    "config show": (("pond config show", "Every setting, its value and its source."),),
    "config path": (("pond config path", "The file to edit."),),
    "clients": (("pond clients", "Formats, verified versions and limits."),),
    "model list": (("pond model list --all", "Also show models that can be fetched."),),
    "model add": (("pond model add BAAI/bge-small-en-v1.5", "Fetch a model and test it."),),
    "model check": (("pond model check", "Test the configured model."),),
    "model remove": (("pond model remove BAAI/bge-small-en-v1.5", "Free its disk space."),),
    "completion": (("pond completion bash > ~/.local/share/bash-completion/completions/pond", "Install for bash."),),
    "map check": (("pond map check adapters/codex/codex.map", "Show every mistake with its place."),),
    "map fmt": (("pond map fmt adapters/codex/codex.map", "Rewrite the file in the standard layout."),),
    "map explain": (("pond map explain codex", "What happens to each kind of record."),),
    "schema list": (("pond schema list", "File names and identifiers."),),
    "schema show": (("pond schema show SearchRequest", "One type with everything it refers to."),),
    "schema publish": (("pond schema publish --out site", "Write all published files."),),
    "schema check": (("pond schema check --against HEAD^", "Find breaking changes."),),
    "golden": (("pond golden --base HEAD^", "Compare with an earlier commit."),),
}  # fmt: skip
