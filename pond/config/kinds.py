"""The kinds of values that settings take: how each reads text, what it accepts, and how it is described."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NoReturn

_ADDRESS = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<rest>.*)", re.DOTALL)
_BUCKETS = ("s3", "gs", "az")
_LONGEST_SHOWN = 60
_INT64 = 1 << 63
_NAMESPACE = re.compile(r"[a-z0-9_-]{1,64}")
HOLE, EVERY = "{namespace}", "*"  # the placeholder of a template, and the name that means all


class Unfit(Exception):
    """The value does not fit the kind."""


@dataclass(frozen=True, slots=True)
class PathBase:
    """Where a value was written, for paths: what `~` means there and where relative paths begin."""

    home: Path | None
    folder: Path


class SettingKind(ABC):
    """One kind of value."""

    @property
    @abstractmethod
    def expected(self) -> str:
        """What it takes, in words, for messages and for the reference."""

    def from_text(self, text: str) -> object:
        """Return what the text of a variable or flag means; text that does not fit is returned unchanged."""
        return text

    @abstractmethod
    def check(self, value: object, base: PathBase) -> object:
        """Return the value in the form that settings use, or raise Unfit."""


class Text(SettingKind):
    """Any text that is not empty."""

    expected = "text that is not empty"

    def check(self, value: object, base: PathBase) -> str:
        """Return the text unchanged."""
        return _text(value)


class Location(SettingKind):
    """A directory of this machine or in an object store."""

    expected = "a path, or an address that begins with file:///, s3://, gs:// or az://"

    def check(self, value: object, base: PathBase) -> str:
        """Return an absolute path, or the address without a slash at its end."""
        text = _text(value)
        address = _ADDRESS.fullmatch(text)
        if address is None:
            return _local(text, base)
        scheme, rest = address["scheme"].lower(), address["rest"].rstrip("/")
        if not rest or not (scheme == "file" if rest.startswith("/") else scheme in _BUCKETS):
            raise Unfit
        return f"{scheme}://{rest}"


class LocalPath(SettingKind):
    """A file or a directory of this machine."""

    expected = "a path"

    def check(self, value: object, base: PathBase) -> str:
        """Return the path, absolute."""
        text = _text(value)
        if _ADDRESS.fullmatch(text):
            raise Unfit
        return _local(text, base)


class WebAddress(SettingKind):
    """The address of a server."""

    expected = "an address that begins with http:// or https://"

    def check(self, value: object, base: PathBase) -> str:
        """Return the address without a slash at its end."""
        text = _text(value)
        address = _ADDRESS.fullmatch(text)
        if address is None or address["scheme"].lower() not in ("http", "https") or not address["rest"].strip("/"):
            raise Unfit
        return text.rstrip("/")


@dataclass(frozen=True, slots=True)
class Choice(SettingKind):
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def expected(self) -> str:
        return f"one of {', '.join(self.words)}"

    def check(self, value: object, base: PathBase) -> str:
        """Return the word."""
        if not isinstance(value, str) or value not in self.words:
            raise Unfit
        return value


@dataclass(frozen=True, slots=True)
class Count(SettingKind):
    """A whole number between two bounds, both allowed."""

    least: int
    most: int

    @property
    def expected(self) -> str:
        return f"a whole number from {self.least} to {self.most}"

    def from_text(self, text: str) -> object:
        """Read digits as a number."""
        try:
            return int(text)
        except ValueError:
            return text

    def check(self, value: object, base: PathBase) -> int:
        """Return the number."""
        if type(value) is not int or not self.least <= value <= self.most:
            raise Unfit
        return value


@dataclass(frozen=True, slots=True)
class Number(SettingKind):
    """A number above one bound and at most another."""

    above: float
    most: float

    @property
    def expected(self) -> str:
        return f"a number above {self.above:g}, at most {self.most:g}"

    def from_text(self, text: str) -> object:
        """Read a decimal number."""
        try:
            return float(text)
        except ValueError:
            return text

    def check(self, value: object, base: PathBase) -> float:
        """Return the number as a float; NaN is within no bounds."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not self.above < value <= self.most:
            raise Unfit
        return float(value)


