"""A client on its own terminal:

send keys, wait for output. Clients draw with the cursor, so the output lacks spaces: it is compared without white
space.
"""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.waiting import until

ESCAPE, ENTER, UP = "\x1b", "\r", "\x1b[A"
_GRACE = 10
"""Seconds that a client gets to exit. No test depends on it."""
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()*+][ -~]|[0-~])|\s+")


class Terminal:
    def __init__(self, words: Sequence[str], env: Mapping[str, str], folder: Path) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 140, 0, 0))
        self._process = subprocess.Popen(
            words, env=env, cwd=folder, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
        os.close(slave)
        self._raw = ""
        self._seen = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def press(self, *keys: str) -> None:
        """Press keys one by one and forget the output so far."""
        for key in keys:
            self._seen = len(self._raw)
            os.write(self._master, key.encode())
            time.sleep(0.4)  # two keys at once are another key

    def say(self, text: str, answer: str = "") -> None:
        """Type a line, send it once the input field shows it, and wait for the answer."""
        self.settle()
        self.press(text)
        self.wait(text)
        self.press(ENTER)
        if answer:
            self.wait(answer)

    def wait(self, text: str) -> None:
        """Wait until the output since the last key press contains this."""
        wanted = re.sub(r"\s+", "", text)
        try:
            until(lambda: wanted in self.shown)
        except AssertionError as error:
            error.add_note(f"waited for {text!r}; the terminal shows {self.shown[-600:]!r}")
            raise

    def settle(self) -> None:
        """Wait until the output is stable: clients discard keys while they draw."""
        until = time.monotonic() + 6
        size = -1
        while size != len(self._raw) and time.monotonic() < until:
            size = len(self._raw)
            time.sleep(0.8)

    @property
    def shown(self) -> str:
        return _SEQUENCE.sub("", self._raw[self._seen :])

    def close(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)
            try:
                self._process.wait(_GRACE)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        self._reader.join(_GRACE)
        os.close(self._master)

    def _read(self) -> None:
        while True:
            try:
                read = os.read(self._master, 65536)
            except OSError:
                return
            if not read:
                return
            self._raw += read.decode("utf-8", "replace")
            self._answer(read)

    def _answer(self, read: bytes) -> None:
        """Answer a terminal query: cursor position and capabilities."""
        for asked, answer in ((b"\x1b[6n", b"\x1b[1;1R"), (b"\x1b[c", b"\x1b[?62c"), (b"\x1b[?u", b"\x1b[?0u")):
            if asked in read:
                os.write(self._master, answer)
