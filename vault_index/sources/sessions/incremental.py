"""Render long sessions incrementally: only the messages that changed since the last time."""

import threading
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass

from vault_index.sources.sessions.client import ALL_BRANCHES, Client, Conversation
from vault_index.sources.sessions.model import Listed, Message
from vault_index.sources.sessions.render import (
    Renderer,
    Transcript,
    beyond_copies,
    finished,
    render,
)

_LONG = 1 << 17
"""Length of the shortest cached transcript, in characters; shorter ones are rendered quickly."""
_MOST = 8 << 20
"""Total length of cached transcripts, in characters. With its messages, one needs 5 times that."""
_TAIL = 20
"""Last messages that are rendered each time, because they often change: a result arrives."""


@dataclass
class _Cached:
    conversation: Conversation
    rendered: list[Message]
    """Messages that the renderer has."""
    renderer: Renderer
    length: int = 0


class IncrementalRender:
    """Renders the sessions of one client, and caches long ones. Thread-safe."""

    def __init__(self, client: Client, include: Collection[str]) -> None:
        self._client, self._include = client, include
        self._cache: OrderedDict[str, _Cached] = OrderedDict()
        self._lock = threading.Lock()

    def render(self, listed: Listed, problems: list[str]) -> Transcript:
        """Render the whole session; reuse what the cache has of it."""
        with self._lock:  # popping gives this thread exclusive use
            cached = self._cache.pop(listed.session.id, None)
        conversation = self._client.read(
            listed, self._include, cached.conversation if cached else None
        )
        problems += conversation.problems
        messages = list(finished(conversation.messages))
        if cached is None or messages[: len(cached.rendered)] != cached.rendered:
            cached = _Cached(conversation, [], Renderer(None, self._client.name))
        cached.conversation = conversation
        for message in messages[len(cached.rendered) : -_TAIL]:
            cached.renderer.add(message)
            cached.rendered.append(message)
        renderer = cached.renderer.copy()
        for message in messages[len(cached.rendered) :]:
            renderer.add(message)
        done = renderer.transcript(conversation.session)
        if len(done.text) > _LONG:
            cached.length = len(done.text)
            with self._lock:
                self._cache[listed.session.id] = cached
                # The last one stays, however long it is: its client is writing it.
                while (
                    len(self._cache) > 1 and sum(one.length for one in self._cache.values()) > _MOST
                ):
                    self._cache.popitem(last=False)
        return done

    def render_fork(self, listed: Listed, origin: Listed, problems: list[str]) -> Transcript:
        """Render the messages of a fork that its original lacks."""
        fork = self._client.read(listed, self._include)
        original = self._client.read(origin, {*self._include, ALL_BRANCHES})
        problems += fork.problems
        messages = beyond_copies(fork.messages, original.messages)
        copied = len(messages) < len(fork.messages)
        forked_from = origin.session.id if copied or fork.session.forked_from else ""
        return render(fork.session, messages, self._client.name, forked_from=forked_from)
