"""`vault-index serve` under attack: by pages of other sites, by what is no request, by who has no token or too small a
one. The answer is a refusal that says no more than that, and everyone else is served meanwhile."""

import gzip
import inspect
import json
import os
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.daemon.fake_index import until
from tests.serve.attackers import NOTES, OUTSIDE, PATIENCE, Reply, Served, read_all, replies, served
from vault_index import VaultIndex
from vault_index.access import Tokens
from vault_index.api.methods import METHODS, WRITING

SERVED = [name for name, method in METHODS.items() if method.served]
WRITES = sorted(WRITING & set(SERVED))
PLACES = [("GET", "/healthz"), ("GET", "/openapi.json"), ("POST", "/api/tags"), ("GET", "/events"), ("POST", "/mcp")]
"""Each way in."""
WRITING_TOOLS = ("memory_store", "memory_update", "memory_delete")
SEARCH = b'{"query": "aardvark"}'
EVIL = "evil.example"


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("served")) as one:
        yield one
        assert is_found(one)
        # After everything that was done to it: nobody's text is in a log, and the processes are the first ones.
        until(lambda: "path=/api/search" in one.logs, PATIENCE)
        logs = one.logs
        assert one.lives, logs
        assert [secret for secret in one.tokens.values() if secret in logs] == []
        assert [word for word in ("aardvark", "buffalo", "gazelle", OUTSIDE) if word in logs] == []
        assert "Traceback" not in logs


def is_found(one: Served) -> bool:
    """Whether a good request is answered as ever."""
    reply = one.ask("search", query="aardvark")
    assert reply.status == 200, reply
    return [hit["path"] for hit in reply.json["results"]] == ["alpha.md"]


def is_guarded(reply: Reply) -> bool:
    """What each answer says to browsers; and no page of another site may read it."""
    headers = reply.headers
    return (
        headers["x-content-type-options"] == "nosniff"
        and headers["cache-control"] == "no-store"
        and "default-src 'none'" in headers["content-security-policy"]
        and headers["referrer-policy"] == "no-referrer"
        and "server" not in headers
        and not any(name.startswith("access-control-") for name in headers)
    )


# --- pages of other sites ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [EVIL, "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.1@evil.example", "evil.example:{port}",
     "evil.example#127.0.0.1", "127.0.0.1:{port}.evil.example", "127.0.0.1, evil.example", "0.0.0.0:{port}",
     "2130706433",
     "0x7f.1", "127.1", "[::ffff:127.0.0.1]", "127.0.0.1:x", "[::1", "", "\xe9", "127.0.0.1 evil.example"],
)  # fmt: skip
def test_a_name_that_was_bound_to_this_address_is_refused(one: Served, host: str) -> None:
    """DNS rebinding: the browser takes the page for ours, and says so in Origin."""
    host = host.format(port=one.port)
    for method, path in PLACES:
        for more in ({}, {"Origin": f"http://{host}"}):
            reply = one.request(method, path, {**one.headers(), "Host": host, **more}, b"{}")
            assert reply.status in (400, 421), (method, path, reply)
            assert b"aardvark" not in reply.body


def test_a_host_is_named_once_and_by_itself(one: Served) -> None:
    token = f"Authorization: Bearer {one.tokens['reader']}"
    for head in (
        f"GET /openapi.json HTTP/1.1\r\n{token}",
        f"GET /openapi.json HTTP/1.0\r\n{token}",
        f"GET /openapi.json HTTP/1.1\r\nHost: {one.host}\r\nHost: {EVIL}\r\n{token}",
        f"GET /openapi.json HTTP/1.1\r\nHost: {EVIL}\r\nHost: {one.host}\r\n{token}",
        f"GET /openapi.json HTTP/1.1\r\nHost: {EVIL}\r\nX-Forwarded-Host: {one.host}\r\n{token}",
        f"GET /openapi.json HTTP/1.1\r\nHost: {EVIL}\r\nForwarded: host={one.host}\r\n{token}",
        f"GET http://{EVIL}/openapi.json HTTP/1.1\r\nHost: {one.host}\r\n{token}",
        f"GET http://{one.host}/openapi.json HTTP/1.1\r\nHost: {EVIL}\r\n{token}",
    ):
        [reply] = one.send(f"{head}\r\nConnection: close\r\n\r\n".encode())
        assert reply.status in (400, 404, 421), (head, reply)


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}", "[::1]:{port}"])
def test_its_own_names_are_served(one: Served, host: str) -> None:
    host = host.format(port=one.port)
    reply = one.post("/api/search", SEARCH, Host=host)
    assert (reply.status, len(reply.json["results"])) == (200, 1)
    assert is_guarded(reply)
    own = one.post("/api/search", SEARCH, Host=host, Origin=f"http://{host.lower()}")
    assert own.status == 200, own


