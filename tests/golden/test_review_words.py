"""What a reviewer reads: one change with something of everything, word for word in both forms; and long ones, cut."""

import json
import re
from collections.abc import Mapping

import pytest

from pond.golden.acknowledged import read_acknowledged
from pond.golden.compare import compare
from pond.golden.render import as_markdown, as_object, as_text
from pond.golden.review import Review, review
from pond.model.json_text import encode
from tests.golden.repository import TOUR, Event, canonical, entry, message, part, session

SAID = [message("m2", role="assistant"), part("m2:0", "Tray 7."), part("m2:1", "Or tray 8?")]

BEFORE = {
    "parley/gone.canonical.json": canonical(session("g"), message("g1", "g")),
    "parley/same.canonical.json": canonical(*TOUR),
    "parley/tour.canonical.json": canonical(*TOUR, *SAID, message("m3", options={"seq": 3}), message("m4")),
    "parley/tour.native.txt": b"# records\n1 say\n2 say\n",
    "parley/tour.to-codex.loss.txt": b"# kind row\ndropped m1\nmerged  m2\n",
    "parley/tour.to-codex.txt": b"1 message\n",
    "parley/torn.canonical.json": canonical(*TOUR),
    "notes.txt": b"old\n",
}
AFTER = {
    "parley/new.canonical.json": canonical(session("n"), message("n1", "n"), message("n2", "n")),
    "parley/new.native.txt": b"1 say\n2 say\n",
    "parley/same.canonical.json": canonical(*TOUR),
    "parley/tour.canonical.json": canonical(
        *TOUR[:2],
        part("m1:0", "Which plants are dry?", "injected"),
        message("k2", role="assistant"),
        part("m2:0", "Tray `7`.", message_id="m2"),
        message("m3", options={"seq": 4}),
        message("m4", options={"seq": 5}),
        message("m5", role="tool"),
    ),
    "parley/tour.native.txt": b"# records\n1 say\n2 ask\n3 say\n",
    "parley/tour.to-codex.loss.txt": b"# kind row why\nmerged  m2\ndropped m9 `why`\n",
    "parley/tour.to-codex.txt": b"1 message\n",
    "parley/torn.canonical.json": b"[\n<<<<<<< HEAD\n",
    "notes.txt": b"new\n",
}
ENTRIES = (
    entry("parley/gone", row="*", because="the <client> never had it")
    + entry("parley/tour", "changed-id", "m2", "ids come from the source")
    + entry("parley/same", row="m1")
)

TEXT = """\
Goldens: 3 of 5 cases changed since main
  1 case added, 1 case removed, 4 rows added, 3 rows removed, 1 id changed, 1 provenance flip, 3 fields changed, \
1 new loss, 1 loss gone, 2 outputs changed

Broken: stored rows are gone or have another key (adapter-integrity-additive-sync)
  golden-removed-row parley/tour: part (text) m2:1
  if this is meant, say why in golden/acknowledged.toml

Not compared
  golden-unreadable: `golden/parley/torn.canonical.json`: expected JSON: expecting value at line 2

Acknowledged
  golden-removed-row parley/gone: session g, because: the <client> never had it
  golden-removed-row parley/gone: message (user) g1, because: the <client> never had it
  golden-changed-id parley/tour: message (assistant) m2 -> k2, because: ids come from the source

Acknowledged, but not found
  parley/same: removed-row m1

parley/gone
  the case is gone: 1 session, 1 message

parley/new
  the case is new: 1 session, 2 messages
  output native added: +2 -0 lines

parley/tour
  row removed: part (text) m2:1
  id changed: message (assistant) m2 -> k2, same content
  provenance conversational -> injected: part (text) m1:0 "Which plants are dry?"
  row added: message (tool) m5
  field text: part (text) m2:0 "Tray 7." -> "Tray `7`."
  field options.seq: message (user) m3 3 -> 4
  field options: message (user) m4 absent -> {"seq": 5}
  new loss to codex: dropped m9 `why`
  gone loss to codex: dropped m1
  output native changed: +2 -1 lines

Other files in golden/
  output notes.txt changed: +1 -1 lines
"""

