"""`/events`: a stream of changes in what a caller may see, from a real server in front of a real daemon."""

import http.client
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import pytest

from tests.waiting import PATIENCE, until
from tests.world import Served, World, bearer
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
        """Return the next event, perhaps with nothing but an id. Raises EOFError at the end."""
        fields: dict[str, str] = {}
        while line := self.answer.readline().decode():
            key, _, value = line.rstrip("\n").partition(": ")
            if key:
                fields[key] = value
            elif "id" in fields:
                return Event(fields["id"], fields.get("event", ""), json.loads(fields.get("data", "null")))
        raise EOFError

    def changed(self) -> dict[str, int]:
        """Read up to the next change, and return the number of documents by kind."""
        while (event := self.next()).name != "changed":
            pass
        documents: dict[str, int] = event.data["documents"]
        return documents

    def end(self) -> None:
        """Read up to the end of the stream. Raises EOFError there; changes of earlier tests may come first."""
        while True:
            self.next()


@contextmanager
def listening(served: Served, token: str, last: str = "") -> Iterator[Stream]:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    try:
        more = {"Last-Event-ID": last} if last else {}
        connection.request("GET", "/events", headers={**bearer(token), **more})
        yield Stream(connection, connection.getresponse())
    finally:
        connection.close()


@pytest.fixture(scope="module")
def whole(world: World) -> str:
    return world.token("whole")


@pytest.fixture(scope="module")
def below(world: World) -> str:
    return world.token("below", scope=Scope(folders=("work",)))


def test_events_report_progress_and_changes(world: World, served: Served, whole: str) -> None:
    with listening(served, whole) as stream:
        assert stream.answer.status == 200
        assert stream.answer.headers["content-type"].startswith("text/event-stream")
        assert stream.answer.headers["cache-control"] == "no-store"
        first, progress = stream.next(), stream.next()
        assert (first.name, progress.name) == ("", "progress")
        assert progress.data["progress"].keys() == {"work", "waiting", "pending"}
        before = progress.data["documents"]["note"]
        world.write("b.md", "the bee")
        while stream.changed() != {"note": before + 1}:
            pass


def test_events_report_changes_since_the_last_event_id(world: World, served: Served, below: str) -> None:
    with listening(served, below) as stream:
        first = stream.next()
    world.write("work/missed.md", "the moth")
    until(lambda: world.found("moth"))
    with listening(served, below, first.id) as stream:
        assert stream.changed() == {"note": 1}
    with listening(served, below, "long-ago-7") as stream:
        stream.next()
        assert stream.next().name == "changed"


def test_events_end_with_a_revoked_token(world: World, served: Served) -> None:
    token = world.token("gone")
    with listening(served, token) as stream:
        Tokens(world.home.tokens_file).revoke("gone")
        with pytest.raises(EOFError):
            stream.end()
    assert served.ask("GET", "/events", headers=bearer(token)).status == 401


def test_events_are_limited_per_token(world: World, served: Served) -> None:
    token = world.token("many", scope=Scope(folders=("many",)))

    def is_let_in() -> bool:
        with listening(served, token) as stream:
            return stream.answer.status == 200

    for _ in range(3):
        with ExitStack() as streams:
            for _ in range(events._MOST_OF_ONE):
                streams.enter_context(listening(served, token)).next()
            assert served.ask("GET", "/events", headers=bearer(token)).status == 503
        until(is_let_in)


def test_events_report_a_change_with_a_new_daemon(new_world: World) -> None:
    new_world.more = "[agents]\nstart_daemon = false\n"  # else serve starts one, which may be the first
    new_world.configure()
    daemon = new_world.daemon()
    token, served = new_world.token("below", scope=Scope(folders=("work",))), new_world.serve()
    with listening(served, token) as stream:
        stream.next()
        daemon.end()
        new_world.daemon()
        assert stream.changed() == {}
        new_world.write("work/new.md", "the newt")
        assert stream.changed() == {"note": 1}
        assert served.process.end() == 0
        with pytest.raises((EOFError, http.client.IncompleteRead, ConnectionError)):
            stream.end()
