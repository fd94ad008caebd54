"""What was changed in the index, and what filling the vectors would cost."""

from dataclasses import dataclass, field

from vault_index.results.base import WHEN_ASKED, Failure, Problem


@dataclass(frozen=True, slots=True)
class SyncReport:
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
    """False where it was cancelled: the same call goes on from here."""


@dataclass(frozen=True, slots=True)
class EmbedPlan:
    """What filling the vectors would cost, before anything is spent."""

    provider: str
    model: str
    endpoint: str
    chunks: int
    cached: int
    kept_local: int
    """Chunks that `local_only` keeps from a remote embedder."""
    tokens: int
    """Of the texts that are not cached."""
    price: float | None
    """US dollars, None where the model has no known price."""
    spent_today: int
    daily_token_limit: int
    unread: int = 0
    """Chunks of documents that are gone, left out or changed since they were read: the next sync sees to them."""


@dataclass(frozen=True, slots=True)
class EmbedReport:
    embedded: int
    cached: int
    pending: int
    seconds: float
    problems: tuple[Problem, ...] = ()
    finished: bool = field(default=True, metadata={WHEN_ASKED: True})
    """False where it was cancelled."""


@dataclass(frozen=True, slots=True)
class EmbedStatus:
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
    """The model whose vectors are being built beside the serving ones."""
