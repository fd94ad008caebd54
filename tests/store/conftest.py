"""An empty index, open for writing and for reading."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from vault_index.store.reader import IndexReader
from vault_index.store.writer import IndexWriter


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[IndexWriter]:
    opened = IndexWriter(tmp_path / "index.db")
    yield opened
    opened.close()


@pytest.fixture
def reader(writer: IndexWriter, tmp_path: Path) -> Iterator[IndexReader]:
    opened = IndexReader(tmp_path / "index.db")
    yield opened
    opened.close()
