"""The layout of mapping files: one, stable, and never at the cost of what a file says."""

import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pond.diagnostics.diagnostic import MappingError
from pond.diagnostics.span import Span
from pond.lang import fmt
from pond.lang import parse as language
from pond.lang.fmt import format_map
from pond.lang.parse import parse
from tests.lang.engines import HERE, adapter_maps, all_maps
from tests.lang.test_corpus import DASHES

CORPUS = [path.read_text(encoding="utf-8").partition(DASHES)[0] for path in sorted((HERE / "corpus").glob("*.txt"))]
WORDS = re.compile(r'"(?:[^"\\\n]|\\.)*"|#[^\n]*|<->|<-|=>|-?\d+|[\w-]+|[^\s]')


def meaning(node: object) -> object:
    """Return what a node says, without where it says it."""
    if isinstance(node, Span):
        return None
    if is_dataclass(node):
        shown = [f.name for f in fields(node) if f.name not in ("text", "file") or type(node).__name__ != "Mapping"]
        return (type(node).__name__, *(meaning(getattr(node, name)) for name in shown))
    if isinstance(node, tuple):
        return tuple(meaning(item) for item in node)
    return node


def meaning_of(text: str) -> object:
    return meaning(parse(text, "x.map"))


def test_meaning_leaves_out_places_and_nothing_else() -> None:
    one, two = 'client "x" { "s" => UserMessage { } }', 'client "x" {\n"s" =>\nUserMessage {\n} }'
    assert meaning_of(one) == meaning_of(two)
    assert meaning_of(one) != meaning_of(two.replace("User", "Tool"))
    assert meaning_of(one) != meaning_of(two.replace('"s"', '"t"'))


@pytest.mark.parametrize("path", [*adapter_maps(), *all_maps()], ids=lambda path: path.stem)
def test_our_own_mappings_are_laid_out(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert format_map(text) == text, f"run `pond map fmt {path.name}`"


@pytest.mark.parametrize("text", [*CORPUS, *(p.read_text(encoding="utf-8") for p in all_maps())], ids=lambda t: t[:20])
def test_layout_is_stable_and_keeps_the_meaning(text: str) -> None:
    once = format_map(text)
    assert meaning_of(once) == meaning_of(text)
    assert format_map(once) == once


@given(data=st.data())
def test_any_spacing_comes_to_a_stable_layout_of_the_same_meaning(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(CORPUS))
    spaces = st.sampled_from([" ", "  ", "\n", "\n\n\n", "\t", " # why {\n", '\n# "so\n', "\r\n"])
    words = [word for word in WORDS.findall(text) if not word.startswith("#")]
    scattered = "".join(word + data.draw(spaces) for word in words)
    once = format_map(scattered)
    assert meaning_of(once) == meaning_of(text)
    assert format_map(once) == once
    assert [w for w in WORDS.findall(once) if w[0] == "#"] == [w for w in WORDS.findall(scattered) if w[0] == "#"]
    assert not re.search(r"[ \t]\n|\n\n\n|\n\n\}|\{\n\n|\A\n|[^\n]\Z", once)


UGLY = """
# about the file


client   "heron"{
map 1
      files "a" "b"
   "c"   # the third
  records by kind
rest <-> options.source

 spans harness{
   whole text "x"
   whole prefix "yy"
   span "<a>" "</a>"}

"say"   when  who="bot"   =>AssistantMessage{

    id<->id
    long.path?<->options.heron.x   as json_text
    v implied 7
    # a comment parts a run
    body <-> parts list|string "md"{
      "md"=>TextPart conversational{text<->text keeps a}
      "think" "more"=>ReasoningPart by x{text<->text}
      "call"=>ToolCallPart injected{
        name<-call( call_id )
        generic  media_type
      }
    }
    keeps a b(c d)
    e
    f because "g"

  }
  otherwise carry{}
}
"""
LAID_OUT = """\
# about the file

client "heron" {
  map     1
  files   "a" "b"
          "c"  # the third
  records by kind
  rest    <-> options.source

  spans harness {
    whole text   "x"
    whole prefix "yy"
    span  "<a>" "</a>" }

  "say" when who = "bot" => AssistantMessage {
    id         <-> id
    long.path? <-> options.heron.x as json_text
    v          implied 7
    # a comment parts a run
    body <-> parts list | string "md" {
      "md"           => TextPart      conversational { text <-> text  keeps a }
      "think" "more" => ReasoningPart by x           { text <-> text }
      "call" => ToolCallPart injected {
        name <- call(call_id)
        generic media_type
      }
    }
    keeps a b (c d)
          e
          f because "g"
  }
  otherwise carry { }
}
"""


def test_the_layout() -> None:
    assert format_map(UGLY) == LAID_OUT


def test_every_construct_that_can_begin_a_line_is_known() -> None:
    grammar = Path(language.__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    choices = re.findall(r"^\?(?:clause|item|span_rule): (.*)", grammar, re.MULTILINE)
    names = {name.strip() for line in choices for name in line.split("|")}
    assert {"kind", "claim", "span_wrap"} <= names <= fmt.STARTERS


def test_what_does_not_parse_is_refused() -> None:
    with pytest.raises(MappingError):
        format_map('client "x" {')
