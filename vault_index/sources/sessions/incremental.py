"""Render long sessions incrementally, from a cache in memory and an offset in the file."""

import threading
from collections import OrderedDict
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass, field, replace

from vault_index.sources.sessions.client import TAKEN_BACK, Client, RewoundError
from vault_index.sources.sessions.model import Listed, Message, Session
from vault_index.sources.sessions.render import (
    Renderer,
    Transcript,
    beyond_copies,
    finished,
    render,
)

_LONG = 1 << 20
"""Smallest file in bytes to cache; shorter ones are rendered quickly."""
_MOST = 32 << 20
"""Total size of cached transcripts, in characters."""
_WAITING = 1000
"""Maximum number of messages held back for a resume offset; some clients have no offsets."""
_BEFORE = 4096
"""Bytes before the offset that are compared, to detect a replaced file."""


@dataclass
class _Known:
    renderer: Renderer
    session: Session
    place: str
    offset: int = 0
    """End of the last message that cannot change any more, in bytes."""
    before: bytes = b""
    size: int = 0
    problems: list[str] = field(default_factory=list)


class IncrementalRender:
    """Renders the sessions of one client, and caches long ones. Thread-safe."""

    def __init__(self, client: Client, include: Collection[str]) -> None:
        self._client, self._include = client, include
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._lock = threading.Lock()

    def render(self, listed: Listed, problems: list[str]) -> Transcript:
        """Render the whole session; read only its new part."""
        with self._lock:  # popping gives this thread exclusive use
            known = self._known.pop(listed.session.id, None)
        if (
            known is not None
            and known.place == listed.place
            and _before(known.place, known.offset) == known.before
        ):
            try:
                return self._go_on(known, replace(listed, session=known.session), problems)
            except RewoundError:
                pass
        return self._go_on(
            _Known(Renderer(None, self._client.name), listed.session, listed.place),
            listed,
            problems,
        )

    def render_fork(self, listed: Listed, origin: Listed, problems: list[str]) -> Transcript:
        """Render the messages of a fork that its original lacks."""
        session, read = self._client.read(listed, self._include, problems)
        _, original = self._client.read(origin, {*self._include, TAKEN_BACK}, [])
        with closing(read), closing(original):
            copied, messages = beyond_copies(read, original)
            forked_from = origin.session.id if copied or session.forked_from else ""
            return render(session, messages, self._client.name, forked_from=forked_from)

    def _go_on(self, known: _Known, listed: Listed, problems: list[str]) -> Transcript:
        found = list[str]()
        session, messages = self._client.read(listed, self._include, found, known.offset)
        offset, waiting = known.offset, list[Message]()
        with closing(messages):
            for message in finished(messages):
                # Hold back the last message: later lines may complete it.
                goes_on = waiting[-1].end if waiting and waiting[-1].finished else 0
                if goes_on or len(waiting) > _WAITING:
                    offset = goes_on  # 0: the rendered part has no offset to resume at
                    for one in waiting:
                        known.renderer.add(one)
                    waiting.clear()
                waiting.append(message)
        known.problems = list(dict.fromkeys((*known.problems, *found)))
        problems += known.problems
        remembered = offset > 0 and listed.stamp.size > _LONG
        renderer = known.renderer.copy() if remembered else known.renderer
        for one in waiting:
            renderer.add(one)
        done = renderer.transcript(session)
        if remembered:
            known.session, known.offset, known.size = session, offset, len(done.text)
            known.before = _before(known.place, offset)
            with self._lock:
                self._known[session.id] = known
                while sum(one.size for one in self._known.values()) > _MOST:
                    self._known.popitem(last=False)
        return done


def _before(file: str, offset: int) -> bytes:
    try:
        with open(file, "rb") as lines:
            lines.seek(max(0, offset - _BEFORE))
            return lines.read(min(offset, _BEFORE))
    except OSError:
        return b""
