"""Find conversation that was carried along instead of being typed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain

from pond.codec.registry import adapter
from pond.lang.check import check
from pond.lang.context import Reading
from pond.lang.parse import parse
from pond.lang.plan import CARRY, CarriedPlan, Condition, Plan
from pond.lang.runtime import MISSING, at
from pond.model.json_text import Json, JsonObject

# The blocks that the providers' interfaces give conversation in, and the key that holds the words. Reasoning that only
# the provider can read (`redacted_thinking`, `encrypted_content`) holds none.
_WORDS = {
    "text": "text", "input_text": "text", "output_text": "text", "summary_text": "text", "reasoning_text": "text",
    "refusal": "refusal", "thinking": "thinking", "tool_use": "input", "server_tool_use": "input",
    "mcp_tool_use": "input", "tool_result": "content", "function_call": "arguments", "function_call_output": "output",
    "custom_tool_call": "input", "custom_tool_call_output": "output", "input_image": "image_url",
    "image_url": "image_url",
}  # fmt: skip
_PAYLOADS = ("data", "url")  # of the `source` of an image or document


class Told(Reading):
    """A reading that remembers whether it was told of drift or of a value that did not fit."""

    told = False

    def note(self, code: str, path: str, message: str) -> None:
        self.told = True

    def drift(self, code: str, kind: str, names: Iterable[str]) -> None:
        self.told = True


@dataclass(frozen=True)
class Carried:
    """A piece of conversation in a record's residue, and whether reading reported something about that record."""

    path: str
    value: Json
    told: bool


@cache
def plan_of(client: str) -> Plan:
    """Return the checked mapping of a client."""
    folder = adapter(client).folder
    file = folder / f"{folder.name}.map"
    return check(parse(file.read_text(encoding="utf-8"), file.name))


def carried_content(client: str, records: list[Json], session_id: str, project: str) -> tuple[int, list[Carried]]:
    """Return how many parts were made, and the conversation that stayed behind although no declaration says so."""
    plan, module = plan_of(client), adapter(client).module
    context = Told(session_id, project, None)
    parts, found = 0, []
    for record in records:
        if type(record) is not dict or _declared(plan, record):
            continue
        context.told = False
        events = module.read(record, context)
        parts += sum(event["kind"] == "part" for event in events)
        for path, value in chain.from_iterable(_left_in(plan, event) for event in events):
            found.append(Carried(path, value, context.told))
    return parts, found


def _declared(plan: Plan, record: JsonObject) -> bool:
    """Tell whether the mapping says why records like this one are carried whole."""
    if any(_fits(kind.literal, kind.conditions, plan, record) for kind in plan.kinds if kind.label != CARRY):
        return False
    return any(_carries(carried, plan, record) for carried in plan.carried)


def _carries(carried: CarriedPlan, plan: Plan, record: JsonObject) -> bool:
    return bool(carried.because) and _fits(carried.literal, carried.conditions, plan, record)


def _fits(literal: str | None, conditions: tuple[Condition, ...], plan: Plan, record: JsonObject) -> bool:
    kind = at(record, *plan.discriminator)
    if kind != literal if literal is not None else kind is not MISSING:
        return False
    return all(_holds(condition, record) for condition in conditions)


def _holds(condition: Condition, record: JsonObject) -> bool:
    value = at(record, *condition.keys)
    if condition.op == "in":
        return type(value) is str and value in condition.values
    return (value is not MISSING) == (condition.op == "has")


def _left_in(plan: Plan, event: JsonObject) -> Iterator[tuple[str, Json]]:
    label = event["options"].get("pond", {}).get("as", "")
    kept = {key for kind, key, because in plan.kept_because if kind == label and because}
    for space, residue in event["options"].items():
        if space == "source" and type(residue) is dict:
            residue = {key: value for key, value in residue.items() if key not in kept}
        if space != "pond":
            yield from _content(residue, space)


def _content(value: Json, path: str) -> Iterator[tuple[str, Json]]:
    """Yield every block of conversation inside a value, with its path."""
    if type(value) is list:
        for index, item in enumerate(value):
            yield from _content(item, f"{path}[{index}]")
    elif type(value) is dict:
        kind = value.get("type")
        if type(kind) is str and _says_something(kind, value):
            yield path, value
            return
        for key, item in value.items():
            yield from _content(item, f"{path}.{key}")


def _says_something(kind: str, block: JsonObject) -> bool:
    if kind in ("image", "document") and type(block.get("source")) is dict:
        return any(type(block["source"].get(key)) is str and block["source"][key] for key in _PAYLOADS)
    words = block.get(_WORDS.get(kind, ""))
    return type(words) in (str, list, dict) and bool(words)
