"""Queries of each class over the sessions of `talk`, each with words that some message of the lake really says."""

import random
import re
from collections.abc import Callable, Sequence

from pond.sessions.stored_text import from_micros
from tests.bench import talk
from tests.bench.search_lake import LONG_WORDS, PER_SESSION
from tests.bench.talk import SEED, Talk

_WORD = re.compile(r"[^\W\d_]{4,}")
_PASTED = 1_000  # characters


class Queries:
    """Draws queries; each class has dice of its own, so that asking for one does not change another."""

    def __init__(self, sessions: int) -> None:
        self._sessions = sessions

    def of(self, kind: str, count: int) -> list[str]:
        """Return so many queries of a class."""
        dice = random.Random(f"{SEED}/{kind}")
        return [_KINDS[kind](dice, self._message(dice)) for _ in range(count)]

    def time(self, share: float) -> str:
        """Return a time before which this share of the sessions began."""
        return from_micros(Talk(int(share * self._sessions)).begin * 1_000_000)

    def _message(self, dice: random.Random) -> str:
        """Return a message of some length in Latin letters, as most queries are."""
        while True:
            said = list(Talk(dice.randrange(self._sessions)).said(PER_SESSION))
            text = dice.choice(said).text
            if text.isascii() and len(_WORD.findall(text)) >= 12:
                return text


def _words(dice: random.Random, text: str) -> str:
    return " ".join(dice.sample(_WORD.findall(text), dice.choice((2, 3, 4))))


def _question(dice: random.Random, text: str) -> str:
    """Return some words of the text among those that every text has."""
    common = talk.tongues()["latin"].words[:40]
    said = [*dice.sample(common, 6), *dice.sample(_WORD.findall(text), 4)]
    dice.shuffle(said)
    return " ".join(said) + "?"


def _identifier(dice: random.Random, text: str) -> str:
    return dice.choice(talk.names()[0])


def _phrase(dice: random.Random, text: str) -> str:
    """Return three neighbouring words of one sentence, as an exact phrase."""
    sentences = [sentence.split() for sentence in re.split(r"[.\n]+", text) if re.fullmatch(r"[\w ]+", sentence)]
    words = dice.choice([words for words in sentences if len(words) >= 3] or [_WORD.findall(text)[:3]])
    at = dice.randrange(len(words) - 2)
    return f'"{" ".join(words[at : at + 3])}"'


def _long_messages(dice: random.Random, text: str) -> str:
    """Return what long messages alone say."""
    return " ".join(dice.sample(LONG_WORDS, len(LONG_WORDS)))


def _pasted(dice: random.Random, text: str) -> str:
    while len(text) < _PASTED:
        text += f" {text}"
    return text[:_PASTED].replace('"', " ")


def _pasted_over_long(dice: random.Random, text: str) -> str:
    return f"{_long_messages(dice, text)} {_pasted(dice, text)}"[:_PASTED]


_KINDS: dict[str, Callable[[random.Random, str], str]] = {
    "words": _words,
    "question": _question,
    "identifier": _identifier,
    "phrase": _phrase,
    "long messages": _long_messages,
    "1,000 characters": _pasted,
    "both": _pasted_over_long,
}
CLASSES: Sequence[str] = ("words", "question", "identifier", "phrase")
HOSTILE: Sequence[str] = ("long messages", "1,000 characters", "both")
