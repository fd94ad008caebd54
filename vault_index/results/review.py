"""The answer of `review`: memories that need a decision by a person."""

from collections.abc import Mapping
from dataclasses import dataclass

from vault_index.fields import Reason
from vault_index.results.documents import DocumentRecord


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
