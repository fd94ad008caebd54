"""What the daemon asks of the operating system, so that nobody notices it: a lower priority, and unused memory back."""

import ctypes
import gc
import os
import sys
import threading
from contextlib import suppress

_NICE = 10
"""Half way down. Not further: a thread that gets no processor would keep Python's lock from those that answer."""


def give_way() -> None:
    """Have the calling thread, and those it starts, stand behind the work of people, in processor and disk time.

    On Linux a thread has a priority of its own, from which that of its disk accesses follows; elsewhere nothing is
    done, because a process that is slow to work would be slow to answer as well.
    """
    if sys.platform == "linux":
        thread = threading.get_native_id()
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, thread, max(_NICE, os.getpriority(os.PRIO_PROCESS, thread)))


def trim_memory() -> None:
    """Give freed memory back to the system; glibc would keep it for itself."""
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
