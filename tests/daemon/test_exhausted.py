"""A system that really has no more watches to give: a user namespace with limits of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

WATCH = """
import json, sys
from vault_index.config import SourceConfig
from vault_index.daemon.watcher import Watcher
from vault_index.sources.vault import VaultSource
limit, folder = sys.argv[1:]
with open(f"/proc/sys/user/{limit}", "w") as setting:
    setting.write("2")
watcher = Watcher([VaultSource(SourceConfig(name="notes", path=folder))], lambda path, **flags: None)
watcher.start()
print(json.dumps([watcher.backend, [[problem.code, problem.hint] for problem in watcher.problems]]))
watcher.stop()
"""


def in_namespace(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["unshare", "--user", "--map-root-user", *words], capture_output=True, text=True)


def namespaces() -> bool:
    try:
        return in_namespace("test", "-w", "/proc/sys/user/max_inotify_watches").returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(not namespaces(), reason="needs user namespaces")
def test_few_watches(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / str(number)).mkdir()
    done = in_namespace(sys.executable, "-c", WATCH, "max_inotify_watches", str(tmp_path))
    backend, problems = json.loads(done.stdout)
    assert backend == "polling"
    ((code, hint),) = problems
    assert code == "watch_polling"
    assert "fs.inotify.max_user_watches=" in hint