@pytest.mark.parametrize(
    "origin",
    [f"http://{EVIL}", "null", "http://127.0.0.1:{port}.evil.example", "http://127.0.0.1:{port}@evil.example",
     "http://evil.example#127.0.0.1:{port}", "https://127.0.0.1:{port}", "http://127.0.0.1:1", "http://127.0.0.1",
     "ws://127.0.0.1:{port}", "file://", "chrome-extension://abc", "", "*", "127.0.0.1:{port}",
     "http://127.0.0.1:{port} http://evil.example", "http://127.0.0.1:{port}/", "http://xlocalhost:{port}"],
)  # fmt: skip
def test_a_page_of_another_site_is_refused_with_a_token_too(one: Served, origin: str) -> None:
    origin = origin.format(port=one.port)
    for method, path in PLACES[1:]:
        reply = one.request(method, path, one.headers(Origin=origin, Content_Type="application/json"), b"{}")
        assert (reply.status, reply.error) == (403, "forbidden"), (method, path, reply)
        assert is_guarded(reply)


def test_of_two_origins_both_count(one: Served) -> None:
    lines = [f"{name}: {value}" for name, value in one.headers(Content_Type="application/json").items()]
    own, other = f"Origin: http://{one.host}", f"Origin: http://{EVIL}"
    for first, second in ((own, other), (other, own)):
        head = "\r\n".join(["POST /api/tags HTTP/1.1", *lines, first, second, "Content-Length: 2", "Connection: close"])
        [reply] = one.send(f"{head}\r\n\r\n{{}}".encode())
        assert reply.status in (400, 403), reply


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
    "text/plain; application/json",
     "application/jsonx", "application/json-patch+json", "text/json", "", "application", "application/json, text/plain",
     "application/xml"],
)  # fmt: skip
def test_what_a_form_can_send_is_no_request(one: Served, kind: str) -> None:
    before = one.content()
    for method in ("search", "add"):
        reply = one.post(f"/api/{method}", b'{"query": "aardvark", "text": "x"}', "writer", Content_Type=kind)
        assert reply.status == 415, reply
        assert is_guarded(reply)
    assert one.content() == before


def test_a_body_without_a_type_is_no_request(one: Served) -> None:
    assert one.request("POST", "/api/search", one.headers(), SEARCH).status == 415


def test_the_type_may_name_the_charset_of_json(one: Served) -> None:
    for kind in ("application/json; charset=utf-8", "application/JSON;charset=UTF-8"):
        assert one.post("/api/search", SEARCH, Content_Type=kind).status == 200


def test_a_page_that_asks_first_is_not_told_that_it_may(one: Served) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}
    for private in ({}, {"Access-Control-Request-Private-Network": "true"}):
        for _, path in PLACES:
            origin = {"Host": one.host, "Origin": f"http://{EVIL}"}
            reply = one.request("OPTIONS", path, {**origin, **asked, **private})
            assert 400 <= reply.status < 500, reply
            assert is_guarded(reply)


