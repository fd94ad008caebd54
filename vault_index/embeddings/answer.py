"""Convert the response of an embeddings server to unit vectors, or raise an error."""

import json
from base64 import b64decode
from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import numpy as np

from vault_index.embeddings.retry import Broken
from vault_index.errors import RequestRefused
from vault_index.models import Vector

_HINT = (
    "set embedding.base_url to an embeddings API, such as http://localhost:11434/v1,"
    " and embedding.model to one of its embedding models"
)

_Floats = np.ndarray[Any, np.dtype[np.float64]]


def parse_answer(body: bytes) -> dict[str, Any]:
    """Parse the JSON object of a response; other values give an empty object. Raises Broken."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise Broken("the embeddings server sent invalid JSON", _HINT, most_retries=1) from None
    return answer if isinstance(answer, dict) else {}


def parse_vectors(answer: Mapping[str, Any], count: int, dimensions: int | None) -> list[Vector]:
    """Return the `count` unit vectors of a response, in the order of the texts.

    Accepts base64 and lists of numbers. If `dimensions` is None, accepts any length. Raises
    RequestRefused for an invalid response.
    """
    items = answer.get("data")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise Broken("the embeddings server sent JSON without embeddings", _HINT, most_retries=1)
    if len(items) != count:
        raise Broken(
            f"the embeddings server sent {len(items)} vectors for {count} texts",
            _HINT,
            most_retries=1,
        )
    return [_unit(_floats(item.get("embedding")), dimensions) for item in _in_order(items)]


def _in_order(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort by `index` if it numbers the texts from 0; else keep the order."""
    try:
        numbers = [float(item["index"]) for item in items]
    except (KeyError, TypeError, ValueError, OverflowError):
        return items
    if sorted(numbers) != list(range(len(items))):
        return items
    return [item for _, item in sorted(zip(numbers, items, strict=True), key=itemgetter(0))]


def _floats(value: object) -> _Floats:
    """Decode a vector: base64 of little-endian float32, or a list of numbers."""
    try:
        if isinstance(value, str):
            return np.frombuffer(b64decode(value, validate=True), "<f4").astype(np.float64)
        if isinstance(value, list):
            floats = np.array(value, np.float64)
            if floats.ndim == 1:
                return floats
    except (ValueError, TypeError, OverflowError):
        pass
    raise RequestRefused("the embeddings server sent an invalid vector", _HINT)


def _unit(vector: _Floats, dimensions: int | None) -> Vector:
    if dimensions is not None and len(vector) != dimensions:
        raise RequestRefused(
            f"the embeddings server sent {len(vector)} dimensions instead of {dimensions}",
            f"set embedding.dimensions to {len(vector)}, or to 0 for the model's default",
        )
    with np.errstate(over="ignore"):
        length = float(np.linalg.norm(vector))
    if not np.isfinite(length) or length < float(np.finfo(np.float32).tiny):
        raise RequestRefused(
            "the embeddings server sent a zero or non-finite vector",
            "set embedding.model to another model",
        )
    return (vector / length).astype("<f4").tobytes()
