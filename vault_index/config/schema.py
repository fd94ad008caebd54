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
    about = {
        "doc": doc,
        "low": low,
        "high": high,
        "choices": choices,
        "secret": secret,
        "place": place,
    }
    return field(default=default, metadata=about, repr=not secret)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceConfig:
    """One source of markdown: `[sources.<name>]`."""

    name: str = setting(
        MISSING,
        "Letters, digits, `-` and `_`: the name of the section, "
        "and `--source NAME` on the command line.",
    )
    path: Path = setting(  # noqa: RUF009
        MISSING,
        "The folder of the vault. Relative to the folder of the configuration file; "
        "`~` is your home.",
    )
    kind: str = setting("vault", "The kind of the source.", choices=("vault",))
    include: tuple[str, ...] = setting(
        (), "Globs as in `.gitignore`; if set, only matching files are indexed."
    )
    exclude: tuple[str, ...] = setting(
        (), "Globs as in `.gitignore`; matching files are not indexed."
    )
    local_only: bool | tuple[str, ...] = setting(
        (),
        "Folders and globs whose text is never sent to a remote embedder; "
        "`true` for the whole source.",
    )
    max_file_bytes: int = setting(
        10_485_760, "Larger files are not indexed; `status` lists them.", low=1, high=1_073_741_824
    )
    follow_outside_links: bool = setting(
        False, "Whether to follow symbolic links that lead out of the folder."
    )
    remote: str = setting(
        "",
        "Instead of `path`, the address of a remote source (docs/remotes.md), such as "
        "`git+https://host/repo.git`; its files are copied to the data folder.",
    )
    every: float = setting(
        5.0,
        "Minutes between two exchanges of the daemon with the remote; 0 for only `source sync`.",
        low=0,
        high=10_080,
    )
    password_command: str = setting(
        "", "A command that prints the password or token of the remote, such as `pass show notes`."
    )

    @property
    def live(self) -> bool:
        """Whether this is another server, which is searched live and has no copy here."""
        return self.remote.startswith(("https://", "http://"))


@dataclass(frozen=True, slots=True)
class ChunkConfig:
    """How documents are split: `[chunk]`."""

    tokens: int = setting(400, "Maximum tokens (cl100k_base) per chunk.", low=50, high=8000)
    overlap: int = setting(
        80, "Tokens repeated when a section is split; less than half of `tokens`.", low=0
    )


@dataclass(frozen=True, slots=True)
class EmbeddingConfig:
    """The embedder: `[embedding]`."""

    provider: str = setting(
        "local",
        "`local`: the model in the package; no text leaves the machine. `openai`: any server that "
        "speaks OpenAI's embeddings API. `none`: search by keywords only.",
        choices=("local", "openai", "none"),
    )
    model: str = setting(
        "",
        "The name of the model; empty for the provider's default. With `local`, "
        "`multilingual-e5-small` is for notes in languages other than English, and `both` uses "
        "it beside the default model; install it separately (docs/getting-started.md).",
    )
    base_url: str = setting(
        "", "URL of the server, such as `http://localhost:11434/v1`; empty for OpenAI."
    )
    api_key: str = setting("", "The key; safer in the environment or a command.", secret=True)
    api_key_env: str = setting("OPENAI_API_KEY", "The environment variable that holds the key.")
    api_key_command: str = setting("", "A command that prints the key, such as `pass show openai`.")
    dimensions: int = setting(
        0, "Length of the vectors; 0 for the model's default.", low=0, high=8192
    )
    batch_tokens: int = setting(50_000, "Maximum tokens per request.", low=1, high=300_000)
    batch_texts: int = setting(256, "Maximum texts per request.", low=1, high=2048)
    daily_token_limit: int = setting(
        0, "Maximum tokens per day for a remote embedder; 0 for no limit.", low=0
    )
    timeout: float = setting(30.0, "Seconds to wait for a response.", low=0.1, high=3600)
    max_retries: int = setting(6, "Maximum retries of a failed request.", low=0, high=100)
    idle_minutes: float = setting(
        15.0,
        "Idle minutes after which the daemon unloads the local model; "
        "the next text loads it again. 0 keeps it loaded.",
        low=0,
        high=10_080,
    )
    price_per_million: float = setting(
        0.0,
        "US dollars per million tokens, for estimates; 0 for the known price of the model.",
        low=0,
    )


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """Defaults of search options: `[search]`."""

    limit: int = setting(10, "Maximum number of hits.", low=1, high=1000)
    match: str = setting(
        "any",
        "`any`: one word is enough, more words rank higher. `all`: every word is required.",
        choices=("any", "all"),
    )
    per_document: int = setting(3, "Maximum hits per document.", low=1, high=1000)
    fuzzy: bool = setting(
        True,
        "Whether to correct words that no text contains, and to add corrections of rare words.",
    )
    threshold: float = setting(
        0.7,
        "Minimum similarity of a corrected word: 1 - edit distance / length.",
        low=0.5,
        high=1.0,
    )


