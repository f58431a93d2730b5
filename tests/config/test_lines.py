"""Each key's line is found, whatever is in between."""

import tomllib
from collections.abc import Iterator
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from pond.config.lines import key_lines

TEXT = '''\
# [not.a.table]
a = """
b = 1
[c]
\\""" # ] """" # comment with "quotes and ]
d = [ # [
  { e = 1 }, "]",
  \'\'\'
f = 2 ]\'\'\'\',
]
g = { h = 1, i.j = "}" }
"k.l" . m = 1
[ n . "o p" ]
q = 1
[[r]]
s = 1
[r.t]
u = 1
[n]
v = \'\\\'
w = ""
[[r]]
s = 2'''


def test_lines_are_those_of_the_keys() -> None:
    assert key_lines(TEXT) == {
        ("a",): 2,
        ("d",): 6,
        ("g",): 11,
        ("g", "h"): 11,
        ("g", "i"): 11,
        ("g", "i", "j"): 11,
        ("k.l",): 12,
        ("k.l", "m"): 12,
        ("n",): 13,
        ("n", "o p"): 13,
        ("n", "o p", "q"): 14,
        ("r",): 15,
        ("r", "s"): 16,
        ("r", "t"): 17,
        ("r", "t", "u"): 18,
        ("n", "v"): 20,
        ("n", "w"): 21,
    }


KEYS = st.sampled_from(["a", "b", "'c.d'", '"e\\"#"', "a.b", "b.a"])
VALUES = st.sampled_from(
    [
        "1",
        '"]"',
        "'#'",
        '"""\na = 1\n"""',
        "'''\n[a]'''",
        '""""x""""',
        "[\n1, # ]\n]",
        "{ a = 1, b = [] }",
        "[[\n]]",
        "''",
    ]
)
STATEMENTS = (
    st.tuples(KEYS, VALUES).map(lambda pair: f"{pair[0]} = {pair[1]}")
    | KEYS.map(lambda key: f"[{key}]")
    | KEYS.map(lambda key: f"[[{key}]]")
    | st.sampled_from(["", "# [a]", "  # 'x"])
)


def _paths(value: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, inner in value.items():
        yield (*above, key)
        if isinstance(inner, dict):
            yield from _paths(inner, (*above, key))


@given(st.lists(STATEMENTS, max_size=8))
def test_every_key_of_a_valid_text_has_the_line_of_its_statement(statements: list[str]) -> None:
    text = "\n".join(statements)
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        assume(False)
        raise
    lines = key_lines(text)
    first = 1
    starts = set()
    for statement in statements:
        starts.add(first)
        first += statement.count("\n") + 1
    assert set(_paths(values)) <= set(lines)
    assert set(lines.values()) <= starts
