"""Every section and key of the configuration, with default, bounds and documentation."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from itertools import chain
from pathlib import Path
from typing import Any, cast

from vault_index.errors import NotFoundError


def setting(
    default: Any,
    doc: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    secret: bool = False,
    place: bool = False,
) -> Any:
    """Return a field whose metadata feeds validation and reference."""
    # A secret is not in `repr`, so not in logs and tracebacks.
    about = {"doc": doc, "low": low, "high": high, "choices": choices, "secret": secret, "place": place}
    return field(default=default, metadata=about, repr=not secret)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceConfig:
    """One source of markdown: `[sources.<name>]`."""

    name: str = setting(
        MISSING, "Letters, digits, `-` and `_`: the name of the section, and `--source NAME` on the command line."
    )
    path: Path = setting(  # noqa: RUF009
        MISSING, "The folder of the vault. Relative to the folder of the configuration file; `~` is your home."
    )
    kind: str = setting("vault", "What the source is.", choices=("vault",))
    include: tuple[str, ...] = setting(
        (), "Globs as in `.gitignore`; when there are any, only what they match is indexed."
    )
    exclude: tuple[str, ...] = setting((), "Globs as in `.gitignore` of what is not indexed.")
    local_only: bool | tuple[str, ...] = setting(
        (), "Folders and globs whose text is never sent to a remote embedder; `true` for the whole source."
    )
    max_file_bytes: int = setting(
        10_485_760, "Larger files are not indexed, but named by `status`.", low=1, high=1_073_741_824
    )
    follow_outside_links: bool = setting(False, "Whether symbolic links that leave the folder are followed.")
    below: tuple[str, ...] = ()
    """Not a setting: restricts the source to these folders, each ending in `/`; empty for all."""


@dataclass(frozen=True, slots=True)
class ChunkConfig:
    """How documents are split: `[chunk]`."""

    tokens: int = setting(400, "The most tokens (cl100k_base) a chunk may have.", low=50, high=8000)
    overlap: int = setting(
        80, "Tokens that are repeated where a section must be split; less than half of `tokens`.", low=0
    )


@dataclass(frozen=True, slots=True)
class EmbeddingConfig:
    """The embedder: `[embedding]`."""

    provider: str = setting(
        "local",
        "`local`: the model that comes with the package, nothing leaves the machine. `openai`: any server that "
        "speaks OpenAI's embeddings API. `none`: search by keywords only.",
        choices=("local", "openai", "none"),
    )
    model: str = setting(
        "",
        "The name of the model; empty for the provider's default. With `local`, `multilingual-e5-small` is the other "
        "one, for notes that are not English; it is installed separately (docs/getting-started.md).",
    )
    base_url: str = setting("", "Where the server answers, as `http://localhost:11434/v1`; empty for OpenAI itself.")
    api_key: str = setting("", "The key itself; better kept in the environment or a command.", secret=True)
    api_key_env: str = setting("OPENAI_API_KEY", "The environment variable that holds the key.")
    api_key_command: str = setting("", "A command that prints the key, as `pass show openai`.")
    dimensions: int = setting(0, "How long the vectors shall be; 0 for the model's own length.", low=0, high=8192)
    batch_tokens: int = setting(50_000, "The most tokens in one request.", low=1, high=300_000)
    batch_texts: int = setting(256, "The most texts in one request.", low=1, high=2048)
    daily_token_limit: int = setting(0, "The most tokens sent to a remote embedder in a day; 0 for no limit.", low=0)
    timeout: float = setting(30.0, "Seconds to wait for one answer.", low=0.1, high=3600)
    max_retries: int = setting(6, "How often a failed request is tried again.", low=0, high=100)
    idle_minutes: float = setting(
        15.0,
        "Minutes without a text after which the daemon gives the memory of the local model back; the next text loads "
        "it again. 0 keeps it.",
        low=0,
        high=10_080,
    )
    price_per_million: float = setting(
        0.0, "US dollars for a million tokens, for estimates; 0 for the known price of the model.", low=0
    )


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """Defaults of search options: `[search]`."""

    limit: int = setting(10, "How many hits an answer has.", low=1, high=1000)
    match: str = setting(
        "any",
        "`any`: one word may be enough, more words rank higher. `all`: every word is needed.",
        choices=("any", "all"),
    )
    per_document: int = setting(3, "The most hits from one document.", low=1, high=1000)
    fuzzy: bool = setting(True, "Whether words that no text holds are read as words that are spelled almost so.")
    threshold: float = setting(
        0.7, "How alike a word must be to be meant: 1 - edit distance / length.", low=0.5, high=1.0
    )


@dataclass(frozen=True, slots=True)
class RankingConfig:
    """Ranking factors besides the passage itself: `[ranking]`.

    A weight is the maximum share of its score that a passage can lose; 0 disables it.
    """

    recency_notes: float = setting(0.0, "For notes that were not changed for long.", low=0, high=0.5)
    recency_memories: float = setting(0.05, "For memories that were not changed for long.", low=0, high=0.5)
    recency_sessions: float = setting(0.05, "For sessions that are long ago.", low=0, high=0.5)
    half_life_days: float = setting(90.0, "Days after which half of that weight counts.", low=0.1, high=36_500)
    outdated: float = setting(0.1, "For memories whose `valid_until` has passed.", low=0, high=0.5)
    usage: float = setting(0.0, "For documents that were never opened with `get`.", low=0, high=0.5)
    backlinks: float = setting(0.0, "For notes that no other note links to.", low=0, high=0.5)


@dataclass(frozen=True, slots=True)
class WatchConfig:
    """How the daemon watches files: `[watch]`."""

    quiet: float = setting(0.15, "Seconds without a further change before a file is read.", low=0, high=3600)
    longest: float = setting(2.0, "Seconds after which a file that keeps changing is read anyway.", low=0, high=3600)
    reconcile: float = setting(
        15.0,
        "Minutes between two comparisons of everything with the index; 0 for only at the start.",
        low=0,
        high=10_080,
    )
    backend: str = setting(
        "auto",
        "`native`: the system's notifications. `polling`: looking again and again. `auto`: whichever works.",
        choices=("auto", "native", "polling"),
    )


@dataclass(frozen=True, slots=True)
class MemoryConfig:
    """Where memories are stored, and their rules: `[memory]`."""

    dir: str = setting("80-memory", "The folder of the memories inside the vault; not a hidden one.")
    vault: str = setting("", "The source new memories are written to; empty for the first one.")
    max_bytes: int = setting(10_240, "The longest text one memory may be given, in bytes.", low=1, high=1_048_576)
    review: str = setting(
        "captured",
        "Which new memories a person reviews: those taken from what was said (`captured`, see `agents.capture`), "
        "or also those that an agent stores (`agents`: all that name who entered them). They lie in the folder"
        " `inbox`.",
        choices=("captured", "agents"),
    )
    auto_prune: bool = setting(False, "Whether the daemon moves expired memories to `.trash/` by itself.")
    archive_after: str = setting(
        "",
        "After how long the daemon archives a memory that nobody created, changed or opened since, as `365 days` or "
        "`2 years`: it is left out of search and recall, and its file stays. Empty for never.",
    )
    capture_tags: tuple[str, ...] = setting(
        (),
        "Words that give a captured memory a tag, beside the built-in ones below, as `billing: invoice, stripe api`. "
        "A built-in tag gets these words instead; without words it is not given.",
    )


CLIENTS = {"opencode": "OpenCode", "claude-code": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI"}
"""Clients by source name; each has its own section."""


@dataclass(frozen=True, slots=True)
class SessionsConfig:
    """Sessions of agents' clients: `[sessions]`."""

    keep: bool = setting(True, "Whether sessions are kept that their client deletes: in the data folder, redacted.")
    keep_days: int = setting(0, "After how many days they are no longer kept; 0 for never.", low=0, high=36_500)
    mirror: str = setting(
        "",
        "A folder of the vault that memories are written to: sessions are written there as notes, which are indexed "
        "instead. Empty for none. Clients that neither `init` nor a section named are left out.",
    )


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """The sessions of one client, as a source: `[sessions.opencode]` and so on."""

    enabled: bool = setting(True, "Whether they are indexed. Those that come later are found.")
    data: tuple[str, ...] = setting(
        (),
        "The folder of the client's data, or one database of OpenCode; a list for several. Empty for where the client "
        "itself would look. Relative to the folder of the configuration file; `~` is your home.",
        place=True,
    )
    include: tuple[str, ...] = setting(
        (), "What is indexed beside what was said: `reasoning`, `output` of tools, `diffs` of edited files."
    )
    exclude: tuple[str, ...] = setting(
        (), "Projects left out: their names, as `client-*`, or their folders, as `~/clients/secret`."
    )
    local_only: bool | tuple[str, ...] = setting(
        (),
        "Projects whose text is never sent to a remote embedder, as for `exclude`; `true` for all sessions, which also "
        "holds while neither `init` nor a section named the client.",
    )


