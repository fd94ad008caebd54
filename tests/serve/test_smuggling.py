"""Where one request ends and the next begins is never in doubt: what a proxy in front may count in another way is
refused, and the connection with it. Each case is followed by a request that must be answered as the next one, or
not at all."""

import pytest

from tests.serve.attackers import Served
from tests.serve.test_attacks import is_found, one as one

HIDDEN = b"POST /api/add HTTP/1.1\r\nHost: %(host)b\r\nAuthorization: Bearer %(writer)b\r\n" + (
    b'Content-Type: application/json\r\nContent-Length: 28\r\n\r\n{"text": "smuggled", "x": 1}'
)
"""What nobody sent: it would be refused with 400, which no other request here is."""
TAIL = b"GET /healthz HTTP/1.1\r\nHost: %(host)b\r\nConnection: close\r\n\r\n"
START = b"POST /api/tags HTTP/1.1\r\nHost: %(host)b\r\nAuthorization: Bearer %(reader)b\r\n" + (
    b"Content-Type: application/json\r\n"
)

REFUSED = {
    "a length and chunks": b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and a length": b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "a length that hides a request": b"Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\nG",
    "two lengths": b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
    "two lengths in one": b"Content-Length: 2, 3\r\n\r\n{} ",
    "none and one": b"Content-Length: 0\r\nContent-Length: 2\r\n\r\n{}",
    "a plus": b"Content-Length: +2\r\n\r\n{}",
    "a minus": b"Content-Length: -2\r\n\r\n{}",
    "a space inside": b"Content-Length: 0 2\r\n\r\n{}",
    "hexadecimal": b"Content-Length: 0x2\r\n\r\n{}",
    "an underscore": b"Content-Length: 0_2\r\n\r\n{}",
    "a fraction": b"Content-Length: 2.0\r\n\r\n{}",
    "an exponent": b"Content-Length: 2e0\r\n\r\n{}",
    "another digit": b"Content-Length: \xd9\xa2\r\n\r\n{}",
    "a superscript": b"Content-Length: \xb2\r\n\r\n{}",
    "no length": b"Content-Length:\r\n\r\n{}",
    "a comma": b"Content-Length: 2,\r\n\r\n{}",
    "a vertical tab": b"Content-Length: \x0b2\r\n\r\n{}",
    "a length behind a NUL": b"Content-Length: 2\0\r\n\r\n{}",
    "a space before the colon": b"Content-Length : 2\r\n\r\n{}",
    "another coding": b"Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n",
    "identity": b"Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\n{}",
    "chunks and identity": b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "identity and chunks": b"Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n",
    "packed chunks": b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunks twice": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks, and something else": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n",
    "xchunked": b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunked with a mark": b"Transfer-Encoding: chunked;q=0\r\n\r\n0\r\n\r\n",
    "chunked in quotes": b'Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n',
    "a tab of another kind": b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "a comma before": b"Transfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n",
    "chunks behind a space": b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "chunks behind a tab": b"Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n",
    "an underscore in the name":
        b"Transfer-Encoding: chunked\r\nContent_Length: 5\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "a bare CR": b"X: y\rContent-Length: 2\r\n\r\n{}",
    "a NUL": b"X: \0y\r\nContent-Length: 2\r\n\r\n{}",
    "no name": b": y\r\nContent-Length: 2\r\n\r\n{}",
    "no colon": b"Content-Length 2\r\n\r\n{}",
    "a name with a space": b"Content Length: 2\r\n\r\n{}",
    "a size in hexadecimal": b"Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n",
    "a size with a plus": b"Transfer-Encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n",
    "a size with a minus": b"Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n",
    "a size with an underscore": b"Transfer-Encoding: chunked\r\n\r\n0_2\r\n{}\r\n0\r\n\r\n",
    "a size behind a space": b"Transfer-Encoding: chunked\r\n\r\n 2\r\n{}\r\n0\r\n\r\n",
    "no size": b"Transfer-Encoding: chunked\r\n\r\n\r\n{}\r\n0\r\n\r\n",
    "a size beyond all": b"Transfer-Encoding: chunked\r\n\r\n100000000000000000002\r\n{}\r\n0\r\n\r\n",
    "a chunk that is longer than it says": b"Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n",
    "an end of a chunk that is none": b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}XX0\r\n\r\n",
    "a bare LF after a size": b"Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n",
    "a bare LF in an extension": b"Transfer-Encoding: chunked\r\n\r\n2;a\nb\r\n{}\r\n0\r\n\r\n",
    "a bare LF after a chunk": b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\n0\r\n\r\n",
}  # fmt: skip
"""The rest of a request after START: not answered, and nothing after it."""

