"""Every setting, declared once: name, type, default, meaning. Parsing, variables, `config show` and the docs use this.

A new table is a dataclass like `Sync` and a field of `Settings`; a new setting is a field of its table.
"""

# No `from __future__ import annotations`: the declaration is read back from the field types.
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from typing import Any, Final

from pond.config.kinds import (
    Choice,
    Count,
    LocalPath,
    Location,
    NamespaceTable,
    Number,
    OptionTable,
    Paths,
    SettingKind,
    Text,
    Texts,
    WebAddress,
)

PREFIX: Final = "POND_"


def _about(kind: SettingKind, meaning: str, unset: str = "none") -> Mapping[str, object]:
    """Return what a field cannot say itself; `unset` is the text shown if nothing was set."""
    return {"kind": kind, "meaning": meaning, "unset": unset}


@dataclass(frozen=True, slots=True)
class Sync:
    """`[sync]`: where sessions are looked for, and how often."""

    clients: tuple[str, ...] | None = field(default=None, metadata=_about(Texts(), "The clients to sync.", "all"))
    paths: tuple[str, ...] = field(default=(), metadata=_about(Paths(), "More files and directories to sync."))
    interval: float = field(default=2.0, metadata=_about(Number(0, 86_400), "Seconds between two passes of `--watch`."))


@dataclass(frozen=True, slots=True)
class Ingest:
    """`[ingest]`: how sessions go into the lake."""

    rows_per_commit: int = field(
        default=20_000, metadata=_about(Count(100, 200_000), "Rows written to the lake in one commit.")
    )


@dataclass(frozen=True, slots=True)
class Sql:
    """`[sql]`: what one query may use."""

    seconds: float = field(default=30.0, metadata=_about(Number(0, 86_400), "Seconds that a query may take at most."))
    memory_mb: int = field(
        default=1024, metadata=_about(Count(64, 1_000_000), "Megabytes of memory that a query may use at most.")
    )


@dataclass(frozen=True, slots=True)
class Embed:
    """`[embed]`: the model that messages are embedded with."""

    model: str | None = field(
        default=None,
        metadata=_about(Text(), "The model that embeds messages; see `pond model list`.", "off"),
    )
    directory: str | None = field(
        default=None,
        metadata=_about(LocalPath(), "Run the model from this directory, instead of those that `pond model` manages."),
    )
    endpoint: str | None = field(
        default=None,
        metadata=_about(WebAddress(), "The address of an OpenAI-compatible server, without `/embeddings`."),
    )
    key_variable: str | None = field(
        default=None, metadata=_about(Text(), "The environment variable that holds the server's key.")
    )
    timeout: float = field(
        default=60.0, metadata=_about(Number(0, 3600), "Seconds to wait for an answer of the server.")
    )
    dimensions: int | None = field(
        default=None,
        metadata=_about(Count(1, 8192), "How many numbers of each vector to keep, if the model allows it.", "all"),
    )
    pooling: str | None = field(
        default=None,
        metadata=_about(Choice(("mean", "cls", "last")), "How the model's tokens become one vector.", "the model's"),
    )
    query_prefix: str | None = field(
        default=None, metadata=_about(Text(), "Text that the model expects before a question.", "the model's")
    )
    passage_prefix: str | None = field(
        default=None, metadata=_about(Text(), "Text that the model expects before a passage.", "the model's")
    )
    max_tokens: int | None = field(
        default=None, metadata=_about(Count(8, 65_536), "How many tokens of a message the model sees.", "160")
    )
    threads: int | None = field(
        default=None, metadata=_about(Count(1, 1024), "Number of threads, or of requests at once.", "one for each core")
    )
    models: str | None = field(
        default=None, metadata=_about(LocalPath(), "Where `pond model` keeps models.", "$XDG_DATA_HOME/pond/models")
    )


@dataclass(frozen=True, slots=True)
class Search:
    """`[search]`: how vectors are searched."""

    index_from: int = field(
        default=100_000, metadata=_about(Count(256, 1 << 40), "Number of vectors from which an index is built.")
    )
    nprobes: int = field(
        default=16, metadata=_about(Count(1, 65_536), "Number of index partitions that a search looks into.")
    )
    refine_factor: int = field(
        default=2, metadata=_about(Count(1, 1000), "Candidates that are compared exactly, for each hit asked for.")
    )