def test_a_page_that_only_fetches_learns_nothing(one: Served) -> None:
    """As an image, a script, a style, a form by GET: no Origin is sent, nor a token."""
    for path in (
        "/openapi.json",
        "/api/search?query=aardvark",
        "/api/tags",
        "/events",
        "/mcp",
        "/page/about",
        "/files/vault/a.png",
    ):
        reply = one.request(
            "GET", path, {"Host": one.host, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
        )
        assert reply.status in (401, 403, 404, 405), (path, reply)
        assert b"aardvark" not in reply.body
        assert is_guarded(reply)


# --- tokens --------------------------------------------------------------------------------------------------------


def test_without_a_token_nothing_but_whether_it_lives(one: Served) -> None:
    assert one.request("GET", "/healthz", {"Host": one.host}).json == {"status": "ok"}
    for method, path in [*PLACES[1:], ("POST", "/api/nothing"), ("GET", "/nothing"), ("POST", "/api/add")]:
        reply = one.request(method, path, {"Host": one.host, "Content-Type": "application/json"}, b"{}")
        assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer"), (method, path, reply)
        assert is_guarded(reply)
        assert not [name for name in SERVED if name.encode() in reply.body.split()]


def test_a_token_is_shown_in_one_way_only(one: Served) -> None:
    """Elsewhere it would be in the logs of proxies, in histories of browsers, or be sent without anyone's doing."""
    secret = one.tokens["reader"]
    shown: list[dict[str, str]] = [
        {"Cookie": f"token={secret}"}, {"X-Api-Key": secret}, {"Authorization": secret},
        {"Authorization": f"Basic {secret}"},
        {"Authorization": f"Token {secret}"}, {"Authorization": f"Bearer  {secret}x"},
        {"Authorization": f"Bearer {secret[:-1]}"},
        {"Authorization": "Bearer"}, {"Authorization": "Bearer "}, {"Authorization": f"Bearer {secret.upper()}"},
        {"Authorization": f"Bearer {secret} {secret}"}, {"Authorization": f"Bearer {secret},"},
        {"Authorization": "Bearer *"},
        {"Proxy-Authorization": f"Bearer {secret}"}, {"Authorization": "Bearer vx_" + "\xe9" * 43},
        {"Authorization": f"Bearer {secret}="}, {"Authorization": "Bearer vx_" + "A" * 43},
        {"Authorization": "Bearer null"},
    ]  # fmt: skip
    for headers in shown:
        reply = one.request("GET", "/openapi.json", {"Host": one.host, **headers})
        assert reply.status == 401, (headers, reply)
        assert secret.encode() not in reply.body
    for query in (f"token={secret}", f"access_token={secret}", f"Authorization=Bearer%20{secret}"):
        for method, path in PLACES[1:]:
            reply = one.request(
                method, f"{path}?{query}", {"Host": one.host, "Content-Type": "application/json"}, b"{}"
            )
            assert reply.status == 401, (path, reply)
    inside = json.dumps({"query": "aardvark", "token": secret, "access_token": secret}).encode()
    headers = {"Host": one.host, "Content-Type": "application/json"}
    assert one.request("POST", "/api/search", headers, inside).status == 401
    two = f"Authorization: Bearer {secret}\r\nAuthorization: Bearer vx_{'A' * 43}"
    [reply] = one.send(f"GET /openapi.json HTTP/1.1\r\nHost: {one.host}\r\n{two}\r\nConnection: close\r\n\r\n".encode())
    assert reply.status in (400, 401)


def test_each_request_of_a_connection_shows_its_own(one: Served) -> None:
    good = "\r\n".join(f"{name}: {value}" for name, value in one.headers().items())
    data = (
        f"GET /openapi.json HTTP/1.1\r\n{good}\r\n\r\n"
        f"GET /openapi.json HTTP/1.1\r\nHost: {one.host}\r\n\r\n"
        f"GET /openapi.json HTTP/1.1\r\n{good}\r\nConnection: close\r\n\r\n"
    )
    assert [reply.status for reply in one.send(data.encode())] == [200, 401, 200]


def test_a_token_that_expires_or_is_revoked_ends_at_once(one: Served) -> None:
    one.token("brief", lives=2.0)
    one.token("going")
    requests = {
        name: ("GET /openapi.json HTTP/1.1\r\n" + "".join(f"{key}: {value}\r\n" for key,
        value in one.headers(name).items())
               + "\r\n").encode()
        for name in ("brief", "going")
    }  # fmt: skip
    with one.connected() as kept:
        kept.sendall(requests["going"])
        first = kept.recv(1 << 16)
        assert b" 200 " in first.split(b"\r\n")[0]
        while not first.endswith(b"}"):
            first += kept.recv(1 << 16)
        Tokens(one.home.tokens_file).revoke("going")
        kept.sendall(requests["going"])
        assert b" 401 " in kept.recv(1 << 16).split(b"\r\n")[0]
    assert one.request("GET", "/openapi.json", one.headers("going")).status == 401
    until(lambda: one.request("GET", "/openapi.json", one.headers("brief")).status == 401, PATIENCE)


def test_guesses_are_slowed_down_and_keep_nobody_else_out(one: Served) -> None:
    """From an address of its own: whoever guesses on this one would be slowed down with the other tests."""
    head = f"GET /openapi.json HTTP/1.1\r\nHost: {one.host}\r\n"
    seen = dict[int, Reply]()
    for number in range(2000):
        guess = f"Authorization: Bearer vx_{number:043}\r\nConnection: close\r\n\r\n"
        try:
            [reply] = one.send((head + guess).encode(), source="127.0.0.9")
        except OSError:
            pytest.skip("no other address of this machine can be taken here")
        seen[reply.status] = reply
        if reply.status == 429:
            break
    assert set(seen) == {401, 429}
    assert int(seen[429].headers["retry-after"]) > 0
    good = f"Authorization: Bearer {one.tokens['reader']}\r\nConnection: close\r\n\r\n"
    [reply] = one.send((head + good).encode(), source="127.0.0.9")
    assert reply.status == 200, "whoever has a token needs no patience because of who has none"
    assert is_found(one)


# --- rights --------------------------------------------------------------------------------------------------------


def test_a_reader_writes_by_no_route(one: Served) -> None:
    before = one.content()
    params = {"text": "x", "ref": "alpha.md", "content": "x", "action": "keep", "title": "x", "dry_run": False}
    for method in sorted(METHODS):
        reply = one.ask(method, "reader", **params)
        if method in WRITES:
            assert (reply.status, reply.error) == (403, "forbidden"), (method, reply)
        elif not METHODS[method].served:
            assert (reply.status, reply.error) == (404, "not_found"), (method, reply)
    for path in ("/api/tags/../add", "/api/%61dd", "/api/add/", "/api//add", "/api/ADD", "/api/add%00", "/api/add?x"):
        assert one.post(path, json.dumps(params).encode(), "reader").status in (307, 308, 400, 403, 404), path
    for name in ("X-HTTP-Method-Override", "X-Original-URL", "X-Rewrite-URL"):
        assert one.post("/api/tags", b"{}", "reader", **{name: "/api/add"}).status == 200
    assert not {f"/api/{name}" for name in WRITES} & set(one.request("GET", "/openapi.json").json["paths"])
    assert one.content() == before


@pytest.mark.parametrize("era", ["2025-06-18", "2026-07-28"])
def test_a_reader_writes_by_no_tool(one: Served, era: str) -> None:
    """With a session, and as newer clients ask without one: the tools that write are neither listed nor there."""
    before = one.content()

    def told(name: str, method: str, params: dict[str, Any], **headers: str) -> Reply:
        of_client = {"protocolVersion": era, "clientInfo": {"name": "x", "version": "1"}, "clientCapabilities": {}}
        meta = {f"io.modelcontextprotocol/{key}": value for key, value in of_client.items()}
        asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        usual = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": era, "Mcp-Method": method}
        if "name" in params:
            usual["Mcp-Name"] = params["name"]
        return one.post("/mcp", json.dumps(asked).encode(), name, **{**usual, **headers})

    def session(name: str) -> dict[str, str]:
        if era != "2025-06-18":
            return {}
        opening = {"protocolVersion": era, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        return {"Mcp-Session-Id": told(name, "initialize", opening).headers["mcp-session-id"]}

    reader, writer = session("reader"), session("writer")
    listed = {name: told(name, "tools/list", {}, **of).body for name, of in (("reader", reader), ("writer", writer))}
    assert b'"memory_search"' in listed["reader"]
    for tool in WRITING_TOOLS:
        assert f'"{tool}"'.encode() in listed["writer"]
        assert f'"{tool}"'.encode() not in listed["reader"]
        arguments = {"content": "A text of nobody.", "ref": "alpha.md", "append": True}
        reply = told("reader", "tools/call", {"name": tool, "arguments": arguments}, **reader)
        assert b"there is no tool" in reply.body, reply
    assert one.content() == before
    stored = told("writer", "tools/call", {"name": "memory_store", "arguments": {"content": f"Of {era}."}}, **writer)
    assert b'"isError":false' in stored.body, stored


def test_what_only_this_machine_may_ask_for_has_no_route(one: Served) -> None:
    for name in ["tool", "served", "ping", "reload", "call", "_call", "close", "open", "__init__", "", "search.json",
                 *(name for name, method in METHODS.items() if not method.served)]:  # fmt: skip
        reply = one.post(f"/api/{name}", b"{}", "writer")
        assert reply.status == 404, (name, reply)


def test_what_names_folders_of_this_machine_is_no_parameter(one: Served) -> None:
    for name, method in METHODS.items():
        for parameter in method.local if method.served else ():
            given = {"query": "x", "ref": "alpha.md", "text": "x", "action": "keep"}
            reply = one.ask(name, "writer", **given, **{parameter: "/etc"})
            assert (reply.status, reply.error) == (400, "usage"), (name, parameter, reply)
            assert b"/etc" not in reply.body


# --- paths ---------------------------------------------------------------------------------------------------------

UPWARDS = (
    "../outside.md", "deep/../../outside.md", "%2e%2e/outside.md", "..%2foutside.md", "..\\outside.md", "link.md",
    "....//outside.md", "./../outside.md", "vault:../outside.md", "file:///etc/passwd", "/etc/passwd", "//etc/passwd",
    "../outside.md\0.md", "alpha.md\0", "~/.ssh/id_rsa", "[[../outside]]", "[[/etc/passwd]]", "../home/config.toml",
    "../home/tokens.json", "..", ".", "/", "\u2025/outside.md", "\uff0e\uff0e/outside.md", "C:\\outside.md",
    "../outside",
    "/proc/self/environ", "../outside.md:1-9", "../outside.md#Outside",
)  # fmt: skip


def test_no_reference_leads_out_of_the_vault(one: Served) -> None:
    refs = [*UPWARDS, str(one.vault.parent / "outside.md"), str(one.home.config_file), str(one.home.tokens_file)]
    before = one.content()
    for ref in refs:
        for method, params in (
            ("get", {"ref": ref, "full": True, "neighbors": 3}), ("get", {"ref": [ref, ref], "max_tokens": 50}),
            ("related", {"ref": ref}), ("timeline", {"ref": ref}), ("history", {"ref": ref}), ("diff", {"ref": ref}),
            ("resume", {"ref": ref}), ("why", {"ref": ref, "query": "x"}), ("list", {"path": ref}), ("tags",
            {"path": ref}),
            ("update", {"ref": ref, "content": "changed"}), ("delete", {"ref": ref, "permanent": True}),
            ("archive", {"ref": ref}), ("revert", {"ref": ref}), ("decide", {"ref": ref, "action": "keep"}),
            ("search", {"query": "x", "source": ref}), ("sessions", {"file": ref}), ("sessions", {"project": ref}),
            ("recall", {"project": ref}), ("add", {"text": "x", "source": ref}),
        ):  # fmt: skip
            for name in ("writer", "part"):
                reply = one.ask(method, name, **params)
                assert reply.status < 500, (method, params, reply)
                assert OUTSIDE.encode() not in reply.body, (method, params)
                assert b"root:" not in reply.body, (method, params)
    for ref in refs:
        one.ask("add", "writer", text=f"A text of {ref!r} for a memory.", path=ref)
    written = {path for path in one.content() if path not in before}
    assert all(path.startswith("memory/") for path in written), written
    assert {path: data for path, data in one.content().items() if path in before} == before
    assert sorted(path.name for path in one.vault.parent.iterdir() if path.suffix != ".said") == [
        "home",
        "outside.md",
        "vault",
    ]
    assert is_found(one)


def test_no_path_leads_anywhere_else(one: Served) -> None:
    for path in (
        "/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd", "/api/../../etc/passwd", "//etc/passwd",
        "/api/%2e%2e/%2e%2e/home/tokens.json", "/static/../config.toml", "/.git/config", "/home/tokens.json", "/docs",
        "/redoc", "/metrics", "/api", "/api/", "/api/search/../../etc/passwd", "/api/..;/etc/passwd", "/%00",
        "/api/%00",
        "/api/%ff", "/api/%", "/api/%zz", "/api/search%2f", "/api/search%0d%0aX: y", "/\xff\xfe", "*", "/mcp/../../etc",
        "/api/" + "a" * 4000, "/" + "a/" * 2000, "/api?" + "a=b&" * 1000, "/api/search;x=y",
        "/page/../../tokens.json", "/page/%2e%2e/app.py", "/page/", "/files/", "/api/se\tarch",
    ):  # fmt: skip
        for method in ("GET", "POST"):
            reply = one.request(method, path, one.headers(Content_Type="application/json"), b"{}")
            assert 400 <= reply.status < 500, (path, reply)
            assert b"root:" not in reply.body
            assert "x" not in reply.headers
    assert is_found(one)


# --- bodies --------------------------------------------------------------------------------------------------------

DEEP = 100_000
NO_JSON = {
    "nothing of it": b"x",
    "half": b'{"query": "aard', "two": b"{}{}", "a comment": b"{} // x", "single quotes": b"{'a': 1}",
    "NaN": b'{"query": "x", "threshold": NaN}', "infinity": b'{"query": "x", "threshold": -Infinity}',
    "no UTF-8": b'{"query": "\xff\xfe"}', "overlong": b'{"query": "\xc0\xaf"}',
    "UTF-16": '{"query": "x"}'.encode("utf-16"),
    "UTF-32": '{"query": "x"}'.encode("utf-32"), "a surrogate of UTF-8": b'{"query": "\xed\xa0\xbd"}',
    "a surrogate": b'{"query": "\\ud83d"}', "surrogates the wrong way": b'{"query": "\\ude00\\ud83d"}',
    "a surrogate in a name": b'{"quer\\ud83dy": "x"}', "a list": b'["query"]', "a text": b'"query"', "a number": b"5",
    "null": b"null", "true": b"true", "open lists": b"[" * DEEP, "open objects": b'{"a":' * DEEP,
    "deep lists": b'{"query": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    "deep objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "a number beyond all": b'{"query": "x", "limit": 1e999}',
    "digits": b'{"query": "x", "limit": ' + b"9" * 9000 + b"}",
    "many digits": b'{"query": "x", "limit": ' + b"9" * 300_000 + b"}", "a NUL": b'{"query": "x"}\0',
    "digits behind the point": b'{"query": "x", "limit": 0.' + b"9" * 300_000 + b"}",
}  # fmt: skip


@pytest.mark.parametrize("body", NO_JSON.values(), ids=NO_JSON)
def test_what_is_no_object_of_json_is_refused(one: Served, body: bytes) -> None:
    reply = one.post("/api/search", body)
    assert (reply.status, reply.error) == (400, "usage"), reply
    assert len(reply.body) < 2000
    assert is_guarded(reply)


def test_a_name_that_is_said_twice_opens_nothing(one: Served) -> None:
    assert one.post("/api/search", b'{"query": "gazelle", "query": "aardvark"}').status in (200, 400)
    reply = one.post("/api/get", b'{"ref": "alpha.md", "ref": "private/gamma.md"}', "part")
    assert reply.status in (400, 404)
    assert b"gazelle" not in reply.body
    assert one.post("/api/search", b'{"query": "x", "limit": 1, "\\u006cimit": "x"}').status == 400


WRONG: tuple[Any, ...] = (
    5, -1, 1.5, True, 10**30, -(2**63), 1e308, [], {}, [[]], [5], [None], {"a": 1}, ["x"] * 1000, "\0", ["a\0b"],
    "\u202e", "\r\nX: y", "%s%n{0}", "' OR 1=1 --", '"', "*", "(", "NEAR(", "tag:", "2026-99-99", "9" * 400,
    "in 99999999999 years", "a\u0300" + "\u0300" * 3000,
)  # fmt: skip
LARGE: tuple[Any, ...] = (["x"] * 20_000, "x" * 300_000, [f"{number}/x" for number in range(30_000)], "[[" * 100_000)
FITS = {"query": "aardvark", "ref": "alpha.md", "text": "", "action": "keep"}


@pytest.mark.parametrize("method", SERVED)
def test_no_value_is_too_much_for_a_parameter(one: Served, method: str) -> None:
    """Any is an answer or a fault of whoever asks. What writes is asked for what is not there, or as a try."""
    known = [name for name in inspect.signature(getattr(VaultIndex, method)).parameters if name != "self"]
    given = {name: value for name, value in FITS.items() if name in known}
    if METHODS[method].writes and "ref" in given:
        given["ref"] = "nothing"
    needed = [name for name in known if name in given]
    tried = {"dry_run": True} if "dry_run" in known else {}
    for name in [one for one in known if one != "dry_run"]:
        for value in (*WRONG, *(LARGE if name in needed[:1] else ())):
            reply = one.ask(method, "writer", **{**given, **tried, name: value})
            assert reply.status in (200, 400, 403, 404, 409, 413), (method, name, value, reply)
            assert len(reply.body) < 1 << 20, (method, name, value)


def test_a_body_that_is_too_big_is_not_read(one: Served) -> None:
    largest = 1 << 20
    exact = b'{"query": "aardvark"' + b" " * (largest - 21) + b"}"
    assert len(exact) == largest
    assert one.post("/api/search", exact).status == 200
    assert one.post("/api/search", exact + b" ").status == 413
    head = "".join(f"{name}: {value}\r\n" for name, value in one.headers(Content_Type="application/json").items())
    for path in ("/api/search", "/mcp"):
        for size in (largest + 1, 10**12, 2**63, 10**19):
            reply = one.first(f"POST {path} HTTP/1.1\r\n{head}Content-Length: {size}\r\n\r\n".encode())
            assert reply.status == 413, (path, size, reply)
        chunks = (b"10000\r\n" + b" " * 0x10000 + b"\r\n") * 17
        reply = one.first(f"POST {path} HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n\r\n".encode() + chunks)
        assert reply.status == 413, reply


def test_what_was_packed_is_not_unpacked(one: Served) -> None:
    small = gzip.compress(b" " * 20_000_000 + SEARCH)
    for coding in ("gzip", "x-gzip", "deflate", "br", "zstd", "gzip, gzip"):
        reply = one.post("/api/search", small, Content_Encoding=coding)
        assert reply.status in (400, 415), (coding, reply)
    plain = one.post("/api/search", SEARCH, Accept_Encoding="gzip, br, *")
    assert plain.json["results"], "an answer beside a secret is not packed with it"


# --- what is no request --------------------------------------------------------------------------------------------


def test_other_protocols_are_none_of_ours(one: Served) -> None:
    upgrade = "Connection: Upgrade\r\nUpgrade: {}\r\n"
    token = f"Host: {one.host}\r\nAuthorization: Bearer {one.tokens['reader']}\r\n"
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    for data in (
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(300),
        b"GET /healthz\r\n\r\n",
        b"GET /healthz HTTP/3.0\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET /healthz HTTP/9.9\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET  /healthz HTTP/1.1\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
        b"{}\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.0\r\n\r\n",
        b"\x05\x01\x00\r\n\r\n",
        b"EHLO x\r\n\r\n",
        b"* * HTTP/1.1\r\n\r\n",
    ):
        assert all(400 <= reply.status <= 505 and reply.status != 500 for reply in one.send(data)), data
    for path in ("/mcp", "/events", "/api/search", "/", "/healthz"):
        for name in ("websocket", "h2c", "TLS/1.0"):
            asked = f"GET {path} HTTP/1.1\r\n{token}{upgrade.format(name)}{key}HTTP2-Settings: AAMAAABk\r\n\r\n"
            with one.connected() as connection:
                connection.sendall(asked.encode())
                first = connection.recv(1 << 16)
            assert first[:12] != b"HTTP/1.1 101", (path, name)
            assert not first.startswith(b"HTTP/1.1 5"), (path, name, first)
    assert is_found(one)


def test_other_verbs_do_nothing(one: Served) -> None:
    before = one.content()
    for verb in ("TRACE", "CONNECT", "PUT", "DELETE", "PATCH", "PROPFIND", "OPTIONS", "GET", "HEAD", "get", "X" * 100):
        for path in ("/api/search", "/api/add"):
            reply = one.request(
                verb, path, one.headers("writer", Content_Type="application/json", X_Marked="buffalo"), b"{}"
            )
            assert reply.status in (400, 405), (verb, path, reply)
            assert b"buffalo" not in reply.body
    for verb in ("POST", "PUT", "DELETE", "TRACE"):
        assert one.request(verb, "/healthz", one.headers(), b"{}").status == 405
    for target in ("example.org:443", "*", f"http://{EVIL}/"):
        for verb in ("CONNECT", "OPTIONS"):
            assert 400 <= one.request(verb, target, one.headers()).status < 500
    head = one.request("HEAD", "/healthz", {"Host": one.host})
    assert (head.status in (200, 405), head.body) == (True, b"")
    assert one.content() == before


def test_heads_without_end_are_refused(one: Served) -> None:
    start = f"GET /healthz HTTP/1.1\r\nHost: {one.host}\r\n"
    for more in (
        "X: y\r\n" * 50_000,
        f"X: {'y' * 1_000_000}\r\n",
        f"{'X' * 1_000_000}: y\r\n",
        f"Cookie: {'a=b;' * 300_000}\r\n",
    ):
        found = one.send((start + more + "Connection: close\r\n\r\n").encode())
        assert all(reply.status in (400, 413, 431) for reply in found)
    for target in ("/" + "a" * 1_000_000, "/healthz?" + "a" * 1_000_000):
        found = one.send(f"GET {target} HTTP/1.1\r\nHost: {one.host}\r\nConnection: close\r\n\r\n".encode())
        assert all(reply.status in (400, 413, 414, 431) for reply in found)
    few = one.send((start + "X: y\r\n" * 80 + "Connection: close\r\n\r\n").encode())
    assert [reply.status for reply in few] == [200]
    assert is_found(one)


# --- time ----------------------------------------------------------------------------------------------------------


def test_who_is_slow_keeps_nobody_waiting_and_is_hung_up_on(one: Served) -> None:
    """Many that say nothing, half a head, half a body, or a byte now and then: others are served meanwhile, and all of
    them end. A byte now and then is not what a deadline is for: it counts from the first."""
    head = "".join(f"{name}: {value}\r\n" for name, value in one.headers(Content_Type="application/json").items())
    part = f"POST /api/search HTTP/1.1\r\n{head}"
    kinds = {
        "silent": b"", "half a line": b"POST /ap", "half a head": part.encode(),
        "half a body": f"{part}Content-Length: 50\r\n\r\n{{".encode(),
        "half a chunk": f"{part}Transfer-Encoding: chunked\r\n\r\n9\r\n{{".encode(),
        "half a body for mcp": f"POST /mcp HTTP/1.1\r\n{head}Content-Length: 50\r\n\r\n{{".encode(),
        "half a body without a token":
            f"POST /api/search HTTP/1.1\r\nHost: {one.host}\r\nContent-Length: 50\r\n\r\n{{".encode(),
    }  # fmt: skip
    dripping = (f"{part}Content-Length: 100000\r\n\r\n{{".encode(), f"{part}X: ".encode())
    opened: list[tuple[str, socket.socket]] = []
    try:
        for kind, data in [*list(kinds.items()) * 30, *(("drops", data) for data in dripping)]:
            opened.append((kind, one.connected()))
            opened[-1][1].sendall(data)
        assert is_found(one)
        drips = [connection for kind, connection in opened if kind == "drops"]
        deadline = time.monotonic() + PATIENCE
        while drips and time.monotonic() < deadline:
            drips = [connection for connection in drips if _takes_more(connection)]
        assert not drips
        for kind, connection in opened[: -len(dripping)]:
            try:
                data = read_all(connection)
            except TimeoutError:
                raise AssertionError(f"{kind}: still open") from None
            assert all(reply.status in (400, 401, 408) for reply in replies(data)), (kind, data)
            if kind == "half a body":
                assert [reply.status for reply in replies(data)] == [408]
    finally:
        for _, connection in opened:
            connection.close()
    assert is_found(one)


def _takes_more(connection: socket.socket) -> bool:
    """Send a byte, and see for a moment whether the other side hangs up."""
    connection.settimeout(0.2)
    try:
        connection.sendall(b" ")
        return connection.recv(1 << 16) != b""
    except TimeoutError:
        return True
    except OSError:
        return False


def test_a_crowd_that_says_nothing_keeps_nobody_out(one: Served) -> None:
    """More than the server has files for."""
    import resource

    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    crowd: list[socket.socket] = []
    try:
        for _ in range(min(1100, most - 200)):
            crowd.append(one.connected())
        assert is_found(one)
    finally:
        for connection in crowd:
            connection.close()
    assert is_found(one)


def test_who_asks_and_does_not_read_keeps_nobody_waiting(one: Served) -> None:
    line = "".join(f"{name}: {value}\r\n" for name, value in one.headers().items())
    asked = f"GET /openapi.json HTTP/1.1\r\n{line}\r\n".encode() * 50
    connections = [socket.create_connection(("127.0.0.1", one.port), PATIENCE) for _ in range(20)]
    try:
        for connection in connections:
            connection.sendall(asked)
        assert is_found(one)
    finally:
        for connection in connections:
            connection.close()
    assert is_found(one)


def test_who_hangs_up_in_the_middle_leaves_nothing_behind(one: Served) -> None:
    head = "".join(f"{name}: {value}\r\n" for name, value in one.headers(Content_Type="application/json").items())
    data = f"POST /api/search HTTP/1.1\r\n{head}Content-Length: {len(SEARCH)}\r\n\r\n".encode() + SEARCH
    for end in range(0, len(data) + 1, 7):
        with one.connected() as connection:
            connection.sendall(data[:end])
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    assert one.serve is not None
    files = f"/proc/{one.serve.pid}/fd"
    assert is_found(one)
    until(lambda: len(os.listdir(files)) < 120, PATIENCE)


def test_notes_are_as_they_were(one: Served) -> None:
    """The last of them: after all the attacks, no note differs."""
    assert {path: one.content()[path].decode() for path in NOTES} == NOTES
