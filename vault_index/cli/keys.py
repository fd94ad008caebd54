"""Read keys of a terminal one at a time, without Enter."""

import contextlib
import os
import re
import select
import signal
import sys
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any, Self

REDRAW = "redraw"
"""The result of `read` after the terminal was resized or this process was resumed."""
END = "\x04"
"""Ctrl-D, or the end of stdin."""
_KEY = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1bO.|\x1b.|[\xc0-\xff][\x80-\xbf]*|.", re.DOTALL)
_ENDING = (signal.SIGTERM, signal.SIGHUP)


class Keys:
    """Reader of keys from stdin.

    Inside `with`, a terminal delivers keys at once and without echo. The end of the block restores
    the terminal. If stdin is not a terminal, each line is a key: its first letter.
    """

    def __init__(self) -> None:
        self._stdin = sys.stdin.fileno()
        self.terminal = sys.stdin.isatty()
        self._waiting = b""
        self._before: list[Any] = []
        self._handlers: dict[signal.Signals, Any] = {}
        self._wake = (-1, -1)

    def __enter__(self) -> Self:
        if self.terminal:
            self._wake = os.pipe()
            for end in self._wake:
                os.set_blocking(end, False)
            signal.set_wakeup_fd(self._wake[1], warn_on_full_buffer=False)
            self._take()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self.terminal:
            self._give_back()
            signal.set_wakeup_fd(-1)
            for end in self._wake:
                os.close(end)

    def read(self) -> str:
        """Return the next key, `REDRAW`, `END`, or an empty string for any other key."""
        if not self.terminal:
            line = sys.stdin.readline()
            return line.strip()[:1] if line else END
        if not self._waiting:
            for ready in select.select([self._stdin, self._wake[0]], [], [])[0]:
                if ready != self._stdin:
                    return self._signalled(os.read(ready, 64))
            with contextlib.suppress(OSError):  # the terminal was closed
                self._waiting = os.read(self._stdin, 1024)
        if not self._waiting:
            return END
        found = _KEY.match(self._waiting)
        key, self._waiting = (found[0], self._waiting[found.end() :]) if found else (b"", b"")
        return key.decode() if len(key) == 1 and key.isascii() else ""

    @contextlib.contextmanager
    def lent(self) -> Iterator[None]:
        """Restore the terminal while another program runs in it; only that program gets Ctrl-C."""
        if not self.terminal:
            yield
            return
        self._give_back()
        before = signal.signal(signal.SIGINT, _noted)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
            self._take()

    # --- Helpers ----------------------------------------------------------------------------------

    def _take(self) -> None:
        import termios
        import tty

        self._before = termios.tcgetattr(self._stdin)
        for number in (signal.SIGWINCH, signal.SIGTSTP):
            self._handlers[number] = signal.signal(number, _noted)
        for number in _ENDING:
            self._handlers[number] = signal.signal(number, _ended)
        tty.setcbreak(self._stdin, termios.TCSADRAIN)

    def _give_back(self) -> None:
        import termios

        with contextlib.suppress(termios.error):  # the terminal was closed
            termios.tcsetattr(self._stdin, termios.TCSADRAIN, self._before)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _signalled(self, numbers: bytes) -> str:
        """Handle the signals that arrived; for SIGTSTP, restore the terminal and stop."""
        if signal.SIGTSTP in numbers:
            self._give_back()
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTSTP)
            self._take()
        return REDRAW


def _noted(number: int, frame: FrameType | None) -> None:
    """Do nothing: the number of the signal is in the pipe that `read` polls."""


def _ended(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
