"""`vault-index serve` under attack: it refuses, reveals nothing, and keeps serving other clients."""

import gzip
import json
import socket
from contextlib import ExitStack

from tests.serve.attackers import OUTSIDE, REFUSED, STOPPED_CLOCK, Target, hung_up, is_found, read_all, replies
from tests.waiting import until
from tests.world import Answered
from vault_index.api.methods import METHODS, WRITING
from vault_index.serve import connections

SERVED = [name for name, method in METHODS.items() if method.served]
WRITES = sorted(WRITING & set(SERVED))
PLACES = [("GET", "/healthz"), ("GET", "/openapi.json"), ("POST", "/api/tags"), ("GET", "/events"), ("POST", "/mcp")]
"""Every route."""
SEARCH = b'{"query": "aardvark"}'
EVIL = "evil.example"
JSON = {"Content_Type": "application/json"}


def is_guarded(reply: Answered) -> bool:
    """Return whether the headers tell browsers to store nothing and to deny pages of other sites."""
    headers = reply.headers
    return (
        headers["x-content-type-options"] == "nosniff"
        and headers["cache-control"] == "no-store"
        and "default-src 'none'" in headers["content-security-policy"]
        and headers["referrer-policy"] == "no-referrer"
        and "server" not in headers
        and not any(name.startswith("access-control-") for name in headers)
    )


def test_serve_refuses_a_foreign_host(target: Target) -> None:
    """DNS rebinding: the browser takes the page for ours, and repeats the host in Origin."""
    for host in (one.format(port=target.served.port) for one in REFUSED["hosts"]):
        for method, path in PLACES:
            for more in ({}, {"Origin": f"http://{host}"}):
                reply = target.request(method, path, {**target.headers(), "Host": host, **more}, b"{}")
                assert reply.status in (400, 421), (host, method, path, reply)
                assert b"aardvark" not in reply.body


def test_serve_requires_exactly_one_valid_host(target: Target) -> None:
    token = f"Authorization: Bearer {target.tokens['reader']}"
    for head in (
        f"GET /openapi.json HTTP/1.1\r\n{token}",
        f"GET /openapi.json HTTP/1.0\r\n{token}",
        f"GET /openapi.json HTTP/1.1\r\nHost: {target.host}\r\nHost: {EVIL}\r\n{token}",
        f"GET /openapi.json HTTP/1.1\r\nHost: {EVIL}\r\nHost: {target.host}\r\n{token}",
        f"GET /openapi.json HTTP/1.1\r\nHost: {EVIL}\r\nX-Forwarded-Host: {target.host}\r\n{token}",
        f"GET http://{EVIL}/openapi.json HTTP/1.1\r\nHost: {target.host}\r\n{token}",
        f"GET http://{target.host}/openapi.json HTTP/1.1\r\nHost: {EVIL}\r\n{token}",
    ):
        [reply] = target.send(f"{head}\r\nConnection: close\r\n\r\n".encode())
        assert reply.status in (400, 404, 421), (head, reply)


def test_serve_accepts_its_own_names(target: Target) -> None:
    for name in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        host = f"{name}:{target.served.port}"
        reply = target.post("/api/search", SEARCH, Host=host)
        assert (reply.status, len(reply.json["results"])) == (200, 1)
        assert is_guarded(reply)
        assert target.post("/api/search", SEARCH, Host=host, Origin=f"http://{host.lower()}").status == 200


def test_serve_refuses_a_foreign_origin_even_with_a_token(target: Target) -> None:
    for origin in (one.format(port=target.served.port) for one in REFUSED["origins"]):
        for method, path in PLACES[1:]:
            reply = target.request(method, path, target.headers(Origin=origin, **JSON), b"{}")
            assert (reply.status, reply.error) == (403, "forbidden"), (origin, method, path, reply)
            assert is_guarded(reply)


def test_serve_checks_both_of_two_origins(target: Target) -> None:
    head = target.head("POST /api/tags HTTP/1.1", **JSON) + b"Content-Length: 2\r\nConnection: close\r\n"
    own, other = f"Origin: http://{target.host}\r\n".encode(), f"Origin: http://{EVIL}\r\n".encode()
    for origins in (own + other, other + own):
        [reply] = target.send(head + origins + b"\r\n{}")
        assert reply.status in (400, 403), reply


