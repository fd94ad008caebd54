"""A process that is killed just before a call that leaves it: to the system, or to the database."""

import os
import random
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

_CALLS = frozenset(
    ("write", "fsync", "replace", "rename", "link", "unlink", "mkdir", "ftruncate", "flock", "execute", "executemany")
)
OF_FILES = frozenset(("fsync", "replace", "link", "unlink", "flock"))
"""Between two of these no file of a vault changes."""
_LOOKING = ("SELECT", "PRAGMA", "WITH")


def moments(work: Callable[[], object], count: int, seed: int, calls: frozenset[str] = _CALLS) -> Iterator[int]:
    """Some of the moments at which `work`, done once to its end for this, can be killed; its last is among them."""
    reader, writer = os.pipe()
    status = _forked(work, lambda number: None, calls, writer)
    with os.fdopen(reader, "rb") as told:
        assert status == 0
        last = int.from_bytes(told.read(), "big")
    assert last
    yield from sorted({*random.Random(seed).sample(range(1, last + 1), min(count, last)), last})


def killed(work: Callable[[], object], moment: int, calls: frozenset[str] = _CALLS) -> None:
    """Do it in another process, and kill that at the moment; an equal process may come to its end before."""

    def die(number: int) -> None:
        if number == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    assert _forked(work, die, calls) in (0, -signal.SIGKILL)


def _forked(
    work: Callable[[], object], at: Callable[[int], None], calls: frozenset[str], tell: int | None = None
) -> int:
    """The exit code of a process that does the work, and calls `at` with the number of each of the calls before it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, none of which is ours
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
            return  # before a lock is held, it only looks
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
