"""The reader function of one record kind."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext

from pond.lang.emit.parts import PartEmitter
from pond.lang.emit.python import (
    NOTHING,
    PythonLines,
    delete,
    holds,
    missing,
    objects_proved_by,
    proved_by,
    set_of,
    variable_for,
)
from pond.lang.fields import ROLES
from pond.lang.plan import CARRY, NO_FALLBACK, Keys, KindPlan, ListPlan, PartPlan, Plan, Rule, SpanPlan, dotted


class Reader(PartEmitter):
    def __init__(self, plan: Plan, kind: KindPlan, name: str, carry: str, out: PythonLines) -> None:
        super().__init__(plan, kind, out)
        self.name, self.carry = name, carry
        self.is_carry = kind.label == CARRY
        self.holders.update({keys: variable_for(keys) for keys in self._containers()})

    @property
    def _has_options(self) -> bool:
        targets = [t for rule in self.kind.rules for t in rule.targets]
        return bool(self.kind.rests) or any(t.startswith("options.") for t in targets)

    def _containers(self) -> list[Keys]:
        if not self.is_carry:
            return list(self.kind.containers)
        paths = [r.source for r in self.kind.rules] + [r.source for r in self.kind.implied]
        return sorted({p[:n] for p in paths for n in range(1, len(p))}, key=len)

    def emit(self) -> None:
        out, kind = self.out, self.kind
        out()
        out()
        with out.block(f"def read_{self.name}(r, c):"):
            out(f"# {kind.label!r}: line {kind.line} of the mapping")
            self._structure()
            out("sid = c.session_id")
            out(f"pond = {{'seq': c.seq, 'as': {kind.label!r}}}")
            out("absent = spelling = None")  # lists and marks are rare: made when first needed
            self._identity()
            self._whole_records()
            if kind.literal is not None:
                out(delete(self.plan.discriminator, self.holders))
            self._fields()
            self.imply(kind.implied, self.holders, proved_by(kind.conditions))
            for index in range(len(kind.messages)):
                if kind.messages[index] != "SystemMessage" and not self.only_part:
                    out(f"p{index} = []")
            for number, part in enumerate(kind.parts):
                self._embedded(part, number)
            for rule in kind.lists:
                self._list(rule)
            self._finish()

    def _whole_records(self) -> None:
        """Find out how to test whether all texts of the record are injected; at once, if the value will be removed."""
        kind = self.kind
        paths = [self.plan.discriminator, *kind.containers, *(listed.source for listed in kind.lists)]
        paths += [rule.source for rule in kind.rules] + [rule.source for rule in kind.implied]
        paths += [source for part in kind.parts for source in part.claimed]
        taken = {path[0] for path in paths}
        for table in self._tables():
            facts = [f"c.facts.get({name!r}) is True" for name in table.given]
            for name, asked, others, found in (
                (f"w_{table.name}", table.conditions, facts, self.whole),
                (f"t_{table.name}", table.typed, [], self.typed),
            ):
                if not asked and not others:
                    continue
                found[table.name] = " or ".join([*others, *(holds(condition, "r") for condition in asked)])
                if not taken.isdisjoint(condition.keys[0] for condition in asked):
                    self.out(f"{name} = {found[table.name]}")
                    found[table.name] = name
            for number, (keys, _) in enumerate(table.labelled):
                self.out(f"l_{table.name}_{number} = at(r, {', '.join(map(repr, keys))})")

    def _tables(self) -> list[SpanPlan]:
        """Return the span tables that cut the kind's Parts."""
        names = {part.spans for part in self.kind.all_parts}
        return [table for table in self.plan.spans if table.name in names]

    def _structure(self) -> None:
        out, proved = self.out, objects_proved_by(self.kind.conditions)
        for keys, var in self.holders.items():
            if not keys:
                continue
            holder = self.holders[keys[:-1]]
            if keys in proved:
                out(f"{var} = {holder}[{keys[-1]!r}]")
                continue
            out(f"{var} = {holder}.get({keys[-1]!r})")
            with out.block(f"if type({var}) is not dict:"):
                if self.is_carry:
                    out(f"{var} = EMPTY")
                else:
                    self._carried_whole("$." + dotted(keys), "an object")
        for number, part in enumerate(self.kind.parts):
            for index, rule in enumerate(part.rules):
                value = f"e{number}_{index}"
                if (direct := self.holders.get(rule.source[:-1])) is not None:
                    out(f"{value} = {direct}.get({rule.source[-1]!r}, MISSING)")
                else:
                    out(f"{value} = at(r, {', '.join(map(repr, rule.source))})")
                if rule.required:
                    with out.block(f"if not ({self.fits(rule, value, value + 'c')}):"):
                        self._carried_whole("$", f"what a {part.part} needs")

    def _carried_whole(self, path: str, wanted: str) -> None:
        self.out(f"c.note('source-structure', {path!r}, {f'expected {wanted}; the record is carried whole'!r})")
        self.out(f"return read_{self.carry}(r, c)")

    def _identity(self) -> None:
        out, rule = self.out, self.kind.id_rule
        if rule is None:
            out("mid = c.derive(r)")
            return
        holder, last, name = self.holders[rule.source[:-1]], rule.source[-1], dotted(rule.source)
        with out.block(f"if {last!r} in {holder}:"):
            out(f"v = {holder}[{last!r}]")
            with out.block("if type(v) is str and v:"):
                with out.block("if c.seen.setdefault(hash(v), place := c.place) == place:"):
                    out("mid = v")
                with out.block("else:"):
                    out("mid = c.identify(v, r)")
                    with out.block("if mid is None:"):
                        out("return [repeat_event(v, c)]")
                    with out.block("if mid != v:"):
                        out("pond['id'] = v")
                out(f"del {holder}[{last!r}]")
            with out.block("else:"):
                out("mid = c.derive(r)")
                with out.block("if v not in (None, ''):") if rule.optional else nullcontext():
                    out(f"c.note('source-type', {'$.' + name!r}, f'expected an id, found {{kind_of(v)}}')")
        with out.block("else:"):
            out("mid = c.derive(r)")
            out(f"absent = [{name!r}]")

    def _fields(self) -> None:
        out, kind = self.out, self.kind
        timed = [rule for rule in kind.rules if "timestamp" in rule.targets]
        if len(timed) != 1:
            out("ts = c.anchor")
        if kind.messages[0] == "SystemMessage":
            out("content = ''")
        if self._has_options:
            out("options = {}")
        for rule in kind.rules:
            if rule.targets == ("id",):
                continue
            if rule.conversion is None:
                self._kept(rule)
                continue
            holder, last = self.holders[rule.source[:-1]], rule.source[-1]
            out(f"v = {holder}.pop({last!r}, MISSING)")
            with out.block(f"if {self.fits(rule, 'v', 'x')}:"):
                self._field(rule)
            with out.block("elif v is not MISSING:"):
                if [rule] == timed:
                    out("ts = c.anchor")
                out(f"{holder}[{last!r}] = v")
                self.source_type(rule, "v")
            if rule.targets == ("timestamp",) or rule.fallback is not NO_FALLBACK:
                with out.block("else:"):
                    if [rule] == timed:
                        out("ts = c.anchor")
                    out(missing(dotted(rule.source)))

    def _kept(self, rule: Rule) -> None:
        """Emit a claim whose value is not converted; its absence is not reported."""
        out, holder, last = self.out, self.holders[rule.source[:-1]], rule.source[-1]
        with out.block(f"if {last!r} in {holder}:"):
            out(f"v = {holder}.pop({last!r})")
            if rule.accepts not in ("string", "boolean"):
                self._field(rule)
                return
            with out.block(f"if {self.fits(rule, 'v', 'x')}:"):
                self._field(rule)
            with out.block("else:"):
                out(f"{holder}[{last!r}] = v")
                self.source_type(rule, "v")

    def _field(self, rule: Rule) -> None:
        """Emit the removal of a value that fits."""
        out = self.out
        if self.is_carry and len(rule.source) > 1:
            self._prune(rule.source)
        self.spelling(rule, "v", "x", "spelling")
        for target, value in zip(rule.targets, self.results(rule, "v", "x"), strict=True):
            if target == "timestamp":
                out(f"ts = {value}")
            elif target == "content":
                out(f"content = {value}")
            else:
                _, space, key = target.split(".")
                out(f"options.setdefault({space!r}, {{}})[{key!r}] = {value}")

    def _prune(self, source: Keys) -> None:
        for length in range(len(source) - 1, 0, -1):
            keys = source[:length]
            with self.out.block(f"if not {self.holders[keys]}:"):
                self.out(delete(keys, self.holders))
                # Later rules must see it as gone.
                self.out(f"{self.holders[keys]} = EMPTY")

    # --- parts ---
    def _list(self, rule: ListPlan) -> None:
        out = self.out
        holder, last, name = self.holders[rule.source[:-1]], rule.source[-1], dotted(rule.source)
        out(f"items = {holder}.get({last!r}, MISSING)")
        head = "if"
        if "list" in rule.shapes:
            with out.block("if type(items) is list:"):
                self._items(rule, holder, last, name)
            head = "elif"
        if "string" in rule.shapes:
            block = next(b for b in rule.blocks if b.literal == rule.string_block and not b.conditions)
            with out.block(f"{head} type(items) is str:"):
                out(f"del {holder}[{last!r}]")
                source = block.text_rule.source
                inner = "items"
                for key in reversed(source):
                    inner = f"{{{key!r}: {inner}}}"
                out(f"b = {inner}")
                self._labels([block], "[items]")
                if self.labelled:
                    out("n = 0")
                self._fetch(block, "b")
                self._part(block, self._values(block), self._item_holders(block), NOTHING)
                if rule.shapes[0] != "string":
                    out(f"pond.setdefault('shape', {{}})[{name!r}] = 'string'")
            head = "elif"
        self.labelled = {}
        with out.block(f"{head} items is MISSING:"):
            out(f"pond.setdefault('shape', {{}})[{name!r}] = 'absent'")
        with out.block("elif items is not None:"):
            what = f"f'expected {' or '.join(rule.shapes)}, found {{kind_of(items)}}'"
            out(f"c.note('source-type', {'$.' + name!r}, {what})")

    def _labels(self, blocks: Iterable[PartPlan], items: str) -> None:
        """Emit the labels of a list's items; the following code asks for that of the item with the number `n`."""
        self.labelled = {}
        for table in self._tables():
            if table.name not in {block.spans for block in blocks}:
                continue
            for number, (_, others) in enumerate(table.labelled):
                label, list_ = f"l_{table.name}_{number}", f"n_{table.name}_{number}"
                self.out(f"{list_} = labels_of({label}, {items})")
                test = f"type(y := {list_}[n]) is str and y not in {set_of(frozenset(others))}"
                self.labelled.setdefault(table.name, []).append(test)

    def _values(self, part: PartPlan) -> dict[Keys, str]:
        return {rule.source: f"v{index}" for index, rule in enumerate(part.rules)}

    def _item_holders(self, part: PartPlan) -> dict[Keys, str]:
        found = sorted({p[:n] for p in part.claimed for n in range(1, len(p))}, key=len)
        return {(): "b"} | {keys: variable_for(keys, "b") for keys in found}

    def _fetch(self, part: PartPlan, base: str) -> None:
        holders = self._item_holders(part)
        for keys, var in holders.items():
            if keys:
                self.out(f"{var} = {holders[keys[:-1]]}.get({keys[-1]!r})")
                with self.out.block(f"if type({var}) is not dict:"):
                    self.out(f"{var} = EMPTY")
        for index, rule in enumerate(part.rules):
            self.out(f"v{index} = {holders[rule.source[:-1]]}.get({rule.source[-1]!r}, MISSING)")
        # A bare string always fits its block; only the converted values must be bound.
        for index, rule in enumerate(part.rules):
            if rule.required and rule.conversion:
                self.out(f"{self.fits(rule, f'v{index}', f'v{index}c')}")

    def _items(self, rule: ListPlan, holder: str, last: str, name: str) -> None:
        out, several = self.out, len(self.kind.messages) > 1
        if several:
            out("weave = ''")
        out("left = None")
        self._labels(rule.blocks, "items")
        with out.block("for n, b in enumerate(items):" if self.labelled else "for b in items:"):
            with out.block("if type(b) is dict and type(kind := b.get('type')) is str:"):
                literals = list(dict.fromkeys(b.literal for b in rule.blocks))
                for index, literal in enumerate(literals):
                    with out.block(f"{'if' if index == 0 else 'elif'} kind == {literal!r}:"):
                        for block in rule.blocks:
                            if block.literal == literal:
                                self._one_block(block)
                known = frozenset(name for name, _ in rule.left)
                with out.block(f"if kind not in {set_of(known)}:") if known else nullcontext():
                    out(f"c.drift('source-drift-kind', {self.kind.label + '/'!r} + kind, ())")
            with out.block("else:"):
                out(f"c.drift('source-drift-kind', {self.kind.label + '/'!r} + kind_of(b), ())")
            if several:
                out("weave += 'r'")
            with out.block("if left is None:"):
                out("left = []")
            out("left.append(b)")
        if several:
            with out.block("if left is not None or '10' in weave:"):
                out(f"pond.setdefault('weave', {{}})[{name!r}] = weave")
        with out.block("if left is None:"):
            out(f"del {holder}[{last!r}]")
        with out.block("else:"):
            if not several:
                out(f"pond.setdefault('weave', {{}})[{name!r}] = weave_of(items, left)")
            out(f"{holder}[{last!r}] = left")
        if rule.shapes[0] != "list":
            out(f"pond.setdefault('shape', {{}})[{name!r}] = 'list'")

    def _one_block(self, block: PartPlan) -> None:
        out = self.out
        holders = self._item_holders(block)
        tests = [holds(c, "b") for c in block.conditions]
        with out.block(f"if {' and '.join(tests)}:") if tests else nullcontext():
            for keys, var in holders.items():
                if keys:
                    out(f"{var} = {holders[keys[:-1]]}.get({keys[-1]!r})")
                    with out.block(f"if type({var}) is not dict:"):
                        out(f"{var} = EMPTY")
            for index, rule in enumerate(block.rules):
                out(f"v{index} = {holders[rule.source[:-1]]}.get({rule.source[-1]!r}, MISSING)")
            required = [self.fits(r, f"v{i}", f"v{i}c") for i, r in enumerate(block.rules) if r.required]
            with out.block(f"if {' and '.join(f'({t})' for t in required)}:") if required else nullcontext():
                self._part(block, self._values(block), holders, proved_by(block.conditions), typed=True)
                if len(self.kind.messages) > 1:
                    out(f"weave += '{block.message}'")
                out("continue")

    def _finish(self) -> None:
        out, kind = self.out, self.kind
        for keys, _ in kind.rests:
            out(delete(keys, self.holders))
        for keys, namespace in kind.rests:
            var = self.holders[keys]
            if keys in kind.known:
                self.keys_known(kind.known[keys], var, f"{kind.label}.{dotted(keys)}")
            with out.block(f"if {var}:"):
                out(f"options[{namespace!r}] = {var}")
        rested = {keys for keys, _ in kind.rests}
        if not self.is_carry:
            for keys, names in kind.known.items():
                if keys in rested:
                    continue
                if keys in self.holders:
                    self.keys_known(names, self.holders[keys], ".".join((kind.label, *keys)), self._staying(keys))
                else:
                    with out.block(f"if type(v := at(r, {', '.join(map(repr, keys))})) is dict:"):
                        self.keys_known(names, "v", ".".join((kind.label, *keys)))
        with out.block("if absent:"):
            out("pond['absent'] = absent")
        with out.block("if spelling:"):
            out("pond['spelling'] = spelling")
        if self._has_options:
            with out.block("if r:"):
                out("options['source'] = r")
            out("options['pond'] = pond")
        else:
            out("options = {'source': r, 'pond': pond} if r else {'pond': pond}")
        self._return()

    def _staying(self, keys: Keys) -> int:
        """Count the known members that every object at `keys` keeps: if there are no more, all are known."""
        rested = {rest for rest, _ in self.kind.rests}
        inside = [k for k in self.holders if k and k[:-1] == keys and k not in rested]
        return sum(k[-1] in self.kind.known[keys] for k in inside) if not self.is_carry else 0

    def _return(self) -> None:
        out, kind = self.out, self.kind
        roles = [ROLES[name] for name in kind.messages]
        if len(roles) == 1:
            self._message("m", repr(roles[0]), "mid", "options", system=roles[0] == "system")
            if roles[0] == "system" or self.only_part:
                out("return [m]" if roles[0] == "system" else "return [m, p]")
                return
            out("p0.insert(0, m)")
            out("return p0")
            return
        first, second = roles
        with out.block("if not p0:"):
            self._message("m", repr(second), "mid", "options")
            out("p1.insert(0, m)")
            out("return p1")
        self._message("m", repr(first), "mid", "options")
        out("p0.insert(0, m)")
        with out.block("if p1:"):
            out(f"also = f'{{mid}}+{second}'")
            self._message("m", repr(second), "also", "{'pond': {'seq': c.seq, 'with': True}}")
            out("p0.append(m)")
            with out.block("for number, b in enumerate(p1):"):
                out("b['id'] = f'{also}:{number}'")
                out("b['message_id'] = also")
                out("p0.append(b)")
        out("return p0")

    def _message(self, name: str, role: str, mid: str, options: str, *, system: bool = False) -> None:
        head = [("kind", "'message'"), ("role", role), ("id", mid), ("session_id", "sid"), ("timestamp", "ts")]
        self.out.build(name, [*head, *([("content", "content")] if system else []), ("options", options)])
        with self.out.block("if ts is None:"):
            self.out(f"del {name}['timestamp']")
