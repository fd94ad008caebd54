"""Why a hit is where it is, and how the query was read: what `--explain` adds."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChannelEvidence:
    """What one channel said of the chunk of a hit: its rank (from 1) among the chunks it named, and its score: BM25
    for `text` and `path` (higher is better), the cosine for `vector`."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a hit is where it is (`--explain`)."""

    channels: Mapping[str, ChannelEvidence]
    coverage: float
    """The share of the question, by the rarity of its words, that is said in and around the passage."""
    matched: tuple[str, ...]
    """Words of the question the passage says itself."""
    corrected: tuple[str, ...]
    """Words it says as they were probably meant."""
    missing: tuple[str, ...]
    parts: Mapping[str, float]
    """What the score is the sum of, before the factors."""
    factors: Mapping[str, float]
    """What the score was multiplied with, where that is not 1."""


@dataclass(frozen=True, slots=True)
class WordReading:
    """One word of a question, as it counts for the ranking."""

    text: str
    rarity: float
    """Its inverse document frequency: what saying it is worth."""
    texts: int
    """How many passages of the index hold it, or what it may have been meant to be."""
    meant: tuple[str, ...]
    """Words of the index it may have been meant to be, likeliest first."""


@dataclass(frozen=True, slots=True)
class QueryReading:
    """How a query was read (`--explain`)."""

    words: tuple[WordReading, ...]
    required: str
    """What every hit must hold, joined by AND and OR; empty without."""
    excluded: str
    """What no hit may hold."""
    filters: tuple[str, ...]
    """Each as it is written in a query."""
