"""Whatever is sent to `serve`, it is answered, no answer is a defect, and both processes go on as big as they were.

`VX_REQUESTS=10000` sends so many; fewer are enough for every day.
"""

import json
import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import h11
import pytest

from benchmarks.process import usage
from tests.mutations import HOSTILE, mutated
from tests.serve.attackers import Served, served
from tests.serve.test_attacks import is_found

COUNT = int(os.environ.get("VX_REQUESTS", "1500"))
FILTERS = {"tags": ["a"], "kind": "note", "path": "a*", "after": "2026-01-01", "property": "key:value"}
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search", {"query": "aardvark", "limit": 3, "mode": "text", "threshold": 0.7, "fuzzy": True, **FILTERS}),
    ("search", {"query": 'path:a "the aardvark" -zebra OR tag:x', "as_of": "2026-01-01", "explain": True}),
    ("why", {"query": "aardvark", "ref": "alpha.md", "match": "any"}),
    ("get", {"ref": ["alpha.md:1-2", "[[Beta]]"], "full": True, "max_tokens": 50, "neighbors": 1}),
    ("list", {"sort": "created", "order": "asc", "limit": 5, "offset": 0, **FILTERS}),
    ("related", {"ref": "alpha.md", "limit": 3}),
    ("timeline", {"ref": "alpha.md", "depth_before": 2, "depth_after": 2}),
    ("recall", {"query": "aardvark", "project": "x", "budget": 300}),
    ("review", {"reason": "expired", "limit": 3}),
    ("sessions", {"project": "x", "since": "2026-01-01", "limit": 3}),
    ("tags", {"kind": "note"}),
    ("stats", {}),
    ("status", {}),
    ("history", {"ref": "alpha.md", "limit": 3}),
    ("add", {"text": "A text.", "title": "T", "tags": ["a"], "facts": ["f"], "expires": "in 3 months"}),
    ("update", {"ref": "alpha.md", "content": "x", "append": True, "add_tags": ["b"], "section": "Alpha"}),
    ("delete", {"ref": ["nothing"], "permanent": False}),
    ("capture", {"text": "*Remember*: it.", "project": "p", "dry_run": True, "statements": True}),
)
RPC: tuple[tuple[str, dict[str, Any]], ...] = (
    ("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}),
    ("tools/list", {"cursor": "x"}),
    ("tools/call", {"name": "memory_search", "arguments": {"query": "aardvark", "limit": 3}}),
    ("tools/call", {"name": "memory_store", "arguments": {"content": "text", "title": "T"}}),
    ("resources/read", {"uri": "vault-index://alpha.md"}),
    ("prompts/get", {"name": "recall", "arguments": {"query": "x"}}),
    ("ping", {}),
)
GOOD = [
    {"path": f"/api/{method}", "type": "application/json", "accept": "application/json", "body": params}
    for method, params in CALLS
] + [
    {"path": "/mcp", "type": "application/json", "accept": "application/json, text/event-stream",
     "body": {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}}
    for method, params in RPC
]  # fmt: skip
DEFECT = re.compile(rb"Traceback|\b(?!JSONRPC)[A-Z]\w*(?:Error|Exception)\b|Internal Server Error|the daemon's log")
LARGER_MB = 24.0
"""So much a process may grow after it was warm: what its heap keeps of the largest answers."""


def requests(one: Served, count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Bytes of a request, its body mutated, or its head, or both; by the token it shows."""
    chance = random.Random(seed)
    for frame in mutated(GOOD, count, seed=seed):
        name = chance.choice(("reader", "reader", "part", ""))
        try:
            asked = json.loads(frame)
            body = json.dumps(asked["body"]).encode()
            path, kind, accept = (str(asked.get(key, "")) for key in ("path", "type", "accept"))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            body, path, kind, accept = frame, f"/api/{chance.choice(CALLS)[0]}", "application/json", "*/*"
        headers = {**one.headers(name), "Content-Type": kind, "Accept": accept, "Content-Length": str(len(body))}
        verb = chance.choice(("POST",) * 9 + ("GET", "PUT", "DELETE", "HEAD", "OPTIONS"))
        head = [f"{verb} {path} HTTP/1.1", *(f"{key}: {value}" for key, value in headers.items()), "Connection: close"]
        if chance.random() < 0.3:
            head[chance.randrange(len(head))] = f"{chance.choice((*headers, 'X', ''))}: {chance.choice(HOSTILE)}"
        data = "\r\n".join((*head, "", "")).encode("utf-8", "surrogatepass") + body
        if chance.random() < 0.2:
            place = chance.randrange(len(data))
            data = data[:place] + bytes([chance.randrange(256)]) + data[place + chance.randrange(3) :]
        yield name, data


def is_whole(data: bytes) -> bool:
    """Whether an answer is owed: to a request with all of its body, or to what is none."""
    reader = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 16)
    try:
        reader.receive_data(data)
        while (event := reader.next_event()) is not h11.NEED_DATA:
            if isinstance(event, h11.EndOfMessage):
                return True
    except h11.RemoteProtocolError:
        return True
    return False


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("mutated")) as one:
        yield one


def sizes(one: Served) -> list[float]:
    assert one.serve is not None
    assert one.daemon is not None
    return [usage(process.pid).anonymous_mb for process in (one.serve, one.daemon)]


def test_mutated_requests(fresh: Served) -> None:
    before, kinds = fresh.content(), Counter[int]()
    small: list[float] = []
    for number, (_, data) in enumerate(requests(fresh, COUNT, 21)):
        if number == COUNT // 3:
            small = sizes(fresh)
        if not is_whole(data):
            continue
        reply = fresh.first(data)
        kinds[reply.status] += 1
        assert reply.status < 500 or reply.status in (501, 505), (data[:3000], reply)
        assert not DEFECT.search(reply.body), (data[:3000], reply)
    assert {200, 400, 401, 403, 404} <= set(kinds), kinds
    assert is_found(fresh)
    assert fresh.lives
    assert "Traceback" not in fresh.logs
    large = sizes(fresh)
    assert all(new < old + LARGER_MB for old, new in zip(small, large, strict=True)), (small, large)
    changed = {path for path, data in fresh.content().items() if before.get(path) != data}
    # `part` may write memories below its folder only; the readers nothing at all.
    assert all(path.startswith("deep/") for path in changed), changed
