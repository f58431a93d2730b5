"""What `pond map explain` says is complete: no rule, reason, pattern or mark of a mapping goes unmentioned."""

import json
from pathlib import Path

import pytest

from pond._locate import schema_dir
from pond.lang.explain import MARKS, check_file, explain, explain_json
from pond.lang.plan import dotted
from pond.model.json_text import encode
from tests.lang.engines import EVERY_FEATURE, HERE, all_maps, engines, engines_of

maps = pytest.mark.parametrize("path", all_maps(), ids=lambda path: path.stem)


@maps
def test_everything_the_plan_says_is_in_the_text(path: Path) -> None:
    plan = engines(path).plan
    text = explain(plan)
    flowing = " ".join(text.split())
    for kind in (*plan.kinds, plan.otherwise):
        assert kind.label in text
        for rule in (*kind.rules, *(rule for part in kind.all_parts for rule in part.rules)):
            assert dotted(rule.source) in text
            assert all(target in text for target in rule.targets)
            assert rule.conversion is None or f"as {rule.conversion}" in text
        for implied in (*kind.implied, *(implied for part in kind.all_parts for implied in part.implied)):
            assert dotted(implied.source) in text
        for part in kind.all_parts:
            assert f"{part.part}, {part.provenance or f'by spans {part.spans}'}" in text
            assert all(f"{fact.target} <- " in text for fact in part.facts)
        for keys, names in kind.known.items():
            assert all(name in text for name in names), keys
        assert all(f"-> options.{space}" in text for _, space in kind.rests)
    for table in plan.spans:
        for words in (*table.between, *table.wraps, table.prefixes, table.exact, table.tails, table.frames):
            assert all(encode(word).decode() in flowing for word in words)
        assert all(f"`{fact}`" in flowing for fact in table.given)
        for keys, labels in table.labelled:
            assert dotted(keys) in flowing
            assert all(encode(label).decode() in flowing for label in labels)
    for _, _, why in plan.kept_because:
        assert " ".join(why.split()) in flowing
    for entry in plan.carried:
        assert " ".join(entry.because.split()) in flowing
    assert all(name in text for name, _ in plan.session)
    assert all(name in text for name, _ in MARKS)


@maps
def test_the_text_fits_a_terminal(path: Path) -> None:
    lines = explain(engines(path).plan).splitlines()
    assert not [line for line in lines if line != line.rstrip()]
    assert [line for line in lines if len(line) > 200] == []


@maps
def test_the_json_is_json(path: Path) -> None:
    about = explain_json(engines(path).plan)
    assert json.loads(json.dumps(about)) == about


def test_every_mark_of_the_schema_that_a_mapping_leaves_is_explained() -> None:
    schema = json.loads((schema_dir() / "canonical.schema.json").read_text())
    marks = set(schema["$defs"]["PondMarks"]["properties"])
    ours = {name.rpartition(".")[2] for name, _ in MARKS if name.startswith("options.pond.")}
    of_the_codec = {"file", "form", "map", "project_from", "path", "moved", "named"}
    of_notices = {"after"}  # pond's own words, which no mapping reads
    assert marks - of_the_codec - of_notices <= ours


SMALL = """
client "heron" {
  files   "{file}.jsonl"
  records by kind
  rest    <-> options.source
  facts   spawned

  session {
    id      <- "{path.file}/{sid}" | first sid of "say" | path.file
    project <- first cwd | path.directory
  }

  spans harness {
    whole when robot = true
    span  "<a>" "</a>"
    wrap  "<b>" "</b>"
    whole prefix "Caution"
    whole text   "stop"
    tail  "See also:"
    frame "## Wish:"
    typed when by = "hand"
    whole given spawned
    whole labelled kinds except "mine" "unknown"
  }

  "say" when who in ("bot", null) and no hidden => AssistantMessage {
    id   <-> id
    at   <-> timestamp as epoch_ms
    v    implied 7
    body <-> parts list | string "md" {
      "md" "txt" => TextPart by harness { text <-> text  keeps tone }
      "call"     => ToolCallPart conversational { tool <-> name  args <-> params as json_text  executed_by client }
    }
    meta rest <-> options.heron (cost)
    keeps mood flags (a b) because "how it felt"
  }

  carries "tick" because "a clock"

  otherwise carry { id? <-> id }
}
"""
EXPLAINED = """\
heron, mapping 1
files:
  {file}.jsonl

SESSION
  id                 = the text "{path.file}/{sid}", filled in, else the first `sid` of "say", else `file` of
      the file's path
  project            = the first `cwd`, else the directory of the file

KIND say/bot+/no-hidden => AssistantMessage
  when `kind` is "say" and `who` is "bot" or null and `hidden` is not there; the client's pass sees it
  carried whole unless these are objects: meta
  id <-> id
  at <-> timestamp as epoch_ms
  v  is not stored where it is 7
  body: a list or a bare string, as one "md"; items become Parts, others keep their place
    TextPart, by spans harness when `type` is "md", or `type` is "txt"
      text <-> text (required)
      stays in options.source: tone
    ToolCallPart, conversational when `type` is "call"
      tool <-> name (required)
      args <-> params as json_text (required)
      provider_executed = false
  what is left of meta -> options.heron: cost
  stays in options.source: flags mood flags.a flags.b (how it felt)

CARRIED WHOLE
  `kind` is "tick": a clock

KIND carry => SystemMessage
  when no kind above takes it
  id <-> id

SPANS harness: what the harness wrote, in a text that may hold a person's words too
  all of it where `robot` is true
  all of it where the pass finds `spawned` true of the record
  all of it where its label in `kinds` is not one of "mine", "unknown"
  not by its beginning where `by` is "hand": a person typed it
  all before a line that begins with "## Wish:", and that
  from "<a>" to "</a>"
  "<b>" and "</b>", not what is between them
  right behind such a block, a line that begins with "See also:"
  all of it where it begins with "Caution"
  all of it where it is "stop"
"""


def test_the_text() -> None:
    text, _, marks = explain(engines_of(SMALL).plan).partition("\nMARKS")
    assert text == EXPLAINED
    assert len(marks.splitlines()) == len(MARKS) + 1


def test_check_file_returns_what_is_wrong() -> None:
    assert check_file(EVERY_FEATURE) == []
    (fault,) = check_file(HERE / "errors" / "rest-missing.map")
    assert (fault.code, fault.span and fault.span.line) == ("map-rest-missing", 2)