@dataclass(frozen=True, slots=True)
class Serve:
    """`[serve]`: where `pond serve` listens, whom it answers, and its limits."""

    host: str = field(default="127.0.0.1", metadata=_about(Text(), "The address that `pond serve` listens on."))
    port: int = field(
        default=7663, metadata=_about(Count(0, 65_535), "The port that it listens on; 0 picks a free one.")
    )
    hosts: tuple[str, ...] = field(
        default=(), metadata=_about(Texts(), "Host names that it answers to, in addition to its address.")
    )
    token_file: str | None = field(
        default=None,
        metadata=_about(LocalPath(), "A file with the bearer token that requests need; or set `POND_TOKEN`."),
    )
    connections: int = field(
        default=512, metadata=_about(Count(1, 65_535), "At most this many open connections in one process.")
    )
    event_readers: int = field(
        default=64, metadata=_about(Count(1, 65_535), "At most this many readers of events in one process.")
    )
    open_namespaces: int = field(
        default=32, metadata=_about(Count(1, 10_000), "At most this many open namespaces in one process.")
    )
    idle: float = field(
        default=300.0, metadata=_about(Number(0, 86_400), "Seconds after which an unused namespace is closed.")
    )


@dataclass(frozen=True, slots=True)
class Pods:
    """`[pods]`: the state of named agents, which is beside the lake and never in it."""

    root: str | None = field(
        default=None,
        metadata=_about(
            LocalPath(),
            "Where the records of pods are; `--root` overrides it for one command.",
            "$XDG_DATA_HOME/pond/pods",
        ),
    )
    probe_seconds: float = field(
        default=0.5,
        metadata=_about(Number(0, 60), "Seconds a child has to answer before it counts as unreachable."),
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one run, with the source of each value."""

    lake: str = field(
        metadata=_about(
            Location(), "Where the lake is; `--lake` overrides it for one command.", "$XDG_DATA_HOME/pond/lake"
        )
    )
    namespace: str | None = field(
        default=None, metadata=_about(Text(), "The tenant to use, in a lake that several tenants share.")
    )
    # Not in the repr: it holds keys.
    storage: dict[str, str] = field(
        default_factory=dict,
        repr=False,
        metadata=_about(OptionTable(), "Options for the object store, with its own names."),
    )
    namespaces: dict[str, str] = field(
        default_factory=dict,
        metadata=_about(NamespaceTable(), "The lake of each namespace; `*` is a template with `{namespace}`."),
    )
    sync: Sync = field(default_factory=Sync)
    ingest: Ingest = field(default_factory=Ingest)
    sql: Sql = field(default_factory=Sql)
    embed: Embed = field(default_factory=Embed)
    search: Search = field(default_factory=Search)
    serve: Serve = field(default_factory=Serve)
    pods: Pods = field(default_factory=Pods)
    sources: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as declared."""

    path: tuple[str, ...]
    kind: SettingKind
    meaning: str
    unset: str
    default: object  # MISSING if it depends on the machine

    @property
    def name(self) -> str:
        """The name a person uses: `sync.interval`."""
        return ".".join(self.path)

    @property
    def variable(self) -> str:
        """The environment variable; for a table of options, the prefix of each option's variable."""
        return PREFIX + "_".join(self.path).upper() + ("_" if isinstance(self.kind, OptionTable) else "")

    @property
    def flag(self) -> str:
        """The flag, for commands that have it."""
        return "--" + self.path[-1].replace("_", "-")


def _declared(table: Any, path: tuple[str, ...] = ()) -> Iterator[Setting]:
    for each in fields(table):
        here = (*path, each.name)
        if is_dataclass(each.type):
            yield from _declared(each.type, here)
        elif each.metadata:
            default = each.default if each.default_factory is MISSING else each.default_factory()
            yield Setting(here, default=default, **each.metadata)


SETTINGS: Final[dict[tuple[str, ...], Setting]] = {each.path: each for each in _declared(Settings)}
TABLES: Final = frozenset(path[:-1] for path in SETTINGS)


def build(values: Mapping[tuple[str, ...], object], sources: dict[str, str]) -> Settings:
    """Return the settings; those missing in `values` keep their defaults."""
    top = {path[0]: value for path, value in values.items() if len(path) == 1}
    tables = {
        each.name: each.type(**{path[1]: value for path, value in values.items() if path[:-1] == (each.name,)})
        for each in fields(Settings)
        if is_dataclass(each.type) and isinstance(each.type, type)
    }
    return Settings(**top, **tables, sources=sources)  # type: ignore[arg-type]
