import math
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from tests.query.records import chunk_record
from vault_index.config.schema import RankingConfig
from vault_index.query.ranking.rank import Boosts

DAY = 86_400.0
NOW = 1_000 * DAY
OFF = RankingConfig(recency_notes=0.0, recency_memories=0.0, recency_sessions=0.0, outdated=0.0)
WEIGHT = st.floats(0.0, 0.5)


def boosts(config: RankingConfig, *, accesses: int = 0, backlinks: int = 0, now: float = NOW) -> Boosts:
    record = chunk_record()
    return Boosts(config, now, {record.document.uid: accesses}, {record.document.id: backlinks})


def test_recency_boost_halves_after_the_half_life() -> None:
    config = replace(OFF, recency_memories=0.2, half_life_days=90.0)
    new, old, ancient = (chunk_record(kind="memory", created=0.0, updated=NOW - age * DAY) for age in (0, 90, 1_000))
    assert boosts(config).of(new) == {}
    assert boosts(config).of(old) == {"recency": pytest.approx(0.9)}
    assert math.prod(boosts(config).of(ancient).values()) == pytest.approx(0.8, abs=1e-3)


def test_recency_boost_has_a_weight_per_kind() -> None:
    config = replace(OFF, recency_notes=0.1, recency_memories=0.2, recency_sessions=0.3)
    products = [
        math.prod(boosts(config).of(chunk_record(kind=kind)).values()) for kind in ("note", "memory", "session")
    ]
    assert products == sorted(products, reverse=True)
    assert len(set(products)) == 3


def test_outdated_boost_applies_from_valid_until_on() -> None:
    config = replace(OFF, outdated=0.1)
    record = chunk_record(valid_until=NOW)
    assert boosts(config, now=NOW - 1).of(record) == {}
    assert boosts(config).of(record) == {"outdated": pytest.approx(0.9)}
    assert boosts(config).of(chunk_record(valid_until=None)) == {}


@pytest.mark.parametrize("name", ["usage", "backlinks"])
def test_usage_and_backlinks_boosts_grow_with_their_count(name: str) -> None:
    config = replace(OFF, **{name: 0.2})
    products = [math.prod(boosts(config, accesses=n, backlinks=n).of(chunk_record()).values()) for n in (0, 1, 5, 500)]
    assert products == sorted(products)
    assert products[0] == pytest.approx(0.8)
    assert products[-1] < 1


@given(
    st.tuples(WEIGHT, WEIGHT, WEIGHT, WEIGHT), st.floats(0.1, 36_500), st.tuples(*[st.floats(0, 1e12)] * 3),
    st.integers(0, 10**6),
)  # fmt: skip
def test_boosts_take_at_most_their_weights(
    weights: tuple[float, ...], half_life: float, times: tuple[float, ...], count: int
) -> None:
    recency, outdated, usage, backlinks = weights
    created, now, valid_until = times
    config = RankingConfig(
        recency_memories=recency, half_life_days=half_life, outdated=outdated, usage=usage, backlinks=backlinks
    )
    record = chunk_record(kind="memory", created=created, updated=created, valid_until=valid_until)
    product = math.prod(boosts(config, accesses=count, backlinks=count, now=now).of(record).values())
    assert math.prod(1 - weight for weight in weights) - 1e-9 <= product <= 1
    assert boosts(OFF, accesses=count, backlinks=count, now=now).of(record) == {}
