"""Random source records: first such as fit a mapping's rules, then bent as a client or a bad day could bend them."""

from collections.abc import Callable, Iterator
from random import Random

from pond.lang.plan import Condition, ImpliedRule, Keys, KindPlan, ListPlan, PartPlan, Plan, Rule
from pond.model.json_text import Json, JsonObject, Numeral
from tests.lang.engines import copy

TIMES = (
    "2026-03-04T05:06:07.089Z", "2026-03-04T05:06:07.089Z", "2026-03-04T05:06:07Z", "2026-03-04T05:06:07.1Z",
    "2026-03-04T05:06:07.123456Z", "2026-03-04T05:06:07.123456789Z", "2026-03-04T05:06:07.000+00:00",
    "2026-03-04T05:06:07.5+05:30", "2026-03-04t05:06:07z", "2026-03-04 05:06:07.250-11:00", "0001-01-01T00:00:00.000Z",
    "9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00+01:00", "2026-03-04T05:06:60.000Z", "2026-13-04T05:06:07.000Z",
    "2026-03-04T24:00:00.000Z", "2026-03-04T05:06:07", "2026-03-04T05:06:07,000Z", "20260304T050607.000000Z",
    "soon", "",
)  # fmt: skip
MOMENTS = (
    1_772_600_767_089, 1_772_600_767, 0, -1, 1.5, 1_772_600_767.25, -0.0, 1e15, 253_402_300_799_999, 2**53 + 1, 10**30,
    253_402_300_800, -62_135_596_800_000, 1e-9, 0.1, 1_772_600_767_089.5,
)  # fmt: skip
TEXTS_OF_JSON = (
    '{"a":1}', '{"a": 1}', '{"a":1.0}', '{"a":1,"a":2}', '{"a":12345678901234567890123}', "[1,2]", "[1, 2]",
    "null", '"x"', '{"é":"\\u00e9"}', '{"\\u00e9":1}', "{}", "", " {}", "{", "not json", "1e400", "NaN", "-0.0",
    '{\n  "a": 1\n}', "1E5", '"\\ud800"', "[" * 300 + "]" * 300, '{"a":"\\/"}', "-0", "1.10", "true",
)  # fmt: skip
DATA_URLS = (
    "data:image/png;base64,aGk=", "data:a;base64,", "data:text/plain;charset=utf-8;base64,eA", "data:,x", "https://e.org/x",
    "data:image/png;base64,a\nb", "",
)  # fmt: skip
WORDS = (
    "Please",
    "look at",
    "the",
    "<tag>",
    "file.",
    "\n",
    "\n\n",
    " ",
    "```",
    "```py\n",
    "ünï",
    "\U0001f986",
    "x" * 300,
)
PLAIN: tuple[Json, ...] = (
    None, True, False, 0, 1, -1, 2**63 - 1, 0.0, -0.0, 1.0, 1e300, 5e-324, 0.1, "", " ", "x", "\x00", "\u2028",
    "\U0001f986", [], {}, [[]], [{}], [None], {"": {}}, {"type": "text"}, {"type": None}, {"type": ["text"]},
    {"type": {}},
)  # fmt: skip
# Values that the fast JSON library cannot print or read.
HARD: tuple[Json, ...] = (
    2**63, 2**64 + 1, -(10**40), Numeral("NaN"), Numeral("Infinity"), Numeral("-Infinity"), Numeral("1E+400"), "\ud800",
    "a\udfffb", ["\udc00\ud800"],
)  # fmt: skip
KEYS = ("", "type", "text", "id", "kind", "content", "options", "source", "pond", "brandNew", "a.b", "message.content")


