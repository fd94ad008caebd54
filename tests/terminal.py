"""Run a command in a new terminal, as a job of a shell, and wait for its output."""

import fcntl
import os
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from tests.waiting import PATIENCE

_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")

# The shell runs the command as a foreground job. It reports a stopped job; a line of input resumes that job.
_SHELL = """
import fcntl, os, signal, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
child = os.fork()
if not child:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # background processes ignore it
    if "PIPED" in os.environ:
        reading, writing = os.pipe()
        os.write(writing, os.environ.pop("PIPED").encode())
        os.close(writing)
        os.dup2(reading, 0)
    print("[job %d]" % os.getpid(), flush=True)
    os.execv(sys.executable, [sys.executable, "-m", "vault_index", *sys.argv[1:]])
while True:
    _, status = os.waitpid(child, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpgrp())
    cooked = bool(termios.tcgetattr(0)[3] & termios.ICANON and termios.tcgetattr(0)[3] & termios.ECHO)
    word = "stopped" if os.WIFSTOPPED(status) else "ended %d" % os.waitstatus_to_exitcode(status)
    print(f"[{word} cooked={cooked}]", flush=True)
    if not os.WIFSTOPPED(status):
        break
    sys.stdin.readline()
    os.tcsetpgrp(0, child)
    os.kill(child, signal.SIGCONT)
"""


class Terminal:
    """`vault-index` with these arguments; the environment variable PIPED becomes its standard input."""

    def __init__(
        self, *arguments: str, size: tuple[int, int] = (80, 24), environ: Mapping[str, str] | None = None
    ) -> None:
        self._master, slave = os.openpty()
        self.resize(*size)
        self.shown = ""
        """All output so far, without colours."""
        self._seen = 0
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SHELL, *arguments],
            stdin=slave, stdout=slave, stderr=slave,
            env={**os.environ, "PYTHONUTF8": "1", "TERM": "xterm", "NO_COLOR": "1", **(environ or {})},
        )  # fmt: skip
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._master)  # hangs up
        self._process.wait(PATIENCE)

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def resize(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def until(self, text: str) -> str:
        """Return the output after the last `until`, up to the end of this text."""
        deadline = time.monotonic() + PATIENCE
        while (place := self.shown.find(text, self._seen)) < 0:
            assert time.monotonic() < deadline, self.shown[self._seen :]
            if select.select([self._master], [], [], 0.1)[0]:
                try:
                    told = os.read(self._master, 65_536)
                except OSError:  # no process has it open
                    told = b""
                assert told, self.shown[self._seen :]
                self.shown = _SEQUENCE.sub("", self.shown + told.decode("utf-8", "replace").replace("\r\n", "\n"))
        part, self._seen = self.shown[self._seen : place + len(text)], place + len(text)
        return part
