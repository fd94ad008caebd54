"""Whatever a client writes, each request is answered once, no answer is a defect, and the server goes on."""

import json
import re
import threading
from typing import Any

import pytest

from tests.frames import mutated, parsed
from tests.mcp_server.sessions import INITIALIZE, INITIALIZED, NEW, request, started
from vault_index.config import Home

GOOD = [
    {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    for name, arguments in (
        ("memory_search", {"query": "Tidewater", "limit": 3, "tags": ["a"], "as_of": "2026-01-01", "fuzzy": True}),
        ("memory_search", {"query": "path:h x", "threshold": 0.7, "mode": "text", "max_tokens": 500, "cursor": "1"}),
        ("memory_get", {"ref": ["harbour.md:1-3"], "full": True, "neighbors": 1, "max_tokens": 300, "cursor": ""}),
        ("memory_timeline", {"ref": "harbour.md", "depth_before": 1, "kind": "note", "cursor": "0,0"}),
        ("memory_recall", {"query": "Tidewater", "project": "/x", "budget": 300}),
        ("memory_store", {"content": "text", "title": "T", "path": "x/y", "tags": ["a"], "expires": "in 3 months"}),
        ("memory_update", {"ref": "nothing", "content": "x", "append": True, "add_tags": ["b"]}),
        ("memory_delete", {"ref": ["nothing"], "permanent": False}),
        ("memory_list", {"sort": "created", "order": "asc", "limit": 2, "offset": 1, "max_tokens": 900}),
    )
] + [
    {"jsonrpc": "2.0", "id": 8, "method": "ping", "params": {}},
    {"jsonrpc": "2.0", "id": 9, "method": "tools/list", "params": {"cursor": "x"}},
    {"jsonrpc": "2.0", "id": 10, "method": "resources/list", "params": {"cursor": "1"}},
    {"jsonrpc": "2.0", "id": 11, "method": "resources/read", "params": {"uri": "vault-index://vault/harbour.md"}},
    {"jsonrpc": "2.0", "id": 12, "method": "prompts/get", "params": {"name": "recall", "arguments": {"task": "x"}}},
    {
        "jsonrpc": "2.0",
        "id": 13,
        "method": "completion/complete",
        "params": {
            "ref": {"type": "ref/resource", "uri": "vault-index://x"},
            "argument": {"name": "path", "value": "h"},
        },
    },
]
_ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": NEW,
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
}
ENVELOPED = [{**one, "params": {**one["params"], "_meta": _ENVELOPE}} for one in GOOD]  # type: ignore[dict-item]
DEFECT = re.compile(r"\b[A-Z]\w*(?:Error|Exception)\b|defect|Internal Server Error")


def owed(frame: bytes) -> bool:
    """Whether the sender of a line waits for an answer: not of a notification."""
    asked = parsed(frame, "replace")
    return not isinstance(asked, dict) or "id" in asked or not isinstance(asked.get("method"), str)


def told(reply: dict[str, Any]) -> str:
    """What an answer says is wrong."""
    result = reply.get("result", {})
    return json.dumps(result["content"] if result.get("isError") else reply.get("error", ""))


@pytest.mark.parametrize(
    ("good", "opening", "asked"),
    [(GOOD, INITIALIZE + INITIALIZED, ("ping", {})), (ENVELOPED, b"", ("server/discover", {"_meta": _ENVELOPE}))],
    ids=["old", "new"],
)
def test_two_thousand_mutated_requests(
    home: Home, good: list[dict[str, Any]], opening: bytes, asked: tuple[str, dict[str, Any]]
) -> None:
    frames = list(mutated(good, 2000))
    with started(home.data_dir) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        noise = threading.Thread(target=server.stderr.read, daemon=True)
        noise.start()
        server.stdin.write(opening or request(1, *asked))
        server.stdin.flush()
        server.stdout.readline()
        for number, frame in enumerate(frames, start=1000):
            server.stdin.write(frame + request(number, *asked))
            server.stdin.flush()
            replies = [json.loads(server.stdout.readline())]
            while not any(reply.get("id") == number for reply in replies) or len(replies) < 1 + owed(frame):
                replies.append(json.loads(server.stdout.readline()))
            answers = [reply for reply in replies if reply.get("id", 0) != number and "method" not in reply]
            assert not [reply for reply in answers if DEFECT.search(told(reply))], (frame[:500], answers)
        server.stdin.close()
        noise.join()
    assert server.returncode == 0


REFUSED = [
    (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', None, -32700),
    (b'{"jsonrpc":"2.0","id":1e400,"method":"ping"}', None, -32600),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None, -32600),
    (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', None, -32600),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None, -32600),
    (b'{"jsonrpc":"2.0","id":5,"method":5}', 5, -32600),
    (b'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":[1]}', "a", -32600),
    (b'{"id":6,"method":"ping"}', 6, -32600),
    (b"[]", None, -32600),
    (b'{"jsonrpc":"2.0","id":5,"method":"ping","params":' + b"[" * 5000 + b"}", None, -32700),
    (b"no JSON", None, -32700),
]


def test_what_the_sdk_leaves_unanswered_is_refused(home: Home) -> None:
    half = b'{"jsonrpc":"2.0","id":"\\ud83d","method":"ping"}\n'
    with started(home.data_dir) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(INITIALIZE + INITIALIZED + b"\n".join(line for line, _, _ in REFUSED) + b"\n" + half)
        server.stdin.flush()
        replies = [json.loads(server.stdout.readline()) for _ in range(len(REFUSED) + 2)]
        server.stdin.close()
    errors = [(reply["id"], reply["error"]["code"]) for reply in replies if "error" in reply]
    assert errors == [(ident, code) for _, ident, code in REFUSED]
    assert {reply["id"] for reply in replies if "result" in reply} == {1, "\ufffd"}
