"""Every mutated request gets an answer, no answer is a defect, and neither process grows."""

import json
import random
from collections import Counter
from collections.abc import Iterator

import h11

from benchmarks.process import usage
from tests.mutations import DEFECT, HOSTILE, REQUESTS, calls, messages, mutated
from tests.serve.attackers import Target, is_found

CALLS = calls("alpha.md")
GOOD = [
    {"path": f"/api/{method}", "type": "application/json", "accept": "application/json", "body": params}
    for method, params in CALLS
] + [
    {"path": "/mcp", "type": "application/json", "accept": "application/json, text/event-stream", "body": message}
    for message in messages("alpha.md")
]
LARGER_MB = 24.0
"""How much a warm process may grow: its heap keeps the size of the largest answers."""


def requests(target: Target, count: int) -> Iterator[bytes]:
    """Yield the bytes of requests with a mutated body, a mutated head, or both."""
    chance = random.Random(21)
    for frame in mutated(GOOD, count, seed=21):
        name = chance.choice(("reader", "reader", "part", ""))
        try:
            asked = json.loads(frame)
            body = json.dumps(asked["body"]).encode()
            path, kind, accept = (str(asked.get(key, "")) for key in ("path", "type", "accept"))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            body, path, kind, accept = frame, f"/api/{chance.choice(CALLS)[0]}", "application/json", "*/*"
        headers = {**target.headers(name), "Content-Type": kind, "Accept": accept, "Content-Length": str(len(body))}
        verb = chance.choice(("POST",) * 9 + ("GET", "PUT", "DELETE", "HEAD", "OPTIONS"))
        head = [f"{verb} {path} HTTP/1.1", *(f"{key}: {value}" for key, value in headers.items()), "Connection: close"]
        if chance.random() < 0.3:
            head[chance.randrange(len(head))] = f"{chance.choice((*headers, 'X', ''))}: {chance.choice(HOSTILE)}"
        data = "\r\n".join((*head, "", "")).encode("utf-8", "surrogatepass") + body
        if chance.random() < 0.2:
            place = chance.randrange(len(data))
            data = data[:place] + bytes([chance.randrange(256)]) + data[place + chance.randrange(3) :]
        yield data


def gets_an_answer(data: bytes) -> bool:
    """Return whether the server can see the end of the request, or that it is none."""
    reader = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 16)
    try:
        reader.receive_data(data)
        while (event := reader.next_event()) is not h11.NEED_DATA:
            if isinstance(event, h11.EndOfMessage):
                return True
    except h11.RemoteProtocolError:
        return True
    return False


def sizes(target: Target) -> list[float]:
    return [usage(process.pid).anonymous_mb for process in (target.served.process, target.daemon)]


def test_mutated_requests(target: Target) -> None:
    before, kinds = target.world.files(), Counter[int]()
    small: list[float] = []
    for number, data in enumerate(requests(target, REQUESTS)):
        if number == REQUESTS // 2:
            small = sizes(target)
        if not gets_an_answer(data):
            continue
        reply = target.first(data)
        kinds[reply.status] += 1
        assert reply.status < 500 or reply.status in (501, 505), (data[:3000], reply)
        assert not DEFECT.search(reply.body.decode("utf-8", "replace")), (data[:3000], reply)
    assert {200, 400, 401, 403, 404} <= set(kinds), kinds
    assert is_found(target)
    large = sizes(target)
    assert all(new < old + LARGER_MB for old, new in zip(small, large, strict=True)), (small, large)
    changed = {path for path, data in target.world.files().items() if before.get(path) != data}
    # `part` may write memories below its folder; the readers may write nothing.
    assert all(path.startswith("deep/") for path in changed), changed
