"""What was changed in the index and among memories, and what filling the vectors would cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from vault_index.results import WHEN_ASKED, Failure, Problem

Outcome = Literal["created", "duplicate", "known", "kept", "trashed", "deleted", "would be created", "would be trashed"]


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


@dataclass(frozen=True, slots=True)
class NearMemory:
    """A memory that says nearly the same."""

    id: str
    path: str
    title: str
    score: float
    """How alike they are, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """The answer of `add` and `update`."""

    id: str
    path: str
    created: bool
    duplicate_of: str | None = None
    """The id of the memory that said the same already; nothing new was stored then."""
    near: tuple[NearMemory, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FailedItem:
    """One of several that could not be dealt with; the others were."""

    position: str
    """Which one: a reference, `record 3`, `line 12`."""
    error: str


@dataclass(frozen=True, slots=True)
class MemoryOutcome:
    """What became of one memory of several."""

    id: str
    path: str
    title: str
    outcome: Outcome
    """`known` and `kept` are outcomes of an import: the vault has it already, with the same text or another."""
    details: Mapping[str, Any]
    """What else there is to say, by name: where it went, the tags and dates that were inferred."""


@dataclass(frozen=True, slots=True)
class MemoryOutcomes:
    """The answer of `delete`, `prune`, `capture` and `import`."""

    results: tuple[MemoryOutcome, ...]
    failed: tuple[FailedItem, ...] = ()
    finished: bool = field(default=True, metadata={WHEN_ASKED: True})
    """False where it was cancelled."""


@dataclass(frozen=True, slots=True)
class ExportReport:
    """The answer of `export`."""

    path: str
    """Where it is now."""
    source: str
    """The vault whose memories these are."""
    memories: int
    bytes: int
