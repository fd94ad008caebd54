"""Requests to an embeddings server and its valid replies, in OpenAI's protocol."""

import hashlib
import json
import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """A request of a client; `headers` by lower-case name."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def texts(self) -> list[str]:
        sent = self.body.get("input", [])
        return [sent] if isinstance(sent, str) else list(sent)


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    missing: int = 0
    """Bytes that are announced but not sent."""


Failure = Callable[[Request, Reply], Reply]
"""Turns the valid reply to a request into another one."""


def vector(text: str, dimensions: int) -> list[float]:
    """Return a unit vector that depends only on the words of the text, each with a direction from its hash."""
    values = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()) or [text]:
        digest = hashlib.sha256(word.encode()).digest()
        for (place,) in struct.iter_unpack("<I", digest):
            values[(place >> 1) % dimensions] += 1.0 if place & 1 else -1.0
    length = math.sqrt(sum(value * value for value in values))
    return [value / length for value in values] if length else [dimensions**-0.5] * dimensions


def embeddings(vectors: Sequence[Sequence[float]], *, model: object) -> Reply:
    """Return a valid reply with these vectors."""
    data = [{"object": "embedding", "index": index, "embedding": values} for index, values in enumerate(vectors)]
    usage = {"prompt_tokens": len(vectors), "total_tokens": len(vectors)}
    return as_json(200, {"object": "list", "data": data, "model": model, "usage": usage})


def as_json(status: int, body: object) -> Reply:
    return Reply(status, json.dumps(body).encode())


def error(status: int, message: str, code: str | None = None) -> Reply:
    kind = "insufficient_quota" if code == "insufficient_quota" else "invalid_request_error"
    return as_json(status, {"error": {"message": message, "type": kind, "param": None, "code": code}})
