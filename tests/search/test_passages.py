"""Passages are judged by a few of their words, as if all of them had been looked at."""

from hypothesis import given
from hypothesis import strategies as st

from pond.search.passages import Passage, passages, shared
from pond.search.sought import Sought, sought
from pond.sessions import terms

# Letters whose case, width or marks change a text's length or its words, beside plain ones that meet often.
LETTERS = (
    "abcdeABC_/.-  \n\t\u00e9\u00df\u0130\u0131\u00f8\u0111\u0302\u1ea1\uff41\ufb01\u6771\u4eac\u0e44\u0e17\ud55c\u0451"
)
TEXTS = st.text(alphabet=LETTERS, max_size=300)


def _all_words_met(text: str, wanted: Sought) -> tuple[float, ...]:
    """Return how well each sought word is met, by looking at every word of a text."""
    words = terms.words(text)
    held = {*words, *(terms.without_diacritics(word) for word in words)}
    return tuple(_met(word, words, held) for word in wanted.words)


def _met(word: str, words: list[str], held: set[str]) -> float:
    if word in held:
        return 1.0
    forms = [other for other in held if len(word) >= 4 and other[:4] == word[:4]]
    best = max((shared(word, other) / max(len(word), len(other)) for other in forms), default=0.0)
    inside = len(word) >= 6 and any(word in other for other in words)
    return max(best, 0.8) if inside else best


@given(TEXTS, TEXTS)
def test_a_word_is_met_as_if_every_word_had_been_looked_at(text: str, query: str) -> None:
    wanted = sought(query, {})
    for passage in passages(text, wanted):
        assert passage.met == _all_words_met(passage.text, wanted)


def _met_in(text: str, query: str) -> tuple[float, ...]:
    (passage,) = passages(text, sought(query, {}))
    return passage.met


def test_forms_and_parts_of_words_count_less_than_the_word() -> None:
    assert _met_in("we merged it", "merged") == (1.0,)
    assert _met_in("we merged it", "merging") == (4 / 7,)
    assert _met_in("Hafenverwaltung", "verwaltung") == (0.8,)
    assert _met_in("nothing of the kind", "harbour") == (0.0,)


def test_diacritics_may_be_left_out_and_letters_may_be_of_any_kind() -> None:
    assert _met_in("Đường phố", "duong pho") == (1.0, 1.0)
    assert _met_in("die Straße", "strasse") == (1.0,)
    assert _met_in("\uff28\uff34\uff34\uff30", "http") == (1.0,)
    assert _met_in("\u6771\u4eac\u90fd\u306b", "\u4eac\u90fd") == (1.0,)


def test_of_a_long_text_the_passages_that_hold_what_is_sought_are_kept() -> None:
    filler = "A line that says nothing in particular, as most of them do, and goes on for a while.\n" * 200
    found = passages(f"{filler}The cormorant dries its wings.\n{filler}", sought("cormorant wings", {}))
    assert len(found) <= 8
    assert max(found, key=_weight).met == (1.0, 1.0)


def _weight(passage: Passage) -> float:
    return sum(passage.met)