class Texts(SettingKind):
    """Several texts."""

    expected = "an array of texts that are not empty"
    separator: ClassVar[str] = ","

    def from_text(self, text: str) -> object:
        """Split at the separator; an empty piece is not an item."""
        return [item.strip() for item in text.split(self.separator) if item.strip()]

    def check(self, value: object, base: PathBase) -> tuple[str, ...]:
        """Return the items in their order."""
        if not isinstance(value, list | tuple):
            raise Unfit
        return tuple(self.item(each, base) for each in value)

    def item(self, value: object, base: PathBase) -> str:
        """Return one item, or raise Unfit."""
        return _text(value)


class Paths(Texts):
    """Several paths of this machine."""

    expected = "an array of paths"
    separator = os.pathsep

    def item(self, value: object, base: PathBase) -> str:
        """Return the path, absolute."""
        return _local(_text(value), base)


class Option(SettingKind):
    """One option for a library that takes text; `true` and `5` may be written without quotes."""

    expected = "text, a whole number, true or false"

    def check(self, value: object, base: PathBase) -> str:
        """Return the option as text."""
        match value:
            case bool():
                return "true" if value else "false"
            case int() if -_INT64 <= value < _INT64:
                return str(value)
            case str():
                return value
        raise Unfit


class OptionTable(SettingKind):
    """A table with names that pond does not know: each option is passed on unchanged."""

    expected = "a table of options, each text, a whole number, true or false"
    secret: ClassVar[bool] = True  # an option may be a password, whatever its name
    _option: ClassVar[Option] = Option()

    def check(self, value: object, base: PathBase) -> NoReturn:
        """Refuse what is not a table; options are checked one by one, so that a fault names the right line."""
        raise Unfit

    def accepts(self, name: str) -> bool:
        """Tell whether an entry may have this name. Variables give lower-case names, and must be able to replace it."""
        return bool(name) and name == name.lower()

    def option(self, name: str) -> SettingKind:
        """Return the kind of the entry with this name."""
        return self._option


class Template(Location):
    """Where the lakes of many namespaces are."""

    expected = f"a path or an address with `{HOLE}` in it"

    def check(self, value: object, base: PathBase) -> str:
        """Return it like a location; the placeholder stays."""
        if HOLE not in _text(value):
            raise Unfit
        return super().check(value, base)


class NamespaceTable(OptionTable):
    """Namespaces and the lake of each; `*` is a template for all others."""

    expected = "a table of namespaces, each with the path or address of its lake"
    secret = False
    _location: ClassVar[Location] = Location()
    _template: ClassVar[Template] = Template()

    def accepts(self, name: str) -> bool:
        """Tell whether this is a namespace or means all."""
        return name == EVERY or is_namespace(name)

    def option(self, name: str) -> SettingKind:
        """Return what the entry takes."""
        return self._template if name == EVERY else self._location


def is_namespace(text: str) -> bool:
    """Tell whether a text can be the name of a namespace."""
    return _NAMESPACE.fullmatch(text) is not None


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Unfit
    return value


def _local(text: str, base: PathBase) -> str:
    """Return the absolute path that `text` means at `base`."""
    if "\0" in text:
        raise Unfit
    if text == "~" or text.startswith("~/"):
        if base.home is None:
            raise Unfit
        text = f"{base.home}{text[1:]}"
    try:
        return str((base.folder / os.path.expanduser(text)).absolute())
    except OSError:  # a relative path, and the working directory is gone
        raise Unfit from None


def describe(value: object, secret: bool = False) -> str:
    """Describe a value that did not fit; for a secret only its type."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            small = not secret and (isinstance(value, float) or -_INT64 <= value < _INT64)
            return f"the number {value}" if small else "a number"
        case str():
            return "text" if secret else f"the text `{printable(value)}`" if value.strip() else "empty text"
        case list() | tuple():
            return "an array"
        case dict():
            return "a table"
    return "a date or a time"


def printable(text: str) -> str:
    """Return the text for one line of a terminal: short, with control characters escaped."""
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown)
