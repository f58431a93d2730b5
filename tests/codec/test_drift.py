"""Names of drift: a bounded number of them, whatever the keys are, and counts that add up to all that was met."""

import json
import random
from pathlib import Path
from uuid import UUID

import pytest

from pond.codec.drift import MOST_NAMES, MOST_SIBLINGS, OTHERS, Drift
from tests.cli.command import pond
from tests.laws.rows import SESSION, turn


def counted(*names: str) -> Drift:
    drift = Drift()
    for name in names:
        drift.count(name)
    return drift


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        ([str(n) for n in range(13_889)], "<number>"),
        ([str(UUID(int=n)) for n in range(300)], "<uuid>"),
        ([f"toolu_01{n:04d}YeVLSwKCpPuqansLM" for n in range(300)], "<id>"),
        ([f"{n:064x}" for n in range(10**40, 10**40 + 300)], "<id>"),
        ([f"2026-03-{n:02d}T08:00:00Z" for n in range(1, 31)], "<time>"),
        ([f"/home/ada/tray{'x' * n}" for n in range(MOST_SIBLINGS + 1)], OTHERS),
    ],
)
def test_keys_that_are_data_have_one_name(keys: list[str], shown: str) -> None:
    assert counted(*(f"user.message.{key}" for key in keys)) == {f"user.message.{shown}": len(keys)}


def test_names_of_a_format_stay_as_they_are() -> None:
    names = ["user.cacheCreation1hInputTokens", "event_msg/exec_v2", "assistant.message.usage5m", "user.f_12", "x"]
    assert counted(*names) == dict.fromkeys(names, 1)


def test_other_parents_keep_their_names() -> None:
    drift = counted("user.seen", *(f"user.map.{'k' * n}" for n in range(1, 200)), "user.late")
    assert drift == {"user.seen": 1, f"user.map.{OTHERS}": 199, "user.late": 1}


def test_what_is_folded_does_not_depend_on_the_order() -> None:
    names = [f"{kind}.{'abc'[n % 3] * (n + 1)}" for kind in ("user", "system") for n in range(90)] + [
        "user.7",
        "user.8",
    ]
    whole = counted(*names)
    for seed in range(5):
        random.Random(seed).shuffle(names)
        both = counted(*names[:60])
        both.add(counted(*names[60:]))
        assert both == whole


def test_there_is_a_bound_and_the_counts_add_up() -> None:
    drift = counted(*(f"user.{'p' * (n // 40)}.{'k' * (n % 40)}x" for n in range(60 * MOST_NAMES)))
    assert len(drift) <= MOST_NAMES + 1
    assert sum(drift.values()) == 60 * MOST_NAMES
    assert max(map(len, counted("user." + "k" * 10**6))) < 200


def test_a_message_of_characters_floods_nothing(tmp_path: Path) -> None:
    """A client once wrote `{"0": "e", "1": "v", …}` for a message."""
    row = turn("user", "hi")
    row["message"] |= {str(n): "e" for n in range(13_889)}
    path = tmp_path / f"projects/-home-ada-bench/{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(row) + "\n")
    told = json.loads(pond("ingest", path, "--lake", tmp_path / "lake", "--json").out)
    assert told["drift"] == {"user.message.<number>": 13_889}
    told = json.loads(pond("status", "--lake", tmp_path / "lake", "--json").out)
    assert told["drift"] == {"user.message.<number>": 13_889}