@dataclass(frozen=True, slots=True)
class RankingConfig:
    """Ranking factors besides the passage itself: `[ranking]`.

    A weight is the maximum share of its score that a passage can lose; 0 disables it.
    """

    recency_notes: float = setting(
        0.0, "Maximum share of its score that a note loses as it gets older.", low=0, high=0.5
    )
    recency_memories: float = setting(0.05, "Like `recency_notes`, for memories.", low=0, high=0.5)
    recency_sessions: float = setting(0.05, "Like `recency_notes`, for sessions.", low=0, high=0.5)
    half_life_days: float = setting(
        90.0,
        "Days without a change after which half of these shares is lost.",
        low=0.1,
        high=36_500,
    )
    outdated: float = setting(
        0.1, "Share of its score that a memory past its `valid_until` loses.", low=0, high=0.5
    )


@dataclass(frozen=True, slots=True)
class WatchConfig:
    """How the daemon watches files: `[watch]`."""

    quiet: float = setting(
        0.15, "Seconds without a further change before a file is read.", low=0, high=3600
    )
    longest: float = setting(
        2.0, "Seconds after which a file that keeps changing is read anyway.", low=0, high=3600
    )
    reconcile: float = setting(
        15.0,
        "Minutes between full comparisons with the index; 0 to compare only at the start.",
        low=0,
        high=10_080,
    )
    backend: str = setting(
        "auto",
        "`native`: notifications by the system. `polling`: periodic scans. "
        "`auto`: native if possible, else polling.",
        choices=("auto", "native", "polling"),
    )


@dataclass(frozen=True, slots=True)
class MemoryConfig:
    """Where memories are stored, and their rules: `[memory]`."""

    dir: str = setting(
        "80-memory",
        "The folder of the memories inside the vault. Its name cannot begin with a dot.",
    )
    vault: str = setting("", "The source for new memories; empty for the first one.")
    max_bytes: int = setting(10_240, "Maximum text of one memory, in bytes.", low=1, high=1_048_576)
    review: str = setting(
        "captured",
        "Which new memories need a review. `captured`: those captured from sessions "
        "(`agents.capture`). `agents`: also those with an author (`entered_by`) and without a "
        "path. They wait in the folder `inbox`.",
        choices=("captured", "agents"),
    )
    auto_prune: bool = setting(False, "Whether the daemon moves expired memories to `.trash/`.")
    archive_after: str = setting(
        "",
        "Time without a change or access after which the daemon archives a memory, "
        "such as `365 days` or `2 years`. Search and recall then skip it; "
        "its file stays. Empty for never.",
    )
    capture_tags: tuple[str, ...] = setting(
        (),
        "More tags for captured memories, each with the words that add it: "
        "`billing: invoice, stripe api`. An entry for a tag in the table below replaces its words; "
        "an entry without words disables the tag.",
    )


CLIENTS = {
    "opencode": "OpenCode",
    "claude-code": "Claude Code",
    "codex": "Codex",
    "gemini": "Gemini CLI",
    "copilot": "GitHub Copilot CLI",
    "pi": "pi",
    "qwen": "Qwen Code",
    "amp": "Amp",
    "crush": "Crush",
    "goose": "Goose",
    "aider": "Aider",
    "cursor": "Cursor",
    "cline": "Cline",
    "roo": "Roo Code",
    "claude-chat": "Claude chats",
    "chatgpt": "ChatGPT",
}
"""Clients by source name; each has its own section."""
AGENT_MEMORIES = "agent-memories"
"""The source of the memory files that clients keep themselves."""