def test_serve_refuses_requests_that_a_form_can_send(target: Target) -> None:
    before = target.world.files()
    for kind in REFUSED["content_types"]:
        for method in ("search", "add"):
            body = b'{"query": "aardvark", "text": "x"}'
            reply = target.post(f"/api/{method}", body, "writer", Content_Type=kind)
            assert reply.status == 415, (kind, reply)
            assert is_guarded(reply)
    assert target.request("POST", "/api/search", target.headers(), SEARCH).status == 415
    assert target.world.files() == before


def test_serve_shows_only_health_without_a_token(target: Target) -> None:
    assert target.request("GET", "/healthz", {"Host": target.host}).json["status"] == "ok"
    for method, path in [*PLACES[1:], ("POST", "/api/nothing"), ("GET", "/nothing"), ("POST", "/api/add")]:
        reply = target.request(method, path, {"Host": target.host, "Content-Type": "application/json"}, b"{}")
        assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer"), (method, path, reply)
        assert is_guarded(reply)
        assert not [name for name in SERVED if name.encode() in reply.body.split()]


def test_serve_reads_the_token_from_one_header_only(target: Target) -> None:
    """Anywhere else it would get into logs of proxies and browser histories, or be sent automatically."""
    secret = target.tokens["reader"]
    shown: list[dict[str, str]] = [
        {"Cookie": f"token={secret}"}, {"X-Api-Key": secret}, {"Proxy-Authorization": f"Bearer {secret}"},
        *({"Authorization": text} for text in (
            secret, f"Basic {secret}", f"Bearer  {secret}x", f"Bearer {secret[:-1]}", "Bearer", "Bearer ",
            f"Bearer {secret.upper()}", f"Bearer {secret} {secret}", f"Bearer {secret},", f"Bearer {secret}=",
            "Bearer *", "Bearer vx_" + "\xe9" * 43, "Bearer vx_" + "A" * 43,
        )),
    ]  # fmt: skip
    for headers in shown:
        reply = target.request("GET", "/openapi.json", {"Host": target.host, **headers})
        assert reply.status == 401, (headers, reply)
        assert secret.encode() not in reply.body
    headers = {"Host": target.host, "Content-Type": "application/json"}
    for query in (f"token={secret}", f"access_token={secret}", f"Authorization=Bearer%20{secret}"):
        for method, path in PLACES[1:]:
            assert target.request(method, f"{path}?{query}", headers, b"{}").status == 401, path
    inside = json.dumps({"query": "aardvark", "token": secret, "access_token": secret}).encode()
    assert target.request("POST", "/api/search", headers, inside).status == 401
    twice = target.head("GET /openapi.json HTTP/1.1") + f"Authorization: Bearer vx_{'A' * 43}\r\n".encode()
    [reply] = target.send(twice + b"Connection: close\r\n\r\n")
    assert reply.status in (400, 401)


def test_serve_checks_the_token_of_each_request_of_a_connection(target: Target) -> None:
    good, none = (target.head("GET /openapi.json HTTP/1.1", name) for name in ("reader", ""))
    data = good + b"\r\n" + none + b"\r\n" + good + b"Connection: close\r\n\r\n"
    assert [reply.status for reply in target.send(data)] == [200, 401, 200]


def test_serve_lets_a_reader_write_by_no_route(target: Target) -> None:
    before = target.world.files()
    params = {"text": "x", "ref": "alpha.md", "content": "x", "action": "keep", "title": "x", "dry_run": False}
    for method in sorted(METHODS):
        reply = target.ask(method, "reader", **params)
        if method in WRITES:
            assert (reply.status, reply.error) == (403, "forbidden"), (method, reply)
        elif not METHODS[method].served:
            assert (reply.status, reply.error) == (404, "not_found"), (method, reply)
    for path in ("/api/tags/../add", "/api/%61dd", "/api/add/", "/api//add", "/api/ADD", "/api/add%00", "/api/add?x"):
        assert target.post(path, json.dumps(params).encode(), "reader").status in (403, 404), path
    for name in ("X-HTTP-Method-Override", "X-Original-URL", "X-Rewrite-URL"):
        assert target.post("/api/tags", b"{}", "reader", **{name: "/api/add"}).status == 200
    assert not {f"/api/{name}" for name in WRITES} & set(target.request("GET", "/openapi.json").json["paths"])
    assert target.world.files() == before


