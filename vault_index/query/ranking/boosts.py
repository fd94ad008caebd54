"""Small corrections of a score by what is known of the document: how recent it is, and whether it still holds.

Each is a factor near 1.0, and they are few: none of them can hide a passage that says what was asked for.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from vault_index.config.schema import RankingConfig
from vault_index.store.records import ChunkRecord

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Factors:
    """The factors of documents, as they are at `now` (seconds since the epoch)."""

    config: RankingConfig
    now: float
    accesses: Mapping[str, int]
    """How often documents were opened, by id; empty where that does not count."""
    backlinks: Mapping[int, int]
    """How many notes link to documents, by their key; empty where that does not count."""

    def of(self, chunk: ChunkRecord) -> dict[str, float]:
        """The factors that differ from 1.0, by name."""
        found = {
            "recency": self._recency(chunk),
            "outdated": 1.0 - self.config.outdated if _over(chunk.valid_until, self.now) else 1.0,
            "usage": _growing(self.config.usage, self.accesses.get(chunk.uid, 0)),
            "backlinks": _growing(self.config.backlinks, self.backlinks.get(chunk.document_id, 0)),
        }
        return {name: factor for name, factor in found.items() if factor != 1.0}

    def _recency(self, chunk: ChunkRecord) -> float:
        """One half of the weight is gone after each half-life."""
        weight = {"memory": self.config.recency_memories, "session": self.config.recency_sessions}.get(
            chunk.kind, self.config.recency_notes
        )
        if not weight:
            return 1.0
        age_days = max(self.now - max(chunk.updated, chunk.created), 0.0) / _DAY
        return 1.0 - weight * (1.0 - math.exp2(-age_days / self.config.half_life_days))


def _over(moment: float | None, now: float) -> bool:
    return moment is not None and moment <= now


def _growing(weight: float, count: int) -> float:
    """From 1 - weight, where there is none, towards 1."""
    return 1.0 - weight / (1.0 + count) if weight else 1.0
