"""Invented sessions for a lake to search: the same for the same number, words as unequally common as real ones.

Nine sessions in ten are written in Latin letters, the others in Cyrillic, Han, Hangul or Thai. Prose holds identifiers,
paths and error messages, and words of the session's own subject. Nothing of it was ever written by anyone.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from math import exp

from pond.model.json_text import JsonObject

SEED = 20260701
CLIENTS = ("claude-code", "codex")
PROJECTS = 2_000
AGENT = "explore"  # the kind of every subagent
_SUBAGENTS = 20  # one session in so many is a subagent's
_WORDS = 60_000
_NAMES = 20_000  # identifiers, and as many paths
_TYPED, _ANSWERED = 14, 30  # words of a message, at the median
_SPREAD, _MOST = 0.8, 1_500
_SENTENCE = 11  # words
_SUBJECT = 12  # words that a session keeps coming back to
_FIRST = 1_760_000_000  # seconds from 1970 at which the first session begins
_ERRORS = ("TypeError", "ValueError", "ConnectionResetError", "E0308", "ENOENT", "panic", "TimeoutError", "KeyError")
_ENDINGS = (".py", ".rs", ".ts", ".go", ".md", ".toml")
_TOOLS = ("Bash", "Read", "Edit", "Grep", "Write")
_LATIN = (
    "b bl br c ch cl cr d dr f fl fr g gl gr h j k l m n p pl pr qu r s sc sh sl sp st str t th tr v w wh y z",
    "a e i o u ai ea ee ie oa oo ou",
    "b ck ct d f g l ld ll m mp n nd ng nt p r rd rn rt s sh ss st t th x",
)
_VOWELS = "\u0430 \u0435 \u0438 \u043e \u0443 \u044b \u044e \u044f"
_OTHERS = " ".join(chr(sign) for sign in range(0x0430, 0x0449) if chr(sign) not in _VOWELS)
_CYRILLIC = (_OTHERS, _VOWELS, _OTHERS)


def _zipf(count: int) -> list[float]:
    """Return the running sum of how often words come: the second half as often as the first, and so on."""
    return list(accumulate(1 / (rank + 2.7) for rank in range(count)))


@dataclass(frozen=True)
class Tongue:
    """The words of a language, the most common first; `between` separates two of them."""

    words: Sequence[str]
    sums: Sequence[float]
    between: str = " "

    def draw(self, dice: random.Random, count: int) -> list[str]:
        return dice.choices(self.words, cum_weights=self.sums, k=count)


def _spoken(dice: random.Random, sounds: tuple[str, str, str], count: int) -> list[str]:
    """Return different words, the common ones short."""
    found: dict[str, None] = {}
    begin, middle, end = (some.split() for some in sounds)
    while len(found) < count:
        syllables = 1 + (len(found) > 300) + (len(found) > 3_000 and dice.random() < 0.4)
        word = "".join(dice.choice(begin) + dice.choice(middle) for _ in range(syllables))
        found[word + dice.choice(end) if dice.random() < 0.8 else word] = None
    return list(found)


def _written(dice: random.Random, first: int, signs: int, count: int) -> list[str]:
    """Return words of one to three signs of a script without spaces."""
    return ["".join(chr(first + dice.randrange(signs)) for _ in range(dice.choice((1, 2, 2, 3)))) for _ in range(count)]


@cache
def tongues() -> dict[str, Tongue]:
    """Return all languages by name."""
    dice = random.Random(f"{SEED}/words")
    words = {
        "latin": _spoken(dice, _LATIN, _WORDS),
        "cyrillic": _spoken(dice, _CYRILLIC, _WORDS // 6),
        "han": _written(dice, 0x4E00, 2_500, _WORDS // 6),
        "hangul": _written(dice, 0xAC00, 2_000, _WORDS // 6),
        "thai": _written(dice, 0x0E01, 46, _WORDS // 6),
    }
    return {
        name: Tongue(some, _zipf(len(some)), "" if name in ("han", "thai") else " ") for name, some in words.items()
    }


@cache
def names() -> tuple[list[str], list[str]]:
    """Return identifiers and paths, which programs are full of."""
    dice, latin = random.Random(f"{SEED}/names"), tongues()["latin"]
    identifiers: list[str] = []
    for number in range(_NAMES):
        parts = latin.draw(dice, 2 + number % 2)
        snake, camel = "_".join(parts), parts[0] + "".join(map(str.title, parts[1:]))
        identifiers.append(dice.choice((snake, camel, camel[:1].upper() + camel[1:])))
    paths = ["/".join(latin.draw(dice, 3)) + dice.choice(_ENDINGS) for _ in range(_NAMES)]
    return identifiers, paths


@dataclass(frozen=True)
class Said:
    """One message of a session."""

    role: str
    text: str
    call: JsonObject | None = None


class Talk:
    """One session."""

    def __init__(self, number: int) -> None:
        self._dice = dice = random.Random(SEED * 1_000_003 + number)
        self.id = f"{dice.getrandbits(32):08x}-{number:06d}"
        self.client = CLIENTS[number % len(CLIENTS)]
        self.project = f"/home/ada/work/p{number * 7919 % PROJECTS:04d}"
        self.begin = _FIRST + number * 500
        self.agent = AGENT if number % _SUBAGENTS == _SUBAGENTS - 1 else None
        name = dice.choices(("latin", "cyrillic", "han", "hangul", "thai"), (90, 4, 3, 2, 1))[0]
        self.tongue = tongues()[name]
        self.subject = self.tongue.draw(dice, _SUBJECT) + dice.choices(names()[0], k=_SUBJECT // 2)

    def said(self, messages: int) -> Iterator[Said]:
        """Yield the first messages: a person and a model in turns, the model with a call now and then."""
        for number in range(messages):
            typed = number % 2 == 0
            text = self._text(_TYPED if typed else _ANSWERED)
            yield Said("user" if typed else "assistant", text, None if typed or number % 3 else self._call())

    def _text(self, median: int) -> str:
        dice = self._dice
        count = min(max(int(median * exp(dice.gauss(0, _SPREAD))), 2), _MOST)
        words = self.tongue.draw(dice, count)
        for at in range(dice.randrange(8), count, 8):
            words[at] = self._special()
        sentences = (words[at : at + _SENTENCE] for at in range(0, count, _SENTENCE))
        return ".\n".join(_sentence(self.tongue.between.join(sentence)) for sentence in sentences) + "."

    def _special(self) -> str:
        dice = self._dice
        kind = dice.random()
        if kind < 0.6:
            return dice.choice(self.subject)
        identifiers, paths = names()
        if kind < 0.8:
            return f" {dice.choice(identifiers)} "
        if kind < 0.95:
            return f" {dice.choice(paths)}:{dice.randrange(400)} "
        return f" {dice.choice(_ERRORS)}: {dice.choice(identifiers)} {dice.getrandbits(16):#x} "

    def _call(self) -> JsonObject:
        return {
            "name": self._dice.choice(_TOOLS),
            "params": {"file_path": f"{self.project}/{self._dice.choice(names()[1])}"},
        }


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def events(talk: Talk, said: Sequence[Said]) -> tuple[JsonObject, list[list[JsonObject]]]:
    """Return a session and its records as canonical events."""
    row: JsonObject = {"kind": "session", "id": talk.id, "source_agent": talk.client, "project": talk.project}
    row |= {"created_at": _time(talk.begin), "options": {}}
    return row, [_record(talk, number, each) for number, each in enumerate(said)]


def _record(talk: Talk, number: int, said: Said) -> list[JsonObject]:
    id = f"{talk.id}-{number:04d}"
    inside = {"kind": "part", "session_id": talk.id, "message_id": id, "provenance": "conversational", "options": {}}
    record = [
        {
            "kind": "message", "session_id": talk.id, "id": id, "role": said.role, "options": {},
            "timestamp": _time(talk.begin + 20 * number),
        },
        {**inside, "id": f"{id}:0", "type": "text", "text": said.text},
    ]  # fmt: skip
    if said.call is not None:
        record.append({**inside, "id": f"{id}:1", "type": "tool_call", "call_id": f"{id}-call", **said.call})
    return record


def _time(seconds: int) -> str:
    from pond.sessions.stored_text import from_micros

    return from_micros(seconds * 1_000_000)
