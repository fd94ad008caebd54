"""The answers of the commands that write memories, such as `add`, `delete` and `import`."""

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
"""How two memories relate.

They say nearly the same, say nearly the same with a different value, or share a subject."""


@dataclass(frozen=True, slots=True)
class NearMemory:
    """An existing memory on the subject of a new one."""

    id: str
    path: str
    title: str
    score: float
    """Similarity, from 0 to 1."""
    relation: Likeness


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """The answer of `add` and `update`."""

    id: str
    path: str
    created: bool
    duplicate_of: str | None = None
    """The id of an existing memory with the same text. In this case nothing new was stored."""
    near: tuple[NearMemory, ...] = ()
    """Similar memories, nearest first."""
    question: str = field(default="", metadata={WHEN_ASKED: True})
    """What to decide about the nearest memory, with the command for it."""
    warnings: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    """Why only text search finds the memory for now."""


@dataclass(frozen=True, slots=True)
class MemoryOutcome:
    """The result for one of several memories."""

    id: str
    path: str
    title: str
    outcome: Outcome
    """What happened to the memory. In an import, `known` means that the vault has the memory
    with the same text, and `kept` that it has it with a different text. In a review, `kept`
    means that the memory stays unchanged."""
    details: Mapping[str, Any]
    """Further values by name, such as the new path, or the tags and dates that were inferred."""


@dataclass(frozen=True, slots=True)
class MemoryOutcomes:
    """The answer of `delete`, `prune`, `archive`, `capture` and `import`."""

    results: tuple[MemoryOutcome, ...]
    failed: tuple[FailedItem, ...] = ()
    finished: bool = field(default=True, metadata={WHEN_ASKED: True})
    """False if the run was cancelled."""
    change: int = field(default=0, metadata={WHEN_ASKED: True})
    """The number that `undo` takes, for a review decision or an `archive`."""


@dataclass(frozen=True, slots=True)
class ExportReport:
    """The answer of `export`."""

    path: str
    """The file or folder that was written."""
    source: str
    """The vault that was exported."""
    memories: int
    bytes: int