def test_serve_has_no_routes_and_parameters_of_local_methods(target: Target) -> None:
    local = [name for name, method in METHODS.items() if not method.served]
    for name in ["tool", "served", "ping", "reload", "_call", "__init__", "", "search.json", *local]:
        reply = target.post(f"/api/{name}", b"{}", "writer")
        assert reply.status == 404, (name, reply)
    given = {"query": "x", "ref": "alpha.md", "text": "x", "action": "keep"}
    for name in SERVED:
        for parameter in METHODS[name].local:
            reply = target.ask(name, "writer", **given, **{parameter: "/etc"})
            assert (reply.status, reply.error) == (400, "usage"), (name, parameter, reply)
            assert b"/etc" not in reply.body


def test_serve_refuses_references_out_of_the_vault(target: Target) -> None:
    home, folder = target.world.home, target.world.vault.parent
    beside = {path.name for path in folder.iterdir()}
    before = target.world.files()
    for ref in [*REFUSED["references"], str(folder / "outside.md"), str(home.config_file), str(home.tokens_file)]:
        for method, params in (
            ("get", {"ref": ref, "full": True, "neighbors": 3}), ("related", {"ref": ref}), ("timeline", {"ref": ref}),
            ("history", {"ref": ref}), ("diff", {"ref": ref}), ("resume", {"ref": ref}), ("tags", {"path": ref}),
            ("why", {"ref": ref, "query": "x"}), ("list", {"path": ref}), ("update", {"ref": ref, "content": "x"}),
            ("delete", {"ref": ref, "permanent": True}), ("archive", {"ref": ref}), ("revert", {"ref": ref}),
            ("decide", {"ref": ref, "action": "keep"}), ("search", {"query": "x", "source": ref}),
            ("add", {"text": "x", "supersedes": [ref]}),
            ("sessions", {"file": ref}), ("recall", {"project": ref}), ("add", {"text": "x", "source": ref}),
            ("add", {"text": f"A text of {ref!r} for a memory.", "path": ref}),
        ):  # fmt: skip
            reply = target.ask(method, "writer", **params)
            assert reply.status < 500, (method, params, reply)
            assert OUTSIDE.encode() not in reply.body, (method, params)
            assert b"root:" not in reply.body, (method, params)
    after = target.world.files()
    assert [path for path in after if path not in before and not path.startswith("memory/")] == []
    assert {path: data for path, data in after.items() if path in before} == before
    assert {path.name for path in folder.iterdir()} == beside


def test_serve_answers_no_other_paths(target: Target) -> None:
    for path in (*REFUSED["paths"], "/api/" + "a" * 4000, "/" + "a/" * 2000, "/api?" + "a=b&" * 1000):
        for method in ("GET", "POST"):
            reply = target.request(method, path, target.headers(**JSON), b"{}")
            assert 400 <= reply.status < 500, (path, reply)
            assert b"root:" not in reply.body
            assert "x" not in reply.headers


# --- bodies ----------------------------------------------------------------------------------------------------------

