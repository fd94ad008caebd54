"""Kill a process just before a system or database call."""

import os
import random
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from tests.seeds import TIMES, seeds

_CALLS = frozenset(
    ("write", "fsync", "replace", "rename", "link", "unlink", "mkdir", "ftruncate", "flock", "execute", "executemany")
)
OF_FILES = frozenset(("fsync", "replace", "link", "unlink", "flock"))
"""Calls between which no file of a vault changes."""
_LOOKING = ("SELECT", "PRAGMA", "WITH")


def moments(work: Callable[[], object], count: int, seed: int, calls: frozenset[str] = _CALLS) -> Iterator[int]:
    """Run `work` once; yield `count` of the calls at which it can be killed, and the last call (more every night)."""
    reader, writer = os.pipe()
    status = _forked(work, lambda number: None, calls, writer)
    with os.fdopen(reader, "rb") as told:
        assert status == 0
        last = int.from_bytes(told.read(), "big")
    assert last
    chance = random.Random(f"{seed} {seeds(1)[0]}")
    yield from sorted({*chance.sample(range(1, last + 1), min(count * TIMES, last)), last})


def killed(work: Callable[[], object], moment: int, calls: frozenset[str] = _CALLS) -> None:
    """Run `work` in a child process and kill it at that call; it may end before, as two runs can differ."""

    def die(number: int) -> None:
        if number == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    assert _forked(work, die, calls) in (0, -signal.SIGKILL)


def _forked(
    work: Callable[[], object], at: Callable[[int], None], calls: frozenset[str], tell: int | None = None
) -> int:
    """Run `work` in a child process that passes the number of each call to `at` first; return the exit code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about threads of other code
        child = os.fork()
    if child:
        if tell is not None:
            os.close(tell)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    number = 0

    def seen(frame: FrameType, event: str, called: Any) -> None:
        nonlocal number
        name = getattr(called, "__name__", "")
        if event != "c_call" or name not in calls or not (number or name == "flock"):
            return  # it only reads before it holds a lock
        if isinstance(called.__self__, str) or str(frame.f_locals.get("sql", "")).startswith(_LOOKING):
            return
        number += 1
        at(number)

    code = 1
    try:
        sys.setprofile(seen)
        work()
        sys.setprofile(None)
        if tell is not None:
            os.write(tell, number.to_bytes(8, "big"))
        code = 0
    finally:
        os._exit(code)
