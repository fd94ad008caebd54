"""An HTTP connection with deadlines for every phase; uvicorn has one only between requests."""

from asyncio import TimerHandle, Transport
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 512
"""Maximum number of connections. Beyond it, the one that has waited longest for a request is
closed.
"""
_REQUEST_SECONDS = 15.0
"""Seconds for a whole request, from its first byte or from the start of the connection."""
_REST_SECONDS = 2.0
"""Seconds for the unread rest of a request that was answered."""
_READ_SECONDS = 30.0
"""Seconds for a slow client to read what was sent."""


class Connection(H11Protocol):
    """A uvicorn connection with deadlines for requests, unread bodies and slow readers."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._request_until: TimerHandle | None = None
        self._read_until: TimerHandle | None = None
        self.since = self.loop.time()
        """The time of the last request, or of the start of the connection."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Start the deadline; close the longest idle connection if there are too many."""
        super().connection_made(transport)
        self._update_deadline()
        if len(self.connections) > MOST:
            others = [
                one
                for one in self.connections
                if isinstance(one, Connection) and not one.transport.is_closing()
            ]
            if len(others) > MOST:
                waiting = (one for one in others if not one.is_asked)
                min(waiting, key=lambda one: one.since).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadlines."""
        for timer in (self._request_until, self._read_until):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read data, then start or end the deadline of the request."""
        super().data_received(data)
        self._update_deadline()

    @property
    def is_asked(self) -> bool:
        """Whether a complete request is not answered yet."""
        return (
            self.cycle is not None
            and not self.cycle.response_complete
            and not self._request_incomplete
        )

    @property
    def _request_incomplete(self) -> bool:
        """Whether the request is incomplete."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _update_deadline(self) -> None:
        if not self._request_incomplete:
            self.since = self.loop.time()
            if self._request_until is not None:
                self._request_until.cancel()
                self._request_until = None
        elif self._request_until is None:
            self._request_until = self.loop.call_later(_REQUEST_SECONDS, self.transport.abort)

    def on_response_complete(self) -> None:
        """Give an answered request only little time for its unread rest."""
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY and self._request_until is not None:
            self._request_until.cancel()
            self._request_until = self.loop.call_later(_REST_SECONDS, self.transport.abort)

    def pause_writing(self) -> None:
        """Start the deadline of a slow reader."""
        super().pause_writing()
        self._read_until = self.loop.call_later(_READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the deadline of a slow reader."""
        super().resume_writing()
        if self._read_until is not None:
            self._read_until.cancel()
            self._read_until = None

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP/1.1; close the connection if a request is being answered."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.abort()
