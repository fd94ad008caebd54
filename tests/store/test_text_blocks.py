"""Texts are compressed with their neighbours, and restored unchanged."""

import pytest

from tests.store.rows import document_row
from vault_index.store.documents import chunks_of
from vault_index.store.reader import IndexReader
from vault_index.store.writer import IndexWriter


@pytest.mark.parametrize(
    ("texts", "blocks"),
    [
        ([f"{n} {'ä' * 1000}" for n in range(12)], [5, 4, 3]),
        (["short", "long " * 10_000, "short again", ""], [2, 2]),  # one is larger than a block
    ],
    ids=["many", "large"],
)
def test_text_blocks_split_a_document_where_a_block_is_full(
    writer: IndexWriter, reader: IndexReader, texts: list[str], blocks: list[int]
) -> None:
    writer.put_document(document_row("a.md", texts), (), None, {})
    found = writer.execute("SELECT count(*) FROM chunk GROUP BY block_id ORDER BY min(ordinal)")
    assert [count for (count,) in found] == blocks
    (document_id,) = (row.id for row in writer.known("vault").values())
    assert [chunk.text for chunk in chunks_of(reader, document_id)] == texts
