"""What the daemon asks of the operating system, so that nobody notices it: a lower priority, and unused memory back."""

import ctypes
import gc
import os
import sys
import threading
from contextlib import suppress

_NICE = 10
"""Half way down. Not further: a thread that gets no processor would keep Python's lock from those that answer."""

_M_ARENA_MAX = -8
"""`mallopt(3)`."""


def give_way() -> None:
    """Have the calling thread, and those it starts, stand behind the work of people, in processor and disk time.

    On Linux a thread has a priority of its own, from which that of its disk accesses follows; elsewhere nothing is
    done, because a process that is slow to work would be slow to answer as well.
    """
    if sys.platform == "linux":
        thread = threading.get_native_id()
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, thread, max(_NICE, os.getpriority(os.PRIO_PROCESS, thread)))


def share_heap() -> None:
    """Have all threads allocate from one heap, on glibc; call it before there are others. It would give each thread a
    heap of its own, none of which can use what another one freed: 9 MB after a few minutes of edits."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def trim_memory() -> None:
    """Give freed memory back to the system; glibc would keep it for itself."""
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
