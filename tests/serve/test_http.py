"""What is asked over HTTP: by whom, how, and what is answered."""

import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.serve.servers import Place, Served, bearer, place
from vault_index.access import Tokens
from vault_index.serve.limits import Rates

SECURITY = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


@pytest.fixture(scope="module")
def here() -> Iterator[Place]:
    with tempfile.TemporaryDirectory(prefix="vx-") as folder:
        settings = '[serve]\nhosts = ["notes.example"]\norigins = ["https://page.example"]\nmax_body_bytes = 20000\n'
        with place(Path(folder), settings) as made:
            made.write("wal.md", "---\ntags: [db]\n---\n# WAL\n\nReaders never wait for a writer. See [[Docker]].\n")
            made.write("docker.md", "# Docker\n\nContainers restart on their own.\n")
            made.daemon()
            yield made


@pytest.fixture(scope="module")
def token(here: Place) -> str:
    return here.token("anna", writes=True)


def test_whoever_asks_is_told_that_it_is_there(served: Served) -> None:
    answer = served.ask("GET", "/healthz")
    assert (answer.status, answer.json) == (200, {"status": "ok"})
    assert answer.headers.items() >= SECURITY.items()
    assert not answer.headers.keys() & {"server", "access-control-allow-origin"}
    assert served.ask("POST", "/healthz").status == 405


def test_a_method_answers_as_the_command_does(served: Served, token: str) -> None:
    answer = served.call("search", token, query="readers wait", limit=3)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert [hit["path"] for hit in answer.json["results"]] == ["wal.md"]
    assert answer.headers.items() >= SECURITY.items()
    assert served.ask("POST", "/api/tags", b"", bearer(token)).json["results"][0]["tag"] == "db"


def test_a_token_is_needed_and_only_in_its_header(served: Served, here: Place, token: str) -> None:
    json = {"Content-Type": "application/json"}
    for headers in (
        {},
        {"Authorization": f"Basic {token}"},
        {"Authorization": f"Bearer {token}x"},
        {"Authorization": "Bearer "},
        {"Cookie": f"token={token}"},
    ):
        answer = served.ask("POST", f"/api/search?token={token}", b'{"query": "wal"}', {**json, **headers})
        assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert answer.json["error"]["code"] == "unauthorized"
    for path in ("/page/about", "/openapi.json", "/api/nothing", "/mcp", "/events"):
        assert served.ask("GET", path).status == 401
    before = here.token("gone")
    assert served.call("tags", before).status == 200
    Tokens(here.home.tokens_file).revoke("gone")
    assert served.call("tags", before).status == 401
    assert served.call("tags", here.token("past", expires=time.time() - 1)).status == 401


def test_a_token_that_only_reads_writes_nothing(served: Served, here: Place, token: str) -> None:
    reader = here.token("reader")
    answer = served.call("add", reader, text="Readers may not write.")
    assert (answer.status, answer.json["error"]["code"]) == (403, "forbidden")
    assert not (here.vault / "80-memory").exists()
    added = served.call("add", token, text="Writers may write, and are named.")
    assert added.status == 200
    [text] = served.call("get", reader, ref=added.json["id"], full=True).json["results"]
    assert text["metadata"]["entered_by"] == "anna"


@pytest.mark.parametrize(
    ("method", "params", "status", "code"),
    [
        ("search", {}, 400, "usage"),
        ("search", {"query": "x", "limit": 0}, 400, "usage"),
        ("search", {"query": "x", "nothing": 1}, 400, "usage"),
        ("search", {"query": "x", "directory": "/"}, 400, "usage"),
        ("search", {"query": ["x"]}, 400, "usage"),
        ("search", {"query": "x", "limit": 2**70}, 400, "usage"),
        ("search", {"query": {"x": 1}}, 400, "usage"),
        ("search", {"query": "x", "tags": ["a"] * 101}, 400, "usage"),
        ("sessions", {"file": "\0"}, 400, "usage"),
        ("get", {"ref": "nothing.md"}, 404, "not_found"),
        ("sync", {}, 404, "not_found"),
        ("export", {"path": "/tmp/x"}, 404, "not_found"),
    ],
)
def test_errors_have_their_status(
    served: Served, token: str, method: str, params: dict[str, Any], status: int, code: str
) -> None:
    answer = served.call(method, token, **params)
    assert (answer.status, answer.json["error"]["code"]) == (status, code)
    assert answer.json["error"]["message"]
    assert answer.headers.items() >= SECURITY.items()


