"""Every request gets a reply, no reply reports a defect, and the daemon keeps running."""

import json
import socket
from contextlib import suppress
from itertools import cycle
from typing import Any

import pytest

from tests.mutations import DEFECT, calls, mutated, parsed
from tests.waiting import PATIENCE
from tests.world import World
from vault_index.errors import UsageError

_HERE_ALONE: list[tuple[str, dict[str, Any]]] = [
    ("file_status", {"ref": "a.md"}),
    ("recall", {"query": "aardvark", "token": "abcd", "session": "s"}),
    ("import", {"path": "/nowhere", "dry_run": True}),
    ("sync", {"paths": ["/nowhere"], "dry_run": True, "embed": False}),
    ("ping", {}),
]
"""Requests that only a local client may make."""
GOOD = [
    {"v": 1, "id": 7, "method": method, "params": params, "format": form}
    for (method, params), form in zip(
        [*calls("a.md"), *_HERE_ALONE], cycle([None, "toon", "markdown", "jsonl", "json"]), strict=False
    )
]


class Line:
    """A connection that reconnects when the daemon hangs up after an invalid request."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._open()

    def _open(self) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(PATIENCE)
        self._socket.connect(str(self._world.home.socket_path))
        self._replies = self._socket.makefile("rb")

    def ask(self, line: bytes) -> dict[str, Any]:
        """Return the answer without progress messages."""
        for _ in range(2):
            with suppress(BrokenPipeError, ConnectionResetError):
                self._socket.sendall(line)
                while reply := self._replies.readline():
                    answer: dict[str, Any] = json.loads(reply)
                    if "progress" not in answer:
                        return answer
            self.close()
            self._open()
        raise AssertionError(f"no answer to {line[:500]!r}")

    def close(self) -> None:
        self._replies.close()
        self._socket.close()


def test_daemon_answers_mutated_requests_without_a_defect(running: World) -> None:
    line = Line(running)
    kinds = set()
    for frame in mutated(GOOD):
        answer, asked = line.ask(frame), parsed(frame, "surrogatepass")
        ident = asked.get("id") if isinstance(asked, dict) else None
        assert answer["id"] == (ident if isinstance(ident, str | int) else None), frame[:500]
        error = answer.get("error", {})
        kinds.add(error.get("code", "answered"))
        assert not DEFECT.search(f"{error.get('message', '')} {error.get('hint', '')}"), (frame[:500], error)
    line.close()
    assert {"answered", "usage", "not_found"} <= kinds
    assert running.found("aardvark") >= {"a.md"}


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("search", {}, "search requires query"),
    ("search", {"query": "x", "limit": True}, "limit must be a whole number, not True"),
    ("search", {"query": "x", "tags": 5}, "tags must be text, or a list of texts, not 5"),
    ("search", {"query": "x", "fuzzy": "no"}, "fuzzy must be true or false, not 'no'"),
    ("search", {"query": "x", "threshold": "a"}, "threshold must be a number, not 'a'"),
    ("sync", {"paths": "abc"}, "paths must be a list of texts, not 'abc'"),
    ("sync", {"paths": ["/x\ud83d.md"]}, "paths is not valid UTF-8"),
]


def test_daemon_names_a_parameter_of_a_wrong_type_and_the_expected_type(running: World) -> None:
    for method, params, message in WRONG:
        with pytest.raises(UsageError) as caught:
            running.ask(method, **params)
        assert caught.value.message == message
        assert type(caught.value) is UsageError


def test_daemon_treats_null_as_an_absent_parameter(running: World) -> None:
    assert running.ask("search", query="aardvark", limit=None, fuzzy=None, tags=None)["results"]


def test_daemon_answers_an_invalid_request_id_with_null(running: World) -> None:
    for ident in ("NaN", "1e400", "1.5", "[1]", "{}"):
        line = Line(running)
        answer = line.ask(f'{{"v": 1, "id": {ident}, "method": "ping"}}\n'.encode())
        line.close()
        assert (answer["id"], answer["error"]["code"]) == (None, "usage"), ident
