"""What must come through a conversion, and the few changes that may happen to it, each only where a loss names it."""

import base64
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable

from pond.model.json_text import Json
from pond.portable.inserted import untagged
from pond.portable.loss import Loss
from tests.foreign.pieces import SPEECH, Piece, exactly, on_the_side, pieces
from tests.foreign.road import Made
from tests.laws.passage import Passage

_HALF = re.compile("[\ud800-\udfff]")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]")

_TAGS = "(?:command-args|bash-input|user-memory-input)"
_HALF_TAG = re.compile(rf"\s*<{_TAGS}>\s*\Z|\A\s*</{_TAGS}>\s*")
_MOVED = re.compile(r"tool-results/(\S+)")

Change = Callable[[Json], Json]


def _whole(content: Json) -> Json:
    """Half characters become U+FFFD: in a text, in the texts of a result, in the arguments of a call."""
    if type(content) is str:
        return _HALF.sub("\ufffd", content)
    if type(content) is tuple:
        return tuple(map(_whole, content))
    if type(content) is list:
        return list(map(_whole, content))
    return {_whole(key): _whole(item) for key, item in content.items()} if type(content) is dict else content


def _whole_call(call: Json) -> Json:
    name, params = call
    return name, exactly(_whole(json.loads(params)))


def _without_tag(content: Json) -> Json:
    return _HALF_TAG.sub("", content)


def _wrapped(call: Json) -> Json:
    name, params = call
    return name, f'{{"input": {params}}}'


def _renamed(call: Json) -> Json:
    name, params = call
    return _NOT_IN_A_NAME.sub("_", name)[:128] or "unnamed", params


# Loss kind -> what happens to the content of the piece that it names. Towards Codex: half characters. Towards Claude
# Code: arguments that are no object, or too deep for a record. Towards both: names that no service takes.
CHANGES: dict[str, Change] = {
    "text-changed": _whole,
    "arguments-wrapped": _wrapped,
    "arguments-as-text": _wrapped,  # the text counts as the value it is: `pieces` reads it
    "call-renamed": _renamed,
    "tag-left-out": _without_tag,
}
# Loss kind -> the pieces that it may take away. Blank texts; files without a place, or beside the session; results that
# stand as marked text; what the harness said in the model's place; prompts that never left the queue.
GONE = {
    "empty": ("user", "assistant"),
    "file-left-out": ("file",),
    "side-file": ("file",),
    "output-put-back": ("file",),
    "result-as-text": ("result",),
    "harness-message": ("injected",),
    "not-sent": ("user", "file", "injected"),
    "repeat": ("user", "file", "injected"),
}  # fmt: skip


class Named:
    """The losses of a conversion, by the part they are about."""

    def __init__(self, losses: list[Loss], source: Passage) -> None:
        self._moved = {file["file_name"]: file["data"] for file in source.parts if "file_name" in file}
        self._kinds: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for loss in losses:
            self._kinds[loss.message, loss.part].append(loss.kind)
        self.repeats = {loss.message for loss in losses if loss.kind == "repeat" and not loss.part}

    def kinds(self, piece: Piece) -> list[str]:
        return self._kinds[piece.message, piece.part]

    def after(self, piece: Piece) -> Piece | None:
        """Return what is to be found in place of a piece; None where a loss says that it is gone."""
        content = piece.content
        if piece.message in self.repeats:
            return None
        for kind in self.kinds(piece):
            if piece.kind in GONE.get(kind, ()) and (kind != "empty" or not content.strip()):
                return None
            if (kind, piece.kind) == ("output-put-back", "result"):
                content = self._put_back(content)
            if kind in CHANGES:
                content = (_whole_call if (kind, piece.kind) == ("text-changed", "call") else CHANGES[kind])(content)
        if piece.kind == "result" and "file-left-out" in self.kinds(piece):
            content = tuple(block for block in content if block[0] == "text")  # a note stands where the file was
        if not content and "tag-left-out" in self.kinds(piece):
            return None
        return Piece(piece.kind, content, piece.message, piece.part, piece.call_id)

    def _put_back(self, content: Json) -> Json:
        """Return the output that a result says was moved to a file beside the session."""
        (moved,) = {name[1] for _, text in content for name in _MOVED.finditer(text)}
        return (("text", base64.b64decode(self._moved[moved]).decode()),)


def survives(source: Passage, made: Made) -> None:
    """Raise AssertionError where something said, called or returned is missing, changed or out of order."""
    named = Named(made.losses, source)
    aside = on_the_side(source)
    told = list(pieces(source.rows))
    _really_repeat(told, named)
    _really_said(told, named)
    main, children = made.sessions()
    found = list(pieces(main.rows))
    queued = source.queued
    turns = _without(found, _expected([piece for piece in told if piece.message in queued], SPEECH, named))
    _same_speech([piece for piece in told if piece.message not in aside | queued], turns, named)
    _same_results([piece for piece in told if piece.message not in aside], found, named)
    split = [piece for child in children for piece in pieces(child.rows)]
    _all_there([piece for piece in told if piece.message in aside], split, named)
    for piece in told:
        if "result-as-text" in named.kinds(piece):
            _stands_as_text(piece, [*found, *split], "file-left-out" in named.kinds(piece))


