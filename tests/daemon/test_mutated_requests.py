"""Whatever a client sends, it is answered, no answer is a defect, and the daemon goes on."""

import json
import re
import socket
from contextlib import suppress
from typing import Any

import pytest

from tests.frames import mutated, parsed
from tests.world import World
from vault_index.errors import UsageError

FILTERS = {"tags": ["a"], "kind": "note", "path": "a*", "after": "2026-01-01", "property": "key:value"}
GOOD = [
    {"v": 1, "id": 7, "method": method, "params": params, "format": form}
    for method, params, form in (
        ("search", {"query": "aardvark", "limit": 3, "mode": "text", "threshold": 0.7, "fuzzy": True, **FILTERS}, None),
        ("search", {"query": 'path:a "the aardvark" -zebra OR tag:x', "as_of": "2026-01-01", "explain": True}, "toon"),
        ("why", {"query": "aardvark", "ref": "a.md", "match": "any"}, "markdown"),
        ("get", {"ref": ["a.md:1-2", "[[Alpha]]"], "full": True, "max_tokens": 50, "neighbors": 1}, "markdown"),
        ("list", {"sort": "created", "order": "asc", "limit": 5, "offset": 0, **FILTERS}, "jsonl"),
        ("related", {"ref": "a.md", "limit": 3}, "json"),
        ("timeline", {"ref": "a.md", "depth_before": 2, "depth_after": 2}, None),
        ("recall", {"query": "aardvark", "project": "/x", "budget": 300, "token": "abcd", "session": "s"}, "markdown"),
        ("tags", {"kind": "note"}, None),
        ("stats", {"agents": True}, None),
        ("status", {"privacy": False}, None),
        ("file_status", {"ref": "a.md"}, None),
        ("add", {"text": "A text.", "title": "T", "tags": ["a"], "facts": ["f"], "expires": "in 3 months"}, None),
        ("update", {"ref": "a.md", "content": "x", "append": True, "add_tags": ["b"], "section": "Alpha"}, None),
        ("delete", {"ref": ["nothing"], "permanent": False}, None),
        ("prune", {"before": "2026-01-01", "dry_run": True}, None),
        ("capture", {"text": "*Remember*: it.", "project": "p", "dry_run": True, "statements": True}, None),
        ("import", {"path": "/nowhere", "dry_run": True}, None),
        ("sync", {"paths": ["/nowhere"], "dry_run": True, "embed": False}, None),
        ("ping", {}, None),
    )
]
DEFECT = re.compile(r"\b[A-Z]\w*(?:Error|Exception)\b|defect|the daemon's log")


class Line:
    """A connection that is made again when the daemon hangs up, as it does after what is no request."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._open()

    def _open(self) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(60)
        self._socket.connect(str(self._world.home.socket_path))
        self._replies = self._socket.makefile("rb")

    def ask(self, line: bytes) -> dict[str, Any]:
        """The answer, without the steps on the way."""
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


def test_three_thousand_mutated_requests(world: World) -> None:
    daemon = world.daemon()
    line = Line(world)
    kinds = set()
    for frame in mutated(GOOD, 3000):
        answer, asked = line.ask(frame), parsed(frame, "surrogatepass")
        ident = asked.get("id") if isinstance(asked, dict) else None
        assert answer["id"] == (ident if isinstance(ident, str | int) else None), frame[:500]
        error = answer.get("error", {})
        kinds.add(error.get("code", "answered"))
        assert not DEFECT.search(f"{error.get('message', '')} {error.get('hint', '')}"), (frame[:500], error)
    line.close()
    assert {"answered", "usage", "not_found"} <= kinds
    assert daemon.poll() is None
    assert world.found("aardvark") == {"a.md"}


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("search", {"query": 5}, "query must be text, not 5"),
    ("search", {}, "search needs query"),
    ("search", {"query": "x", "limit": "a"}, "limit must be a whole number, not 'a'"),
    ("search", {"query": "x", "limit": True}, "limit must be a whole number, not True"),
    ("search", {"query": "x", "tags": 5}, "tags must be text, or a list of texts, not 5"),
    ("search", {"query": "x", "fuzzy": "no"}, "fuzzy must be true or false, not 'no'"),
    ("search", {"query": "x", "threshold": "a"}, "threshold must be a number, not 'a'"),
    ("search", {"query": "x", "as_of": 4}, "as_of must be text, not 4"),
    ("search", {"query": "path:\ud83d x"}, "query is not valid UTF-8"),
    ("get", {"ref": [5]}, "ref must be text, or a list of texts, not [5]"),
    ("get", {"ref": "x\ud83d"}, "ref is not valid UTF-8"),
    ("sync", {"paths": "abc"}, "paths must be a list of texts, not 'abc'"),
    ("sync", {"paths": ["/x\ud83d.md"]}, "paths is not valid UTF-8"),
    ("import", {"path": "a\0b"}, "path holds a NUL, and no file is called so"),
    ("list", {"sort": {}}, "sort must be text, not {}"),
    ("add", {"text": 4}, "text must be text, not 4"),
    ("recall", {"budget": "1"}, "budget must be a whole number, not '1'"),
]


def test_a_value_of_a_wrong_type_is_named_with_what_was_wanted(world: World) -> None:
    world.daemon()
    for method, params, message in WRONG:
        with pytest.raises(UsageError) as caught:
            world.ask(method, **params)
        assert caught.value.message == message
        assert type(caught.value) is UsageError


def test_null_is_not_given(world: World) -> None:
    world.daemon()
    assert world.ask("search", query="aardvark", limit=None, fuzzy=None, tags=None)["results"]


@pytest.mark.parametrize("ident", ["NaN", "1e400", "1.5", "[1]", "{}"])
def test_an_id_that_no_reply_can_carry_is_answered_without_one(world: World, ident: str) -> None:
    world.daemon()
    line = Line(world)
    answer = line.ask(f'{{"v": 1, "id": {ident}, "method": "ping"}}\n'.encode())
    line.close()
    assert (answer["id"], answer["error"]["code"]) == (None, "usage")


def test_a_name_that_is_no_utf8_stops_no_other(world: World) -> None:
    """Written together with it, and named by hand."""
    from tests.waiting import until

    world.daemon()
    bad = f"{world.vault}/bad\udcff.md"
    with open(bad, "w", encoding="utf-8") as file:
        file.write("# Bad\n")
    world.write("good.md", "# Good\n\nthe gazelle\n")
    until(lambda: world.found("gazelle") == {"good.md"})
    report = world.ask("sync", paths=[bad, f"{world.vault}/good.md"], embed=False)
    assert [item["path"] for item in report["failed"]] == ["bad\\xff.md"]
    assert (report["unchanged"], world.ask("status")["watch"]["missed"]) == (1, 0)
