"""Store vectors: int8 for the model in the package, float32 for all others.

int8 takes a quarter of the space. With the multilingual model it reduced recall measurably
(benchmarks/README.md). Vectors of servers cost money, and their models were not measured here.
"""

import math
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vault_index.models import Vector, VectorSpace

if TYPE_CHECKING:
    import numpy

    Floats = numpy.ndarray[Any, numpy.dtype[numpy.float32]]

SCALE = 381
"""int8 components are multiples of 1/381 of a unit vector, so 127 means one third.

The largest measured component was .273 in 41,842 passages and .308 in 500 single words. Larger
components are clipped.
"""
LARGEST = 127


def is_int8(space: VectorSpace) -> bool:
    """Return whether the vectors of a space are stored as int8."""
    return space.provider == "local" and space.model == "all-MiniLM-L6-v2-int8"


def size(space: VectorSpace) -> int:
    """Return the size of one vector in bytes."""
    return space.dimensions if is_int8(space) else 4 * space.dimensions


def as_int8(floats: "Floats") -> Vector:
    """Quantize float32 unit vectors to int8; the bytes of several vectors are concatenated."""
    return (floats * SCALE).round().clip(-LARGEST, LARGEST).astype("i1").tobytes()


def mean(space: VectorSpace, vectors: Sequence[Vector]) -> Vector | None:
    """Return the normalized mean of some vectors; None if there are none or they cancel out."""
    # Without numpy, because importing it takes longer than this loop.
    kind = f"<{space.dimensions}{'b' if is_int8(space) else 'f'}"
    sums = [
        sum(column)
        for column in zip(*(struct.unpack(kind, vector) for vector in vectors), strict=True)
    ]
    length = math.hypot(*sums)
    if not length:
        return None
    if is_int8(space):
        return struct.pack(
            kind, *(max(-LARGEST, min(LARGEST, round(value * SCALE / length))) for value in sums)
        )
    return struct.pack(kind, *(value / length for value in sums))


def cosine(space: VectorSpace, distance: float) -> float:
    """Return the cosine of two unit vectors from their L2 distance in stored units."""
    unit = SCALE if is_int8(space) else 1
    return 1.0 - distance * distance / (2 * unit * unit)
