"""Resolution of links to documents."""

from contextlib import closing
from pathlib import Path

import pytest

from tests.api.vaults import indexed, opened, write
from tests.tables import tables
from vault_index.config.edit import add_source
from vault_index.models import Link
from vault_index.query.links import linked_from, linking_to
from vault_index.store.documents import documents_by_key, documents_by_path, links_of
from vault_index.store.reader import IndexReader

CASES = tables(__file__)

NOTES = {
    "note.md": "Root.\n",
    "a/note.md": "In a.\n",
    "a/b/note.md": "In b.\n",
    "a/Deep Thing.md": "Deep.\n",
    "z/deep thing.md": "Longer way? No, as long.\n",
    "a/other.md": "---\naliases: [Nick Name]\n---\nOther.\n",
    "x/Nick.md": "Not an alias.\n",
    "x/board.canvas": '{"nodes": []}',
    "x/dotted.name.md": "Dots.\n",
}


@pytest.mark.parametrize(("written_in", "target", "meant"), CASES["linked_from_resolves_a_link"])
def test_linked_from_resolves_a_link(reader: IndexReader, written_in: str, target: str, meant: str) -> None:
    (writer,) = documents_by_path(reader, written_in)
    found = linked_from(reader, writer, [Link(target, "", "", 1)])
    documents = documents_by_key(reader, found)
    assert [document.path for document in documents.values()] == ([meant] if meant else [])


def test_links_and_backlinks_agree(tmp_path: Path) -> None:
    targets = ["note", "a/note", "../note", "b/note", "Nick Name", "board.canvas", "deep thing", "nothing"]
    text = "\n".join(f"[[{target}]]" for target in targets)
    notes = {path: body if path.endswith(".canvas") else body + text for path, body in NOTES.items()}
    with indexed(tmp_path, notes) as index, closing(IndexReader(index.home.index_db)) as reader:
        documents = [documents_by_path(reader, path)[0] for path in NOTES]
        there = {(d.id, to) for d in documents for to in linked_from(reader, d, links_of(reader, d.id))}
        back = {(by, d.id) for d in documents for by in linking_to(reader, d)}
    assert there == back
    assert len(there) > 20


def test_links_stay_in_their_source(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        write(tmp_path / "vault", {"from.md": "[[there]]\n"})
        write(tmp_path / "second", {"there.md": "Another vault.\n"})
        add_source(index.home, "second", tmp_path / "second")
        index._runtime.reload()
        index.sync()
        assert index.related("from").results == ()
        assert index.related("there").results == ()