@dataclass(frozen=True, slots=True)
class AgentsConfig:
    """Automatic actions for agents (the OpenCode plugin, the MCP server): `[agents]`."""

    capture: str = setting(
        "inbox",
        "What becomes of `*Remember*: …` and of decisions and preferences that were said: `inbox` keeps them for "
        "review (the former in the folder `inbox` of the memories, the latter unseen in `inbox/waiting`), `direct` "
        "among the other memories, `off` not at all.",
        choices=("inbox", "direct", "off"),
    )
    start_daemon: bool = setting(
        True, "Whether a daemon is started where none runs; otherwise the index is brought up to date once."
    )


@dataclass(frozen=True, slots=True)
class RecallConfig:
    """The recall at the start of an agent's session: `[recall]`."""

    budget: int = setting(1200, "The most tokens (cl100k_base) one answer of `recall` has.", low=1, high=100_000)


@dataclass(frozen=True, slots=True)
class ServeConfig:
    """The HTTP server `vault-index serve`: `[serve]`."""

    listen: str = setting(
        "127.0.0.1:7341",
        "The address and the port. One that is not of this machine alone needs a token, and a certificate or a proxy.",
    )
    hosts: tuple[str, ...] = setting(
        (), "Other names that it is asked by, as `notes.example.org`; a proxy's name, too."
    )
    origins: tuple[str, ...] = setting((), "Web pages of other servers that may ask, as `https://notes.example.org`.")
    certificate: str = setting("", "The file of a TLS certificate, with those it was signed by.", place=True)
    key: str = setting("", "The file of its private key.", place=True)
    behind_proxy: bool = setting(
        False, "Whether a proxy in front does TLS and says in `X-Forwarded-For` who asks; nobody else may reach it."
    )
    rate: int = setting(100, "How many requests one token has in a second; twice as many at once.", low=1, high=100_000)
    editor: str = setting(
        "vscode://file{path}:{line}", "What the page links to for a document of a vault, with `{path}` and `{line}`."
    )
    max_body_bytes: int = setting(1_048_576, "The longest request, in bytes.", low=1, high=4_194_304)


