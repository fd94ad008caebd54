from dataclasses import replace
from typing import Any

import pytest

from tests.query.records import chunk_record
from vault_index.config.schema import RankingConfig
from vault_index.query.ranking.rank import boosts

DAY = 86_400.0
NOW = 1_000 * DAY
OFF = RankingConfig(recency_notes=0.0, recency_memories=0.0, recency_sessions=0.0, outdated=0.0, half_life_days=10.0)


@pytest.mark.parametrize(
    ("config", "document", "expected"),
    [
        ({"recency_memories": 0.2}, {"kind": "memory", "updated": NOW}, {}),
        ({"recency_memories": 0.2}, {"kind": "memory", "updated": NOW - 10 * DAY}, {"recency": 0.9}),
        ({"recency_memories": 0.2}, {"kind": "memory", "updated": 0.0}, {"recency": 0.8}),
        ({"recency_sessions": 0.4}, {"kind": "session", "updated": 0.0}, {"recency": 0.6}),
        ({"recency_notes": 0.1}, {"kind": "note", "updated": 0.0}, {"recency": 0.9}),
        ({"recency_notes": 0.1}, {"kind": "memory", "updated": 0.0}, {}),
        ({"outdated": 0.1}, {"valid_until": NOW}, {"outdated": 0.9}),
        ({"outdated": 0.1}, {"valid_until": NOW + 1}, {}),
        ({"outdated": 0.1}, {"valid_until": None}, {}),
    ],
)  # fmt: skip
def test_boosts_follow_age_and_validity(
    config: dict[str, float], document: dict[str, Any], expected: dict[str, float]
) -> None:
    found = boosts(replace(OFF, **config), NOW, chunk_record(**document).document)
    assert found == pytest.approx(expected, abs=1e-6)