MARKDOWN = """\
### Goldens: 3 of 5 cases changed since `main`

- 1 case added, 1 case removed, 4 rows added, 3 rows removed, 1 id changed, 1 provenance flip, 3 fields changed, \
1 new loss, 1 loss gone, 2 outputs changed

#### Broken: stored rows are gone or have another key (`adapter-integrity-additive-sync`)

- `golden-removed-row` `parley/tour`: part (text) `m2:1`
- if this is meant, say why in `golden/acknowledged.toml`

#### Not compared

- golden-unreadable: \\`golden/parley/torn.canonical.json\\`: expected JSON: expecting value at line 2

#### Acknowledged

- `golden-removed-row` `parley/gone`: session `g`, because: the \\<client\\> never had it
- `golden-removed-row` `parley/gone`: message (user) `g1`, because: the \\<client\\> never had it
- `golden-changed-id` `parley/tour`: message (assistant) `m2` -> `k2`, because: ids come from the source

#### Acknowledged, but not found

- `parley/same`: removed-row `m1`

#### `parley/gone`

- the case is gone: 1 session, 1 message

#### `parley/new`

- the case is new: 1 session, 2 messages
- output `native` added: +2 -0 lines

#### `parley/tour`

- row removed: part (text) `m2:1`
- id changed: message (assistant) `m2` -> `k2`, same content
- provenance conversational -> injected: part (text) `m1:0` `"Which plants are dry?"`
- row added: message (tool) `m5`
- field `text`: part (text) `m2:0` `"Tray 7."` -> ``"Tray `7`."``
- field `options.seq`: message (user) `m3` `3` -> `4`
- field `options`: message (user) `m4` `absent` -> `{"seq": 5}`
- new loss to `codex`: `` dropped m9 `why` ``
- gone loss to `codex`: `dropped m1`
- output `native` changed: +2 -1 lines

#### Other files in `golden/`

- output `notes.txt` changed: +1 -1 lines
"""


def _review(before: Mapping[str, bytes], after: Mapping[str, bytes], entries: str = "") -> Review:
    acknowledged = read_acknowledged(entries.encode(), "acknowledged.toml")
    return review(compare("main", dict(before), dict(after)), acknowledged, [])


def test_a_change_in_plain_text() -> None:
    assert as_text(_review(BEFORE, AFTER, ENTRIES)) == TEXT


def test_a_change_in_markdown() -> None:
    assert as_markdown(_review(BEFORE, AFTER, ENTRIES)) == MARKDOWN


def test_a_change_as_json() -> None:
    found = json.loads(encode(as_object(_review(BEFORE, AFTER, ENTRIES))))
    assert (found["base"], found["cases"], found["rule"]) == ("main", 5, "adapter-integrity-additive-sync")
    assert [(each["code"], each["row"]["id"]) for each in found["broken"]] == [("golden-removed-row", "m2:1")]
    assert [(each["row"]["id"], each["because"]) for each in found["acknowledged"]] == [
        ("g", "the <client> never had it"),
        ("g1", "the <client> never had it"),
        ("m2", "ids come from the source"),
    ]
    assert found["stale"] == [{"case": "parley/same", "change": "removed-row", "row": "m1", "because": "a reason"}]
    assert [(each["code"], each["severity"]) for each in found["faults"]] == [("golden-unreadable", "error")]
    assert found["other_files"] == [{"name": "notes.txt", "state": "changed", "lines_added": 1, "lines_removed": 1}]
    gone, new, tour = found["changed"]
    assert [(each["case"], each["state"]) for each in (gone, new, tour)] == [
        ("parley/gone", "removed"),
        ("parley/new", "added"),
        ("parley/tour", "changed"),
    ]
    part_row = {"kind": "part", "id": "m2:1", "session": "s", "message": "m2", "what": "text"}
    assert tour["rows"]["removed"] == [part_row]
    assert [(each["old"]["id"], each["new"]["id"]) for each in tour["rows"]["changed_ids"]] == [("m2", "k2")]
    assert [(each["before"], each["after"]) for each in tour["rows"]["flips"]] == [("conversational", "injected")]
    assert [each["field"] for each in tour["rows"]["fields"]] == ["text", "options.seq", "options"]
    assert [(each["target"], each["kind"], each["state"]) for each in tour["losses"]] == [
        ("codex", "dropped", "new"),
        ("codex", "dropped", "gone"),
    ]
    assert [each["name"] for each in tour["outputs"]] == ["native"]


