"""Which function takes a record: by its discriminator, then by its conditions, otherwise carried."""

from __future__ import annotations

from pond.lang.emit.python import PythonLines, holds, word
from pond.lang.plan import CARRY, CarriedPlan, Condition, Keys, KindPlan, Plan

_CARRY_OBSERVED = "carry_observed"


def dispatch(plan: Plan, names: dict[str, str], out: PythonLines) -> None:
    """Emit `read`, `write` and what chooses between their kinds."""
    literals = list(dict.fromkeys(owner.literal for owner in plan.owners if owner.literal is not None))
    out()
    out()
    with out.block("def carry(r, c):"):
        out("c.drift('source-drift-kind', drift_name(r), ())")
        out(f"return read_{names[CARRY]}(r, c)")
    out()
    out()
    with out.block(f"def {_CARRY_OBSERVED}(r, c):"):
        out('"""Read a carried record of which the pass has to know."""')
        out(f"return read_{names[CARRY]}(r, c)")
    tables: dict[Keys, dict[str, str]] = {}  # a path -> discriminator value -> the name of the choice by its value
    for literal in [*(x for x in literals if _only_reader(plan, x, names) is None), None]:
        name = f"choose_{_chosen(literal, literals)}"
        shared = _choose(plan, literal, name, names, out)
        if literal is not None and shared is not None and len(shared) == 2:
            tables.setdefault(shared, {})[literal] = name.upper()
    without = {kind.label: _without(plan, kind, names, out) for kind in plan.kinds if kind.given is not None}
    _drift_name(plan, out)
    out()
    out()
    alone = {x: reader for x in literals if (reader := _only_reader(plan, x, names)) is not None}
    out(f"READERS = {{{', '.join(f'{x!r}: {reader}' for x, reader in alone.items())}}}")
    chosen = ", ".join(f"{x!r}: choose_{_chosen(x, literals)}" for x in literals if x not in alone)
    out(f"CHOOSE = {{{chosen}}}")
    out(f"CARRIES = frozenset((read_{names[CARRY]}, {_CARRY_OBSERVED}))")
    observed = [f"read_{names[kind.label]}" for kind in plan.kinds if kind.observed]
    out(f"OBSERVED = frozenset(({', '.join((_CARRY_OBSERVED, *observed))},))")
    unsettled = [
        f"read_{names[kind.label]}: ({kind.given!r}, {without[kind.label]})" for kind in plan.kinds if kind.given
    ]
    out(f"UNSETTLED = {{{', '.join(unsettled)}}}")
    fields = _carried_from(plan, "id"), _carried_from(plan, "timestamp")
    out(f"CARRY_ID, CARRY_TIME = {fields!r}")
    out(f"CARRY_TIME_ONLY = {len(plan.otherwise.rules) == 1 and not plan.otherwise.implied and fields[1] is not None}")
    out()
    out()
    _reader_of(plan, alone, literals, tables, out)
    out()
    out()
    with out.block("def settle(reader, r, facts):"):
        out('"""Return the function that reads this record, once the pass has said what it knows of it."""')
        with out.block("while reader in UNSETTLED and facts.get(UNSETTLED[reader][0]) is not True:"):
            out("reader = UNSETTLED[reader][1](r)")
        out("return reader")
    out()
    out()
    with out.block("def read(r, c):"):
        out('"""Return the canonical events of one record. The record is used up."""')
        out("return settle(reader_of(r), r, c.facts)(r, c)")
    out()
    out()
    with out.block("def detect(r):"):
        out('"""Tell whether a record looks like one of this client\'s."""')
        tests = [" and ".join(holds(c, "r") for c in conjunction) for conjunction in plan.detect]
        out(f"return {' or '.join(f'({t})' for t in tests) or 'False'}")
    out()
    out()
    with out.block("def label_of(r):"):
        out('"""Return the label of the kind a record belongs to, or None where it would be carried."""')
        out(f"k = at(r, {', '.join(map(repr, plan.discriminator))})")
        for kind in (kind for kind in plan.kinds if kind.given is None):
            tests = [
                "k is MISSING" if kind.literal is None else f"k == {kind.literal!r}",
                *(holds(c, "r") for c in kind.conditions),
            ]
            with out.block(f"if {' and '.join(tests)}:"):
                out(f"return {kind.label!r}")
        out("return None")
    out()
    out()
    table = ", ".join(f"{label!r}: write_{name}" for label, name in names.items())
    out(f"WRITE = {{{table}}}")
    out()
    out()
    with out.block("def write(events, c):"):
        out('"""Return the source record that `read` took these events from. The events are used up."""')
        out("label = events[0]['options']['pond'].get('as')")
        with out.block("if label not in WRITE:"):
            out("raise Broken(f'the mapping has no kind `{label}`')")
        out("return WRITE[label](events, c)")


