"""Why the passage at one place was found or not: the answer of `why`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from vault_index.answers.explained import QueryReading
from vault_index.answers.found import Hit


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that has a passage found or not found."""

    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Why:
    """Why the passage at one place was found or not."""

    query: str
    mode: str
    id: str | None
    """Null, as `title` is, for a file that is not in the index."""
    source: str | None
    path: str
    title: str | None
    lines: tuple[int, int] | None
    """The lines that were asked about; null for the whole document."""
    found: bool
    """Whether the answer has it, among its first `limit` hits."""
    rank: int | None
    """Its number in the answer, counted on beyond `limit`; null where it is not in it."""
    limit: int
    confidence: Literal["high", "low", "none"]
    """Of the answer."""
    degraded: tuple[str, ...]
    corrections: Mapping[str, str]
    reasons: tuple[Reason, ...]
    hit: Hit | None
    """The best passage of the place, with its explanation, if the question finds any."""
    reading: QueryReading | None
