"""The same review cut short and done twice: whatever is killed, and whoever is first, files and index stay as they
should be, and all of it is undone."""

import itertools
import random
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Error, Page

from tests.api.vaults import fresh_rows, rows
from tests.memories.test_review_terminal import is_draft
from tests.memories.versions import said_in
from tests.memories.waiting import Author, all_files, files_of, here as asked_in, is_whole, make_waiting, marks, undo_all
from tests.page_real.browser import Reader
from tests.page_real.desk import KEYS, item, ready
from tests.serve.servers import Place, place, until
from vault_index.daemon.client import ping

COUNTS = {"remembered": 12, "stated": 0, "alike": 12, "contrary": 3, "expired": 4, "outdated": 2, "unopened": 2}
ALONE, OF_TWO = ("accept", "archive", "delete"), ("merge", "supersede", "keep", "archive", "delete")


class Home:
    """Memories that wait, how their files were, and the processes that stand before them."""

    def __init__(self, folder: Path, here: Place) -> None:
        self.folder, self.here = folder, here
        make_waiting(here.vault, asked_in(folder), Author(), COUNTS)
        self.before = self.files()
        self.daemon, self.served = here.daemon(), here.serve()

    def files(self) -> dict[str, bytes]:
        return files_of(self.here.vault)

    def up(self) -> None:
        """Whatever was killed runs again, and has looked at everything."""
        if self.served.process.poll() is not None:
            self.served = self.here.serve()
        self.daemon = self.here.daemon()

    def loses_nothing(self) -> None:
        files = {path: data for path, data in all_files(self.here.vault) if not is_draft(path)}
        assert all(map(is_whole, files.values()))
        said = "\n".join([b"\n".join(files.values()).decode(), *said_in(self.here.home.state_db)])
        assert marks(said) >= marks(b"\n".join(self.before.values()).decode())

    def is_as_before_once_undone(self) -> None:
        """The very bytes; and the index is what a fresh build makes of them."""
        self.served.process.kill()
        while found := ping(self.here.home.socket_path):
            for process in self.here.processes():
                process.kill()
                process.wait()
            with suppress(ProcessLookupError):
                kill(found["pid"])
        ask = asked_in(self.folder)
        ask("sync")
        self.loses_nothing()
        assert rows(self.here.home.index_db) == fresh_rows(self.folder)
        undo_all(ask, self.here.vault, self.before)
        ask("sync")
        assert rows(self.here.home.index_db) == fresh_rows(self.folder)
        assert not [path for path, _ in all_files(self.here.vault) if is_draft(path)]
