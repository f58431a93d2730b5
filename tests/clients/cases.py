"""The conversations of the matrix. All words are invented; each case is there for the one thing its name says."""

from collections.abc import Iterator

from tests.clients.script import (
    Case,
    Command,
    Compact,
    Helper,
    Prompt,
    Rewind,
    Say,
    Step,
    Think,
    Together,
    Use,
)

_COUNT = Use("shell", "wc -l shelves.txt", "14 shelves.txt\n")
_LONG = "".join(f"shelf {number:06}: {'jars of plum jam, ' * 3}counted twice\n" for number in range(26_500))


def _many_turns() -> Iterator[Step]:
    for number in range(2_000):
        yield Prompt(f"Label jar {number}")
        yield Say(f"Jar {number} is labelled.")


CASES = (
    Case(
        "plain text", (Prompt("Where are the jars?"), Say("In the cellar."), Prompt("How many?"), Say("Forty or so."))
    ),
    Case("tool call", (Prompt("Count the shelves"), Say("I will count."), _COUNT, Say("There are fourteen shelves."))),
    Case(
        "failed tool",
        (
            Prompt("Open the locked cupboard"),
            Use("shell", "cat cupboard/list", "cat: cupboard/list: Permission denied\n", failed=True),
            Say("The cupboard stays shut."),
        ),
    ),
    Case(
        "parallel tools",
        (
            Prompt("Look at both shelves"),
            Say("Both at once."),
            Together((Use("shell", "cat left", "plum\n"), Use("shell", "cat right", "quince\n"))),
            Say("Plum on the left, quince on the right."),
        ),
    ),
    Case(
        "interrupted at the end",
        (
            Prompt("Count the shelves"),
            _COUNT,
            Say("Fourteen."),
            Prompt("Stir"),
            Say("Stirring."),
            Use("shell", "stir", None),
        ),
    ),
    Case(
        "parallel, one interrupted",
        (
            Prompt("Stir and count"),
            Say("Both."),
            Together((Use("shell", "wc -l shelves.txt", "14 shelves.txt\n"), Use("shell", "stir", None))),
            Prompt("Stop, how many?"),
            Say("Fourteen, and it is not stirred."),
        ),
    ),
    Case("empty result", (Prompt("Ask for rain"), Use("mcp", "rain", ""), Say("The almanac is silent."))),
    Case(
        "prompts without answers",
        (
            Prompt("Light the stove"),
            Say("It burns."),
            Prompt("Put the kettle on"),
            Prompt("No, leave it"),
            Say("It stays where it is."),
            Prompt("And the lid?"),
        ),
    ),
    Case(
        "interrupted in the middle",
        (
            Prompt("Stir the pot"),
            Say("I am stirring slowly."),
            Use("shell", "stir --slowly", None),
            Prompt("Stop stirring, what is in it?"),
            Say("Plums and sugar."),
        ),
    ),
    Case(
        "picture in a prompt",
        (Prompt("What grows here?", picture=True), Say("A quince."), Prompt("Ripe?"), Say("Not yet.")),
    ),
    Case(
        "picture in a result",
        (Prompt("Look at the label"), Use("picture", "label.png", ""), Say("The label is green.")),
    ),
    Case(
        "sealed reasoning",
        (
            Prompt("Which jar first?"),
            Think("The oldest has to go first."),
            Say("The oldest."),
            Prompt("Good"),
            Say("Yes."),
        ),
    ),
    Case(
        "open reasoning",
        (
            Prompt("Which jar last?"),
            Think("The newest can wait.", sealed=False),
            Say("The newest."),
            Prompt("Fine"),
            Say("Indeed."),
        ),
    ),
    Case(
        "unicode",
        (
            Prompt("Mark the jars \U0001f33f \U0001f469\u200d\U0001f33e and the תות and the مربى"),
            Say("Done: cafe\u0301, nai\u0308ve, \u202eebircs\u202c, 果酱 \U0001f9fa"),
            Use("shell", "echo cut \ud83c", "cut in half: \ufffd \u2028 end\n"),
            Say("A label was cut."),
        ),
    ),
    Case(
        "compaction",
        (
            Prompt("Sort the jars by age"),
            _COUNT,
            Say("They are sorted by age."),
            Compact("The jars were counted and sorted by age; plum is the oldest."),
            Prompt("Which is the oldest?"),
            Say("Plum, as we found."),
        ),
    ),
    Case(
        "compaction, answer kept",
        (
            Prompt("Sort the jars by size"),
            Say("They are sorted by size."),
            Compact("The jars were sorted by size.", keeps_answer=True),
            Prompt("Which is the largest?"),
            Say("The gherkin jar."),
        ),
    ),
    Case(
        "rewound",
        (
            Prompt("Begin a list"),
            Say("The list is begun."),
            Prompt("Put figs on it"),
            Say("Figs are on it."),
            Rewind(),
            Prompt("Put pears on it"),
            Say("Pears are on it."),
        ),
    ),
    Case(
        "subagent",
        (
            Prompt("Let someone inspect the attic"),
            Helper(
                "Inspect the attic and report",
                (Say("Climbing up."), Use("shell", "ls attic", "two crates\n"), Say("There are two crates.")),
                "There are two crates.",
            ),
            Say("The attic holds two crates."),
        ),
    ),
    Case(
        "tool with a free text",
        (
            Prompt("Rename the jar"),
            Use("patch", "*** Begin Patch\n*** Update File: labels.txt\n-plum\n+damson\n*** End Patch\n", "Done.\n"),
            Say("It says damson now."),
        ),
    ),
    Case(
        "mcp tool",
        (
            Prompt("Ask the almanac about frost"),
            Use("mcp", "frost", "First frost: late October"),
            Say("Late in October."),
        ),
    ),
    Case(
        "command",
        (Prompt("Good day"), Say("Good day to you."), Command("jars left"), Prompt("So?"), Say("Nine are left.")),
    ),
    Case(
        "2 MB result",
        (Prompt("Print the whole ledger"), Use("shell", "cat ledger", _LONG), Say("That was the ledger.")),
    ),
    Case("2000 turns", tuple(_many_turns())),
)
