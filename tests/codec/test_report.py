"""What a report says of many faults, and of one that is taken back."""

import pytest

from pond.codec.report import MOST_SHOWN, Report


@pytest.mark.parametrize("before", [0, 1, MOST_SHOWN - 1, MOST_SHOWN, MOST_SHOWN + 5])
def test_the_fault_of_a_last_line_can_be_taken_back(before: int) -> None:
    report, without = Report(), Report()
    for each in (report, without):
        each.error("source-unreadable", "no", "other")
        for line in range(before):
            each.error("source-not-json", "odd", "log", line + 1)
    report.error("source-not-json", "cut off", "log", 999)
    report.cut_off = ("source-not-json", "log", 999)
    for each in (report, without):
        each.error("source-type", "text", "log", 3, "$.a")
        each.error("source-type", "text", "log", 4, "$.a")
    assert report.withdraw_cut_off()
    assert [(d, d.count) for d in report.faults] == [(d, d.count) for d in without.faults]
    assert not report.withdraw_cut_off()