@dataclass(frozen=True, slots=True)
class SessionsConfig:
    """Sessions of agents' clients: `[sessions]`."""

    keep: bool = setting(
        True,
        "Whether to keep redacted copies, in the data folder, of sessions that a client deletes.",
    )
    keep_days: int = setting(
        0, "Days after which these copies are deleted; 0 for never.", low=0, high=36_500
    )
    mirror: str = setting(
        "",
        "A folder in the vault of the memories: each session is written there as a note, "
        "and the note is indexed instead of the session. Empty to disable. "
        "Sessions of clients without a section in the configuration are not written.",
    )


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """The sessions of one client, as a source: `[sessions.opencode]` and so on."""

    enabled: bool = setting(
        True, "Whether to index the client's sessions, also when it is installed later."
    )
    data: tuple[str, ...] = setting(
        (),
        "The folder of the client's data, or one database of OpenCode; a list for several. "
        "Empty for the client's default. Relative to the folder of the configuration file; "
        "`~` is your home.",
        place=True,
    )
    include: tuple[str, ...] = setting(
        (),
        "What to index besides the messages: `reasoning`, `output` of tools, "
        "`diffs` of edited files.",
    )
    exclude: tuple[str, ...] = setting(
        (), "Projects to leave out, by name (`client-*`) or folder (`~/clients/secret`)."
    )
    local_only: bool | tuple[str, ...] = setting(
        (),
        "Projects whose text is never sent to a remote embedder, written as in `exclude`; `true` "
        "for all. If a client has no section in the configuration, `true` applies to it.",
    )


@dataclass(frozen=True, slots=True)
class AgentsConfig:
    """Automatic actions for agents (the OpenCode plugin, the MCP server): `[agents]`."""

    capture: str = setting(
        "inbox",
        "What to do with `*Remember*: …` and with decisions and preferences in sessions. "
        "`inbox`: keep them for review (the former in the folder `inbox`, the latter hidden from "
        "search in `inbox/waiting`). `direct`: store them with the other memories. "
        "`off`: ignore them.",
        choices=("inbox", "direct", "off"),
    )
    memories: bool = setting(
        True,
        "Whether to index the memory files of Claude Code, Codex and Gemini CLI, and `AGENTS.md`, "
        "`CLAUDE.md` and `GEMINI.md` of projects with sessions. They are never changed or sent.",
    )
    start_daemon: bool = setting(
        True, "Whether to start a daemon if none runs; otherwise the index is synced once."
    )


@dataclass(frozen=True, slots=True)
class RecallConfig:
    """The recall at the start of an agent's session: `[recall]`."""

    budget: int = setting(1200, "Maximum tokens (cl100k_base) of a `recall`.", low=1, high=100_000)


@dataclass(frozen=True, slots=True)
class ServeConfig:
    """The HTTP server `vault-index serve`: `[serve]`."""

    listen: str = setting(
        "127.0.0.1:7341",
        "Address and port. If other machines can reach it, "
        "a token and a certificate or proxy are required.",
    )
    hosts: tuple[str, ...] = setting(
        (), "Other host names of the server, such as `notes.example.org`, including a proxy's name."
    )
    origins: tuple[str, ...] = setting(
        (),
        "Origins of other web pages that may send requests, such as `https://notes.example.org`.",
    )
    certificate: str = setting("", "The file of a TLS certificate with its chain.", place=True)
    key: str = setting("", "The file of its private key.", place=True)
    behind_proxy: bool = setting(
        False,
        "Whether a proxy terminates TLS and sets `X-Forwarded-For`; "
        "only the proxy may reach the server.",
    )
    rate: int = setting(
        100, "Requests per second for each token; twice as many in a burst.", low=1, high=100_000
    )
    max_body_bytes: int = setting(
        1_048_576, "Maximum request size, in bytes.", low=1, high=4_194_304
    )


