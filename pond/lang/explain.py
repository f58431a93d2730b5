"""Describes in words what a checked mapping does with every record: for a terminal, and as JSON for a program."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from pond.diagnostics.diagnostic import Diagnostic, MappingError
from pond.lang.check import check
from pond.lang.parse import parse
from pond.lang.plan import (
    CARRY,
    ITEM_KEY,
    NO_FALLBACK,
    Condition,
    ImpliedRule,
    Keys,
    KindPlan,
    ListPlan,
    OriginPlan,
    PartPlan,
    Plan,
    Rule,
    SpanPlan,
    dotted,
)
from pond.model.json_text import JsonObject, encode

WIDTH = 110
_OBSERVED = "; the client's pass sees it"

# Where native restore finds what the typed fields cannot say. The schema describes each mark; this is the short form.
MARKS: tuple[tuple[str, str], ...] = (
    ("options.source", "what is left of the record, or of the list item, once every claimed value has been taken out"),
    ("options.pond.seq", "position of the record in its log, from 0"),
    ("options.pond.as", "the kind that read the record; on a Part, its block where it is not the first of its type"),
    ("options.pond.id", "the record's own id, where the message needed another"),
    ("options.pond.absent", "paths the record did not have although the writer would print them"),
    ("options.pond.spelling", "by path: the value as the source spelled it, where printing gives another"),
    ("options.pond.shape", "by path: `string`, `list` or `absent`, where it is not the shape the writer would choose"),
    ("options.pond.weave", "by path: who comes next in the list, a message (0, 1) or a left-over item (r)"),
    ("options.pond.joined", "this Part continues the text of the Part before it"),
    ("options.pond.with", "this Message is of the same record as the one before it"),
    ("options.pond.again", "this Message says a prompt that an earlier one said"),
    ("options.pond.repeat_of", "this record repeats, with an equal value, the record of that id"),
)


def check_file(path: Path) -> list[Diagnostic]:
    """Return what is wrong with the mapping at `path`: nothing, or every fault in the order of the file."""
    try:
        check(parse(path.read_text(encoding="utf-8"), str(path)))
    except MappingError as error:
        return list(error.diagnostics)
    return []


def explain_json(plan: Plan) -> JsonObject:
    """Return what the mapping does, as a JSON object with stable field names."""
    reasons = {(label, key): why for label, key, why in plan.kept_because}
    return {
        "client": plan.client,
        "map": plan.number,
        "files": list(plan.files),
        "ignored": [{"file": name, "because": why} for name, why in plan.ignores],
        "recognised": [" and ".join(map(_test, tests)) for tests in plan.detect],
        "discriminator": dotted(plan.discriminator),
        "session": {name: [_origin(o) for o in origins] for name, origins in plan.session},
        "own": _own(plan),
        "spans": {table.name: _table(table) for table in plan.spans},
        "kinds": [_kind(plan, kind, reasons) for kind in plan.kinds],
        "carried": [
            {
                "when": _recognised(plan, entry.literal, entry.conditions),
                "observed": entry.observed,
                "because": entry.because,
            }
            for entry in plan.carried
        ],
        "otherwise": _kind(plan, plan.otherwise, reasons),
        "marks": dict(MARKS),
    }


def explain(plan: Plan) -> str:
    """Return what the mapping does, as text for a terminal."""
    return "\n".join(_text(explain_json(plan))) + "\n"


# --- the plan as plain values ----------------------------------------------------------------------------------------


def _kind(plan: Plan, kind: KindPlan, reasons: dict[tuple[str, str], str]) -> JsonObject:
    is_carry = kind.label == CARRY
    out: JsonObject = {
        "kind": kind.label,
        "when": "no kind above takes it" if is_carry else _recognised(plan, kind.literal, kind.conditions, kind.given),
        "becomes": list(kind.messages),
        "observed": kind.observed,
        "typed": [_rule(rule) for rule in kind.rules],
        "implied": [_implied(rule) for rule in kind.implied],
        "parts": [_part(part, reasons) for part in kind.parts],
        "lists": [_list(listed, reasons) for listed in kind.lists],
        "rest": [_rest(kind, keys, space) for keys, space in kind.rests],
        "kept": _kept(kind.label, _outside(kind), _sources(kind), reasons),
    }
    if kind.containers:
        out["needs"] = [dotted(keys) for keys in kind.containers]
    return out


def _part(part: PartPlan, reasons: dict[tuple[str, str], str]) -> JsonObject:
    out: JsonObject = {"part": part.part, "typed": [_rule(rule) for rule in part.rules]}
    if part.literal is not None:
        tests = [f"`{ITEM_KEY}` is {_shown(part.literal)}", *map(_test, part.conditions)]
        out["when"] = " and ".join(tests)
    out["provenance"] = part.provenance if part.provenance is not None else f"by spans {part.spans}"
    out["implied"] = [_implied(rule) for rule in part.implied]
    looked_up = {"call": "the name of the call with the same {0}", "fact": "the fact {0}"}
    out["looked_up"] = [{"from": looked_up[f.how].format(f.argument), "to": f.target} for f in part.facts]
    facts = {fact.target for fact in part.facts}
    out["fixed"] = [{"to": name, "value": value} for name, value in part.constants if name not in facts]
    claimed = {rule.source for rule in part.rules} | {rule.source for rule in part.implied}
    if part.literal is not None:  # what a record's own Part does not claim belongs to the record
        out["kept"] = _kept(part.part, part.known, claimed, reasons)
    return out


def _rest(kind: KindPlan, keys: Keys, space: str) -> JsonObject:
    claimed = {source[len(keys)] for source in _sources(kind) if source[: len(keys)] == keys}
    known = sorted(kind.known.get(keys, frozenset()) - claimed)
    return {"from": dotted(keys), "to": f"options.{space}", "known": known}


def _outside(kind: KindPlan) -> dict[Keys, frozenset[str]]:
    """Return the known keys that are in no other `rest`, so they stay in `options.source`."""
    rests = [keys for keys, _ in kind.rests]
    known = {at: names for at, names in kind.known.items() if at not in rests}
    return {at: frozenset(name for name in names if (*at, name) not in rests) for at, names in known.items()}


def _list(listed: ListPlan, reasons: dict[tuple[str, str], str]) -> JsonObject:
    said = {"list": "a list", "string": f"a bare string, as one {_shown(listed.string_block)}"}
    return {
        "from": dotted(listed.source),
        "shapes": [said[shape] for shape in listed.shapes],
        "blocks": [_part(block, reasons) for block in listed.blocks],
        "left": [{"item": name, "because": why} for name, why in listed.left],
    }


def _rule(rule: Rule) -> JsonObject:
    out: JsonObject = {"from": dotted(rule.source), "to": list(rule.targets)}
    if rule.conversion is not None:
        out["as"] = rule.conversion if rule.argument is None else f"{rule.conversion}({_shown(rule.argument)})"
    if rule.required:
        out["required"] = True
    if rule.fallback is not NO_FALLBACK:
        out["otherwise"] = rule.fallback
    return out


def _implied(rule: ImpliedRule) -> JsonObject:
    if rule.session_field is not None:
        return {"from": dotted(rule.source), "equals": f"session.{rule.session_field}"}
    return {"from": dotted(rule.source), "value": rule.value}


def _kept(
    label: str, known: dict[Keys, frozenset[str]], claimed: set[Keys], reasons: dict[tuple[str, str], str]
) -> list[JsonObject]:  # fmt: skip
    out: list[JsonObject] = []
    for keys, names in sorted(known.items()):
        for name in sorted(names):
            path = (*keys, name)
            leads_to_claims = any(source[: len(path)] == path for source in claimed)
            if path in claimed or (leads_to_claims and path in known):
                continue
            entry: JsonObject = {"path": dotted(path) + (".*" if leads_to_claims else "")}
            if (label, path[0]) in reasons:
                entry["because"] = reasons[label, path[0]]
            out.append(entry)
    return out


def _sources(kind: KindPlan) -> set[Keys]:
    out = {rule.source for rule in kind.rules} | {rule.source for rule in kind.implied}
    out |= {listed.source for listed in kind.lists}
    for part in kind.parts:
        out |= {rule.source for rule in part.rules} | {rule.source for rule in part.implied}
    return out


def _recognised(
    plan: Plan, literal: str | None, conditions: Iterable[Condition], given: str | None = None
) -> str:  # fmt: skip
    name = dotted(plan.discriminator)
    first = f"there is no `{name}`" if literal is None else f"`{name}` is {_shown(literal)}"
    fact = [f"the fact {given} is true of it"] if given is not None else []
    return " and ".join((first, *map(_test, conditions), *fact))


def _test(condition: Condition) -> str:
    path = f"`{dotted(condition.keys)}`"
    match condition.op:
        case "has":
            return f"{path} is there"
        case "no":
            return f"{path} is not there"
    return f"{path} is " + " or ".join(map(_shown, condition.values))


def _own(plan: Plan) -> JsonObject | None:
    if plan.own is None:
        return None
    keys, origins = plan.own
    return {"key": dotted(keys), "is": [_origin(o) for o in origins]}


def _origin(origin: OriginPlan) -> str:
    if origin.capture is not None:
        named = f"`{origin.capture}` of the file's path"
        return "the directory of the file" if origin.capture == "directory" else named
    if origin.template is not None:
        return f"the text {_shown(origin.template)}, filled in"
    assert origin.first is not None
    words = [f"the first `{dotted(origin.first)}`"]
    words += [f"of {_shown(origin.of)}"] if origin.of is not None else []
    words += [f"as {origin.conversion}"] if origin.conversion is not None else []
    words += [f"where the path has `{origin.where}`"] if origin.where is not None else []
    words += ["among its own records"] if origin.own else []
    return " ".join(words)


def _table(table: SpanPlan) -> list[str]:
    """Return what makes text injected under this table, in words."""
    out = [f"all of it where {_test(condition)}" for condition in table.conditions]
    out += [f"all of it where the pass finds `{fact}` true of the record" for fact in table.given]
    out += [
        f"all of it where its label in `{dotted(keys)}` is not one of {', '.join(map(_shown, labels))}"
        for keys, labels in table.labelled
    ]
    out += [f"not by its beginning where {_test(condition)}: a person typed it" for condition in table.typed]
    out += [f"all before a line that begins with {_shown(frame)}, and that" for frame in table.frames]
    out += [f"from {_shown(opening)} to {_shown(closing)}" for opening, closing in table.between]
    out += [f"{_shown(opening)} and {_shown(closing)}, not what is between them" for opening, closing in table.wraps]
    out += [f"right behind such a block, a line that begins with {_shown(tail)}" for tail in table.tails]
    out += [f"all of it where it begins with {_shown(text)}" for text in table.prefixes]
    out += [f"all of it where it is {_shown(text)}" for text in table.exact]
    return out


def _shown(value: object) -> str:
    return encode(value).decode("utf-8")


# --- plain values as text --------------------------------------------------------------------------------------------


def _text(about: JsonObject) -> Iterator[str]:
    yield f"{about['client']}, mapping {about['map']}"
    yield from _listing("files", about["files"])
    yield from _listing("ignored", [f"{i['file']}: {i['because']}" for i in about["ignored"]])
    yield from _listing("a file of this client has a record where", about["recognised"])
    yield ""
    yield "SESSION"
    for name, origins in about["session"].items():
        yield from _wrapped(f"{name:18} = ", ", else ".join(origins), 2)
    if (own := about["own"]) is not None:
        text = f"those without `{own['key']}`, and those where it is {', else '.join(own['is'])}"
        yield from _wrapped(f"{'own records':18} = ", text, 2)
    for kind in about["kinds"]:
        yield ""
        yield from _kind_text(kind)
    yield ""
    yield "CARRIED WHOLE"
    for entry in about["carried"]:
        yield from _wrapped("", f"{entry['when']}: {entry['because']}{_OBSERVED if entry['observed'] else ''}", 2)
    yield ""
    yield from _kind_text(about["otherwise"])
    for name, lines in about["spans"].items():
        yield ""
        yield f"SPANS {name}: what the harness wrote, in a text that may hold a person's words too"
        for line in lines:
            yield from _wrapped("", line, 2)
    yield ""
    yield "MARKS: where restore finds what the fields above cannot say"
    for name, meaning in about["marks"].items():
        yield f"  {name:24} {meaning}"


def _kind_text(kind: JsonObject) -> Iterator[str]:
    yield f"KIND {kind['kind']} => {', '.join(kind['becomes'])}"
    yield from _wrapped("when ", kind["when"] + (_OBSERVED if kind["observed"] else ""), 2)
    if needs := kind.get("needs"):
        yield from _wrapped("carried whole unless these are objects: ", ", ".join(needs), 2)
    yield from _fields_text(kind, 2)
    for part in kind["parts"]:
        yield from _part_text(part, 2)
    for listed in kind["lists"]:
        yield f"  {listed['from']}: {' or '.join(listed['shapes'])}; items become Parts, others keep their place"
        for _, group in groupby(listed["blocks"], key=lambda block: {**block, "when": ""}):
            same = list(group)
            yield from _part_text({**same[0], "when": ", or ".join(block["when"] for block in same)}, 4)
        for entry in listed["left"]:
            yield from _wrapped("", f"{_shown(entry['item'])} keeps its place: {entry['because']}", 4)
    for rest in kind["rest"]:
        yield from _wrapped(f"what is left of {rest['from']} -> {rest['to']}: ", " ".join(rest["known"]), 2)
    yield from _kept_text(kind["kept"], 2)


def _kept_text(kept: list[JsonObject], indent: int) -> Iterator[str]:
    for why in dict.fromkeys(entry.get("because", "") for entry in kept):
        names = " ".join(entry["path"] for entry in kept if entry.get("because", "") == why)
        yield from _wrapped("stays in options.source: ", f"{names} ({why})" if why else names, indent)


def _part_text(part: JsonObject, indent: int) -> Iterator[str]:
    when = f" when {part['when']}" if "when" in part else ""
    yield from _wrapped(f"{part['part']}, {part['provenance']}", when, indent)
    yield from _fields_text(part, indent + 2)
    for entry in part["looked_up"]:
        yield " " * (indent + 2) + f"{entry['to']} <- {entry['from']}, absent where there is none"
    for entry in part["fixed"]:
        yield " " * (indent + 2) + f"{entry['to']} = {_shown(entry['value'])}"
    yield from _kept_text(part.get("kept", []), indent + 2)


def _fields_text(owner: JsonObject, indent: int) -> Iterator[str]:
    width = max((len(entry["from"]) for entry in (*owner["typed"], *owner["implied"])), default=0)
    for entry in owner["typed"]:
        how = f" as {entry['as']}" if "as" in entry else ""
        fallback = f", else {_shown(entry['otherwise'])}" if "otherwise" in entry else ""
        required = " (required)" if entry.get("required") else ""
        yield " " * indent + f"{entry['from']:{width}} <-> {', '.join(entry['to'])}{how}{fallback}{required}"
    for entry in owner["implied"]:
        value = entry["equals"] if "equals" in entry else _shown(entry["value"])
        yield " " * indent + f"{entry['from']:{width}} is not stored where it is {value}"


def _listing(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"{title}:"
        yield from (f"  {line}" for line in lines)


def _wrapped(head: str, text: str, indent: int) -> list[str]:
    return textwrap.wrap(
        head + text, WIDTH, initial_indent=" " * indent, subsequent_indent=" " * (indent + 4),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
