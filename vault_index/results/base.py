"""Types that several answers share."""

from dataclasses import dataclass, field

from vault_index.fields import State
from vault_index.models import Kind

WHEN_ASKED = "when asked"
"""Metadata key of a field that the JSON omits while the field has its default value."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A document that could not be indexed."""

    path: str
    error: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with a machine-readable code, a message and, where there is one, a hint."""

    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class FailedItem:
    """One of several items that failed while the others succeeded."""

    position: str
    """The failed item: a reference, `record 3` or `line 12`."""
    error: str
    hint: str = ""
    """What to do next."""


@dataclass(frozen=True, slots=True)
class DocumentName:
    """The fields that every record of a document or passage begins with."""

    id: str
    kind: Kind
    source: str
    path: str
    title: str
    states: tuple[State, ...] = field(default=(), kw_only=True, metadata={WHEN_ASKED: True})
    """Why a memory is not current, such as `expired` or `superseded`, in the order of `STATES`."""
    superseded_by: str | None = field(default=None, kw_only=True, metadata={WHEN_ASKED: True})
    """The id of the memory that replaces this one."""
    archived: str | None = field(default=None, kw_only=True, metadata={WHEN_ASKED: True})
    """When the memory was archived, which hides it from search."""
    unreviewed: bool = field(default=False, kw_only=True, metadata={WHEN_ASKED: True})
    """Whether the memory was captured and still waits for review."""


@dataclass(frozen=True, slots=True)
class DocumentFields(DocumentName):
    """The fields that a hit of `search` and a record of `list` share.

    In a hit, `lines` and `tokens` are those of the passage; in a record, those of the document.
    """

    tags: tuple[str, ...]
    type: str | None
    digest: str
    lines: tuple[int, int]
    tokens: int
    created: str
    updated: str
    entered_by: str | None
    project: str | None
    expires: str | None
    valid_until: str | None
    confidence: str | None
    accesses: int
