"""The answers about memories: changes, duplicates, reviews, versions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from vault_index.fields import Reason
from vault_index.results.base import WHEN_ASKED, FailedItem as FailedItem
from vault_index.results.documents import DocumentRecord

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


@dataclass(frozen=True, slots=True)
class ReviewedMemory(DocumentRecord):
    """A memory to review, with the beginning of its text."""

    text: str
    """The beginning of the current text of the file, without frontmatter."""
    cut: bool
    """Whether the text was cut."""
    seen: str
    """SHA-256 of the file, to pass to `decide`."""


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One decision to make: about one memory, or about a pair in which the first would stay."""

    id: str
    reason: Reason
    about: str
    """Details of the reason, such as the similarity or the day of expiry."""
    memories: tuple[ReviewedMemory, ...]


@dataclass(frozen=True, slots=True)
class Review:
    """The answer of `review`: one page of items."""

    results: tuple[ReviewItem, ...]
    total: int
    counts: Mapping[str, int]
    """Number of items for each requested reason."""


@dataclass(frozen=True, slots=True)
class Version:
    """One recorded version of the file of a memory."""

    number: int | None
    """None for a git commit."""
    seen: str
    by: str
    action: str
    """The command that wrote the version, or the subject of the commit. Changes by hand are
    `added`, `edited`, `moved`, `copied` or `removed`."""
    path: str
    bytes: int | None
    commit: str | None = None
    """The hash of the commit, if the vault is in a git repository and the version comes from it."""


@dataclass(frozen=True, slots=True)
class History:
    """The versions of one memory, newest first."""

    id: str
    path: str
    title: str
    results: tuple[Version, ...]
    total: int
    forgotten: int
    """Number of older versions that were dropped."""


@dataclass(frozen=True, slots=True)
class Diff:
    """The difference between two versions of a memory."""

    id: str
    path: str
    before: int | str | None
    """A version number or a commit hash; None if there was no earlier version."""
    after: int | str
    text: str
    """A unified diff; empty if the versions are equal."""
