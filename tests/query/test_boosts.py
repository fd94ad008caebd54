import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.query.records import chunk_record
from vault_index.config.schema import RankingConfig
from vault_index.query.ranking.rank import boosts

DAY = 86_400.0
NOW = 1_000 * DAY
OFF = RankingConfig(recency_notes=0.0, recency_memories=0.0, recency_sessions=0.0, outdated=0.0, half_life_days=10.0)
WEIGHT = st.floats(0.0, 0.5)


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


@given(st.tuples(WEIGHT, WEIGHT), st.floats(0.1, 36_500), st.tuples(*[st.floats(0, 1e12)] * 3))
def test_boosts_take_at_most_their_weights(
    weights: tuple[float, float], half_life: float, times: tuple[float, ...]
) -> None:
    created, now, valid_until = times
    config = RankingConfig(recency_memories=weights[0], half_life_days=half_life, outdated=weights[1])
    record = chunk_record(kind="memory", created=created, updated=created, valid_until=valid_until)
    product = math.prod(boosts(config, now, record.document).values())
    assert (1 - weights[0]) * (1 - weights[1]) - 1e-9 <= product <= 1