def test_both_forms_say_the_same() -> None:
    """Markdown without its marks is the text."""
    found = _review(BEFORE, AFTER, ENTRIES)

    def words(text: str) -> list[list[str]]:
        lines = (re.sub(r"^(#+|-) |[`\\]", "", line).split() for line in text.splitlines())
        return [line for line in lines if line]

    assert words(as_markdown(found)) == words(as_text(found))


def test_a_field_that_changed_in_many_rows_is_one_line() -> None:
    def rows(seq: int) -> list[Event]:
        return [session(), *(message(f"m{number}", seq=seq) for number in range(30))]

    text = as_text(_review({"p/c.canonical.json": canonical(*rows(1))}, {"p/c.canonical.json": canonical(*rows(2))}))
    assert text.splitlines()[3:] == ["p/c", "  field seq: 30 rows, first message (user) m0 1 -> 2"]


def test_another_order_is_one_line() -> None:
    rows = [session(), message("m1"), message("m2")]
    before, after = ({"p/c.canonical.json": canonical(*rows[::step])} for step in (1, -1))
    assert as_text(_review(before, after)).splitlines()[2:] == ["p/c", "  rows stand in another order"]


def test_of_many_findings_the_first_are_shown_and_the_others_counted() -> None:
    rows = [session(), *(message(f"m{number}") for number in range(20))]
    found = _review({"p/c.canonical.json": canonical(*rows)}, {"p/c.canonical.json": canonical(rows[0])})
    text = as_text(found)
    assert text.count("golden-removed-row") == 12
    assert text.count("… and 8 more like the last") == 2  # under the rule, and under the case
    assert len(as_object(found)["broken"]) == 20


def test_keys_are_shown_as_long_as_they_must_be() -> None:
    after = [session("t"), message("m1", "t"), part("m1:0", "Which plants are dry?", session="t")]
    text = as_text(_review({"p/c.canonical.json": canonical(*TOUR)}, {"p/c.canonical.json": canonical(*after)}))
    assert "id changed: session s -> t, same content" in text
    assert "id changed: message (user) s/m1 -> t/m1, same content" in text
    assert "id changed: part (text) s/m1/m1:0 -> t/m1/m1:0, same content" in text


def test_markdown_fits_into_a_comment_and_says_what_does_not() -> None:
    cases = 900
    before = {f"p/{number:03}.canonical.json": canonical(*TOUR) for number in range(cases)}
    after = {name: canonical(*TOUR[:2], part("m1:0", "x" * 60)) for name in before}
    after["p/000.canonical.json"] = canonical(*TOUR[:2])
    text = as_markdown(_review(before, after))
    shown = len(re.findall("^#### `p/", text, re.MULTILINE))
    assert 0 < shown < cases
    assert len(text) < 65_536
    assert "golden-removed-row" in text
    assert text.endswith(
        f"\n{cases - shown} more changed cases have no room here; `pond golden --base main` shows them.\n"
    )


@pytest.mark.parametrize(
    ("id", "shown"),
    [("a`b", "``a`b``"), ("`a", "`` `a ``"), ("a``b", "```a``b```"), ("", "`  `"), ("a\nb\x1b", "`a\\nb\\x1b`")],
)
def test_any_id_is_one_code_span_on_one_line(id: str, shown: str) -> None:
    rows = [session(), message(id)]
    text = as_markdown(_review({"p/c.canonical.json": canonical(session())}, {"p/c.canonical.json": canonical(*rows)}))
    assert f"- row added: message (user) {shown}\n" in text
