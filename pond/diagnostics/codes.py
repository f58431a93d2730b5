"""Every diagnostic code, once: what it means, why it exists, how to fix it. `docs/reference/errors.md` is made from this."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """A stable name for one kind of trouble."""

    code: str
    severity: str  # "error" makes the exit code non-zero, "warning" does not
    meaning: str
    why: str
    fix: str
    example: str


def _code(code: str, severity: str, meaning: str, why: str, fix: str, example: str) -> tuple[str, Code]:
    return code, Code(code, severity, meaning, why, fix, example)


CODES: dict[str, Code] = dict(
    [
        # map-: a mapping file
        _code(
            "map-syntax", "error", "The mapping file does not parse.",
            "A mapping is read by a machine and by reviewers; what does not parse is refused whole.",
            "Follow the hint under the caret; `docs/language.md` has the grammar.", "uuid <-> <-> id",
        ),
        _code(
            "map-unknown-target", "error", "The right-hand side names a field the canonical type does not have.",
            "A typo would otherwise leave the real field empty.", "Use one of the fields the message suggests.",
            "cwd <-> projct",
        ),
        _code(
            "map-unknown-type", "error", "The mapping names a message or part type the schema does not have.",
            "Only canonical types can be produced.", "Use a type of `schema/canonical.schema.json`.",
            '"say" => UserMesage { … }',
        ),
        _code(
            "map-type-mismatch", "error", "A conversion produces another type than the field takes.",
            "Canonical values are typed; a wrong one would break every reader.", "Choose a conversion whose result fits the field.",
            "name <-> name as json_text",
        ),
        _code(
            "map-literal-source", "error", "A canonical field is filled from a literal.",
            "An invented value cannot be told from a real one later (model-no-synthesis).",
            "Delete the line; an absent value stays absent.", '"false" <-> provider_executed',
        ),
        _code(
            "map-provenance-required", "error", "A Part is made without saying whose words it holds.",
            "Search excludes what the harness injected; nothing can decide that later (adapter-provenance-required).",
            "Write `conversational`, `injected` or `by TABLE` after the Part type.", '"text" => TextPart { text <-> text }',
        ),
        _code(
            "map-required-unfilled", "error", "A field the schema requires is filled by no rule.",
            "A required field is a claim that the source always has it (model-schema-honesty).",
            "Add a rule for the field.", '"text" => TextPart conversational { }',
        ),
        _code(
            "map-not-invertible", "error", "A two-way rule uses a conversion without an inverse.",
            "The way back could not restore the source value (adapter-native-restore-lossless).",
            "Use a conversion with an inverse, or a one-way `<-` fact.", "cwd <-> project as basename",
        ),
        _code(
            "map-unknown-conversion", "error", "The conversion after `as` does not exist.",
            "Conversions are named pairs with tested laws; there are no ad-hoc ones.", "Use one of the listed conversions.",
            "at <-> timestamp as date",
        ),
        _code(
            "map-otherwise-missing", "error", "There is no `otherwise carry`.",
            "A record kind nobody has seen must be kept, not dropped (model-lossless-projection).",
            "End the client block with `otherwise carry { … }`.", 'client "x" { records by kind … }',
        ),
        _code(
            "map-rest-missing", "error", "There is no `rest <-> options.source`.",
            "What no rule claims must have a place (model-lossless-projection).", "Add `rest <-> options.source`.",
            'client "x" { records by kind … }',
        ),
        _code(
            "map-overlap", "error", "Two rules of one kind claim the same or nested paths.",
            "A value may be claimed once; otherwise it would be stored twice or restored wrongly.",
            "Remove one of the rules or claim a more exact path.", "message <-> content  and  message.role implied …",
        ),
        _code(
            "map-duplicate", "error", "The same kind, block, field or clause is stated twice.",
            "Only one of them could ever apply.", "Remove or merge one of them.", '"say" => …  twice',
        ),
        _code(
            "map-unreachable", "error", "A kind or block can never be chosen because an earlier one takes all its records.",
            "Dead rules mislead the reader.", "Move the more exact one first, or give the earlier one a `when`.",
            '"say" => …  before  "say" when who = "bot" => …',
        ),
        _code(
            "map-unknown-spans", "error", "`by` names a span table that does not exist.",
            "Provenance patterns are data in the adapter.", "Define `spans NAME { … }` or use an existing table.",
            "TextPart by harnes",
        ),
        _code(
            "map-marker", "error", "A span marker is empty, repeated, or contains another table entry's opening.",
            "Ambiguous markers would make the split depend on luck.", "Make every opening marker distinct and non-empty.",
            'span "" "</x>"',
        ),
        _code(
            "map-part-not-allowed", "error", "The message's role does not allow this Part type.",
            "A tool result inside a user message is a category error.", "Send the block to a message that allows it.",
            "UserMessage.ToolResultPart",
        ),
        _code(
            "map-message-unclear", "error", "A kind fills several messages and a block does not say which.",
            "The writer must know where a Part belongs.", "Write `UserMessage.TextPart`.", '=> ToolMessage, UserMessage { … "text" => TextPart',
        ),
        _code(
            "map-shape", "error", "A list rule's source shapes cannot be told apart.",
            "The writer must reproduce the shape it saw.", "List each of `list`, `string` at most once.", "as list | list",
        ),
        _code(
            "map-lookup", "error", "A lookup names something that is not available there.",
            "Facts come from `call(…)` or from a pass the client declares.", "Use `call(call_id)` or `fact NAME` with `facts NAME`.",
            "name <- call(id)",
        ),
        # source-: client data
        _code(
            "source-not-json", "error", "A line is not JSON.",
            "The line cannot be interpreted; it is reported, never skipped in silence (adapter-integrity-no-silent-drops).",
            "Look at the line; a cut-off last line usually means the client was killed while writing.", '{"type":"user"',
        ),
        _code(
            "source-not-object", "error", "A line is JSON but not an object.",
            "Every known session format is one object a line.", "Look at the line.", "[1, 2]",
        ),
        _code(
            "source-encoding", "error", "The text is not UTF-8.",
            "Guessing an encoding would change values.", "Convert the file to UTF-8 first.", "a UTF-16 file",
        ),
        _code(
            "source-too-deep", "error", "A value is nested too deeply to be processed.",
            "Deep nesting can exhaust the stack of any reader of the lake.", "Nothing to do; the line is left out and named.", "[[[[…",
        ),
        _code(
            "source-duplicate-key", "error", "An object has the same key twice; JSON readers keep the last.",
            "The first value would be lost without a word.", "Look at the line; the last value was kept.", '{"a":1,"a":2}',
        ),
        _code(
            "source-truncated", "warning", "A value larger than the store can hold was replaced by a marker with its size.",
            "One such value would take the whole process down (adapter-bounded-values).", "Keep the source file if you need the value.",
            "a 2 GiB string",
        ),
        _code(
            "source-unreadable", "error", "A file cannot be opened or read.",
            "Everything else is still converted.", "Check permissions.", "permission denied",
        ),
        _code(
            "source-not-a-file", "error", "The path is neither a regular file nor a directory.",
            "Pipes, sockets and devices inside a store are not sessions.", "Name the file itself or use `-` for standard input.", "a FIFO",
        ),
        _code(
            "source-unrecognised", "error", "No adapter recognises the content.",
            "Guessing a format would produce nonsense.", "Name the client with `--from`.", "a JSONL file of another program",
        ),
        _code(
            "source-empty", "warning", "The file holds no record.",
            "An empty file is not a session.", "Nothing to do.", "a zero-byte file",
        ),
        _code(
            "source-no-project", "error", "No working directory, store path or directory says which project the session belongs to.",
            "A project must come from real data (model-project-non-empty).", "Say it with `--project DIR`.", "a session from standard input without cwd",
        ),
        _code(
            "source-no-id", "error", "Neither the records nor the file name give the session an id.",
            "Ids come from the source (lance-deterministic-pk).", "Give the file its client's name.", "a session from standard input without id",
        ),
        _code(
            "source-type", "warning", "A value has another type than the mapping expects; it is kept as residue.",
            "A value is never coerced; the record is kept whole all the same.", "If the client changed its format, extend the mapping.",
            "a number where text is expected",
        ),
        _code(
            "source-structure", "warning", "A record lacks the object its kind is about; it is carried whole.",
            "A known kind in an unknown shape must not be lost.", "If the client changed its format, extend the mapping.",
            '"message" is text instead of an object',
        ),
        _code(
            "source-drift-kind", "warning", "A record or block kind the mapping does not name; it is carried.",
            "Format drift is never silent.", "Extend the mapping.", 'type "brand-new"',
        ),
        _code(
            "source-drift-field", "warning", "A field the mapping does not name; it is carried.",
            "Format drift is never silent.", "Name it under `keeps`, or map it.", "message.brandNew",
        ),
        _code(
            "canonical-broken", "error", "A canonical event is not what the schema says.",
            "Writing it would produce an invalid session file.", "Validate the events against the published schema.",
            "a part whose message never came",
        ),
        # verify-, output-, usage-: the commands
        _code(
            "verify-different", "error", "What came back differs from the source.",
            "Native restore must be value-equal (adapter-native-restore-lossless).", "Report the first difference shown.", "$.message.content",
        ),
        _code(
            "output-exists", "error", "A different file is already there.",
            "pond never overwrites what it did not write.", "Choose another output or move the file away.", "out.jsonl exists",
        ),
        _code(
            "output-failed", "error", "The output cannot be written.",
            "No half-written file is left under its final name.", "Check free space and permissions.", "disk full",
        ),
        _code(
            "output-several", "error", "Several sessions cannot go to one place.",
            "A client keeps one session a file.", "Name a directory with `-o DIR`.", "convert DIR --to codex",
        ),
        _code(
            "usage", "error", "The command line asks for something that does not exist.",
            "A clear refusal beats a guess.", "See `pond COMMAND --help`.", "--to unknown-client",
        ),
        _code(
            "usage-foreign", "error", "The session was written by another client than the target, and this version restores natively only.",
            "A half-way conversion that the client cannot resume would be worse than none.",
            "Convert to the session's own client or to `canonical`.", "a codex session --to claude-code",
        ),
    ]
)
