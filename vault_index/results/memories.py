"""What became of memories: the answers of `add`, `update`, `delete`, `prune`, `archive`, `capture`, `import` and
`export`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from vault_index.results.base import WHEN_ASKED, FailedItem as FailedItem

Outcome = Literal[
    "created",
    "duplicate",
    "known",
    "kept",
    "trashed",
    "deleted",
    "forgotten",
    "would be forgotten",
    "accepted",
    "edited",
    "unchanged",
    "merged",
    "superseding",
    "superseded",
    "archived",
    "restored",
    "undone",
    "would be created",
    "would be trashed",
]


Likeness = Literal["duplicate", "contradiction", "subject"]
"""How two memories relate: nearly the same, nearly the same with another value, or other things of one subject."""


@dataclass(frozen=True, slots=True)
class NearMemory:
    """A memory on the subject of a new one."""

    id: str
    path: str
    title: str
    score: float
    """How alike they are, from 0 to 1."""
    relation: Likeness


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """The answer of `add` and `update`."""

    id: str
    path: str
    created: bool
    duplicate_of: str | None = None
    """The id of the memory that said the same already; nothing new was stored then."""
    near: tuple[NearMemory, ...] = ()
    """The nearest first."""
    question: str = field(default="", metadata={WHEN_ASKED: True})
    """What to decide on the nearest, with the command for it."""
    warnings: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    """Why it is found by its words alone as yet."""


@dataclass(frozen=True, slots=True)
class MemoryOutcome:
    """What became of one memory of several."""

    id: str
    path: str
    title: str
    outcome: Outcome
    """`known` and `kept` are outcomes of an import: the vault has it already, with the same text or another. `kept` is
    one of a review, too: it may stay as it is."""
    details: Mapping[str, Any]
    """What else there is to say, by name: where it went, the tags and dates that were inferred."""


@dataclass(frozen=True, slots=True)
class MemoryOutcomes:
    """The answer of `delete`, `prune`, `archive`, `capture` and `import`."""

    results: tuple[MemoryOutcome, ...]
    failed: tuple[FailedItem, ...] = ()
    finished: bool = field(default=True, metadata={WHEN_ASKED: True})
    """False where it was cancelled."""
    change: int = field(default=0, metadata={WHEN_ASKED: True})
    """What `undo` calls a decision of a review, or an `archive`."""


@dataclass(frozen=True, slots=True)
class ExportReport:
    """The answer of `export`."""

    path: str
    """Where it is now."""
    source: str
    """The vault whose memories these are."""
    memories: int
    bytes: int
