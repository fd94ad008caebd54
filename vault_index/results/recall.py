"""What a session should know, as one block of text."""

from dataclasses import dataclass
from typing import Literal

from vault_index.models import Kind

Cause = Literal["project", "query", "session"]
"""Why something is recalled: it holds for the project, it answers the query, or it is a recent session."""


@dataclass(frozen=True, slots=True)
class RecalledSource:
    """One place that is quoted."""

    id: str
    kind: Kind
    source: str
    path: str
    title: str
    lines: tuple[int, int]
    type: str | None
    created: str
    entered_by: str | None
    project: str | None
    why: Cause
    whole: bool
    """Whether all of the place is quoted, or it was cut."""


@dataclass(frozen=True, slots=True)
class Recall:
    text: str
    """Quotations between marks, or empty where there is nothing to know."""
    tokens: int
    confidence: Literal["high", "low", "none"]
    """Of what answers the query; without one, `high` if there is anything."""
    sources: tuple[RecalledSource, ...]
    degraded: tuple[str, ...] = ()
