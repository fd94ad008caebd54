"""Connections for reading: one for each concurrent caller, and few of them kept."""

import os
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.api.vaults import indexed
from vault_index.store.connection import count_rows
from vault_index.store.pool import ReadPool


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(sys.platform != "linux", reason="counts open files")
def test_read_pool_keeps_few_files_open_after_a_crowd(tmp_path: Path) -> None:
    with indexed(tmp_path, {"a.md": "Apple.\n"}) as index:
        pool = ReadPool(index.home)
        before = open_files()
        with ExitStack() as crowd:
            asked = [crowd.enter_context(pool.lend()) for _ in range(40)]
            assert all(count_rows(connections.reader, "document") == 1 for connections in asked)
            many = open_files() - before
        # SQLite closes database files only with its last lock on them; the next caller reuses them.
        assert open_files() - before < 0.7 * many
        kept = open_files()
        for _ in range(40):
            with pool.lend() as connections:
                assert connections in asked  # kept connections are reused
        assert open_files() == kept
        pool.close()
