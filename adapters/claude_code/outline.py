"""How to understand Claude Code's log: rewinds, summaries, titles, sidechains; and where related sessions are."""

from __future__ import annotations

import re
from pathlib import Path

from pond.lang.runtime import CARRIED
from pond.model.json_text import JsonObject
from pond.portable.conversation import Rewound, Title
from pond.portable.outline import Compact, Echo, Note, Outline, Recall, Record, of, text_of

from .compiled import Block, Kind
from .hooks import hook_said, text_heard
from .queue import KIND, LABEL, queued, queues

_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary", "agent-name": "agentName"}
_NOTED = (*_TITLES, "last-prompt", KIND)  # a tuple compares anything; a set needs hashable values
_NOWHERE = object()
_DEEPEST = 6  # folders between a subagent's file and its parent's: workflows have some of their own
_MOVED = re.compile(r"\A<persisted-output>.*?[/\\]tool-results[/\\]([^\s/\\]+)", re.DOTALL)
# A command that the summary behind it stands for, and what the client printed when it was done.
_COMPACTED = re.compile(r"\s*(?:<command-\w+>[^<]*</command-\w+>\s*)*<command-name>/compact</command-name>")
_DONE = re.compile(r"\s*<local-command-stdout>\s*Compacted\b")


class ClaudeCodeOutline(Outline):
    """`parentUuid` makes the log a tree: a prompt whose parent is an earlier row takes back what came after it."""

    inner = "attachment"
    queue = LABEL
    document_labels = frozenset((Block.document_url,))
    renewed = ("<system-reminder>", "<local-command-caveat>", "Caveat: The messages below were generated")
    wraps = ("command-args", "bash-input", "user-memory-input")
    known = frozenset(("parentUuid", "isSidechain", "gitBranch", "isCompactSummary", "signature"))

    def __init__(self, session: JsonObject, recall: Recall | None = None) -> None:
        super().__init__(session, recall)
        _, slash, name = session["id"].rpartition("/")
        self.spawned = bool(slash) and session.get("parent_session_id") is not None
        self.name = text_of(session["options"], "source", "beside", "{stem}.meta.json", "description") or name
        self.kind = text_of(session["options"], "source", "beside", "{stem}.meta.json", "agentType") or ""
        self._turn_of: dict[int, int] = {}  # record -> the turn it belongs to
        self._before: list[int] = [0]  # turn -> its parent turn; turn 0 is the root
        self._live = [0]  # the turns from the root to the last prompt
        self._depth = {0: 0}  # their depth in that list
        self._threads: dict[int, str] = {}  # sidechain record -> the first record of its chain
        self._begun = self.spawned
        self._kept: list[str] = []
        self._kept_first = False
        self._leaf: object = None  # where the client continues if nothing follows

    def notices(self, record: JsonObject) -> bool:
        return "parentUuid" in record or record.get("type") in _NOTED  # carried records can be parents of prompts too

    def overhears(self, record: JsonObject, message_id: str) -> bool:
        if self.branch is None or record.get("isSidechain") is True or record.get("type") in _NOTED:
            return False  # no branch: perhaps no record was seen yet
        if text_heard(record):
            return False
        self.thread = None
        self._turn_of[hash(message_id)] = self._live[-1]  # this is all that `look` would find in it
        return True

    def look(self, record: Record) -> Note | None:
        head, label, residue = record.events[0], record.label, record.residue
        if self.branch is None:
            self.branch = text_of(residue, "gitBranch")
        if residue.get("isSidechain") is True:
            self.thread = self._thread_of(record)
        else:
            self.thread = None
            if not self._begun:
                self._begun = label in (Kind.user, Kind.assistant)
        if queues(label, residue):
            self._turn_of[hash(record.id)] = self._live[-1]
            return queued(residue, record.text())
        if label == CARRIED:
            return self._carried(record)
        if label == Kind.assistant:
            answer = head["options"].get("anthropic")
            model = answer.get("model") if type(answer) is dict else None
            self.model = model if type(model) is str and model else None
        elif residue.get("subtype") == "compact_boundary":
            preserved = of(residue, "compactMetadata", "preservedMessages")
            kept = of(preserved, "uuids")
            self._kept = [uuid for uuid in kept if type(uuid) is str] if type(kept) is list else []
            self._kept_first = of(preserved, "anchorUuid") == record.id
        elif residue.get("isCompactSummary") is True:
            kept_now, self._kept = self._kept, []
            self._turn_of[hash(record.id)] = self._live[-1]
            return Compact(record.text(), kept_now, self._kept_first)
        elif label in (Kind.user, Kind.system_local_command_content) and _is_echo(record.text()):
            self._turn_of[hash(head["id"])] = self._live[-1]
            return Echo()
        self._leaf = None
        rewound = None
        if record.human and self.thread is None:
            parent = residue.get("parentUuid", _NOWHERE) if label == Kind.user else _NOWHERE
            rewound = self._go_back(parent, record.id, record.time)
            self._before.append(self._live[-1])
            self._go_on([len(self._before) - 1])
        self._turn_of[hash(head["id"])] = self._live[-1]
        return rewound

    def _carried(self, record: Record) -> Note | None:
        self._turn_of[hash(record.id)] = self._live[-1]
        residue = record.residue
        if residue.get("type") not in _NOTED:
            return hook_said(record)
        if residue["type"] == "last-prompt":
            self._leaf = residue.get("leafUuid")
        named = self.title_of(residue)
        return Title(named, record.id, record.time) if named else None

    @staticmethod
    def title_of(residue: JsonObject) -> str | None:
        return text_of(residue, _TITLES.get(str(residue.get("type")), ""))

    @staticmethod
    def attached(residue: JsonObject) -> str:
        return text_of(residue, "attachment", "displayPath") or text_of(residue, "attachment", "filename") or ""

    @staticmethod
    def moved_output(text: str) -> str | None:
        found = _MOVED.match(text) if text.startswith("<persisted-output>") else None
        return f"{{stem}}/tool-results/{found[1]}" if found is not None else None

    def finish(self) -> Rewound | None:
        # If it comes last, such a row says where the client continues, whatever came before it.
        return self._go_back(self._leaf, str(self._leaf), "") if type(self._leaf) is str else None

    def _go_back(self, parent: object, message_id: str, time: str) -> Rewound | None:
        """Make the turn of `parent` the last live one; return what this takes back and what it brings back."""
        wanted = self._live[-1]
        if parent is None:
            wanted = 0
        elif type(parent) is str:  # only text can name a record
            wanted = self._turn_of.get(hash(parent), wanted)
        older: list[int] = []
        while wanted not in self._depth:  # a branch that was abandoned earlier
            older.append(wanted)
            wanted = self._before[wanted]
        taken_back = len(self._live) - 1 - self._depth[wanted]
        for _ in range(taken_back):
            del self._depth[self._live.pop()]
        again = self._chain(str(parent), frozenset(older)) if older else []
        self._go_on(older[::-1])
        return Rewound(taken_back, message_id, time, again) if taken_back or again else None

    def _go_on(self, turns: list[int]) -> None:
        for turn in turns:
            self._depth[turn] = len(self._live)
            self._live.append(turn)

    def _chain(self, uuid: str | None, turns: frozenset[int]) -> list[str]:
        """Return the records from one of these turns up to `uuid`, as their parents chain them."""
        found: list[str] = []
        seen: set[str] = set()  # parents can form a circle
        while self.recall is not None and uuid is not None and self._turn_of.get(hash(uuid)) in turns:
            if uuid in seen:
                break
            seen.add(uuid)
            found.append(uuid)
            try:
                events = self.recall(uuid)
            except (KeyError, StopIteration):
                break
            uuid = text_of(events[0]["options"], "source", "parentUuid") if events else None
        return found[::-1]

    def is_aside(self, residue: JsonObject) -> bool:
        return residue.get("isSidechain") is True and self._begun and not self.spawned

    def _thread_of(self, record: Record) -> str | None:
        """Return the sidechain a record belongs to: versions before 2.0 kept subagents in the session's own file."""
        if self.is_aside(record.residue):
            thread = self._threads.get(hash(text_of(record.residue, "parentUuid")), record.id)
            self._threads[hash(record.id)] = thread
            return thread
        self.spawned = True  # the file begins with one: it belongs to a subagent
        return None


def _is_echo(text: str) -> bool:
    """Tell whether a row is the command to sum up, or says that this was done."""
    return "ompact" in text and (_COMPACTED.match(text) is not None or _DONE.match(text) is not None)


def children(path: Path, session_id: str) -> list[Path]:
    """Return the files of a session's subagents: a folder beside its own file."""
    return sorted(path.with_suffix("").glob("subagents/**/*.jsonl"))


def beginning(path: Path, session_id: str) -> Path | None:
    """Return the file of the session that a subagent's file belongs to: beside its folder."""
    name = f"{session_id}.jsonl"
    found = (folder / name for folder in path.absolute().parents[:_DEEPEST])
    return next((file for file in found if file.name == name and file.is_file()), None)


OUTLINE = ClaudeCodeOutline
