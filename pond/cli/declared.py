"""What a command declares of its arguments and options, as plain values: for help, completion and mistakes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

from typer.models import ArgumentInfo, OptionInfo


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument or option of a command."""

    name: str
    kind: Any
    flags: tuple[str, ...]  # none for an argument
    metavar: str
    help: str
    default: Any
    required: bool

    @property
    def is_flag(self) -> bool:
        return self.kind is bool

    @property
    def is_list(self) -> bool:
        return self.kind in (list[str], list[str] | None)


def parameters(function: Callable[..., Any]) -> list[Parameter]:
    """Return the arguments and options of a command, in the order in which it declares them."""
    names = [name for name in function.__annotations__ if name != "return"]
    defaults = function.__defaults__ or ()
    given = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    return [_parameter(name, get_args(function.__annotations__[name]), given) for name in names]


def _parameter(name: str, annotated: tuple[Any, Any], given: dict[str, Any]) -> Parameter:
    kind, info = annotated
    assert isinstance(info, OptionInfo | ArgumentInfo)
    required = name not in given and info.default_factory is None
    default = info.default_factory() if info.default_factory is not None else given.get(name)
    flags: tuple[str, ...] = ()
    if isinstance(info, OptionInfo):
        # With Annotated the first spelling arrives where a default would stand.
        first = (info.default,) if type(info.default) is str else ()
        flags = (*first, *(info.param_decls or ())) or (f"--{name.replace('_', '-')}",)
    return Parameter(name, kind, flags, info.metavar or "", info.help or "", default, required)
