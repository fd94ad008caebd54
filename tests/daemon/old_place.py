"""The world of tests that have not moved to tests/world.py yet; use that."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import PATIENCE, until
from vault_index.config import Home, find_home
from vault_index.daemon.client import Client, connect, ping
from vault_index.errors import VaultIndexError

CODE = """
import sys
from pathlib import Path
from vault_index.config import Home
from vault_index.daemon.run import run
from vault_index.errors import VaultIndexError
config, data, runtime, name = sys.argv[1:]
try:
    sys.exit(run(Home(Path(config), Path(data), Path(runtime), name)))
except VaultIndexError as error:
    print(error.message, error.hint, sep=" | ", file=sys.stderr)
    sys.exit(error.exit_code)
"""


@dataclass
class Place:
    """A home with one vault, and the daemons started for it."""

    home: Home
    vault: Path
    log_file: Path
    daemons: list[subprocess.Popen[bytes]] = field(default_factory=list)
    within: tuple[str, ...] = ()
    """The words of a command that runs the daemons."""
    first: str = ""
    """What the daemons' Python does first."""

    def log(self) -> str:
        """What all its daemons wrote."""
        return self.log_file.read_text("utf-8")

    def configure(self, *vaults: Path) -> None:
        sources = "\n".join(f'[sources.{vault.name}]\npath = "{vault}"' for vault in vaults or (self.vault,))
        settings = '[embedding]\nprovider = "none"\n[watch]\nquiet = 0.02\n'
        self.home.config_file.write_text(f"{sources}\n{settings}", "utf-8")

    def write(self, path: str, text: str) -> None:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def start(self, **environment: str) -> subprocess.Popen[bytes]:
        with self.log_file.open("a", encoding="utf-8") as log:
            daemon = subprocess.Popen(
                [*self.within, sys.executable, "-c", self.first + CODE, *map(str, self.home)],
                stderr=log,
                env={**os.environ, **environment},
            )
        self.daemons.append(daemon)
        return daemon

    def started(self, **environment: str) -> subprocess.Popen[bytes]:
        """A daemon that listens and has reconciled."""
        daemon = self.start(**environment)

        def ready() -> bool:
            if daemon.poll() is not None:
                raise RuntimeError(self.log())
            try:
                return self.ask("status")["watch"]["last_reconcile"] is not None
            except (ConnectionError, VaultIndexError):
                return False

        try:
            until(ready)
        except AssertionError:
            raise AssertionError(self.log()) from None
        return daemon

    def end(self) -> None:
        for daemon in self.daemons:
            if daemon.poll() is None:
                daemon.kill()
            daemon.wait()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        client = self.connected()
        if client is None:
            raise ConnectionError
        with client:
            answer = client.call(method, params)
        assert isinstance(answer, dict)
        return answer

    def connected(self) -> Client | None:
        return connect(self.home.socket_path)

    def listens(self) -> bool:
        return ping(self.home.socket_path) is not None

    def found(self, words: str) -> set[str]:
        return {hit["path"] for hit in self.ask("search", query=words)["results"]}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    vault, data = tmp_path / "vault", tmp_path / "home"
    vault.mkdir()
    data.mkdir(mode=0o700)
    place = Place(find_home(data), vault, tmp_path / "log")
    place.configure()
    place.write("a.md", "# Alpha\n\nthe aardvark\n")
    yield place
    place.end()


def end(daemon: subprocess.Popen[bytes], number: int = signal.SIGTERM) -> int:
    daemon.send_signal(number)
    return daemon.wait(PATIENCE)