DEEP = 100_000
NO_OBJECTS = [
    b"x", b'{"query": "aard', b"{}{}", b"{} // x", b"{'a': 1}", b'{"query": "x"}\0', b'["query"]', b'"query"', b"5",
    b"null", b'{"query": "x", "threshold": NaN}', b'{"query": "x", "threshold": -Infinity}',
    b'{"query": "\xff\xfe"}', b'{"query": "\xc0\xaf"}', '{"query": "x"}'.encode("utf-16"),
    b'{"query": "\xed\xa0\xbd"}', b'{"query": "\\ud83d"}', b'{"query": "\\ude00\\ud83d"}', b'{"quer\\ud83dy": "x"}',
    b"[" * DEEP, b'{"a":' * DEEP, b'{"query": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    b'{"a":' * DEEP + b"1" + b"}" * DEEP, b'{"query": "x", "limit": 1e999}',
    b'{"query": "x", "limit": ' + b"9" * 300_000 + b"}", b'{"query": "x", "limit": 0.' + b"9" * 300_000 + b"}",
    b'{"query": "x", "query": "aardvark"}', b'{"query": "x", "limit": 1, "\\u006cimit": "x"}',
]  # fmt: skip


def test_serve_refuses_a_body_that_is_not_a_json_object(target: Target) -> None:
    for body in NO_OBJECTS:
        reply = target.post("/api/search", body)
        assert (reply.status, reply.error) == (400, "usage"), (body[:60], reply)
        assert len(reply.body) < 2000
        assert is_guarded(reply)


def test_serve_does_not_read_a_body_over_the_limit(target: Target) -> None:
    largest = 1 << 20
    exact = b'{"query": "aardvark"' + b" " * (largest - 21) + b"}"
    assert target.post("/api/search", exact).status == 200
    assert target.post("/api/search", exact + b" ").status == 413
    for path in ("/api/search", "/mcp"):
        head = target.head(f"POST {path} HTTP/1.1", **JSON)
        for size in (largest + 1, 2**63, 10**19):
            reply = target.first(head + b"Content-Length: %d\r\n\r\n" % size)
            assert reply.status == 413, (path, size, reply)
        chunks = (b"10000\r\n" + b" " * 0x10000 + b"\r\n") * 17
        assert target.first(head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks).status == 413


def test_serve_does_not_unpack_a_compressed_body(target: Target) -> None:
    small = gzip.compress(b" " * 20_000_000 + SEARCH)
    for coding in ("gzip", "x-gzip", "deflate", "br", "gzip, gzip"):
        reply = target.post("/api/search", small, Content_Encoding=coding)
        assert reply.status in (400, 415), (coding, reply)
    plain = target.post("/api/search", SEARCH, Accept_Encoding="gzip, br, *")
    assert plain.json["results"], "an answer that may hold a secret is not compressed"


def test_serve_refuses_other_verbs(target: Target) -> None:
    before = target.world.files()
    for verb in ("TRACE", "CONNECT", "PUT", "DELETE", "PATCH", "OPTIONS", "GET", "HEAD", "get", "X" * 100):
        for path in ("/api/search", "/api/add"):
            reply = target.request(verb, path, target.headers("writer", X_Marked="buffalo", **JSON), b"{}")
            assert reply.status in (400, 405), (verb, path, reply)
            assert b"buffalo" not in reply.body
    for verb in ("POST", "PUT", "DELETE", "TRACE"):
        assert target.request(verb, "/healthz", target.headers(), b"{}").status == 405
    for destination in ("example.org:443", "*", f"http://{EVIL}/"):
        for verb in ("CONNECT", "OPTIONS"):
            assert 400 <= target.request(verb, destination, target.headers()).status < 500
    assert target.request("HEAD", "/healthz", {"Host": target.host}).body == b""
    assert target.world.files() == before


# --- time ------------------------------------------------------------------------------------------------------------

SHORT = f"""{STOPPED_CLOCK}
from vault_index.serve import connections, http
http.BODY_SECONDS, connections._REQUEST_SECONDS = 1.0, 3.0
"""


def test_serve_drops_slow_clients_and_keeps_answering_others(target: Target) -> None:
    """They send nothing, half a head, half a body, or single bytes: a deadline counts from the first byte."""
    short = Target(target.world, target.daemon, target.world.serve(first=SHORT))
    short.tokens = target.tokens
    part = short.head("POST /api/search HTTP/1.1", **JSON)
    mcp, nobody = (short.head("POST /mcp HTTP/1.1", name, **JSON) for name in ("reader", ""))
    half = b"Content-Length: 50\r\n\r\n{"
    silent = [b"", b"POST /ap", part, part + half, part + b"Transfer-Encoding: chunked\r\n\r\n9\r\n{", mcp + half]
    with ExitStack() as stack:
        opened = []
        for data in [*silent, nobody + half] * 5:
            opened.append(stack.enter_context(short.connected()))
            opened[-1].sendall(data)
        drips = [stack.enter_context(short.connected()) for _ in range(2)]
        drips[0].sendall(part + b"Content-Length: 100000\r\n\r\n{")
        drips[1].sendall(part + b"X: ")
        assert is_found(short)
        until(lambda: not [connection for connection in drips if _takes_more(connection)])
        found = [[reply.status for reply in replies(read_all(connection))] for connection in opened]
    assert {status for statuses in found for status in statuses} <= {400, 401, 408}
    assert is_found(short)


def _takes_more(connection: socket.socket) -> bool:
    """Send a byte, and return whether the other side still listens."""
    connection.settimeout(0.05)
    try:
        connection.sendall(b" ")
        return connection.recv(1 << 16) != b""
    except TimeoutError:
        return True
    except OSError:
        return False


def test_serve_answers_despite_a_crowd_of_silent_clients(target: Target) -> None:
    """More connections than the server keeps open."""
    with ExitStack() as crowd:
        for number in range(connections.MOST + 50):
            connection = crowd.enter_context(target.connected())
            with hung_up():
                connection.sendall(b"POST /api/tags HTTP/1.1\r\nHost: loc" if number % 2 else b"")
        assert is_found(target)
    assert is_found(target)
