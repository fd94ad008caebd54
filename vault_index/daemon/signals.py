"""Wake the main thread for signals, dead threads and events of other threads."""

import contextlib
import logging
import signal
import socket
import threading
from types import TracebackType
from typing import Literal, Self

from vault_index.daemon.log import error_location, log_event

log = logging.getLogger(__name__)

Event = Literal["stop", "reload", "reloaded", "renew"]

_SIGNALS: dict[int, Event] = {
    signal.SIGTERM: "stop",
    signal.SIGINT: "stop",
    signal.SIGHUP: "reload",
}
_EVENTS: dict[int, Event] = {**_SIGNALS, ord("a"): "reloaded", ord("b"): "renew"}


class EventQueue:
    """A queue that also receives the main thread's signals, as events, while it is open.

    Blocking on a lock or a queue may miss a signal until its timeout. A file descriptor that the
    signal handler writes to does not. So the queue is that descriptor, and an event is a byte.
    """

    def __init__(self) -> None:
        self._read, self._write = socket.socketpair()
        self._write.setblocking(False)

    def __enter__(self) -> Self:
        self._old_fd = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        self._old_signals = {number: signal.signal(number, lambda *_: None) for number in _SIGNALS}
        self._old_hook, threading.excepthook = threading.excepthook, self._on_death
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        threading.excepthook = self._old_hook
        for number, old in self._old_signals.items():
            signal.signal(number, old)
        signal.set_wakeup_fd(self._old_fd)
        self._read.close()
        self._write.close()

    def put(self, event: Literal["reloaded", "renew"]) -> None:
        """Queue an event, in any thread; drop it if the queue is full or closed."""
        with contextlib.suppress(OSError):  # full of unread events, or closed
            self._write.send(b"a" if event == "reloaded" else b"b")

    def get(self, timeout: float) -> Event | None:
        """Return the next event; None if there was none for `timeout` seconds."""
        self._read.settimeout(timeout)
        with contextlib.suppress(TimeoutError, BlockingIOError):
            return _EVENTS.get(self._read.recv(1)[0])
        return None

    def _on_death(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            name = args.thread.name if args.thread else ""
            log_event(
                log, logging.ERROR, "thread died", thread=name, error=error_location(args.exc_value)
            )
        self.put("renew")
