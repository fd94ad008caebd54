"""What is wrong, and which notes are hard to find: the answer of `doctor`."""

from dataclasses import dataclass

from vault_index.answers.problems import Problem


@dataclass(frozen=True, slots=True)
class RecallOfClass:
    """Questions made of one class of names, and the share whose note is among the first five hits."""

    named_by: str
    queries: int
    recall_5: float


@dataclass(frozen=True, slots=True)
class HardToFind:
    """A note that is not among the first five hits for one of its own names."""

    query: str
    named_by: str
    """`title`, `alias`, `link` (the words another note links to it with) or `heading`."""
    path: str
    rank: int | None
    """Null: not among the first twenty either."""


@dataclass(frozen=True, slots=True)
class RecallReport:
    """How well notes are found by what they are called."""

    documents: int
    queries: int
    recall_5: float
    classes: tuple[RecallOfClass, ...]
    hard: tuple[HardToFind, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class DoctorReport:
    healthy: bool
    """Whether there are no problems."""
    problems: tuple[Problem, ...]
    recall: RecallReport | None = None
    fixed: tuple[Problem, ...] = ()
    """What was wrong before it was mended."""