PLAIN = {
    "a length": b"Content-Length: 2\r\n\r\n{}",
    "spaces around": b"Content-Length: \t 2 \t\r\n\r\n{}",
    "zeros before": b"Content-Length: 002\r\n\r\n{}",
    "chunks": b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "Chunks": b"transfer-encoding: Chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
    "an extension": b"Transfer-Encoding: chunked\r\n\r\n2;a=b\r\n{}\r\n0;c\r\n\r\n",
    "a trailer": b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nAuthorization: x\r\nContent-Length: 99\r\n\r\n",
    "an expectation": b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
}  # fmt: skip
"""Everyone reads these alike: answered, and so is the next."""

OLD = {
    "the same length twice": b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "the same length twice in one": b"Content-Length: 2, 2\r\n\r\n{}",
    "a folded line": b"X: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}",
    "a folded coding": b"Transfer-Encoding:\r\n chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "a folded length": b"Content-Length:\r\n 2\r\n\r\n{}",
    "bare LFs": b"Content-Length: 2\n\n{}",
    "a bare LF": b"X: y\nContent-Length: 2\r\n\r\n{}",
    "a bare CR in an extension": b"Transfer-Encoding: chunked\r\n\r\n2;a\rb\r\n{}\r\n0\r\n\r\n",
    "a space after a size": b"Transfer-Encoding: chunked\r\n\r\n2 \r\n{}\r\n0\r\n\r\n",
    "zeros before a size": b"Transfer-Encoding: chunked\r\n\r\n0000000000000002\r\n{}\r\n0\r\n\r\n",
}  # fmt: skip
"""What RFC 9112 lets a server read in one way or refuse."""

EARLY = {
    "no token": b"POST /api/tags HTTP/1.1\r\nHost: %(host)b\r\nContent-Type: application/json\r\n",
    "another host": b"POST /api/tags HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer %(reader)b\r\n",
    "another origin": START + b"Origin: http://evil.example\r\n",
    "no such method": START.replace(b"tags", b"nothing"),
    "no such path": START.replace(b"/api/tags", b"/nothing"),
    "another verb": START.replace(b"POST", b"PUT"),
    "another type": START.replace(b"application/json", b"text/plain"),
    "no right": START.replace(b"tags", b"prune"),
    "without a body": b"GET /healthz HTTP/1.1\r\nHost: %(host)b\r\n",
    "a document": b"GET /openapi.json HTTP/1.1\r\nHost: %(host)b\r\nAuthorization: Bearer %(reader)b\r\n",
    "an end": b"DELETE /mcp HTTP/1.1\r\nHost: %(host)b\r\nAuthorization: Bearer %(reader)b\r\n",
}
"""Heads that are answered without a look at the body."""


def filled(one: Served, data: bytes) -> bytes:
    values = {"host": one.host, "reader": one.tokens["reader"], "writer": one.tokens["writer"]}
    return data % {name.encode(): value.encode() for name, value in values.items()}


def statuses(one: Served, head: bytes, rest: bytes) -> list[int]:
    return [reply.status for reply in one.send(filled(one, head) + rest + filled(one, TAIL))]


@pytest.mark.parametrize("rest", REFUSED.values(), ids=REFUSED)
def test_what_can_be_counted_in_two_ways_is_refused(one: Served, rest: bytes) -> None:
    found = statuses(one, START, rest)
    assert len(found) == 1, found
    assert found[0] in (400, 411, 413, 501), found


@pytest.mark.parametrize("rest", PLAIN.values(), ids=PLAIN)
def test_what_is_plain_is_answered_with_the_next(one: Served, rest: bytes) -> None:
    assert statuses(one, START, rest) == [200, 200]


@pytest.mark.parametrize("rest", OLD.values(), ids=OLD)
def test_what_is_old_is_read_in_one_way_or_refused(one: Served, rest: bytes) -> None:
    assert statuses(one, START, rest) in ([200, 200], [400])


@pytest.mark.parametrize("head", EARLY.values(), ids=EARLY)
@pytest.mark.parametrize("chunked", [False, True], ids=["with a length", "in chunks"])
def test_a_body_is_never_the_next_request(one: Served, head: bytes, chunked: bool) -> None:
    """Answered before the body was read: that body is thrown away, or the connection with it."""
    hidden, before = filled(one, HIDDEN), one.content()
    rest = b"Content-Length: %d\r\n\r\n%b" % (len(hidden), hidden)
    if chunked:
        rest = b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(hidden), hidden)
    first, *others = statuses(one, head, rest)
    assert first < 500
    assert others in ([], [200])
    assert one.content() == before


def test_a_body_of_an_old_version_has_no_chunks(one: Served) -> None:
    head = START.replace(b"HTTP/1.1", b"HTTP/1.0") + b"Connection: keep-alive\r\n"
    found = statuses(one, head, b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
    assert found in ([200], [400]), found


def test_many_in_a_row_are_answered_in_order(one: Served) -> None:
    head = filled(one, START)
    data = b"".join(head + b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in (b"{}", b"{", b"[]") * 40)
    found = [reply.status for reply in one.send(data + filled(one, TAIL))]
    assert found == [200, 400, 400] * 40 + [200]
    assert is_found(one)
