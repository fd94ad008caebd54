import json
import math
import struct
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given, strategies as st

from vault_index.embeddings.openai import parse_answer, parse_vectors
from vault_index.errors import RequestRefused
from vault_index.models import Vector


def answer(*embeddings: Any) -> bytes:
    return json.dumps({"data": [{"index": n, "embedding": e} for n, e in enumerate(embeddings)]}).encode()


def vectors(body: bytes, count: int, dimensions: int | None) -> list[Vector]:
    return parse_vectors(parse_answer(body), count, dimensions)


def packed(*values: float) -> str:
    return b64encode(struct.pack(f"<{len(values)}f", *values)).decode()


def unpack(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


@pytest.mark.parametrize("sent", [[3.0, 4.0], [3, 4], packed(3, 4)])
def test_vectors_are_normalized_to_unit_length(sent: Any) -> None:
    assert unpack(vectors(answer(sent), 1, 2)[0]) == pytest.approx((0.6, 0.8))


WRONG = [
    b"", b"<html>", b'{"data": [', b"\xff\xfe", b"[" * 100_000, b"[]", b"null", b'{"data": null}', b'{"data": [1, 2]}',
    b'{"error": {"message": "no"}}',
    answer([1.0, 0.0]),
    answer([1.0, 0.0], [1.0, 0.0], [1.0, 0.0]),
    *(answer([1.0, 0.0], other) for other in (
        [1.0, 0.0, 0.0], [], None, {"a": 1}, [[1.0], [0.0]], ["x", "y"], [10**400, 1], [math.nan, 1.0],
        [math.inf, 1.0], [1e300, 1e300], [0.0, 0.0], "not base64!", "AAAA", packed(math.nan, 1.0), packed(0.0, 0.0),
        packed(1.0),
    )),
]  # fmt: skip


@pytest.mark.parametrize("body", WRONG)
def test_vectors_refuses_an_invalid_answer(body: bytes) -> None:
    with pytest.raises(RequestRefused) as caught:
        vectors(body, 2, 2)
    assert caught.value.hint


@given(st.lists(st.floats(width=32), min_size=1, max_size=8), st.booleans())
def test_vectors_are_of_unit_length_or_refused(values: list[float], as_list: bool) -> None:
    try:
        (vector,) = vectors(answer(values if as_list else packed(*values)), 1, len(values))
    except RequestRefused:
        assert not all(map(math.isfinite, values)) or math.hypot(*values) < 1e-37
    else:
        assert math.hypot(*unpack(vector)) == pytest.approx(1.0, abs=1e-5)
