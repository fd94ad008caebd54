"""How vectors are kept: those of the model that comes with the package as int8, all others as float32.

int8 is a quarter of the space. With the multilingual model it cost more than noise (benchmarks/README.md), and what a
server sent was paid for, by a model nobody measured here.
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
"""int8 are components of a unit vector in 1/381, so that 127 is a third. (Measured: the largest component of 41,842
passages was .273, of 500 single words .308.) What is larger is cut."""
LARGEST = 127


def is_int8(space: VectorSpace) -> bool:
    return space.provider == "local" and space.model == "all-MiniLM-L6-v2-int8"


def size(space: VectorSpace) -> int:
    """Of one vector, in bytes."""
    return space.dimensions if is_int8(space) else 4 * space.dimensions


def as_int8(floats: "Floats") -> Vector:
    """Unit vectors in float32, of any number, as they are kept where they are int8: one after the other."""
    return (floats * SCALE).round().clip(-LARGEST, LARGEST).astype("i1").tobytes()


def mean(space: VectorSpace, vectors: Sequence[Vector]) -> Vector | None:
    """The unit vector in the middle of several; None where there is none."""
    # Without numpy, which takes longer to import than this takes.
    kind = f"<{space.dimensions}{'b' if is_int8(space) else 'f'}"
    sums = [sum(column) for column in zip(*(struct.unpack(kind, vector) for vector in vectors), strict=True)]
    length = math.hypot(*sums)
    if not length:
        return None
    if is_int8(space):
        return struct.pack(kind, *(max(-LARGEST, min(LARGEST, round(value * SCALE / length))) for value in sums))
    return struct.pack(kind, *(value / length for value in sums))


def cosine(space: VectorSpace, distance: float) -> float:
    """Of two unit vectors, by their L2 distance in the units they are kept in."""
    unit = SCALE if is_int8(space) else 1
    return 1.0 - distance * distance / (2 * unit * unit)
