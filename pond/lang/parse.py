"""Mapping text to `Mapping`, or syntax diagnostics."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token, Transformer, UnexpectedInput, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedToken, VisitError

from pond.diagnostics.diagnostic import Diagnostic, MappingError
from pond.diagnostics.span import Span
from pond.lang import ast

_SPOKEN = {
    "LBRACE": "`{`", "RBRACE": "`}`", "NAME": "a name", "STRING": "a quoted text", "INT": "a number",
    "OPTIONAL": "`?`", "$END": "the end of the file", "__ANON_0": "`<->`", "__ANON_1": "`<-`", "__ANON_2": "`=>`",
}  # fmt: skip


def parse(text: str, file: str) -> ast.Mapping:
    """Return what `text` says; raise MappingError with the first syntax fault."""
    try:
        tree = _grammar().parse(text)
    except UnexpectedInput as error:
        raise MappingError(_syntax(error, text, file)) from None
    try:
        mapping = _Builder(file, text).transform(tree)
    except VisitError as error:
        if isinstance(error.orig_exc, MappingError):
            raise error.orig_exc from None
        raise
    assert isinstance(mapping, ast.Mapping)
    return mapping


@cache
def _grammar() -> Lark:
    text = files("pond.lang").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", propagate_positions=True, maybe_placeholders=True)


def _syntax(error: UnexpectedInput, text: str, file: str) -> Diagnostic:
    line, column = max(error.line, 1), max(error.column, 1)
    if isinstance(error, UnexpectedToken) and error.token.type != "$END":
        found, length = f"`{error.token}`", len(error.token)
        expected = sorted(error.accepts or error.expected)
    elif isinstance(error, UnexpectedCharacters):
        found, length = f"`{error.char}`", 1
        expected = sorted(error.allowed)
    else:
        found, length, expected = "the end of the file", 1, sorted(getattr(error, "accepts", None) or [])
        last = text.rstrip("\n").split("\n")
        line, column = len(last), len(last[-1]) + 1
    spoken = [_spoken(name) for name in expected]
    wanted = ", ".join(spoken[:6]) + (", …" if len(spoken) > 6 else "")
    return Diagnostic("map-syntax", f"expected {wanted}, found {found}", Span(file, line, column, length))


def _spoken(terminal: str) -> str:
    rule = next((t for t in _grammar().terminals if t.name == terminal), None)
    if terminal in _SPOKEN and terminal.isalpha():
        return _SPOKEN[terminal]
    if rule is not None and rule.pattern.type == "str":
        return f"`{rule.pattern.value}`"
    return _SPOKEN.get(terminal, terminal.lower())


@v_args(meta=True)
class _Builder(Transformer[Token, Any]):
    """Turns the parse tree into the AST, bottom up; one method per grammar rule."""

    def __init__(self, file: str, text: str) -> None:
        super().__init__()
        self._file, self._text = file, text

    def _at(self, meta: Any) -> Span:
        length = meta.end_column - meta.column if meta.end_line == meta.line else 1
        return Span(self._file, meta.line, meta.column, max(1, length))

    def _token(self, token: Token) -> Span:
        return Span(self._file, token.line or 1, token.column or 1, len(token))

    def _name(self, token: Token) -> ast.Name:
        return ast.Name(str(token), self._token(token))

    def _value(self, token: Token) -> ast.Value:
        match token.type:
            case "STRING":
                try:
                    return ast.Value(json.loads(token), self._token(token))
                except ValueError:
                    raise MappingError(
                        Diagnostic("map-syntax", f"`{token}` is not a valid quoted text", self._token(token))
                    ) from None
            case "INT":
                return ast.Value(int(token), self._token(token))
            case _:
                return ast.Value({"true": True, "false": False, "null": None}[token], self._token(token))

    # leaves
    def segment(self, meta: Any, children: list[Token]) -> tuple[str, bool]:
        token = children[0]
        return (str(token), False) if token.type == "NAME" else (str(self._value(token).value), True)

    def path(self, meta: Any, children: list[tuple[str, bool]]) -> ast.Path:
        return ast.Path(tuple(text for text, _ in children), self._at(meta), any(quoted for _, quoted in children))

    def target(self, meta: Any, children: list[Token]) -> ast.Name:
        return ast.Name(".".join(children), self._at(meta))

    def literal(self, meta: Any, children: list[Token]) -> ast.Value:
        return self._value(children[0])

    def because(self, meta: Any, children: list[Token]) -> str:
        return str(self._value(children[0]).value)

    # tests
    def test_equal(self, meta: Any, children: list[Any]) -> ast.Test:
        return ast.Test(children[0], "in", (children[1],))

    def test_in(self, meta: Any, children: list[Any]) -> ast.Test:
        return ast.Test(children[0], "in", tuple(children[1:]))

    def test_has(self, meta: Any, children: list[Any]) -> ast.Test:
        return ast.Test(children[0], "has")

    def test_no(self, meta: Any, children: list[Any]) -> ast.Test:
        return ast.Test(children[0], "no")

    def when(self, meta: Any, children: list[ast.Test]) -> tuple[ast.Test, ...]:
        return tuple(children)

    def given(self, meta: Any, children: list[Token]) -> ast.Name:
        return self._name(children[0])

    def observed(self, meta: Any, children: list[Token]) -> Span:
        return self._at(meta)

    def conjunction(self, meta: Any, children: list[ast.Test]) -> tuple[ast.Test, ...]:
        return tuple(children)

    # items
    def conversion(self, meta: Any, children: list[Any]) -> ast.ConversionUse:
        argument = str(self._value(children[1]).value) if children[1] is not None else None
        return ast.ConversionUse(self._name(children[0]), argument)

    def claim(self, meta: Any, children: list[Any]) -> ast.Claim:
        optional = any(isinstance(c, Token) for c in children)
        targets = tuple(c for c in children if isinstance(c, ast.Name))
        return ast.Claim(children[0], optional, targets, children[-1])

    def session_field(self, meta: Any, children: list[Token]) -> ast.Name:
        return self._name(children[0])

    def implied(self, meta: Any, children: list[Any]) -> ast.Implied:
        value = children[-1]
        if isinstance(value, ast.Name):
            return ast.Implied(children[0], None, value)
        return ast.Implied(children[0], value, None)

    def lookup_call(self, meta: Any, children: list[Token]) -> tuple[str, ast.Name]:
        return "call", self._name(children[0])

    def lookup_fact(self, meta: Any, children: list[Token]) -> tuple[str, ast.Name]:
        return "fact", self._name(children[0])

    def lookup_literal(self, meta: Any, children: list[ast.Value]) -> tuple[str, ast.Name]:
        return "literal", ast.Name(str(children[0].value), children[0].span)

    def lookup(self, meta: Any, children: list[Any]) -> ast.Lookup:
        path, (how, argument) = children
        return ast.Lookup(ast.Name(str(path), path.span), how, argument)

    def generic(self, meta: Any, children: list[Token]) -> ast.Generic:
        return ast.Generic(self._name(children[0]))

    def executed(self, meta: Any, children: list[Token]) -> ast.ExecutedBy:
        return ast.ExecutedBy(self._name(children[0]))

    def _key(self, token: Token) -> ast.Name:
        text = str(self._value(token).value) if token.type == "STRING" else str(token)
        return ast.Name(text, self._token(token))

    def kept(self, meta: Any, children: list[Token | None]) -> ast.Kept:
        first, *inside = [self._key(c) for c in children if c is not None]
        return ast.Kept(first, tuple(inside))

    def keeps(self, meta: Any, children: list[Any]) -> ast.Keeps:
        return ast.Keeps(tuple(children[:-1]), children[-1])

    def rest_of(self, meta: Any, children: list[Any]) -> ast.RestOf:
        path, target, *known = children
        return ast.RestOf(path, target, tuple(self._key(c) for c in known if c is not None))

    def shape_list(self, meta: Any, children: list[Token]) -> ast.Shape:
        return ast.Shape("list", None, self._at(meta))

    def shape_string(self, meta: Any, children: list[Token]) -> ast.Shape:
        return ast.Shape("string", self._value(children[0]), self._at(meta))

    def conversational(self, meta: Any, children: list[Token]) -> ast.Provenance:
        return ast.Provenance("conversational")

    def injected(self, meta: Any, children: list[Token]) -> ast.Provenance:
        return ast.Provenance("injected")

    def by_spans(self, meta: Any, children: list[Token]) -> ast.Provenance:
        return ast.Provenance("spans", self._name(children[0]))

    def part_type(self, meta: Any, children: list[Token | None]) -> ast.PartType:
        first, second = children
        assert first is not None
        if second is None:
            return ast.PartType(self._name(first), None)
        return ast.PartType(self._name(second), self._name(first))

    def _made(self, children: list[Any]) -> tuple[ast.Provenance | None, tuple[ast.Item, ...]]:
        provenance = next((c for c in children if isinstance(c, ast.Provenance)), None)
        return provenance, tuple(c for c in children if isinstance(c, ast.Item))

    def block(self, meta: Any, children: list[Any]) -> ast.Block:
        names = tuple(self._value(c) for c in children if isinstance(c, Token))
        when = next((c for c in children if isinstance(c, tuple)), ())
        kind = next(c for c in children if isinstance(c, ast.PartType))
        provenance, items = self._made(children)
        return ast.Block(names, when, kind, provenance, items)

    def part(self, meta: Any, children: list[Any]) -> ast.Part:
        provenance, items = self._made(children)
        return ast.Part(children[0], provenance, items, self._at(meta))

    def parts(self, meta: Any, children: list[Any]) -> ast.Parts:
        shapes = tuple(c for c in children if isinstance(c, ast.Shape))
        blocks = tuple(c for c in children if isinstance(c, ast.Block))
        left = tuple(c for c in children if isinstance(c, ast.Left))
        return ast.Parts(children[0], any(isinstance(c, Token) for c in children), shapes, blocks, left)

    def left(self, meta: Any, children: list[Any]) -> ast.Left:
        return ast.Left(tuple(self._value(c) for c in children[:-1]), children[-1])

    # clauses
    def named(self, meta: Any, children: list[Token]) -> list[ast.Value]:
        return [self._value(c) for c in children]

    def untyped(self, meta: Any, children: list[Token]) -> list[ast.Value]:
        return []

    def kind(self, meta: Any, children: list[Any]) -> ast.Kind:
        names, when, given, observed, *others = children
        messages = tuple(self._name(c) for c in others if isinstance(c, Token))
        items = tuple(c for c in others if isinstance(c, ast.Item))
        return ast.Kind(
            tuple(names), when or (), given, observed, messages, items, Span(self._file, meta.line, meta.column, 1)
        )

    def from_path(self, meta: Any, children: list[Token]) -> ast.FromPath:
        return ast.FromPath(self._name(children[0]))

    def from_template(self, meta: Any, children: list[Token]) -> ast.FromTemplate:
        return ast.FromTemplate(self._value(children[0]))

    def from_first(self, meta: Any, children: list[Any]) -> ast.FromFirst:
        path, of, conversion, where = children
        own = where if isinstance(where, Span) else None
        return ast.FromFirst(
            path, self._value(of) if of else None, self._name(conversion) if conversion else None,
            where if own is None else None, own,
        )  # fmt: skip

    def where_own(self, meta: Any, children: list[Any]) -> Span:
        return self._at(meta)

    def own(self, meta: Any, children: list[Any]) -> ast.Own:
        return ast.Own(children[0], tuple(children[1:]))

    def fact(self, meta: Any, children: list[Any]) -> ast.Fact:
        return ast.Fact(self._name(children[0]), tuple(children[1:]))

    def session(self, meta: Any, children: list[ast.Fact | ast.Own]) -> tuple[str, Any]:
        own = [child for child in children if isinstance(child, ast.Own)]
        if len(own) > 1:
            raise MappingError(Diagnostic("map-duplicate", "`own` is stated twice", own[1].source.span))
        return "session", (tuple(child for child in children if isinstance(child, ast.Fact)), *own)

    def span_between(self, meta: Any, children: list[Token]) -> ast.SpanRule:
        return ast.SpanRule("between", self._value(children[0]), self._value(children[1]))

    def span_wrap(self, meta: Any, children: list[Token]) -> ast.SpanRule:
        return ast.SpanRule("wrap", self._value(children[0]), self._value(children[1]))

    def span_prefix(self, meta: Any, children: list[Token]) -> ast.SpanRule:
        return ast.SpanRule("prefix", self._value(children[0]))

    def span_exact(self, meta: Any, children: list[Token]) -> ast.SpanRule:
        return ast.SpanRule("exact", self._value(children[0]))

    def span_when(self, meta: Any, children: list[ast.Test]) -> ast.SpanRule:
        return ast.SpanRule("when", test=children[0])

    def span_tail(self, meta: Any, children: list[Token]) -> ast.SpanRule:
        return ast.SpanRule("tail", self._value(children[0]))

    def span_frame(self, meta: Any, children: list[Token]) -> ast.SpanRule:
        return ast.SpanRule("frame", self._value(children[0]))

    def span_given(self, meta: Any, children: list[Token]) -> ast.SpanRule:
        return ast.SpanRule("given", name=self._name(children[0]))

    def span_labelled(self, meta: Any, children: list[Any]) -> ast.SpanRule:
        path, *labels = children
        return ast.SpanRule("labelled", path=path, values=tuple(map(self._value, labels)))

    def span_typed(self, meta: Any, children: list[ast.Test]) -> ast.SpanRule:
        return ast.SpanRule("typed", test=children[0])

    def span_include(self, meta: Any, children: list[Token]) -> ast.SpanRule:
        return ast.SpanRule("include", name=self._name(children[0]))

    def spans(self, meta: Any, children: list[Any]) -> ast.SpanTable:
        return ast.SpanTable(self._name(children[0]), tuple(children[1:]))

    def carries(self, meta: Any, children: list[Any]) -> ast.Carries:
        *names, when, observed, because = children
        return ast.Carries(tuple(self._value(c) for c in names), when or (), observed, because)

    def otherwise(self, meta: Any, children: list[ast.Item]) -> ast.Otherwise:
        return ast.Otherwise(tuple(children), Span(self._file, meta.line, meta.column, 9))

    def map_number(self, meta: Any, children: list[Token]) -> tuple[str, Any]:
        return "number", int(children[0])

    def files(self, meta: Any, children: list[Token]) -> tuple[str, Any]:
        return "files", tuple(self._value(c) for c in children)

    def ignores(self, meta: Any, children: list[Any]) -> tuple[str, Any]:
        return "ignores", tuple((self._value(c), children[-1]) for c in children[:-1])

    def detect(self, meta: Any, children: list[Any]) -> tuple[str, Any]:
        return "detect", tuple(children)

    def records(self, meta: Any, children: list[ast.Path]) -> tuple[str, Any]:
        return "records", children[0]

    def rest(self, meta: Any, children: list[ast.Name]) -> tuple[str, Any]:
        return "rest", children[0]

    def document(self, meta: Any, children: list[ast.Path]) -> tuple[str, Any]:
        return "document", (children[0], children[1])

    def beside(self, meta: Any, children: list[Token]) -> tuple[str, Any]:
        return "beside", tuple(self._value(c) for c in children)

    def facts(self, meta: Any, children: list[Token]) -> tuple[str, Any]:
        return "facts", tuple(self._name(c) for c in children)

    def client(self, meta: Any, children: list[Any]) -> ast.Mapping:
        single: dict[str, Any] = {}
        for clause in children[1:]:
            if isinstance(clause, tuple):
                name, value = clause
                if name in single:
                    raise MappingError(
                        Diagnostic("map-duplicate", f"`{name}` is stated twice", self._token(children[0]))
                    )
                single[name] = value
        carrying = [clause for clause in children if isinstance(clause, ast.Otherwise)]
        if len(carrying) > 1:
            raise MappingError(Diagnostic("map-duplicate", "`otherwise` is stated twice", carrying[1].span))
        return ast.Mapping(
            client=self._value(children[0]),
            number=single.get("number", 1),
            files=single.get("files", ()),
            ignores=single.get("ignores", ()),
            detect=single.get("detect", ()),
            records=single.get("records"),
            rest=single.get("rest"),
            document=single.get("document"),
            beside=single.get("beside", ()),
            facts=single.get("facts", ()),
            session=single.get("session", ((),))[0],
            own=next(iter(single.get("session", ())[1:]), None),
            spans=tuple(c for c in children if isinstance(c, ast.SpanTable)),
            carries=tuple(c for c in children if isinstance(c, ast.Carries)),
            otherwise=carrying[0] if carrying else None,
            kinds=tuple(c for c in children if isinstance(c, ast.Kind)),
            file=self._file,
            text=self._text,
        )

    def start(self, meta: Any, children: list[ast.Mapping]) -> ast.Mapping:
        return children[0]
