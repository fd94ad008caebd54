"""The command line on a terminal of 80 by 24: a person who reads the screen and presses keys.

A key is pressed once the command waits for one. Linux says so of a process; elsewhere it is taken from its silence.
"""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unicodedata
from collections.abc import Mapping
from pathlib import Path

ROWS, COLUMNS = 24, 80

# The new session of a process has no terminal until it takes one.
_TAKE = """
import fcntl, os, signal, sys, termios
signal.signal(signal.SIGINT, signal.SIG_DFL)  # what runs in the background ignores Ctrl-C, and so would its children
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
_READ, _SELECT, _POLL = {63, 0}, {270, 23, 72}, {7, 271, 73}
"""The numbers of these system calls (x86-64 and arm64)."""
_SILENCE = 0.3
_SEQUENCE = re.compile(
    r"\x1b\[(?P<parameters>[0-?]*)[ -/]*(?P<final>[@-~])"
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()*+][ -~]|\x1b(?P<alone>[0-~])|(?P<plain>[^\x1b])",
    re.DOTALL,
)


_NAMED_KEYS = {
    "space": " ",
    "enter": "\r",
    "return": "\r",
    "esc": "\x1b",
    "escape": "\x1b",
    "tab": "\t",
    "backspace": "\x7f",
}


def keys_of(screen: str, action: str) -> str:
    """The key that a screen names for an action, as in `a accept`, `[a] accept`, `a: accept` or `[a]ccept`; empty where
    it names none."""
    inside = "|".join(rf"{action[:at]}[\[(<]({letter})[\])>]{action[at + 1 :]}\b" for at, letter in enumerate(action))
    before = rf"(?:^|[\s\[(<·|,])({'|'.join(_NAMED_KEYS)}|\S)[\])>]?(?:[:=]| -)?\s?{action}\b"
    found = re.findall(rf"(?im){inside}|{before}|\b{action} ?[\[(<](\S)[\])>]", screen)
    key = next(filter(None, found[-1]), "") if found else ""  # texts above may say anything
    return _NAMED_KEYS.get(key.lower(), key)


class Screen:
    """What a terminal shows, as far as programs that print lines, draw with curses or move the cursor need it."""

    def __init__(self) -> None:
        self._lines = [[" "] * COLUMNS for _ in range(ROWS)]
        self._row = self._column = 0
        self._saved = (0, 0)
        self._region = (0, ROWS - 1)
        self._last = " "
        self._rest = ""

    @property
    def text(self) -> str:
        return "\n".join("".join(line).rstrip() for line in self._lines).rstrip()

    def feed(self, text: str) -> None:
        text, end = self._rest + text, 0
        while found := _SEQUENCE.match(text, end):
            end = found.end()
            if (plain := found["plain"]) is not None:
                self._plain(plain)
            elif found["final"]:
                self._control(found["final"], [int(n) if n.isdigit() else 0 for n in found["parameters"].split(";")])
            elif found["alone"]:
                self._alone(found["alone"])
        self._rest = text[end:]

    def _plain(self, character: str) -> None:
        match character:
            case "\r":
                self._column = 0
            case "\n":
                self._down()
            case "\b":
                self._column = max(0, self._column - 1)
            case "\t":
                self._column = min(COLUMNS - 1, (self._column // 8 + 1) * 8)
            case _ if unicodedata.category(character) in ("Mn", "Me", "Cf"):  # goes with the one before
                self._lines[self._row][max(0, self._column - 1)] += character
            case _ if character >= " ":
                width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
                if self._column + width > COLUMNS:
                    self._column = 0
                    self._down()
                self._lines[self._row][self._column : self._column + width] = [character, ""][:width]
                self._last = character
                self._column += width

    def _down(self) -> None:
        top, bottom = self._region
        if self._row == bottom:
            del self._lines[top]
            self._lines.insert(bottom, [" "] * COLUMNS)
        else:
            self._row = min(ROWS - 1, self._row + 1)

    def _alone(self, letter: str) -> None:
        if letter == "7":
            self._saved = self._row, self._column
        elif letter == "8":
            self._row, self._column = self._saved
        elif letter == "M" and self._row > 0:
            self._row -= 1

    def _control(self, final: str, given: list[int]) -> None:
        number, second = given[0] or 1, given[1] if len(given) > 1 else 0
        if final in "ABCDEFGHdfsu":
            self._move(final, number, second or 1)
        elif final in "JK":
            self._erase(final, given[0])
        elif final in "LMPX@":
            self._shift(final, number)
        elif final == "b":
            self.feed(self._last * number)
        elif final == "r":
            self._region = number - 1, (second or ROWS) - 1
            self._row = self._column = 0

    def _move(self, final: str, number: int, second: int) -> None:
        match final:
            case "H" | "f":
                self._row, self._column = number - 1, second - 1
            case "A" | "B" | "E" | "F":
                self._row += -number if final in "AF" else number
                self._column = 0 if final in "EF" else self._column
            case "C" | "D":
                self._column += number if final == "C" else -number
            case "G":
                self._column = number - 1
            case "d":
                self._row = number - 1
            case "s" | "u":
                self._alone("7" if final == "s" else "8")
        self._row = min(ROWS - 1, max(0, self._row))
        self._column = min(COLUMNS - 1, max(0, self._column))

    def _erase(self, final: str, what: int) -> None:
        """To the end (0), from the beginning (1), all (2 and more)."""
        column = min(self._column, COLUMNS - 1)
        first, last = 0 if what else column, column + 1 if what == 1 else COLUMNS
        self._lines[self._row][first:last] = [" "] * (last - first)
        if final == "J":
            for other in (*(range(self._row) if what else ()), *(range(self._row + 1, ROWS) if what != 1 else ())):
                self._lines[other] = [" "] * COLUMNS

    def _shift(self, final: str, number: int) -> None:
        column, line, bottom = min(self._column, COLUMNS - 1), self._lines[self._row], self._region[1]
        if final in "LM":  # lines are put in, or taken out
            for _ in range(min(number, bottom - self._row + 1)):
                del self._lines[bottom if final == "L" else self._row]
                self._lines.insert(self._row if final == "L" else bottom, [" "] * COLUMNS)
            return
        blank = [" "] * min(number, COLUMNS - column)
        rest = line[column:] if final == "@" else line[column + number :]
        line[column:] = [*blank, *rest][: COLUMNS - column] if final in "@X" else [*rest, *blank]


class Terminal:
    """`vault-index` with these arguments, on a terminal of its own; killed at the end of a `with`."""

    def __init__(self, *arguments: str, environ: Mapping[str, str], cwd: Path | None = None) -> None:
        self._main, self._other = pty.openpty()
        fcntl.ioctl(self._main, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", "PYTHONUTF8": "1", **environ}
        for name in ("LINES", "COLUMNS"):
            environment.pop(name, None)
        self._silent_since = time.monotonic()
        self._screen, self._decoder = Screen(), codecs.getincrementaldecoder("utf-8")("replace")
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _TAKE, sys.executable, "-m", "vault_index", *arguments],
            stdin=self._other,
            stdout=self._other,
            stderr=self._other,
            env=environment,
            cwd=cwd,
            start_new_session=True,
        )
        self._slept, self._settled = -1, False

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        os.close(self._main)
        os.close(self._other)

    @property
    def screen(self) -> str:
        """What is shown once the command waits for a key, or has ended."""
        self.wait()
        return self._screen.text

    @property
    def ended(self) -> bool:
        self.wait()
        return self.process.poll() is not None

    @property
    def cooked(self) -> bool:
        """Whether what is typed is shown and read by lines, as shells want it."""
        wanted = termios.ICANON | termios.ECHO | termios.ISIG
        return bool(termios.tcgetattr(self._other)[3] & wanted == wanted)

    def press(self, keys: str) -> str:
        """Press a key when one is waited for; the screen that follows."""
        self.type(keys)
        return self.screen

    def type(self, keys: str) -> None:
        """Press a key when one is waited for, and look no further."""
        self.wait()
        self._slept = self._sleeps()
        self._silent_since, self._settled = time.monotonic(), False
        os.write(self._main, keys.encode())

    def kill(self) -> None:
        """At once, with what it has started."""
        self._settled = False
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def wait(self, seconds: float = 60.0) -> None:
        """Until a key is waited for, or the command has ended."""
        if self._settled:
            return
        deadline = time.monotonic() + seconds
        while self.process.poll() is None and not self._waits():
            if time.monotonic() > deadline:
                raise AssertionError(f"no key was waited for in time:\n{self._screen.text}")
            self._drain(0.01)
        while self._drain(0.02):
            pass
        self._settled = True

    def _drain(self, seconds: float) -> bool:
        """Take over what was written, if anything comes in this time."""
        if not select.select([self._main], [], [], seconds)[0]:
            return False
        self._screen.feed(self._decoder.decode(os.read(self._main, 65536)))
        self._silent_since = time.monotonic()
        return True

    def _waits(self) -> bool:
        unread = struct.unpack("i", fcntl.ioctl(self._other, termios.FIONREAD, b"\0" * 4))[0]
        if unread or termios.tcgetattr(self._other)[3] & termios.ICANON:
            return False
        if not sys.platform.startswith("linux"):
            return time.monotonic() - self._silent_since > _SILENCE
        slept = self._sleeps()
        if slept == self._slept or not self._reads():
            return False
        return slept == self._sleeps()

    def _sleeps(self) -> int:
        """How often it went to sleep: it was awake since it took a key."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return 0
        return int(next((line.split()[1] for line in status.splitlines() if line.startswith("voluntary_")), 0))

    def _reads(self) -> bool:
        """Whether it sleeps in a system call that reads the terminal."""
        folder = Path(f"/proc/{self.process.pid}")
        try:
            names = {os.readlink(folder / f"fd/{number}") for number in self._awaited(folder)}
        except (OSError, ValueError):
            return False
        return bool(names & {os.ttyname(self._other), "/dev/tty"})

    def _awaited(self, folder: Path) -> list[int]:
        """The files that the system call it sleeps in waits for."""
        call, *words = (folder / "syscall").read_text().split()
        number = int(call)  # `running` is none
        first, second = int(words[0], 16), int(words[1], 16)
        if number in _READ:
            return [first]
        with (folder / "mem").open("rb", buffering=0) as memory:
            if number in _POLL:
                memory.seek(first)
                return [descriptor for descriptor, _, _ in struct.iter_unpack("ihh", memory.read(8 * second))]
            if number in _SELECT and second:
                memory.seek(second)
                bits = int.from_bytes(memory.read(first // 8 + 1), "little")
                return [descriptor for descriptor in range(first) if bits >> descriptor & 1]
        return []