def _reader_of(
    plan: Plan, alone: dict[str, str], literals: list[str], tables: dict[Keys, dict[str, str]], out: PythonLines
) -> None:  # fmt: skip
    """Emit the choice itself: first what the tables say about most records, then the general case."""
    # Looked up at once only if several discriminator values continue with the same path.
    path = next((keys for keys, found in tables.items() if len(found) > 1), None)
    further = {} if path is None else tables[path]
    first = {literal: alone.get(literal, "None") for literal in literals}
    first |= {literal: f"{{**{name}_READERS, **dict.fromkeys({name}_CHOOSE)}}" for literal, name in further.items()}
    out(f"FIRST = {{{', '.join(f'{literal!r}: {found}' for literal, found in first.items())}}}")
    if path is not None:
        out(f"UNSURE = {{{', '.join(f'{literal!r}: {name}_CHOOSE' for literal, name in further.items())}}}")
    out()
    out()
    with out.block("def reader_of(r):"):
        out('"""Return who reads this record: one of CARRIES where a clause says to carry it; see `settle`."""')
        with out.block("try:"):
            out(f"k = r{_steps(plan.discriminator)}")
            out("found = FIRST[k]")
            if path is not None:
                with out.block("if type(found) is dict:"):
                    out(f"found = found[v := r{_steps(path)}]")
                    out("return UNSURE[k][v](r) if found is None else found")
            out("return CHOOSE[k](r) if found is None else found")
        with out.block("except (KeyError, TypeError):"):
            out("pass")
        out(f"k = at(r, {', '.join(map(repr, plan.discriminator))})")
        with out.block("if type(k) is str:"):
            out("choose = CHOOSE.get(k)")
            out("return READERS.get(k, carry) if choose is None else choose(r)")
        out("return choose_untyped(r) if k is MISSING else carry")


def _steps(path: Keys) -> str:
    return "".join(f"[{key!r}]" for key in path)


def _carried_from(plan: Plan, target: str) -> str | None:
    """Return the field of a carried record from which a canonical field is taken."""
    rules = (rule for rule in plan.otherwise.rules if rule.targets == (target,) and len(rule.source) == 1)
    return next((rule.source[0] for rule in rules if rule.conversion in (None, "rfc3339")), None)


def _only_reader(plan: Plan, literal: str, names: dict[str, str]) -> str | None:
    """Return the reader for a discriminator value if there is nothing else to choose, otherwise None."""
    first = next((owner for owner in plan.owners if owner.literal == literal), None)
    if first is None or first.conditions:
        return None
    return _reader(first, names)


def _reader(owner: KindPlan | CarriedPlan, names: dict[str, str]) -> str:
    if isinstance(owner, KindPlan):
        return f"read_{names[owner.label]}"
    return _CARRY_OBSERVED if owner.observed else f"read_{names[CARRY]}"


def _chosen(literal: str | None, literals: list[str]) -> str:
    return "untyped" if literal is None else f"{literals.index(literal)}_{word(literal)}"


_Owner = tuple[tuple[Condition, ...], str]  # conditions, and the function that takes the record when they hold


def _choose(
    plan: Plan, literal: str | None, name: str, names: dict[str, str], out: PythonLines
) -> Keys | None:  # fmt: skip
    """Emit the choice among the kinds of one discriminator value: first fit, then the carried ones, then drift.

    Return the path whose value decides in most cases; None: there is none.
    """
    owners: list[_Owner] = [(o.conditions, _reader(o, names)) for o in plan.owners if o.literal == literal]
    shared = _shared_path(owners)
    if shared is None:
        _chain(name, owners, out)
        return None
    # If the path has a value, kinds that want it absent cannot fit.
    present = [o for o in owners if not any(c.op == "no" and c.keys == shared for c in o[0])]
    table: list[str] = []
    chains: dict[object, str] = {}
    for number, value in enumerate(dict.fromkeys(v for o in owners for v in _values(o, shared))):
        mine = [
            (o[0][1:], o[1]) if _values(o, shared) else o for o in present if value in (_values(o, shared) or (value,))
        ]
        if mine[0][0]:
            _chain(f"{name}_{number}", mine, out)
            chains[value] = f"{name}_{number}"
        else:
            table.append(f"{value!r}: {mine[0][1]}")
    _chain(f"{name}_other", [o for o in owners if not _values(o, shared)], out)
    out()
    out()
    readers, further = f"{name.upper()}_READERS", f"{name.upper()}_CHOOSE"
    out(f"{readers} = {{{', '.join(table)}}}")
    out(f"{further} = {{{', '.join(f'{value!r}: {chain}' for value, chain in chains.items())}}}")
    out()
    out()
    with out.block(f"def {name}(r):"):
        _bind("k", shared, out)
        with out.block("if type(k) is str:"):
            with out.block(f"if (reader := {readers}.get(k)) is not None:"):
                out("return reader")
            with out.block(f"if (choose := {further}.get(k)) is not None:"):
                out("return choose(r)")
        out(f"return {name}_other(r)")
    return shared


