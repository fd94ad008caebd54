import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.waiting import PATIENCE
from vault_index.disk import WriteLock
from vault_index.errors import BusyError

_HOLDER = """
import sys
from pathlib import Path
from vault_index.disk import WriteLock
with WriteLock(Path(sys.argv[1])).held("sync", 5):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_lock_names_its_holder_to_a_second_process(tmp_path: Path) -> None:
    path = tmp_path / "write.lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(BusyError, match=rf"process {holder.pid} \(sync\)"), WriteLock(path).held("embed", 0.05):
            pass
        holder.kill()
    # The kernel drops the lock of a process that was killed.
    with WriteLock(path).held("embed", PATIENCE):
        assert path.read_text() == f"{os.getpid()} embed\n"


def test_lock_admits_one_thread_at_a_time(tmp_path: Path) -> None:
    lock = WriteLock(tmp_path / "write.lock")
    inside = []

    def work() -> None:
        with lock.held("sync", PATIENCE):
            inside.append(1)
            assert len(inside) == 1
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with lock.held("sync", 0):
        assert not inside


def test_lock_works_on_a_full_disk(tmp_path: Path) -> None:
    code = (
        "import resource, sys; from pathlib import Path; from vault_index.disk import WriteLock\n"
        "from vault_index.daemon.system import DaemonLock\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # no file may grow\n"
        "DaemonLock(Path(sys.argv[1], 'daemon.lock'))\n"
        "with WriteLock(Path(sys.argv[1], 'write.lock')).held('sync', 1.0): print('held')"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("held\n", "")
