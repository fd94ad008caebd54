"""The answers of `sync`, `rebuild` and `embed`."""

from dataclasses import dataclass, field

from vault_index.results.base import WHEN_ASKED, Failure, Problem


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync found and changed: numbers of documents, chunks and vectors."""

    scanned: int = 0
    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    unchanged: int = 0
    failed: tuple[Failure, ...] = ()
    chunks: int = 0
    embedded: int = 0
    cached: int = 0
    pending: int = 0
    seconds: float = 0.0
    problems: tuple[Problem, ...] = ()
    finished: bool = field(default=True, metadata={WHEN_ASKED: True})
    """False if the sync was cancelled; the next call continues it."""


@dataclass(frozen=True, slots=True)
class EmbedPlan:
    """What computing the missing vectors would send and cost."""

    provider: str
    model: str
    endpoint: str
    chunks: int
    cached: int
    kept_local: int
    """Chunks that `local_only` withholds from a remote embedder."""
    tokens: int
    """Tokens of the texts that are not cached."""
    price: float | None
    """US dollars; None if the price of the model is unknown."""
    spent_today: int
    daily_token_limit: int
    unread: int = 0
    """Chunks whose document was deleted, excluded or changed since the last sync. The next sync
    updates them."""


@dataclass(frozen=True, slots=True)
class EmbedReport:
    """How many vectors were computed, taken from the cache, and left to do."""

    embedded: int
    cached: int
    pending: int
    seconds: float
    problems: tuple[Problem, ...] = ()
    finished: bool = field(default=True, metadata={WHEN_ASKED: True})
    """False if the run was cancelled."""


@dataclass(frozen=True, slots=True)
class EmbedStatus:
    """The embedder and how many chunks have a vector."""

    provider: str
    model: str
    endpoint: str
    dimensions: int
    chunks: int
    vectors: int
    pending: int
    kept_local: int
    spent_today: int
    daily_token_limit: int
    building: str | None
    """The model of the vectors that are being built while the old ones still serve."""