def _shared_path(owners: list[_Owner]) -> Keys | None:
    """Return the path that most kinds test first, if looking up its value beats testing one after the other."""
    firsts = [o[0][0].keys for o in owners if o[0] and _is_text_test(o[0][0])]
    best = max(firsts, key=firsts.count, default=None)
    return best if best is not None and firsts.count(best) > 2 else None


def _is_text_test(condition: Condition) -> bool:
    return condition.op == "in" and all(type(v) is str for v in condition.values)


def _values(owner: _Owner, path: Keys) -> tuple[object, ...]:
    """Return the values for which the table leads to this owner; none if it must be tested for every value."""
    first = owner[0][0] if owner[0] else None
    return first.values if first is not None and first.keys == path and _is_text_test(first) else ()


def _bind(variable: str, keys: Keys, out: PythonLines) -> None:
    if len(keys) == 1:
        out(f"{variable} = r.get({keys[0]!r}, MISSING)")
    elif len(keys) == 2:  # the common case, written out: a call costs more than both steps
        out(f"{variable} = v.get({keys[1]!r}, MISSING) if type(v := r.get({keys[0]!r})) is dict else MISSING")
    else:
        out(f"{variable} = at(r, {', '.join(map(repr, keys))})")


def _chain(name: str, owners: list[_Owner], out: PythonLines) -> None:
    """Emit a function that tests one owner after the other."""
    out()
    out()
    with out.block(f"def {name}(r):"):
        asked = [condition.keys for conditions, _ in owners for condition in conditions]
        bound = {keys: f"t{n}" for n, keys in enumerate(dict.fromkeys(k for k in asked if asked.count(k) > 1))}
        for keys, variable in bound.items():
            _bind(variable, keys, out)
        for conditions, action in owners:
            tests = " and ".join(holds(c, "r", bound) for c in conditions)
            if not tests:
                out(f"return {action}")
                return
            with out.block(f"if {tests}:"):
                out(f"return {action}")
        out("return carry")


def _without(plan: Plan, kind: KindPlan, names: dict[str, str], out: PythonLines) -> str:
    """Emit the choice among the clauses after a kind, for records without its fact; return its name."""
    later = plan.owners[plan.owners.index(kind) + 1 :]
    left = ((_left_to_ask(owner, kind), _reader(owner, names)) for owner in later if owner.literal == kind.literal)
    name = f"without_{names[kind.label]}"
    _chain(name, [(conditions, reader) for conditions, reader in left if conditions is not None], out)
    return name


def _left_to_ask(owner: KindPlan | CarriedPlan, kind: KindPlan) -> tuple[Condition, ...] | None:
    """Return which of an owner's conditions are open if those of `kind` hold; None: some cannot hold."""
    known = {condition.keys: set(condition.values) for condition in kind.conditions if _is_text_test(condition)}
    left: list[Condition] = []
    for condition in owner.conditions:
        if condition.keys not in known or not _is_text_test(condition):
            left.append(condition)
        elif known[condition.keys].isdisjoint(condition.values):
            return None
        elif not known[condition.keys] <= set(condition.values):
            left.append(condition)
    return tuple(left)


def _drift_name(plan: Plan, out: PythonLines) -> None:
    out()
    out()
    with out.block("def drift_name(r):"):
        out(f"k = at(r, {', '.join(map(repr, plan.discriminator))})")
        out("literal = k if type(k) is str else None")
        out("label = 'untyped' if k is MISSING else str(k)")
        for owner in plan.owners:
            for condition in owner.conditions:
                found = f"v := at(r, {', '.join(map(repr, condition.keys))})"
                with out.block(f"if literal == {owner.literal!r} and type({found}) is str:"):
                    out("return f'{label}/{v}'")
        out("return label")
