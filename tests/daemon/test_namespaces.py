"""A full disk in a namespace of its own: `status` names it, and the daemon goes on without a restart."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.waiting import until
from tests.world import Process, World
from vault_index.config import find_home

NOTES = {"a.md": "# Alpha\n\nthe aardvark\n", "one/b.md": "the buffalo\n", "two/c.md": "the cassowary\n"}
DISK_MIB = 72
"""What is left of it with an index in it is more than `status` calls little."""


class Namespace:
    """Mounts and limits of its own, without being root; kept by a process that does nothing."""

    def __init__(self) -> None:
        self._keeper = subprocess.Popen(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", "echo; exec sleep infinity"],
            stdout=subprocess.PIPE,
        )
        assert self._keeper.stdout is not None
        self._keeper.stdout.readline()
        self.inside = ["nsenter", "--target", str(self._keeper.pid), "--user", "--mount", "--preserve-credentials"]

    def run(self, *words: str) -> None:
        subprocess.run([*self.inside, *words], check=True, capture_output=True)

    def end(self) -> None:
        self._keeper.kill()
        self._keeper.communicate()


@cache
def refusal() -> str:
    """Why there can be no such namespace here; empty where there can."""
    script = "mount -t tmpfs -o size=1m none /mnt"
    try:
        tried = subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script], capture_output=True, text=True
        )
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    return tried.stderr.strip() or f"exit code {tried.returncode}" if tried.returncode else ""


class Inside(World):
    """Its daemon is in the namespace; its socket is not, so tests ask from outside. Each place has a folder."""

    def __init__(self, folder: Path, namespace: Namespace) -> None:
        super().__init__(folder)
        places = {"XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": "config", "XDG_RUNTIME_DIR": "run"}
        self._environment = {name: str(folder / place) for name, place in places.items()}
        self.home = find_home(environ=self._environment)
        for place in (self.home.data_dir, self.home.config_file.parent, self.home.runtime_dir):
            place.mkdir(mode=0o700, parents=True)
        self.configure()
        self.home.config_file.chmod(0o600)
        self.within = tuple(namespace.inside)

    def process(self, *arguments: str, first: str = "", **environment: str) -> Process:
        command = [*self.within, sys.executable, "-m", "vault_index", *arguments]
        process = Process(command, self.vault.with_name("stderr"), {**self._environment, **environment})
        self._processes.append(process)
        return process

    def codes(self) -> set[str]:
        return {problem["code"] for problem in self.ask("status")["problems"]}


@pytest.fixture
def namespace() -> Iterator[Namespace]:
    if reason := refusal():
        pytest.skip(f"needs user and mount namespaces, which this system refuses: {reason}")
    namespace = Namespace()
    yield namespace
    namespace.end()


@pytest.fixture
def place(namespace: Namespace) -> Iterator[Inside]:
    # A socket whose path is too long would lie in a folder that all homes share.
    with tempfile.TemporaryDirectory(prefix="vx-", ignore_cleanup_errors=True) as folder:
        place = Inside(Path(folder), namespace)
        yield place
        place.close()


def test_a_full_disk_loses_nothing_and_keeps_nothing_out_once_there_is_space(
    place: Inside, namespace: Namespace
) -> None:
    data = place.home.data_dir
    namespace.run("mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m,mode=700", "none", str(data))
    for path, text in NOTES.items():
        place.write(path, text)
    daemon = place.daemon()
    assert place.codes() == set()

    for attempt in range(50):
        # The text is large enough to grow the index. What the daemon's logs give back meanwhile is filled, too.
        namespace.run("sh", "-c", f"! cat /dev/zero >> {data}/filler 2>/dev/null")
        word = f"dugong{attempt}"
        place.write("large.md", "\n\n".join(f"# {part}\n\n{f'the {word} swims on ' * 200}" for part in range(100)))
        until(lambda word=word: {"disk_full", "not_saved"} <= place.codes() or place.found(word))  # type: ignore[misc]
        if not place.found(word):
            break
    hints = {problem["code"]: problem["hint"] for problem in place.ask("status")["problems"]}
    assert "free some disk space" in hints["not_saved"]
    assert place.found("aardvark") == {"a.md"}

    namespace.run("rm", f"{data}/filler")
    until(lambda: place.found(word) == {"large.md"})
    until(lambda: place.codes() == set())
    assert place.ask("doctor")["problems"] == []
    assert daemon.poll() is None
