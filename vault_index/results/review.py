"""What a person should look at, and why: the answer of `review`."""

from collections.abc import Mapping
from dataclasses import dataclass

from vault_index.fields import Reason
from vault_index.results.documents import DocumentRecord


@dataclass(frozen=True, slots=True)
class ReviewedMemory(DocumentRecord):
    text: str
    """The beginning of what its file says now, without frontmatter."""
    cut: bool
    """Whether there is more of it."""
    seen: str
    """SHA-256 of the file, as `decide` takes it."""


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One thing to decide: a memory, or a pair of which the first one would stay."""

    id: str
    reason: Reason
    about: str
    """Why it is here: how alike they are, since when it has expired."""
    memories: tuple[ReviewedMemory, ...]


@dataclass(frozen=True, slots=True)
class Review:
    results: tuple[ReviewItem, ...]
    total: int
    counts: Mapping[str, int]
    """The items of each reason that was asked for."""
