"""Every request is answered once, no answer is a defect, and the server keeps running."""

import json
import threading
from typing import Any

import pytest

from tests.mcp_server.sessions import INITIALIZE, INITIALIZED, NEW, raw, request
from tests.mutations import DEFECT, messages, mutated, parsed
from vault_index.config import Home

_ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": NEW,
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
}
GOOD = messages("harbour.md")
ENVELOPED = [{**one, "params": {**one["params"], "_meta": _ENVELOPE}} for one in GOOD]


def owed(frame: bytes) -> bool:
    """Return whether the sender of a line waits for an answer; a notification has none."""
    asked = parsed(frame, "replace")
    return not isinstance(asked, dict) or "id" in asked or not isinstance(asked.get("method"), str)


def error_of(reply: dict[str, Any]) -> str:
    """Return the error of an answer."""
    result = reply.get("result", {})
    return json.dumps(result["content"] if result.get("isError") else reply.get("error", ""))


@pytest.mark.parametrize(
    ("good", "opening", "asked"),
    [(GOOD, INITIALIZE + INITIALIZED, ("ping", {})), (ENVELOPED, b"", ("server/discover", {"_meta": _ENVELOPE}))],
    ids=["old", "new"],
)
def test_mcp_answers_mutated_requests_without_a_defect(
    home: Home, good: list[dict[str, Any]], opening: bytes, asked: tuple[str, dict[str, Any]]
) -> None:
    with raw(home.data_dir) as server:
        noise = threading.Thread(target=server.stderr.read, daemon=True)
        noise.start()
        server.send(opening or request(1, *asked))
        server.reply()
        for number, frame in enumerate(mutated(good), start=1000):
            server.send(frame, request(number, *asked))
            replies = [server.reply()]
            while not any(reply.get("id") == number for reply in replies) or len(replies) < 1 + owed(frame):
                replies.append(server.reply())
            answers = [reply for reply in replies if reply.get("id", 0) != number and "method" not in reply]
            assert not [reply for reply in answers if DEFECT.search(error_of(reply))], (frame[:500], answers)
        server.stdin.close()
        noise.join()
    assert server.process.returncode == 0


REFUSED = [
    (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', None, -32700),
    (b'{"jsonrpc":"2.0","id":1e400,"method":"ping"}', None, -32600),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None, -32600),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None, -32600),
    (b'{"jsonrpc":"2.0","id":5,"method":5}', 5, -32600),
    (b'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":[1]}', "a", -32600),
    (b'{"id":6,"method":"ping"}', 6, -32600),
    (b"[]", None, -32600),
    (b'{"jsonrpc":"2.0","id":5,"method":"ping","params":' + b"[" * 5000 + b"}", None, -32700),
    (b"no JSON", None, -32700),
]


def test_mcp_refuses_requests_that_the_sdk_leaves_unanswered(home: Home) -> None:
    half = b'{"jsonrpc":"2.0","id":"\\ud83d","method":"ping"}\n'
    with raw(home.data_dir) as server:
        server.send(INITIALIZE, INITIALIZED, b"\n".join(line for line, _, _ in REFUSED), b"\n", half)
        replies = [server.reply() for _ in range(len(REFUSED) + 2)]
        server.stdin.close()
    errors = [(reply["id"], reply["error"]["code"]) for reply in replies if "error" in reply]
    assert errors == [(ident, code) for _, ident, code in REFUSED]
    assert {reply["id"] for reply in replies if "result" in reply} == {1, "\ufffd"}
