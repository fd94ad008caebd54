"""Where a block stands, before its text is cut out."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BlockSpan:
    """Lines `start` to `end` (1-based, inclusive); of a heading also its level and its title as written."""

    start: int
    end: int
    level: int = 0
    title: str = ""