@dataclass(frozen=True, slots=True)
class Config:
    """The whole configuration. `Config()` has every default and no source."""

    sources: tuple[SourceConfig, ...] = ()
    chunk: ChunkConfig = field(default_factory=ChunkConfig)
    embedding: EmbeddingConfig = field(default_factory=EmbeddingConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    ranking: RankingConfig = field(default_factory=RankingConfig)
    watch: WatchConfig = field(default_factory=WatchConfig)
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    recall: RecallConfig = field(default_factory=RecallConfig)
    sessions: SessionsConfig = field(default_factory=SessionsConfig)
    clients: Mapping[str, ClientConfig] = field(default_factory=lambda: dict.fromkeys(CLIENTS, ClientConfig()))
    agents: AgentsConfig = field(default_factory=AgentsConfig)
    serve: ServeConfig = field(default_factory=ServeConfig)
    told: frozenset[str] = frozenset()
    """Clients with a section in the file or the environment, so the user knows that they are
    indexed.
    """
    sessions_dir: Path | None = field(default=None, compare=False)
    """The folder of stored sessions."""

    def section(self, name: str) -> Any:
        """Return the values of one of SECTIONS."""
        return self.clients[name.removeprefix(_CLIENT)] if name.startswith(_CLIENT) else getattr(self, name)

    def memory_source(self) -> SourceConfig | None:
        """Return the vault for new memories; None without vaults."""
        return self.source(self.memory.vault) if self.memory.vault else next(iter(self.sources), None)

    def source(self, name: str) -> SourceConfig:
        """Return the source with a name, ignoring case. NotFoundError lists the sources."""
        for source in self.sources:
            if source.name.casefold() == name.casefold():
                return source
        known = ", ".join(source.name for source in self.sources) or "none yet"
        raise NotFoundError(f"no source is named {name!r}", f"sources: {known}")


_CLIENT = "sessions."
_PLAIN = tuple(
    (section.name, cast("type[Any]", section.default_factory))
    for section in fields(Config)
    if section.name not in ("sources", "clients", "told", "sessions_dir")
)
_CLIENTS: tuple[tuple[str, type[Any]], ...] = tuple((f"{_CLIENT}{name}", ClientConfig) for name in CLIENTS)
SECTIONS = tuple(chain.from_iterable((one, *_CLIENTS) if one[0] == "sessions" else (one,) for one in _PLAIN))
"""The fixed sections, in the order of the reference; `[sources.<name>]` comes before them."""
