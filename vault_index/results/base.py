"""What several answers are made of."""

from dataclasses import dataclass, field

from vault_index.fields import State
from vault_index.models import Kind

WHEN_ASKED = "when asked"  # metadata of a field that is no key of the JSON while it has its default


@dataclass(frozen=True, slots=True)
class Failure:
    path: str
    error: str


@dataclass(frozen=True, slots=True)
class Problem:
    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class FailedItem:
    """One of several that could not be dealt with; the others were."""

    position: str
    """Which one: a reference, `record 3`, `line 12`."""
    error: str
    hint: str = ""
    """What to do next."""


@dataclass(frozen=True, slots=True)
class DocumentName:
    """What every record of a document, or of a part of one, begins with."""

    id: str
    kind: Kind
    source: str
    path: str
    title: str
    states: tuple[State, ...] = field(default=(), kw_only=True, metadata={WHEN_ASKED: True})
    """What sets a memory apart from one that holds, in the order of `STATES`."""
    superseded_by: str | None = field(default=None, kw_only=True, metadata={WHEN_ASKED: True})
    """The id of the memory that took its place."""
    archived: str | None = field(default=None, kw_only=True, metadata={WHEN_ASKED: True})
    """Since when a memory is left out of what is found."""
    unreviewed: bool = field(default=False, kw_only=True, metadata={WHEN_ASKED: True})
    """Whether a memory was captured, and nobody has looked at it yet."""


@dataclass(frozen=True, slots=True)
class DocumentFields(DocumentName):
    """What the answers of `search` and `list` both say of a document; `lines` and `tokens` are those of the passage."""

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
