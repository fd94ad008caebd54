"""The middle of several vectors."""

import math
import struct

import pytest
from hypothesis import given, strategies as st

from vault_index.query.related import mean

_VECTORS = st.lists(st.lists(st.floats(-1, 1, width=32), min_size=4, max_size=4), min_size=1, max_size=9)


def packed(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def test_the_mean_lies_between() -> None:
    middle = mean([packed(1, 0), packed(0, 1)])
    assert middle is not None
    assert struct.unpack("<2f", middle) == pytest.approx((math.sqrt(0.5), math.sqrt(0.5)))


def test_one_vector_is_its_own_mean() -> None:
    assert mean([packed(0.6, 0.8)]) == packed(0.6, 0.8)


@pytest.mark.parametrize("vectors", [[], [packed(1, 0), packed(-1, 0)]])
def test_what_has_no_direction_has_no_mean(vectors: list[bytes]) -> None:
    assert mean(vectors) is None


@given(_VECTORS)
def test_the_mean_is_a_unit_vector(vectors: list[list[float]]) -> None:
    middle = mean([packed(*vector) for vector in vectors])
    if middle is not None:
        assert math.hypot(*struct.unpack("<4f", middle)) == pytest.approx(1.0, rel=1e-5)
