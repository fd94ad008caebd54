"""Why a passage was found or not: the answer of `why`."""

from dataclasses import dataclass

from vault_index.results.base import Problem
from vault_index.results.explain import QueryReading
from vault_index.results.search import Answered, Hit


@dataclass(frozen=True, slots=True)
class Why(Answered):
    """Why the passage at one place was found or not."""

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
    reasons: tuple[Problem, ...]
    """What has the passage found or not found."""
    hit: Hit | None
    """The best passage of the place, with its explanation, if the question finds any."""
    reading: QueryReading | None
