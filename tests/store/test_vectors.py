"""Storage of vectors, and their mean."""

import math
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from vault_index.embeddings.inference import as_int8
from vault_index.models import INT8_LARGEST, INT8_SCALE, Vector, VectorSpace
from vault_index.store.spaces import cosine, mean, size

OF_SERVER, LOCAL = VectorSpace("openai", "toy", 2, "https://x"), VectorSpace("local", "all-MiniLM-L6-v2-int8", 64)
_DIRECTIONS = st.lists(st.floats(-1, 1, width=32), min_size=64, max_size=64).filter(lambda one: math.hypot(*one) > 0.1)


def packed(*values: float) -> Vector:
    return struct.pack(f"<{len(values)}f", *values)


def unit(values: Sequence[float]) -> np.ndarray[Any, np.dtype[np.float32]]:
    return (np.array(values) / math.hypot(*values)).astype("<f4")


def test_mean_lies_between_two_vectors() -> None:
    middle = mean(OF_SERVER, [packed(1, 0), packed(0, 1)])
    assert middle is not None
    assert struct.unpack("<2f", middle) == pytest.approx((math.sqrt(0.5), math.sqrt(0.5)))


@pytest.mark.parametrize("vectors", [[], [packed(1, 0), packed(-1, 0)]])
def test_mean_without_direction_is_none(vectors: list[Vector]) -> None:
    assert mean(OF_SERVER, vectors) is None


@given(_DIRECTIONS, _DIRECTIONS)
def test_cosine_of_int8_equals_that_of_floats(one: list[float], other: list[float]) -> None:
    left, right = unit(one), unit(other)
    if max(*abs(left), *abs(right)) <= INT8_LARGEST / INT8_SCALE:
        kept = [np.frombuffer(as_int8(vector), "i1").astype(float) for vector in (left, right)]
        assert cosine(LOCAL, float(np.linalg.norm(kept[0] - kept[1]))) == pytest.approx(float(left @ right), abs=0.02)


@given(st.lists(_DIRECTIONS, min_size=1, max_size=5))
def test_mean_has_the_format_of_its_vectors(directions: list[list[float]]) -> None:
    vectors = [as_int8(unit(direction)) for direction in directions]
    middle = mean(LOCAL, vectors)
    if middle is not None:
        assert len(middle) == size(LOCAL) == 64
        expected = np.frombuffer(b"".join(vectors), "i1").reshape(-1, 64).sum(axis=0, dtype=float)
        got = np.frombuffer(middle, "i1").astype(float)
        assert float(got @ expected) > 0.8 * float(np.linalg.norm(got) * np.linalg.norm(expected))
