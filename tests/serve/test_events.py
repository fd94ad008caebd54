"""`/events`: a stream of what a caller may see, from a real server in front of a real daemon."""

import asyncio
import http.client
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.serve.servers import Place, Served, bearer, place, until
from vault_index.access import Tokens
from vault_index.callers import Scope
from vault_index.serve import events


class Event(NamedTuple):
    id: str
    name: str = ""
    data: Any = None


class Stream:
    def __init__(self, connection: http.client.HTTPConnection, answer: http.client.HTTPResponse) -> None:
        self._connection, self.answer = connection, answer

    def next(self) -> Event:
        """The next event, or what only tells the id. Raises EOFError at the end."""
        fields: dict[str, str] = {}
        while line := self.answer.readline().decode():
            key, _, value = line.rstrip("\n").partition(": ")
            if key:
                fields[key] = value
            elif "id" in fields:
                return Event(fields["id"], fields.get("event", ""), json.loads(fields.get("data", "null")))
        raise EOFError

    def changes(self) -> tuple[str, list[tuple[str, str]]]:
        """The next that tells of changes."""
        while True:
            event = self.next()
            if event.name == "changes":
                assert not event.data["reset"]
                return event.id, [(one["change"], one["path"]) for one in event.data["changes"]]


@contextmanager
def listening(served: Served, token: str, last: str = "") -> Iterator[Stream]:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    try:
        more = {"Last-Event-ID": last} if last else {}
        connection.request("GET", "/events", headers={**bearer(token), **more})
        yield Stream(connection, connection.getresponse())
    finally:
        connection.close()


@pytest.fixture(scope="module")
def here() -> Iterator[Place]:
    with tempfile.TemporaryDirectory(prefix="vx-") as folder, place(Path(folder)) as made:
        made.write("work/a.md", "the ant")
        made.daemon()
        yield made


@pytest.fixture(scope="module")
def whole(here: Place) -> str:
    return here.token("whole")


@pytest.fixture(scope="module")
def below(here: Place) -> str:
    return here.token("below", scope=Scope(folders=("work",)))


def test_a_stream_tells_what_changes(here: Place, served: Served, whole: str) -> None:
    with listening(served, whole) as stream:
        assert stream.answer.status == 200
        assert stream.answer.headers["content-type"] == "text/event-stream"
        assert stream.answer.headers["cache-control"] == "no-store"
        first, progress = stream.next(), stream.next()
        assert (first.name, progress.name) == ("", "progress")
        assert progress.data["progress"].keys() == {"work", "waiting", "pending"}
        here.write("b.md", "the bee")
        assert stream.changes()[1] == [("added", "b.md")]
        here.write("b.md", "the bumblebee")
        assert stream.changes()[1] == [("changed", "b.md")]
        (here.vault / "b.md").unlink()
        assert stream.changes()[1] == [("removed", "b.md")]


def test_all_are_told_and_a_scope_of_nothing_else(here: Place, served: Served, whole: str, below: str) -> None:
    with listening(served, whole) as one, listening(served, whole) as two, listening(served, below) as part:
        for stream in (one, two, part):
            stream.next()
        here.write("hidden.md", "the hare")
        assert one.changes()[1] == two.changes()[1] == [("added", "hidden.md")]
        here.write("work/seen.md", "the seal")
        assert one.changes()[1] == two.changes()[1] == [("added", "work/seen.md")]
        event = part.next()
        assert event.data.keys() == {"reset", "changes"}
        assert [change["path"] for change in event.data["changes"]] == ["work/seen.md"]


def test_one_who_comes_back_is_told_what_he_missed(here: Place, served: Served, below: str) -> None:
    with listening(served, below) as stream:
        first = stream.next()
        here.write("work/missed.md", "the moth")
        stream.changes()
    here.write("work/more.md", "the mole")
    with listening(served, below, first.id) as stream:
        found = stream.changes()[1]
        if len(found) == 1:
            found += stream.changes()[1]
        assert found == [("added", "work/missed.md"), ("added", "work/more.md")]
    with listening(served, below, "long-ago-7") as stream:
        stream.next()
        assert stream.next().data == {"reset": True, "changes": []}


def test_it_is_for_those_with_a_token_and_read_only(served: Served, whole: str) -> None:
    assert served.ask("GET", "/events").status == 401
    assert served.ask("POST", "/events", b"{}", bearer(whole)).status == 405


def test_the_stream_of_a_revoked_token_ends(here: Place, served: Served) -> None:
    token = here.token("gone")
    with listening(served, token) as stream:
        Tokens(here.home.tokens_file).revoke("gone")
        with pytest.raises(EOFError):
            stream.changes()
    assert served.ask("GET", "/events", headers=bearer(token)).status == 401


def test_streams_of_one_token_are_bounded_and_leave_nothing(here: Place, served: Served) -> None:
    token = here.token("many", scope=Scope(folders=("many",)))
    threads = len(list(Path(f"/proc/{served.process.pid}/task").iterdir()))
    for _ in range(3):
        open_now: list[Any] = []
        for _ in range(events._MOST_OF_ONE):
            open_now.append(listening(served, token))
            open_now[-1].__enter__().next()
        answer = served.ask("GET", "/events", headers=bearer(token))
        assert answer.status == 503
        for stream in open_now:
            stream.__exit__(None, None, None)
        until(lambda: all_gone(served, token))
    # One waits at the daemon for a while yet; the others are those that answer anybody.
    assert len(list(Path(f"/proc/{served.process.pid}/task").iterdir())) <= threads + 20


def test_one_that_does_not_read_is_dropped() -> None:
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def listen() -> None:
        client = events._Client()
        assert all(client.put("x-1", b"") for _ in range(events._MOST_BEHIND))
        assert not client.put("x-1", b"")
        await client.stream(b"first", asyncio.Event().wait, send)  # type: ignore[arg-type]

    asyncio.run(listen())
    assert [message["body"] for message in sent] == [b"first", b""]


def all_gone(served: Served, token: str) -> bool:
    with listening(served, token) as stream:
        return stream.answer.status == 200


def test_a_daemon_that_begins_anew_has_everything_read_again(below: str) -> None:
    with tempfile.TemporaryDirectory(prefix="vx-") as folder, place(Path(folder)) as here:
        daemon = here.daemon()
        token, served = here.token("below", scope=Scope(folders=("work",))), here.serve()
        with listening(served, token) as stream:
            stream.next()
            daemon.terminate()
            daemon.wait(10)
            here.daemon()
            assert stream.next().data == {"reset": True, "changes": []}
            here.write("work/new.md", "the newt")
            assert stream.changes()[1] == [("added", "work/new.md")]
            served.process.terminate()
            assert served.process.wait(10) == 0
            with pytest.raises((EOFError, http.client.IncompleteRead, ConnectionError)):
                stream.changes()
