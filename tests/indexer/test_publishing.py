"""The rows that go to a pool: those of the index, without credentials."""

import shutil
from dataclasses import replace
from pathlib import Path

from vault_index import VaultIndex
from vault_index.config import find_home
from vault_index.indexer.publishing import row_to_publish
from vault_index.indexer.reading import Read, RowSettings, read_document
from vault_index.models import Filters
from vault_index.store.publishing import whole_documents
from vault_index.store.spaces import document_states
from vault_index.store.writer import DocumentRow

FIXTURES = Path(__file__).parents[2] / "fixtures"
KEY = "AKIA" + "Z7Q4N2X5K8M3W6T9"


def open_index(folder: Path, vault: Path) -> VaultIndex:
    home = find_home(folder / "home")
    home.data_dir.mkdir(mode=0o700)
    home.config_file.write_text(f'[sources.notes]\npath = "{vault}"\n[embedding]\nprovider = "none"\n', "utf-8")
    index = VaultIndex.open(home)
    index.sync()
    return index


def published(index: VaultIndex) -> list[DocumentRow]:
    with index._runtime.pool.lend() as connections:
        ids = [one.id for one in document_states(connections.reader, Filters())]
        return [row_to_publish(one) for one in whole_documents(connections.reader, ids, b"salt")]


def comparable(row: DocumentRow) -> DocumentRow:
    """Return a row without what the index does not keep: the order of the tags, and the identity."""
    chunks = [
        one._replace(terms=(*one.terms[:3], " ".join(sorted(one.terms[3].split())), *one.terms[4:]))
        for one in row.chunks
    ]
    return replace(row, identity=None, ctime_ns=0, tags=tuple(sorted(set(row.tags))), chunks=tuple(chunks))


def test_published_rows_equal_those_of_the_indexer(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "vault", tmp_path / "vault")
    with open_index(tmp_path, tmp_path / "vault") as index:
        source, config = index._runtime.vaults["notes"], index._runtime.config
        settings = RowSettings(config.chunk.tokens, config.chunk.overlap, config.memory.dir)
        rows = {row.path: row for row in published(index)}
        assert len(rows) > 30
        for ref in source.scan_places([""]).refs:
            read = read_document(source, ref, settings)
            assert isinstance(read, Read)
            assert comparable(rows[ref.path]) == comparable(read.row)


def test_published_rows_have_no_credentials(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    text = (
        f"---\npassword: hunter2hunter\nkeys: [{KEY}]\n---\n# Key {KEY}\n\nIt is {KEY}.\n\n[[a|{KEY}]]\n\nplain words\n"
    )
    (tmp_path / "vault/a.md").write_text(text, "utf-8")
    with open_index(tmp_path, tmp_path / "vault") as index, index._runtime.pool.lend() as connections:
        [row] = published(index)
        [original] = whole_documents(connections.reader, [1], b"salt")
    assert KEY not in repr(row)
    assert "hunter2" not in repr(row)
    assert "plain words" in repr(row)
    assert row.content_hash != original.row.content_hash
    assert {one.embed_key for one in row.chunks}.isdisjoint(one.embed_key for one in original.row.chunks)
