"""What the main thread waits for: signals, threads that die, and words from the other threads."""

import contextlib
import logging
import queue
import select
import signal
import socket
import threading
import time
from types import FrameType, TracebackType
from typing import Literal, Self

from vault_index.daemon.log import error_location, log_event

log = logging.getLogger(__name__)

Word = Literal["stop", "reload", "reloaded", "kept", "renew"]

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class EventQueue:
    """A queue that signals wake without fail: while it is open, the main thread's signals are its words.

    Blocking on a lock or a queue may miss a signal until its timeout; a file descriptor written by the signal
    itself does not.
    """

    def __init__(self) -> None:
        # SimpleQueue, because its `put` may be interrupted by a signal that puts something, too.
        self._words: queue.SimpleQueue[Word] = queue.SimpleQueue()
        self._read, self._write = socket.socketpair()
        self._read.setblocking(False)
        self._write.setblocking(False)

    def __enter__(self) -> Self:
        self._old_fd = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        self._old_signals = {number: signal.signal(number, self._on_signal) for number in _SIGNALS}
        self._old_hook, threading.excepthook = threading.excepthook, self._on_death
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        threading.excepthook = self._old_hook
        for number, old in self._old_signals.items():
            signal.signal(number, old)
        signal.set_wakeup_fd(self._old_fd)
        self._read.close()
        self._write.close()

    def put(self, word: Word) -> None:
        self._words.put(word)
        with contextlib.suppress(OSError):  # full: awake it is
            self._write.send(b"!")

    def get(self, timeout: float) -> Word | None:
        """The next word; None when there was none for `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while True:
            with contextlib.suppress(BlockingIOError):
                self._read.recv(4096)
            with contextlib.suppress(queue.Empty):
                return self._words.get_nowait()
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return None
            select.select([self._read], [], [], remaining)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self.put("reload" if number == signal.SIGHUP else "stop")

    def _on_death(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            name = args.thread.name if args.thread else ""
            log_event(log, logging.ERROR, "thread died", thread=name, error=error_location(args.exc_value))
        self.put("renew")
