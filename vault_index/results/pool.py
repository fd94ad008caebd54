"""The answers of `pool publish` and `pool status`."""

from dataclasses import dataclass, field

from vault_index.results.base import WHEN_ASKED, Problem


@dataclass(frozen=True, slots=True)
class PublishedSource:
    """What a publication did with one source."""

    name: str
    published: int
    """Documents that were new or changed."""
    removed: int
    """Documents that are no longer in the source, or may no longer leave this machine."""
    unchanged: int
    waiting: int = 0
    """Documents that changed since they were indexed, or cannot be judged now."""
    vectors: int = 0
    finished: bool = True
    problem: Problem | None = field(default=None, metadata={WHEN_ASKED: True})


@dataclass(frozen=True, slots=True)
class PoolReport:
    """The answer of `pool publish`."""

    results: tuple[PublishedSource, ...]
    total: int
    published: int
    removed: int
    vectors: int
    dry_run: bool
    seconds: float
    problems: tuple[Problem, ...] = ()
    pulled: int = field(default=0, metadata={WHEN_ASKED: True})
    """Memories of the pool that were written as files."""
    pushed: int = field(default=0, metadata={WHEN_ASKED: True})
    """Edited files that were published."""
    conflicts: int = field(default=0, metadata={WHEN_ASKED: True})
    """Files that changed on both sides; the version of this machine is in the inbox."""