def _really_repeat(told: list[Piece], named: Named) -> None:
    """Check that a message left out as a repeat (`id~2`) says just what the one it repeats says."""
    said: defaultdict[str, list[Piece]] = defaultdict(list)
    for piece in told:
        said[piece.message].append(piece)
    for message in named.repeats:
        first = message.rpartition("~")[0] or message
        assert said[message] == said[first], f"{message} does not repeat {first}"


def _really_said(told: list[Piece], named: Named) -> None:
    """Check that what was left out of the queue as a repeat is said by a message that is not."""
    said: defaultdict[str, list[Piece]] = defaultdict(list)
    for piece in told:
        if "repeat" not in named.kinds(piece):
            said[piece.message].append(piece)
    texts = ["".join(p.content for p in m if p.kind in ("user", "injected")) for m in said.values()]
    files = {piece.content for pieces in said.values() for piece in pieces if piece.kind == "file"}
    for piece in told:
        if "repeat" in named.kinds(piece):
            is_file = piece.kind == "file"
            there = piece.content in files if is_file else any(piece.content.strip() in text for text in texts)
            assert there, f"nobody else says {piece}"


def _without(found: list[Piece], queued: list[Piece]) -> list[Piece]:
    """Return what was found except for prompts from the queue: they are where they were sent."""
    left = list(found)
    for piece in queued:
        assert piece in left, f"{piece} of the queue is missing"
        left.remove(piece)
    return left


def _expected(told: list[Piece], kinds: tuple[str, ...], named: Named) -> list[Piece]:
    after = (named.after(piece) for piece in told if piece.kind in kinds)
    return [piece for piece in after if piece is not None]


def _same_speech(told: list[Piece], found: list[Piece], named: Named) -> None:
    strays = _files_of_strays(told, named)
    wanted = [piece for piece in _expected(told, SPEECH, named) if piece.content not in strays]
    there = [piece for piece in found if piece.kind in SPEECH and piece.content not in strays]
    for number, (left, right) in enumerate(zip(wanted, there, strict=False)):
        assert left == right, f"piece {number} of {len(wanted)}: {left} became {right}"
    assert wanted[len(there) :] == [], "the end is missing"
    assert there[len(wanted) :] == [], "something was added at the end"


def _files_of_strays(told: list[Piece], named: Named) -> set[Json]:
    """Return the files of results that stand as text: the only place for them is a message of the user."""
    strays = [piece for piece in told if "result-as-text" in named.kinds(piece)]
    return {tuple(block[1:]) for piece in strays for block in piece.content if block[0] == "file"}


def _same_results(told: list[Piece], found: list[Piece], named: Named) -> None:
    wanted = _expected(told, ("result",), named)
    there = [piece for piece in found if piece.kind == "result"]
    assert _without_notes(wanted, named, there) == [], "results are missing"
    assert len(wanted) == len(there), "results were added"
    answers, back = _answers(told, wanted), _answers(found, there)
    if answers is not None and back is not None:
        partly = {piece.content for piece in wanted if "file-left-out" in named.kinds(piece)}
        for before, after in zip(answers, back, strict=True):
            assert len(before) == len(after), "a result went to another call"
            assert before == after or partly & {*before}, f"a result went to another call: {before} became {after}"


def _without_notes(wanted: list[Piece], named: Named, there: list[Piece]) -> list[Piece]:
    """Return the results that are not there; in one that lost a file, the texts that are left count."""
    have = Counter(piece.content for piece in there)
    missing = []
    for piece in wanted:
        if "file-left-out" in named.kinds(piece):
            fitting = [content for content in have if set(piece.content) <= set(content)]
            if not fitting:
                missing.append(piece)
        elif have[piece.content] == 0:
            missing.append(piece)
        else:
            have[piece.content] -= 1
    return missing


def _answers(told: list[Piece], results: list[Piece]) -> list[list[Json]] | None:
    """Return the results of each call, in the order of the calls; None where an id stands for several calls."""
    calls = [piece.call_id for piece in told if piece.kind == "call"]
    if len(set(calls)) != len(calls):
        return None
    by_call: defaultdict[str, list[Json]] = defaultdict(list)
    for piece in results:
        by_call[piece.call_id].append(piece.content)
    return [by_call[call_id] for call_id in calls]


def _all_there(told: list[Piece], found: list[Piece], named: Named) -> None:
    wanted = Counter(_expected(told, (*SPEECH, "result"), named))
    have = Counter(piece for piece in found if piece.kind in (*SPEECH, "result"))
    assert wanted - have == Counter(), "missing from the children"
    assert have - wanted == Counter(), "added to the children"


def _stands_as_text(piece: Piece, found: list[Piece], without_files: bool) -> None:
    """Check that a result without its call is there as injected text, and its files beside it."""
    shown = {_whole(untagged(other.content)).strip() for other in found if other.kind == "injected"}
    files = {other.content for other in found if other.kind == "file"}
    for kind, *content in piece.content:
        there = _whole(content[0]).strip() in shown if kind == "text" else tuple(content) in files or without_files
        assert there or not content[0].strip(), f"the result {piece} is nowhere"
