"""The terms by which full text finds a message: rules by script and length only (search-language-neutral-index).

A text becomes its words in their order, so that a phrase is a run of terms. After them comes what else finds a word:
its beginning, its end, itself without diacritics, and the neighbour to which it is joined in an identifier. No language
is asked for and none is guessed.
"""

from __future__ import annotations

import re
import unicodedata

RULES = 2  # the version of the rules below: a message with terms of another one gets new ones

_BEGINNING, _END = 4, 6  # letters of a word that also find it
_LONG = 9  # letters of a word that is also found by its end: compounds are that long
_LONGEST = 64  # letters of a word that count: longer ones are data, not words
_REMEMBERED = 1 << 16  # pieces of text
_CACHED = 48  # characters of a piece of text whose terms are cached

# Signs that belong to the letter before them and are not letters to `re`: without them words of many scripts break.
_SIGNS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0963\u0966-\u0dff"
)
# Scripts without spaces between words, and Hangul, which adds endings to them.
_DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3031-\u3035\u3041-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_WORD = re.compile(rf"[{_DENSE}]+|(?:[^\W_{_DENSE}]|[{_SIGNS}])+")
_IS_DENSE = re.compile(f"[{_DENSE}]")
# Where a word begins inside `mergeInsert`, `HTTPError`: before a capital that follows a small letter or precedes one.
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_HAS_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z][A-Z][a-z]")
_STROKES = str.maketrans("đøłħŧıæœ", "dolhtiao")  # letters with a stroke, which Unicode does not decompose


def terms(text: str) -> str:
    """Return the terms of a text, with spaces between them: its words in order first."""
    found = [_PIECES[piece] for piece in normal(text).split()]
    return " ".join([words for words, _ in found if words] + [others for _, others in found if others])


def words(text: str) -> list[str]:
    """Return the words of a text as they are among its terms, in order; pairs of letters if a script is dense."""
    return [word for piece in normal(text).split() for word in words_of_piece(piece)]


def words_of_piece(piece: str) -> list[str]:
    """Return the words of a piece of `normal` text without spaces."""
    return _PIECES[piece][0].split()


def is_dense(word: str) -> bool:
    """Tell whether a word is in a script without spaces between words."""
    return _IS_DENSE.match(word) is not None


def ending(word: str) -> str:
    """Return the term for the end of a word."""
    return f"~{word[-_END:]}"


def may_end_a_compound(word: str) -> bool:
    """Tell whether a word is too short to be found by its end, and long enough to be the end of a compound."""
    return _END <= len(word) < _LONG and not is_dense(word)


def without_diacritics(word: str) -> str:
    """Return a word in plain Latin letters, if it is written in Latin letters."""
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFD", word)
    plain = "".join(letter for letter in apart if not unicodedata.combining(letter)).translate(_STROKES)
    return plain if plain.isascii() else word


def normal(text: str) -> str:
    """Return a text with one spelling for each letter: `é` is one character, wide letters are plain ones."""
    return text if text.isascii() or unicodedata.is_normalized("NFKC", text) else unicodedata.normalize("NFKC", text)


def _piece_terms(piece: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of a piece of text without spaces, and what else finds them."""
    if piece.isascii() and piece.isalpha() and (piece.islower() or piece.istitle() or piece.isupper()):
        return _plain_word_terms(piece[:_LONGEST].lower())  # most pieces, and the same terms as below
    words: list[str] = []
    others: list[str] = []
    before = ""  # the word to which the next one is joined
    for run in _WORD.findall(piece):
        if is_dense(run):
            words += [run[at : at + 2] for at in range(max(len(run) - 1, 1))]
            others += _HAN.findall(run) if len(run) > 1 else ()
            before = ""
            continue
        for part in _HUMP.split(run) if _HAS_HUMP.search(run) else (run,):
            word = part[:_LONGEST].casefold()
            words.append(word)
            if len(word) > _BEGINNING:
                others.append(word[:_BEGINNING])
                if len(word) >= _LONG:
                    others.append(ending(word))
            if before:
                others.append(f"{before}{word}")
            if (plain := without_diacritics(word)) != word:
                others.append(plain)
                if len(plain) > _BEGINNING:
                    others.append(plain[:_BEGINNING])
            before = word
    return tuple(words), tuple(others)


def _plain_word_terms(word: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if len(word) <= _BEGINNING:
        return (word,), ()
    if len(word) < _LONG:
        return (word,), (word[:_BEGINNING],)
    return (word,), (word[:_BEGINNING], ending(word))


class _Pieces(dict[str, tuple[str, str]]):
    """The terms of pieces of text, words and others each separated by spaces; short ones are cached."""

    def __missing__(self, piece: str) -> tuple[str, str]:
        words, others = _piece_terms(piece)
        found = " ".join(words), " ".join(others)
        if len(piece) <= _CACHED:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[piece] = found
        return found


_PIECES = _Pieces()
