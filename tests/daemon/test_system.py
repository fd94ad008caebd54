import ctypes
import os
import subprocess
import sys
import threading

import pytest

from vault_index import terms, tokens
from vault_index.daemon.system import give_way, share_heap, trim_memory


@pytest.mark.skipif(sys.platform != "linux", reason="threads have a priority of their own on Linux alone")
def test_the_thread_that_works_gives_way_and_the_others_do_not() -> None:
    seen: list[int] = []

    def work() -> None:
        give_way()
        seen.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))

    before = os.getpriority(os.PRIO_PROCESS, 0)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [max(before, 10)]
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_words_are_forgotten_and_what_is_slow_to_make_is_kept() -> None:
    terms._folded("ёлка")
    tokens.count("text")
    assert terms._folded.cache_info().currsize > 0
    trim_memory()
    assert terms._folded.cache_info().currsize == 0
    assert tokens._encoding.cache_info().currsize == 1


def test_another_c_library_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault_index.daemon.system.ctypes.CDLL", lambda name: object())
    trim_memory()
    share_heap()


_HEAPS = """
import ctypes, threading
from vault_index.daemon.system import share_heap
share_heap()
libc = ctypes.CDLL(None)
together = threading.Barrier(4)
def allocate():
    together.wait()
    libc.malloc(2000)
    together.wait()
threads = [threading.Thread(target=allocate) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
libc.fopen.restype = ctypes.c_void_p
out = ctypes.c_void_p(libc.fopen(b"/dev/stdout", b"w"))
libc.malloc_info(0, out)
libc.fflush(out)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="heaps of threads are a matter of glibc")
def test_threads_allocate_from_one_heap() -> None:
    told = subprocess.run([sys.executable, "-c", _HEAPS], capture_output=True, text=True, check=True).stdout
    assert told.count("<heap nr=") == 1