@dataclass(frozen=True, slots=True)
class PoolConfig:
    """A team's pool in PostgreSQL: `[pool]`."""

    dsn: str = setting(
        "",
        "The address of the pool, without a password: `postgresql://notes@db.example.org/team`, or "
        "`service=team`. `pool join` sets it.",
    )
    password_command: str = setting(
        "",
        "A command that prints the password, such as `pass show team`. Without it, PostgreSQL's "
        "own ways apply: `PGPASSWORD`, `~/.pgpass`, a service file.",
    )
    machine: str = setting("", "The name of this machine in the pool. `pool join` sets it.")
    sources: tuple[str, ...] = setting(
        (), "The sources that this machine publishes, without `local_only` text."
    )
    private: tuple[str, ...] = setting((), "Those of `sources` that nobody else sees in the pool.")
    sessions: bool = setting(
        False, "Whether to publish the sessions of these sources, which are left out otherwise."
    )
    vectors: bool = setting(
        False,
        "Whether to ask the pool for the vectors of texts, by their hashes, before embedding them.",
    )
    mirror: str = setting(
        "",
        "A folder in the vault of the memories, such as `80-memory/team`: the pool's memories are "
        "files there, and edits of these files are published. Empty to disable.",
    )


@dataclass(frozen=True, slots=True)
class PageConfig:
    """The page of `serve`: `[page]`."""

    editor: str = setting(
        "vscode",
        "The editor in which the page opens notes: vscode, vscodium, cursor, windsurf, zed, "
        "sublime, idea, textmate or obsidian; or an address with `{path}` and `{line}`.",
    )


@dataclass(frozen=True, slots=True)
class Config:
    """The whole configuration. `Config()` has every default and no source."""

    sources: tuple[SourceConfig, ...] = ()
    servers: tuple[SourceConfig, ...] = ()
    """Other servers of vault-index, from the same sections as the sources."""
    chunk: ChunkConfig = field(default_factory=ChunkConfig)
    embedding: EmbeddingConfig = field(default_factory=EmbeddingConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    ranking: RankingConfig = field(default_factory=RankingConfig)
    watch: WatchConfig = field(default_factory=WatchConfig)
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    recall: RecallConfig = field(default_factory=RecallConfig)
    sessions: SessionsConfig = field(default_factory=SessionsConfig)
    clients: Mapping[str, ClientConfig] = field(
        default_factory=lambda: dict.fromkeys(CLIENTS, ClientConfig())
    )
    agents: AgentsConfig = field(default_factory=AgentsConfig)
    serve: ServeConfig = field(default_factory=ServeConfig)
    pool: PoolConfig = field(default_factory=PoolConfig)
    page: PageConfig = field(default_factory=PageConfig)
    configured: frozenset[str] = frozenset()
    """Clients with a section in the file or the environment: the user knows that they are indexed.
    """
    sessions_dir: Path | None = field(default=None, compare=False)
    """The folder of stored sessions."""

    def section(self, name: str) -> Any:
        """Return the values of one of SECTIONS."""
        return (
            self.clients[name.removeprefix(_CLIENT)]
            if name.startswith(_CLIENT)
            else getattr(self, name)
        )

    def memory_source(self) -> SourceConfig | None:
        """Return the vault for new memories; None without vaults."""
        return (
            self.source(self.memory.vault) if self.memory.vault else next(iter(self.sources), None)
        )

    def source(self, name: str) -> SourceConfig:
        """Return the source with a name, ignoring case. NotFoundError lists the sources."""
        for source in (*self.sources, *self.servers):
            if source.name.casefold() == name.casefold():
                return source
        known = ", ".join(source.name for source in self.sources) or "none yet"
        raise NotFoundError(f"no source is named {name!r}", f"sources: {known}")


_CLIENT = "sessions."
_PLAIN = tuple(
    (section.name, cast("type[Any]", section.default_factory))
    for section in fields(Config)
    if section.name not in ("sources", "servers", "clients", "configured", "sessions_dir")
)
_CLIENTS: tuple[tuple[str, type[Any]], ...] = tuple(
    (f"{_CLIENT}{name}", ClientConfig) for name in CLIENTS
)
SECTIONS = tuple(
    chain.from_iterable((one, *_CLIENTS) if one[0] == "sessions" else (one,) for one in _PLAIN)
)
"""The fixed sections, in the order of the reference; `[sources.<name>]` comes before them."""
