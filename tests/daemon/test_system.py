import os
import sys
import threading

import pytest

from vault_index.daemon.system import give_way, share_heap, trim_memory


@pytest.mark.skipif(sys.platform != "linux", reason="threads have a priority of their own on Linux alone")
def test_give_way_lowers_the_priority_of_its_thread_only() -> None:
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


def test_system_calls_are_skipped_without_glibc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault_index.daemon.system.ctypes.CDLL", lambda name: object())
    trim_memory()
    share_heap()