def test_who_gives_an_unknown_parameter_is_told_those_of_the_document(served: Served, token: str) -> None:
    paths = served.ask("GET", "/openapi.json", headers=bearer(token)).json["paths"]
    assert {"/api/search", "/api/sessions", "/api/recall", "/api/update", "/api/undo"} <= paths.keys()
    for path, operations in paths.items():
        answer = served.call(path.removeprefix("/api/"), token, nothing=1)
        schema = operations["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert (answer.status, answer.json["error"]["code"]) == (400, "usage")
        assert "'nothing'" in answer.json["error"]["message"]
        names = answer.json["error"]["hint"].removeprefix("it has ").split(", ")
        assert sorted(names) == (sorted(schema["properties"]) or ["none"]), path


def test_a_parameter_of_this_machine_is_an_unknown_one(served: Served, token: str) -> None:
    answer = served.call("search", token, query="wal", directory="/")
    assert "'directory'" in answer.json["error"]["message"]
    assert "directory" not in answer.json["error"]["hint"]
    assert "query" in answer.json["error"]["hint"]


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"Content-Type": "text/plain"}, b"{}", 415),
        ({"Content-Type": ""}, b"", 415),
        ({"Content-Type": "application/json; charset=utf-16"}, b"{}", 415),
        ({"Content-Encoding": "gzip"}, b"{}", 415),
        ({}, b"{", 400),
        ({}, b"[]", 400),
        ({}, b'{"query": "\xff"}', 400),
        ({}, b'{"query": "\\ud800"}', 400),
        ({}, b'{"query": "x", "limit": NaN}', 400),
        ({}, b'{"query": "x", "threshold": 1e999}', 400),
        ({}, b'{"query": "x", "query": "y"}', 400),
        ({}, b'{"query": ' + b"[" * 19000, 400),
        ({}, b'{"query": "' + b"x" * 20000 + b'"}', 413),
        ({"Content-Length": "99999999"}, b"{}", 413),
        ({"Host": "evil.example"}, b"{}", 421),
        ({"Host": "127.0.0.1.evil.example"}, b"{}", 421),
        ({"Host": ""}, b"{}", 421),
        ({"Origin": "https://evil.example"}, b"{}", 403),
        ({"Origin": "null"}, b"{}", 403),
        ({"Origin": ""}, b"{}", 403),
        ({"Origin": "http://localhost:1"}, b"{}", 403),
        ({"Host": "notes.example", "Content-Type": "application/json; charset=UTF-8"}, b'{"query": "wal"}', 200),
        ({"Host": "localhost"}, b'{"query": "wal"}', 200),
        ({"Host": "localhost:80", "Origin": "http://localhost:80"}, b'{"query": "wal"}', 200),
    ],
)
def test_what_is_no_request_of_ours_is_refused(
    served: Served, token: str, headers: dict[str, str], body: bytes, status: int
) -> None:
    answer = served.ask("POST", "/api/search", body, {**bearer(token), **headers})
    assert answer.status == status, answer.body
    assert status == 200 or answer.json["error"]["message"]


def test_what_stands_for_nothing_is_nothing(served: Served, token: str) -> None:
    assert served.ask("POST", "/api/tags", b"", {"Authorization": f"Bearer {token}"}).status == 200
    for method, params in (("stats", {"agents": ["x"]}), ("sessions", {"summary": {}}), ("status", {"strange": 42})):
        assert served.call(method, token, **params).status == 400, method


def test_a_page_that_was_named_may_ask_and_no_other(served: Served, token: str) -> None:
    page = {"Origin": "https://page.example"}
    allowed = served.ask("OPTIONS", "/api/search", headers=page)
    assert (allowed.status, allowed.headers["access-control-allow-origin"]) == (204, "https://page.example")
    assert "authorization" in allowed.headers["access-control-allow-headers"]
    answer = served.ask("POST", "/api/tags", b"", {**bearer(token), **page})
    assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, "https://page.example")
    assert served.ask("OPTIONS", "/api/search").status == 401
    assert served.ask("OPTIONS", "/api/search", headers={"Origin": "https://other.example"}).status == 403


