"""Requests over HTTP: access, format, and answers."""

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from tests.serve.conftest import WAL
from tests.world import Served, World, bearer, opened_world
from vault_index.callers import Scope
from vault_index.serve.guard import Rates

SECURITY = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    settings = '[serve]\nhosts = ["notes.example"]\norigins = ["https://page.example"]\nmax_body_bytes = 20000\n'
    with opened_world(tmp_path_factory.mktemp("http"), settings) as world:
        world.write("wal.md", WAL)
        world.write("work/docker.md", "# Docker\n\nContainers restart on their own.\n")
        world.daemon()
        yield world


@pytest.fixture(scope="module")
def token(world: World) -> str:
    return world.token("anna", writes=True)


def test_http_method_answers_like_the_command(served: Served, token: str) -> None:
    answer = served.call("search", token, query="readers wait", limit=3)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert [hit["path"] for hit in answer.json["results"]] == ["wal.md"]
    assert answer.headers.items() >= SECURITY.items()
    for headers in (bearer(token), {"Authorization": f"Bearer {token}"}):  # an empty body is an empty object
        assert served.ask("POST", "/api/tags", b"", headers).json["results"][0]["tag"] == "db"


def test_http_token_for_a_folder_sees_nothing_else(world: World, served: Served) -> None:
    part = world.token("part", scope=Scope(folders=("work",)))
    for method, params in (("list", {}), ("search", {"query": "readers containers"})):
        assert [one["path"] for one in served.call(method, part, **params).json["results"]] == ["work/docker.md"]
    assert served.call("get", part, ref="wal.md").status == 404


ERRORS: list[tuple[str, dict[str, Any], int, str]] = [
    ("search", {}, 400, "usage"),
    ("search", {"query": "x", "limit": 0}, 400, "usage"),
    ("search", {"query": "x", "nothing": 1}, 400, "usage"),
    ("search", {"query": ["x"]}, 400, "usage"),
    ("search", {"query": "x", "limit": 2**70}, 400, "usage"),
    ("search", {"query": "x", "tags": ["a"] * 101}, 400, "usage"),
    ("sessions", {"file": "\0"}, 400, "usage"),
    ("stats", {"agents": ["x"]}, 400, "usage"),
    ("sessions", {"summary": {}}, 400, "usage"),
    ("status", {"strange": 42}, 400, "usage"),
    ("get", {"ref": "nothing.md"}, 404, "not_found"),
    ("sync", {}, 404, "not_found"),
]


def test_http_maps_errors_to_status_codes(served: Served, token: str) -> None:
    for method, params, status, code in ERRORS:
        answer = served.call(method, token, **params)
        assert (answer.status, answer.error) == (status, code), (method, params)
        assert answer.json["error"]["message"]
        assert answer.headers.items() >= SECURITY.items()


def test_http_unknown_parameter_returns_the_documented_names(served: Served, token: str) -> None:
    paths = served.ask("GET", "/openapi.json", headers=bearer(token)).json["paths"]
    assert {"/api/search", "/api/sessions", "/api/recall", "/api/update", "/api/undo"} <= paths.keys()
    for path, operations in paths.items():
        answer = served.call(path.removeprefix("/api/"), token, nothing=1)
        schema = operations["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert (answer.status, answer.error) == (400, "usage")
        assert "'nothing'" in answer.json["error"]["message"]
        names = answer.json["error"]["hint"].removeprefix("its parameters: ").split(", ")
        assert sorted(names) == (sorted(schema["properties"]) or ["none"]), path
        assert "directory" not in names


HEADERS: list[tuple[dict[str, str], bytes, int]] = [
    ({"Content-Type": "application/json; charset=utf-16"}, b"{}", 415),
    ({}, b'{"query": "' + b"x" * 20000 + b'"}', 413),
    ({"Host": "notes.example", "Content-Type": "application/json; charset=UTF-8"}, b'{"query": "wal"}', 200),
    ({"Host": "localhost:80", "Origin": "http://localhost:80"}, b'{"query": "wal"}', 200),
]


def test_http_checks_headers_and_body_of_a_request(served: Served, token: str) -> None:
    for headers, body, status in HEADERS:
        answer = served.ask("POST", "/api/search", body, {**bearer(token), **headers})
        assert answer.status == status, (headers, answer.body)
        assert status == 200 or answer.json["error"]["message"]


def test_http_allows_a_configured_origin_and_no_other(served: Served, token: str) -> None:
    page = {"Origin": "https://page.example"}
    allowed = served.ask("OPTIONS", "/api/search", headers=page)
    assert (allowed.status, allowed.headers["access-control-allow-origin"]) == (204, "https://page.example")
    assert "authorization" in allowed.headers["access-control-allow-headers"]
    answer = served.ask("POST", "/api/tags", b"", {**bearer(token), **page})
    assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, "https://page.example")
    assert served.ask("OPTIONS", "/api/search").status == 401
    assert served.ask("OPTIONS", "/api/search", headers={"Origin": "https://other.example"}).status == 403


def test_openapi_document_describes_the_answers(served: Served, token: str) -> None:
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


def test_rates_allow_a_burst_then_a_steady_rate() -> None:
    rates = Rates(2, 4, most=2)
    assert [rates.wait("anna", 100.0) for _ in range(6)] == [0, 0, 0, 0, 1, 1]
    assert rates.wait("bert", 100.0) == 0
    assert [rates.wait("anna", 101.0) for _ in range(3)] == [0, 0, 1]
    assert Rates(0.1, 1).wait("x", 0.0) == 0
    rates.wait("carl", 101.0)  # it forgets bert, and then anna
    rates.wait("dora", 101.0)
    assert [rates.wait("anna", 101.0) for _ in range(4)] == [0, 0, 0, 0]


def validate(value: Any, content: dict[str, Any], document: dict[str, Any]) -> None:
    """Check a value against a schema of the document, with its references."""
    schema = content["content"]["application/json"]["schema"]
    jsonschema.Draft202012Validator({**schema, "components": document["components"]}).validate(value)