class Records:
    """A supply of records for one plan, all drawn from `random` and nothing else."""

    def __init__(self, plan: Plan, random: Random) -> None:
        self.plan, self.random = plan, random
        kinds = (*plan.kinds, plan.otherwise)
        self.keys = sorted({*KEYS, *(key for kind in kinds for keys in _paths(plan, kind) for key in keys)})
        lists = [listed for kind in kinds for listed in kind.lists]
        named = {block.literal for listed in lists for block in listed.blocks if block.literal}
        self.names = sorted({"brand-new", *named, *(name for listed in lists for name, _ in listed.left)})
        self.literals = [k.literal for k in kinds if k.literal is not None] + [c.literal for c in plan.carried]
        self.pairs = [pair for table in plan.spans for pair in (*table.between, *table.wraps)]
        self.markers = [marker for pair in self.pairs for marker in pair]
        self.markers += [
            m for table in plan.spans for m in (*table.prefixes, *table.exact, *table.tails, *table.frames)
        ]
        self.bends: tuple[Callable[[JsonObject], None], ...] = (
            self._drop, self._drop, self._retype, self._retype, self._rename, self._nest, self._unwrap, self._inject,
            self._bend_list, self._bend_list, self._swap, self._shuffle, self._misname,
        )  # fmt: skip

    def fitting(self) -> JsonObject:
        """Return a record of some kind, with most of what its rules ask for."""
        random = self.random
        if self.plan.carried and random.random() < 0.05:
            carried = random.choice(self.plan.carried)
            record = self.junk_object(2)
            self._put(record, self.plan.discriminator, carried.literal)
            self._satisfy(record, carried.conditions)
            return record
        kind = random.choice((*self.plan.kinds, self.plan.otherwise))
        record = {}
        if kind.literal is not None:
            self._put(record, self.plan.discriminator, kind.literal)
        self._claims(record, kind.rules, 0.93)
        self._implied(record, kind.implied)
        for listed in kind.lists:
            if random.random() < 0.95:
                self._put(record, listed.source, self._listed(listed))
        for part in kind.parts:
            self._claims(record, part.rules, 0.97)
            self._implied(record, part.implied)
        for keys, _ in kind.rests:
            if random.random() < 0.5:
                self._leftovers(record, keys, kind.known.get(keys, frozenset()))
        for keys, names in kind.known.items():
            if random.random() < 0.6:
                self._leftovers(record, keys, names)
        self._satisfy(record, kind.conditions)
        for table in self.plan.spans:
            if table.conditions and random.random() < 0.1:
                self._satisfy(record, (random.choice(table.conditions),))
            if table.typed and random.random() < 0.2:
                self._satisfy(record, (random.choice(table.typed),))
            for keys, labels in table.labelled:
                if random.random() < 0.3:
                    self._put(
                        record,
                        keys,
                        [random.choice((*labels, "harness", None)) for _ in range(random.choice((1, 1, 2, 3)))],
                    )
        return record

    def bent(self) -> JsonObject:
        """Return a fitting record after a few changes for the worse."""
        record = self.fitting()
        for _ in range(self.random.choice((0, 1, 1, 2, 3, 6))):
            self.random.choice(self.bends)(record)
        return record

    def junk(self, depth: int = 3) -> Json:
        """Return any JSON value."""
        random = self.random
        if depth == 0 or random.random() < 0.55:
            chance = random.random()
            return self._text() if chance < 0.3 else copy(random.choice(HARD if chance < 0.36 else PLAIN))
        if random.random() < 0.5:
            return [self.junk(depth - 1) for _ in range(random.randrange(4))]
        return self.junk_object(depth)

    def junk_object(self, depth: int = 3) -> JsonObject:
        """Return any JSON object; its keys are often ones the mapping knows."""
        return {self._key(): self.junk(depth - 1) for _ in range(self.random.randrange(5))}

    # --- what fits ---------------------------------------------------------------------------------------------------

    def _claims(self, record: JsonObject, rules: tuple[Rule, ...], likely: float) -> None:
        for rule in rules:
            if self.random.random() < likely:
                self._put(record, rule.source, self._value(rule))

    def _value(self, rule: Rule) -> Json:
        random = self.random
        match rule.conversion:
            case "rfc3339":
                return random.choice(TIMES)
            case "epoch_ms" | "epoch_s":
                return random.choice(MOMENTS)
            case "json_text":
                return random.choice(TEXTS_OF_JSON) if random.random() < 0.8 else self.junk(2)
            case "data_url":
                return random.choice(DATA_URLS)
            case "texts":
                return [{"type": rule.argument, "text": self._text()} for _ in range(random.randrange(4))]
        if rule.fallback is not None and random.random() < 0.2 and isinstance(rule.fallback, str | bool):
            return rule.fallback
        match rule.accepts:
            case "boolean":
                return random.random() < 0.5
            case "any":
                return self.junk(2)
        return f"id-{random.randrange(40)}" if rule.targets[0].endswith("id") else self._text()

    def _implied(self, record: JsonObject, rules: tuple[ImpliedRule, ...]) -> None:
        for rule in rules:
            chance = self.random.random()
            if chance < 0.8:
                sessions = {"id": "s-1", "project": "/home/ada/engine"}
                self._put(record, rule.source, sessions[rule.session_field] if rule.session_field else rule.value)
            elif chance < 0.9:
                self._put(record, rule.source, self.junk(1))

    def _satisfy(self, record: JsonObject, conditions: tuple[Condition, ...]) -> None:
        for condition in conditions:
            match condition.op:
                case "in":
                    self._put(record, condition.keys, self.random.choice(condition.values))
                case "has":
                    if _at(record, condition.keys) is _NOTHING:
                        self._put(record, condition.keys, self.junk(1))
                case "no":
                    holder = _at(record, condition.keys[:-1])
                    if type(holder) is dict:
                        holder.pop(condition.keys[-1], None)

    def _listed(self, rule: ListPlan) -> Json:
        if "string" in rule.shapes and self.random.random() < 0.3:
            return self._text()
        return [self._item(rule) for _ in range(self.random.choice((0, 1, 1, 1, 2, 3, 6)))]

    def _item(self, rule: ListPlan) -> Json:
        random = self.random
        if not rule.blocks or random.random() < 0.08:
            return self.junk(2)
        block: PartPlan = random.choice(rule.blocks)
        item: JsonObject = {"type": block.literal if random.random() < 0.95 else random.choice(self.names)}
        self._claims(item, block.rules, 0.93)
        self._implied(item, block.implied)
        if random.random() < 0.3:
            self._leftovers(item, (), block.known.get((), frozenset()))
        self._satisfy(item, block.conditions)
        return item

    def _leftovers(self, record: JsonObject, keys: Keys, names: frozenset[str]) -> None:
        for name in sorted(names):
            if self.random.random() < 0.15 and _at(record, (*keys, name)) is _NOTHING:
                self._put(record, (*keys, name), self.junk(1))
        if self.random.random() < 0.1:
            self._put(record, (*keys, self._key()), self.junk(1))

    def _text(self) -> str:
        random = self.random
        words = []
        for _ in range(random.choice((0, 1, 1, 2, 3, 8))):
            chance = random.random() if self.markers else 1
            if chance < 0.15:
                words.append(random.choice(self.markers))
            elif chance < 0.35 and self.pairs:
                opening, closing = random.choice(self.pairs)
                words.append(f"\n{opening}{random.choice(WORDS)}{closing}\n")
            else:
                words.append(random.choice(WORDS))
        return random.choice(("", " ", "\n")).join(words)

    def _key(self) -> str:
        return self.random.choice(self.keys) if self.random.random() < 0.99 else "\ud800"

    def _put(self, record: JsonObject, keys: Keys, value: Json) -> None:
        for key in keys[:-1]:
            if type(record.get(key)) is not dict:
                record[key] = {}
            record = record[key]
        record[keys[-1]] = value

    # --- what does not -----------------------------------------------------------------------------------------------

    def _place(self, record: JsonObject) -> tuple[JsonObject, str] | None:
        """Return an object inside the record and one of its keys."""
        places = [(holder, key) for holder in _objects(record) for key in holder]
        return self.random.choice(places) if places else None

    def _drop(self, record: JsonObject) -> None:
        if place := self._place(record):
            del place[0][place[1]]

    def _retype(self, record: JsonObject) -> None:
        if place := self._place(record):
            place[0][place[1]] = self.junk(2)

    def _rename(self, record: JsonObject) -> None:
        if place := self._place(record):
            value = place[0].pop(place[1])
            place[0][self._key()] = value

    def _nest(self, record: JsonObject) -> None:
        if place := self._place(record):
            value = place[0][place[1]]
            place[0][place[1]] = {self._key(): value} if self.random.random() < 0.7 else [value]

    def _unwrap(self, record: JsonObject) -> None:
        if place := self._place(record):
            value = place[0][place[1]]
            inside = list(value.values()) if type(value) is dict else value if type(value) is list else None
            if inside:
                place[0][place[1]] = self.random.choice(inside)

    def _inject(self, record: JsonObject) -> None:
        self.random.choice(list(_objects(record)))[self._key()] = self.junk(2)

    def _swap(self, record: JsonObject) -> None:
        """Let two values change places."""
        one, two = self._place(record), self._place(record)
        if one and two:
            values = copy(one[0][one[1]]), copy(two[0][two[1]])
            two[0][two[1]], one[0][one[1]] = values

    def _shuffle(self, record: JsonObject) -> None:
        holder = self.random.choice(list(_objects(record)))
        pairs = list(holder.items())
        self.random.shuffle(pairs)
        holder.clear()
        holder.update(pairs)

    def _misname(self, record: JsonObject) -> None:
        """Claim to be another kind, or none that can be named."""
        odd: list[Json] = ["brand-new", [], {}, ["user"], {"a": 1}, None, 7, True, 1.5, "", "carry", "repeat"]
        self._put(record, self.plan.discriminator, self.random.choice(odd + self.literals))

    def _bend_list(self, record: JsonObject) -> None:
        random = self.random
        found = [v for holder in _objects(record) for v in holder.values() if type(v) is list and v]
        if not found:
            return
        items = random.choice(found)
        index = random.randrange(len(items))
        match random.randrange(6):
            case 0:
                items.insert(index, copy(random.choice(items)))
            case 1:
                random.shuffle(items)
            case 2:
                items.insert(index, {"type": random.choice(self.names), self._key(): self.junk(1)})
            case 3:
                del items[index]
            case 4:
                items[index] = self.junk(2)
            case _:
                items.insert(index, self.junk(2))


_NOTHING = object()


def _at(record: Json, keys: Keys) -> Json:
    for key in keys:
        if type(record) is not dict or key not in record:
            return _NOTHING
        record = record[key]
    return record


def _objects(value: Json) -> Iterator[JsonObject]:
    """Yield every object in `value`, itself first."""
    if type(value) is dict:
        yield value
        for member in value.values():
            yield from _objects(member)
    elif type(value) is list:
        for item in value:
            yield from _objects(item)


def _paths(plan: Plan, kind: KindPlan) -> Iterator[Keys]:
    yield plan.discriminator
    yield from (listed.source for listed in kind.lists)
    yield from (rule.source for rule in kind.rules)
    yield from (implied.source for implied in kind.implied)
    for part in kind.all_parts:
        yield from (rule.source for rule in part.rules)
        yield from (implied.source for implied in part.implied)
        yield from (c.keys for c in part.conditions)
    yield from (c.keys for c in kind.conditions)
    yield from (tuple(names) for names in kind.known.values())
