"""Read keys of a terminal one at a time, without Enter."""

import contextlib
import os
import re
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any, Self

REDRAW = "redraw"
"""The result of `read` after the terminal was resized or this process was resumed."""
END = "\x04"
"""Ctrl-D, or the end of stdin."""
_KEY = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1bO.|\x1b.|[\xc0-\xff][\x80-\xbf]*|.", re.DOTALL)


class _Interrupted(Exception):
    """A signal arrived during `read`."""


class Keys:
    """Reader of keys from stdin.

    Inside `with`, a terminal delivers keys at once and without echo. The end of the block restores
    the terminal. If stdin is not a terminal, each line is a key: its first letter.
    """

    def __init__(self) -> None:
        self._stdin = sys.stdin.fileno()
        self.terminal = sys.stdin.isatty()
        self._waiting = b""
        self._reading = False
        self._before: list[Any] = []
        self._handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if self.terminal:
            self._take()
        return self

    def __exit__(self, *_error: object) -> None:
        if self.terminal:
            self._give_back()

    def read(self) -> str:
        """Return the next key, `REDRAW`, `END`, or an empty string for any other key."""
        if not self.terminal:
            line = sys.stdin.readline()
            return line.strip()[:1] if line else END
        if not self._waiting:
            self._reading = True
            try:
                self._waiting = os.read(self._stdin, 1024)
            except _Interrupted:
                return REDRAW
            except OSError:  # the terminal was closed
                return END
            finally:
                self._reading = False
        found = _KEY.match(self._waiting)
        if found is None:
            return END
        key, self._waiting = found[0], self._waiting[found.end() :]
        return key.decode() if len(key) == 1 and key.isascii() else ""

    @contextlib.contextmanager
    def lent(self) -> Iterator[None]:
        """Restore the terminal while another program runs in it; only that program gets Ctrl-C."""
        if not self.terminal:
            yield
            return
        self._give_back()
        before = signal.signal(signal.SIGINT, lambda *_: None)
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
        handlers = {signal.SIGWINCH: self._redraw, signal.SIGTSTP: self._redraw}
        handlers |= {signal.SIGTERM: _end, signal.SIGHUP: _end}
        self._handlers = {number: signal.signal(number, act) for number, act in handlers.items()}
        tty.setcbreak(self._stdin, termios.TCSADRAIN)

    def _give_back(self) -> None:
        import termios

        with contextlib.suppress(termios.error):  # the terminal was closed
            termios.tcsetattr(self._stdin, termios.TCSADRAIN, self._before)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _redraw(self, number: int, frame: FrameType | None) -> None:
        """Make `read` return `REDRAW`; for SIGTSTP, first restore the terminal and stop."""
        if number == signal.SIGTSTP:
            self._give_back()
            os.kill(os.getpid(), signal.SIGSTOP)
            self._take()
        if self._reading:
            raise _Interrupted


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
