"""Invented prose and program text for the corpus: no line of it was ever written by anyone."""

import random

_STARTS = ("br", "k", "m", "s", "t", "pl", "gr", "v", "n", "l", "d", "or", "el", "h", "st")
_MIDDLES = ("a", "e", "i", "o", "u", "ai", "ou", "ea", "é", "ø")
_ENDS = ("n", "r", "st", "l", "ss", "m", "th", "ck", "nd", "ve", "")
_MARKS = (". ", ", ", " - ", "? ", "; ", ": ", ".\n\n", ".\n", ' "', '" ', " (", ") ", " `", "` ", " — ", " ♄ ", "'s ")


def _vocabulary(dice: random.Random, count: int) -> list[str]:
    def syllable() -> str:
        return dice.choice(_STARTS) + dice.choice(_MIDDLES) + dice.choice(_ENDS)

    # Letters outside ASCII are rare in real sessions; most words lose theirs again.
    words = ("".join(syllable() for _ in range(dice.choice((1, 1, 2, 2, 3)))) for _ in range(count))
    return [word if dice.random() < 0.03 else word.replace("é", "e").replace("ø", "o") for word in words]


def prose(dice: random.Random, length: int) -> str:
    """Return about `length` letters of sentences."""
    words = _vocabulary(dice, 4000)
    out: list[str] = []
    size = 0
    while size < length:
        out.append(dice.choice(words))
        out.append(dice.choice(_MARKS) if dice.random() < 0.12 else " ")
        size += len(out[-1]) + len(out[-2])
    return "".join(out)


def code(dice: random.Random, length: int) -> str:
    """Return about `length` letters of numbered, indented lines with quotes, tabs and backslashes in them."""
    names = _vocabulary(dice, 1500)
    out: list[str] = []
    size = number = 0
    while size < length:
        number += 1
        one, two, three = dice.choices(names, k=3)
        indent = "    " * dice.randrange(4)
        line = dice.choice(
            (
                f"{indent}def {one}({two}, {three}=None):",
                f'{indent}{one} = {two}["{three}"]',
                f"{indent}if {one} != '{two}\\n': return {three}",
                f"{indent}# {one} {two} {three}",
                f"{one}/{two}.py:{number}: {three}",
                f"{indent}{{ {one}: {number}, {two}: [{number}, 0.5] }},",
                "",
            )
        )
        out.append(f"{number:6}\t{line}\n")
        size += len(out[-1])
    return "".join(out)
