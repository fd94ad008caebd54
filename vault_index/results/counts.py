"""What there is, in numbers: the answers of `tags` and `stats`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TagCount:
    tag: str
    count: int


@dataclass(frozen=True, slots=True)
class TagList:
    results: tuple[TagCount, ...]
    total: int


@dataclass(frozen=True, slots=True)
class AgentCount:
    agent: str
    count: int


@dataclass(frozen=True, slots=True)
class AgentList:
    """Who entered documents, and how many."""

    results: tuple[AgentCount, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Stats:
    """What the index holds, and how large it is."""

    documents: int
    memories: int
    sessions: int
    notes: int
    chunks: int
    tags: int
    agents: int
    indexed: str | None
    """When the index was last brought up to date."""
    pending: int
    model: str
    bytes: int