@pytest.mark.parametrize(
    "sent",
    [
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /api/tags HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"POST /api/tags HTTP/1.1\r\nHost: localhost\r\nContent-Length: +2\r\n\r\n{}",
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 70_000 + b"\r\n\r\n",
    ],
)
def test_a_request_that_two_may_read_otherwise_is_refused_and_ends_its_connection(served: Served, sent: bytes) -> None:
    said = raw(served.port, sent + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 4")
    assert b"HTTP/1.1 2" not in said


def test_requests_one_after_the_other_are_answered_in_turn(served: Served) -> None:
    one = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    last = one.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    assert raw(served.port, one + last).count(b'{"status":"ok"}') == 2


def test_answers_are_those_that_the_document_names(served: Served, here: Place, token: str) -> None:
    document = served.ask("GET", "/openapi.json", headers=bearer(token)).json
    added = served.call("add", token, text="A thing to look at, with a word of its own: ginkgo.").json["id"]
    [waiting] = served.call("capture", token, text="*Remember*: ginkgos are trees.", inbox=True).json["results"]
    asked: dict[str, list[dict[str, Any]]] = {
        "search": [{"query": "ginkgo readers", "explain": True, "all": True}],
        "why": [{"query": "ginkgo", "ref": "wal.md"}],
        "get": [{"ref": ["wal.md", "none.md"], "full": True}],
        "list": [{}],
        "sessions": [{}, {"summary": True}, {"days": True}],
        "related": [{"ref": "wal.md"}],
        "timeline": [{"ref": "wal.md"}],
        "recall": [{"query": "ginkgo"}],
        "review": [{}],
        "tags": [{}],
        "stats": [{}, {"agents": True}],
        "status": [{}, {"privacy": True}],
        "doctor": [{}],
        "update": [{"ref": added, "content": "Another text."}],
        "history": [{"ref": added}],
        "diff": [{"ref": added}],
        "revert": [{"ref": added}],
        "archive": [{"ref": added}],
        "decide": [{"action": "accept", "ref": waiting["id"]}],
        "delete": [{"ref": added}],
        "undo": [{}],
        "prune": [{"dry_run": True}],
        "capture": [{"text": "*Remember*: this"}],
    }
    assert {f"/api/{method}" for method in (*asked, "add", "resume")} == document["paths"].keys()
    for method, all_params in asked.items():
        for params in all_params:
            answer = served.call(method, token, **params)
            assert answer.status == 200, (method, answer.body)
            operation = document["paths"][f"/api/{method}"]["post"]
            validate(params, operation["requestBody"], document)
            validate(answer.json, operation["responses"]["200"], document)
    error = served.call("get", token, ref="none.md").json
    validate(error, document["components"]["responses"]["404"], document)


def test_the_document_names_what_a_token_may_ask_for(served: Served, here: Place) -> None:
    answer = served.ask("GET", "/openapi.json", headers=bearer(here.token("looks")))
    names = {path.removeprefix("/api/") for path in answer.json["paths"]}
    assert names >= {"search", "get", "status"}
    assert not names & {"add", "delete", "undo"}
    search = answer.json["paths"]["/api/search"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert search["required"] == ["query"]
    assert "directory" not in search["properties"]
    assert search["properties"]["mode"]["anyOf"][0]["enum"] == ["hybrid", "text", "vector"]
    assert search["properties"]["kind"]["description"] == "documents of this kind"


def test_only_so_many_requests_of_a_name_are_answered_in_a_time() -> None:
    rates = Rates(2, 4, most=2)
    assert [rates.wait("anna", 100.0) for _ in range(6)] == [0, 0, 0, 0, 1, 1]
    assert rates.wait("bert", 100.0) == 0
    assert [rates.wait("anna", 101.0) for _ in range(3)] == [0, 0, 1]
    assert Rates(0.1, 1).wait("x", 0.0) == 0
    rates.wait("carl", 101.0)  # bert is forgotten, as is anna after the next
    rates.wait("dora", 101.0)
    assert [rates.wait("anna", 101.0) for _ in range(4)] == [0, 0, 0, 0]


def validate(value: Any, content: dict[str, Any], document: dict[str, Any]) -> None:
    """Against a schema of the document, whose references lead into it."""
    schema = content["content"]["application/json"]["schema"]
    jsonschema.Draft202012Validator({**schema, "components": document["components"]}).validate(value)


def raw(port: int, request: bytes) -> bytes:
    """All that is answered until the connection ends."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(request)
        said = b""
        try:
            while data := connection.recv(65536):
                said += data
        except ConnectionResetError:
            pass
        return said
