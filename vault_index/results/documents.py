"""Documents as a whole: the answer of `list`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vault_index.models import Kind


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """One document in the answer of `list` and `get`."""

    id: str
    kind: Kind
    source: str
    path: str
    title: str
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
    turns: int | None
    """Of a session: how often somebody spoke."""
    link: str


@dataclass(frozen=True, slots=True)
class DocumentList:
    results: tuple[DocumentRecord, ...]
    total: int


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The text of one reference, as `get` answers."""

    id: str
    kind: Kind
    source: str
    path: str
    title: str
    lines: tuple[int, int]
    tokens: int
    content: str
    next: str | None
    """The reference to go on with when the text was cut, else null."""
    metadata: Mapping[str, Any] | None = None
    """With `full`: the record of `list`, the frontmatter, aliases and links."""


@dataclass(frozen=True, slots=True)
class Texts:
    results: tuple[DocumentText, ...]
