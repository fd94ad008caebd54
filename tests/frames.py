"""Requests that were damaged in every way one thinks of, the same at every run."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

HOSTILE: Sequence[Any] = (
    None, True, 0, -1, 5, 1.5, 10**30, 1e308, float("nan"), float("inf"), "", "x", "\0", "\ud83d", "a\udcffb", "\u202e",
    "x" * 5000, "[[x#y]]", "../../etc/passwd", "/dev/zero", "x:1-0", "#1", "2026-99-99", "tag:", '"', "OR", "(",
    [], [5], [None], ["\ud83d"], [[]], ["x", "y"], {}, {"a": 1}, [{}] * 3,
)  # fmt: skip
"""Values that stand where others were meant."""


def mutated(good: Sequence[Mapping[str, Any]], count: int, *, seed: int = 15) -> Iterator[bytes]:
    """Lines made of the good requests: other values, other keys, other bytes."""
    chance = random.Random(seed)
    for _ in range(count):
        frame = json.loads(json.dumps(chance.choice(good)))
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            _change(frame, chance)
        line = json.dumps(frame).encode()
        if chance.random() < 0.15:
            line = _torn(line, chance)
        yield line.replace(b"\n", b" ") + b"\n"


def parsed(line: bytes, errors: str) -> Any:
    """What a line says, read as its reader does; None where it is no JSON: NaN is none."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        return json.loads(line.decode("utf-8", errors), parse_constant=refuse)
    except (ValueError, RecursionError):
        return None


def _change(frame: dict[str, Any], chance: random.Random) -> None:
    """Change one value of the request, more often deep inside than at the top."""
    inside = frame
    while chance.random() < 0.8:
        deeper = [value for value in inside.values() if isinstance(value, dict) and value]
        if not deeper:
            break
        inside = chance.choice(deeper)
    keys = list(inside)
    if not keys or chance.random() < 0.1:
        inside[chance.choice(("x", "limit", "ref", "\ud83d", ""))] = chance.choice(HOSTILE)
    elif chance.random() < 0.1:
        del inside[chance.choice(keys)]
    else:
        inside[chance.choice(keys)] = chance.choice(HOSTILE)


def _torn(line: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(line))
    match chance.randrange(4):
        case 0:
            return line[:place]
        case 1:
            return line[:place] + bytes([chance.randrange(256)]) + line[place + 1 :]
        case 2:
            return line[:place] + b"[" * 3000 + line[place:]
        case _:
            return line[:place] + line[place // 2 :]
