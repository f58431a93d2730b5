"""Every rule has a test or a stated reason, and nothing cites a rule that does not exist."""

from pathlib import Path

import pytest

from tests.house import rules
from tests.house.tree import ROOT

PAGE = rules.listed((ROOT / rules.LIST).read_text())
MARKED = rules.all_marked()
BUILT = {
    "Canonical model": "model",
    "Adapters": "adapter",
    "Storage substrate": "lance",
    "Session datasets": "session",
    "Protocol": "wire",
    "Search": "search",
}
KNOWN = {rule for entries in PAGE.values() for rule in entries}
DEMANDED = [
    rule
    for heading, entries in PAGE.items()
    if heading != rules.EXCLUDED
    for rule in entries
    if rule not in PAGE[rules.EXCLUDED]
]


@pytest.mark.parametrize("rule", DEMANDED)
def test_a_rule_has_a_test(rule: str) -> None:
    assert rule in {citation.rule for citation in MARKED}, f'mark the test that defends it: @pytest.mark.rule("{rule}")'


def test_the_page_lists_the_rules_of_what_is_built() -> None:
    assert set(PAGE) == {*BUILT, rules.EXCLUDED}
    for heading, topic in BUILT.items():
        assert all(rule.startswith(f"{topic}-") for rule in PAGE[heading])
    assert set(PAGE[rules.EXCLUDED]) <= {rule for heading in BUILT for rule in PAGE[heading]}


def test_a_marker_cites_a_listed_rule() -> None:
    assert [str(citation) for citation in MARKED if citation.rule not in KNOWN] == []


def test_a_comment_cites_a_listed_rule() -> None:
    assert [str(citation) for citation in rules.all_commented() if citation.rule not in KNOWN] == []


def test_markers_are_found_wherever_they_stand() -> None:
    source = (
        "pytestmark = pytest.mark.rule('a-b-c')\n"
        "@pytest.mark.rule('d-e-f')\n"
        "def test_x(): ...\n"
        "CASES = [pytest.param(1, marks=pytest.mark.rule('g-h-i'))]\n"
    )
    assert {citation.rule for citation in rules.marked(source, Path("x.py"))} == {"a-b-c", "d-e-f", "g-h-i"}


@pytest.mark.parametrize(
    "line",
    [
        "# {}: the reason\n",
        "x = 1  # kept apart ({})\n",
        '"""Read one record.\n\nUpholds `{}` and others."""\n',
        "Diagnostic(rule='{}')\n",
    ],
)
@pytest.mark.parametrize("rule", ["lance-made-up", "adapter-no-such-thing"])
def test_citations_are_found_in_python(line: str, rule: str) -> None:
    assert [citation.rule for citation in rules.commented(line.format(rule), Path("x.py"))] == [rule]


@pytest.mark.parametrize(("file", "line"), [("x.map", "a <-> b  # {}"), ("x.lark", "// {}: why"), ("x.toml", "# ({})")])
def test_citations_are_found_in_other_files(file: str, line: str) -> None:
    found = rules.commented(line.format("model-made-up"), Path(file))
    assert [citation.rule for citation in found] == ["model-made-up"]


@pytest.mark.parametrize(
    "line",
    [
        "# an adapter-specific pattern, session-wide\n",
        "# see session-store.jsonl and wire-format-v1/notes\n",
        "text = 'model-not-a-comment'\n",
    ],
)
def test_other_words_are_left_alone(line: str) -> None:
    assert list(rules.commented(line, Path("x.py"))) == []
