"""The end of each request is unambiguous. The server refuses requests that a proxy may count differently, and closes
the connection. A second request follows each case: it is answered as such, or not at all."""

from collections.abc import Iterable

from tests.serve.attackers import Target

HIDDEN = b"POST /api/add HTTP/1.1\r\nHost: %(host)b\r\nAuthorization: Bearer %(writer)b\r\n" + (
    b'Content-Type: application/json\r\nContent-Length: 28\r\n\r\n{"text": "smuggled", "x": 1}'
)
"""A request that must not be seen: its reply would be 400, unlike all others here."""
TAIL = b"GET /healthz HTTP/1.1\r\nHost: %(host)b\r\nConnection: close\r\n\r\n"
START = b"POST /api/tags HTTP/1.1\r\nHost: %(host)b\r\nAuthorization: Bearer %(reader)b\r\n" + (
    b"Content-Type: application/json\r\n"
)

REFUSED = [
    b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\nG",
    *(b"Content-Length: %b\r\n\r\n{} " % value for value in (b"2\r\nContent-Length: 3", b"2, 3", b"+2", b"0x2", b"")),
    b"Content-Length : 2\r\n\r\n{}",
    *(b"Transfer-Encoding: %b\r\n\r\n0\r\n\r\n" % coding for coding in (b"gzip", b"chunked, identity", b"xchunked")),
    b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\n0\r\n\r\n",
]  # fmt: skip
"""The rest of a request after START that is refused, without a reply after it."""
PLAIN = [
    b"Content-Length: 2\r\n\r\n{}",
    b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nAuthorization: x\r\nContent-Length: 99\r\n\r\n",
    b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
]
"""Unambiguous forms. They are answered, and so is the next request."""
EARLY = [
    START.replace(b"Authorization: Bearer %(reader)b\r\n", b""),
    START.replace(b"%(host)b", b"evil.example"),
    START + b"Origin: http://evil.example\r\n",
    START.replace(b"tags", b"nothing"),
    START.replace(b"POST", b"PUT"),
    START.replace(b"application/json", b"text/plain"),
    START.replace(b"tags", b"prune"),
    START.replace(b"POST /api/tags", b"GET /healthz"),
    START.replace(b"POST /api/tags", b"DELETE /mcp"),
]
"""Heads that are answered without reading the body."""


def filled(target: Target, data: bytes) -> bytes:
    values = {"host": target.host, **target.tokens}
    return data % {name.encode(): value.encode() for name, value in values.items()}


def statuses(target: Target, head: bytes, rest: bytes) -> tuple[int, ...]:
    return tuple(reply.status for reply in target.send(filled(target, head) + rest + filled(target, TAIL)))


def misses(target: Target, rests: Iterable[bytes], expected: set[tuple[int, ...]]) -> dict[bytes, tuple[int, ...]]:
    """Return the unexpected statuses, by the rest of the request."""
    found = {rest: statuses(target, START, rest) for rest in rests}
    return {rest: got for rest, got in found.items() if got not in expected}


def test_serve_refuses_a_request_of_ambiguous_length(target: Target) -> None:
    assert misses(target, REFUSED, {(400,), (411,), (413,), (501,)}) == {}


def test_serve_answers_a_plain_request_and_the_next(target: Target) -> None:
    assert misses(target, PLAIN, {(200, 200)}) == {}


def test_serve_never_reads_a_body_as_the_next_request(target: Target) -> None:
    """After an early answer, the server discards the body or closes the connection."""
    hidden, before = filled(target, HIDDEN), target.world.files()
    for head in EARLY:
        for rest in (
            b"Content-Length: %d\r\n\r\n%b" % (len(hidden), hidden),
            b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(hidden), hidden),
        ):
            first, *others = statuses(target, head, rest)
            assert first < 500, head
            assert others in ([], [200]), head
    assert target.world.files() == before
