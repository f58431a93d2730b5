"""Where every Part of a session went: it is in the output, or an entry of the loss report names it."""

from collections import Counter
from collections.abc import Iterator

from pond.model.json_text import JsonObject
from pond.portable.inserted import untagged
from tests.foreign.pieces import Piece, pieces
from tests.foreign.road import Made
from tests.foreign.survival import Named
from tests.laws.passage import Passage

# A loss of these kinds says that the piece is in the output in another form.
_KEPT = {
    "context-marked",
    "arguments-wrapped",
    "arguments-as-text",
    "call-renamed",
    "text-changed",
    "reasoning-not-sent",
}
# And of these, that it is not in the output at all.
_LEFT_OUT = {
    "context-renewed",
    "harness-message",
    "not-sent",
    "reasoning-left-out",
    "side-file",
    "empty",
    "broken",
    "file-left-out",
}
_ITEM = "block-left-out"  # names an item that is no Part; the Parts beside it are to be found


def unaccounted(source: Passage, made: Made) -> list[str]:
    """Return the Parts of a session that are neither found nor named, or named as kept and not found."""
    read_again = _read_again(made)
    have = Counter(_form(piece) for passage in read_again for piece in pieces(passage.rows))
    have += Counter(form for passage in read_again for form in _beside_the_parts(passage))
    named = Named(made.losses, source)
    whole_messages = {loss.message for loss in made.losses if loss.message and not loss.part and loss.kind != _ITEM}
    problems = []
    for piece in pieces(source.rows):
        kinds = set(named.kinds(piece))
        wanted = named.after(piece)
        if wanted is None or kinds & _LEFT_OUT or piece.message in whole_messages:
            continue
        if have[_form(wanted)] > 0:
            have[_form(wanted)] -= 1
        elif kinds & _KEPT:
            problems.append(f"named as {sorted(kinds)} and not found: {piece}")
        elif not kinds and not _counted(piece, source):
            problems.append(f"neither found nor named: {piece}")
    return [*problems, *_unnamed_items(source, made)]


def _unnamed_items(source: Passage, made: Made) -> Iterator[str]:
    """Yield the messages with items that became no Part, unless just as many losses name them."""
    named = Counter(loss.message for loss in made.losses if loss.kind == _ITEM)
    repeats = {loss.message for loss in made.losses if loss.kind == "repeat"}
    left = {message["id"]: _items_left(message) for message in source.messages}
    for message, items in left.items():
        known = left.get(message.rpartition("~")[0] or message, 0) if message in repeats else named[message]
        if items != known:
            yield f"{items} items left in the record, {known} named: {message}"


def _items_left(message: JsonObject) -> int:
    marks = message["options"].get("pond")
    weave = marks.get("weave", {}) if type(marks) is dict else {}
    return sum(order.count("r") for order in weave.values())


def misnamed(source: Passage, made: Made) -> list[str]:
    """Return the losses that name a part or message which the source does not have."""
    messages = {message["id"] for message in source.messages}
    parts = {(part["message_id"], part["id"]) for part in source.parts}
    return [
        str(loss)
        for loss in made.losses
        if (loss.part and (loss.message, loss.part) not in parts) or (loss.message and loss.message not in messages)
    ]


def _beside_the_parts(passage: Passage) -> Iterator[tuple[str, object]]:
    """Yield what a Codex rollout holds outside its items: thoughts for people to see, and summaries."""
    for message in passage.messages:
        residue = message["options"].get("source")
        payload = residue.get("payload") if type(residue) is dict else None
        if type(payload) is dict and payload.get("type") == "agent_reasoning":
            yield "reasoning", payload["text"]
        elif message.get("content"):
            yield "injected", message["content"].strip()


def _form(piece: Piece) -> tuple[str, object]:
    """Return what counts as the same piece: injected text with or without the tag around it."""
    if piece.kind == "injected":
        return piece.kind, untagged(piece.content).strip()
    return piece.kind, piece.content


def _counted(piece: Piece, source: Passage) -> bool:
    """Tell whether the piece belongs to a record that is counted as a whole: carried, or a repeat."""
    labels = {message["id"]: _label(message) for message in source.messages}
    return labels[piece.message] in ("carry", "value", "repeat")


def _label(message: JsonObject) -> str:
    pond = message["options"].get("pond")
    return str(pond.get("as", "")) if type(pond) is dict else ""


def lost_messages(source: Passage, made: Made) -> Iterator[str]:
    """Yield the system messages with words that no loss names and no summary repeats."""
    named = {loss.message for loss in made.losses}
    there = {form for passage in _read_again(made) for form in map(_form, pieces(passage.rows))}
    for message in source.messages:
        words = message.get("content") if message["role"] == "system" else None
        if words and message["id"] not in named and ("injected", words.strip()) not in there:
            yield message["id"]


def _read_again(made: Made) -> list[Passage]:
    if not made.files:
        return []
    main, children = made.sessions()
    return [main, *children]
