"""Requests damaged in many ways, the same at every run, for each interface: the daemon's socket, MCP and HTTP."""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.seeds import TIMES

REQUESTS = 300 * TIMES
"""Number of requests for each interface."""
DEFECT = re.compile(
    r"Traceback|\b(?!JSONRPC)[A-Z]\w*(?:Error|Exception)\b|defect|Internal Server Error|the daemon's log"
)
"""Words that only a failure inside the program produces."""
HOSTILE: Sequence[Any] = (
    None, True, 0, -1, 5, 1.5, 10**30, 1e308, float("nan"), float("inf"), "", "x", "\0", "\ud83d", "a\udcffb", "\u202e",
    "x" * 5000, "[[x#y]]", "../../etc/passwd", "/dev/zero", "x:1-0", "#1", "2026-99-99", "tag:", '"', "OR", "(",
    [], [5], [None], ["\ud83d"], [[]], ["x", "y"], {}, {"a": 1}, [{}] * 3,
)  # fmt: skip
"""Wrong values in the place of valid ones."""


_FILTERS = {"tags": ["a"], "kind": "note", "path": "a*", "after": "2026-01-01", "property": "key:value"}


def calls(note: str) -> list[tuple[str, dict[str, Any]]]:
    """Return valid calls of the API: methods with parameters. `note` is the path of a note about the aardvark."""
    query = 'path:a "the aardvark" -zebra OR tag:x'
    return [
        ("search", {"query": "aardvark", "limit": 3, "mode": "text", "threshold": 0.7, "fuzzy": True, **_FILTERS}),
        ("search", {"query": query, "as_of": "2026-01-01", "explain": True}),
        ("why", {"query": "aardvark", "ref": note, "match": "any"}),
        ("get", {"ref": [f"{note}:1-2", "[[Alpha]]"], "full": True, "max_tokens": 50, "neighbors": 1}),
        ("list", {"sort": "created", "order": "asc", "limit": 5, "offset": 0, **_FILTERS}),
        ("related", {"ref": note, "limit": 3}),
        ("timeline", {"ref": note, "depth_before": 2, "depth_after": 2}),
        ("recall", {"query": "aardvark", "project": "x", "budget": 300}),
        ("review", {"reason": "expired", "limit": 3}),
        ("sessions", {"project": "x", "since": "2026-01-01", "limit": 3}),
        ("tags", {"kind": "note"}),
        ("stats", {"agents": True}),
        ("status", {"privacy": False}),
        ("history", {"ref": note, "limit": 3}),
        ("add", {"text": "A text.", "title": "T", "tags": ["a"], "facts": ["f"], "expires": "in 3 months"}),
        ("update", {"ref": note, "content": "x", "append": True, "add_tags": ["b"], "section": "Alpha"}),
        ("delete", {"ref": ["nothing"], "permanent": False}),
        ("prune", {"before": "2026-01-01", "dry_run": True}),
        ("capture", {"text": "*Remember*: it.", "project": "p", "dry_run": True, "statements": True}),
    ]


def messages(note: str) -> list[dict[str, Any]]:
    """Return valid MCP messages, without an envelope and with equal ids."""
    arguments: list[tuple[str, dict[str, Any]]] = [
        ("memory_search", {"query": "aardvark", "limit": 3, "tags": ["a"], "as_of": "2026-01-01", "fuzzy": True}),
        ("memory_search", {"query": "path:h x", "threshold": 0.7, "mode": "text", "max_tokens": 500, "cursor": "1"}),
        ("memory_get", {"ref": [f"{note}:1-3"], "full": True, "neighbors": 1, "max_tokens": 300, "cursor": ""}),
        ("memory_timeline", {"ref": note, "depth_before": 1, "kind": "note", "cursor": "0,0"}),
        ("memory_recall", {"query": "aardvark", "project": "/x", "budget": 300}),
        ("memory_store", {"content": "text", "title": "T", "path": "x/y", "tags": ["a"], "expires": "in 3 months"}),
        ("memory_update", {"ref": "nothing", "content": "x", "append": True, "add_tags": ["b"]}),
        ("memory_delete", {"ref": ["nothing"], "permanent": False}),
        ("memory_list", {"sort": "created", "order": "asc", "limit": 2, "offset": 1, "max_tokens": 900}),
    ]
    completed = {"ref": {"type": "ref/resource", "uri": "vault-index://x"}, "argument": {"name": "path", "value": "h"}}
    asked: list[tuple[str, dict[str, Any]]] = [
        *(("tools/call", {"name": name, "arguments": given}) for name, given in arguments),
        ("ping", {}),
        ("tools/list", {"cursor": "x"}),
        ("resources/list", {"cursor": "1"}),
        ("resources/read", {"uri": f"vault-index://vault/{note}"}),
        ("prompts/get", {"name": "recall", "arguments": {"task": "x"}}),
        ("completion/complete", completed),
    ]
    return [{"jsonrpc": "2.0", "id": 7, "method": method, "params": params} for method, params in asked]


def mutated(good: Sequence[Mapping[str, Any]], count: int = REQUESTS, *, seed: int = 15) -> Iterator[bytes]:
    """Yield lines made from valid requests, with other values, keys or bytes."""
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
    """Return the value of a line of JSON, or None if it is not JSON. NaN is not."""

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
