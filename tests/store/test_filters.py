"""Each filter selects its documents, in an index of its own; `without` selects all others."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.store.rows import document_row
from tests.tables import filters_of, tables
from vault_index.models import Filters
from vault_index.store.documents import Order, documents_page
from vault_index.store.reader import IndexReader
from vault_index.store.writer import DocumentRow, IndexWriter

SESSION = "5e55a001" + "0" * 24


def row(path: str, title: str = "T", *, frontmatter: dict[str, Any] | None = None, **fields: Any) -> DocumentRow:
    return replace(document_row(path, ["text"], title=title), frontmatter=frontmatter or {}, **fields)


ROWS = (
    row("plain.md", "Über Brot", created=5.0, tags=("x",)),
    row("notes/Log [draft].md", "Log 2026", created=10.0, tags=("area/sub",),
        frontmatter={"status": "Done", "rating": 5, "due": None, "draft": True}),
    row("notes/log.canvas", "log [x]",
        frontmatter={"status": ["open", "done"], "author": "[[Jane Doe]]", 'a"b.c$': "x"}),
    row("80-memory/a.md", kind="memory", type="decision", confidence="high", expires=100.0,
        frontmatter={"Concepts": ["WAL", "rate limits"], "bead_id": "bd-12", "session_id": "ses_4711"}),
    row("80-memory/b.md", kind="memory", confidence="low", valid_until=100.0, frontmatter={"concepts": "wal"}),
    row("80-memory/c.md", kind="memory", superseded_by="x", archived=100.0, frontmatter={"session": SESSION}),
    row("80-memory/inbox/i.md", kind="memory", unreviewed=1),
    row("80-memory/inbox/waiting/w.md", kind="memory", unreviewed=2),
    row("sessions/s.md", kind="session", uid=SESSION),
)  # fmt: skip


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexReader]:
    path = tmp_path_factory.mktemp("filters") / "index.db"
    writer = IndexWriter(path)
    for document in ROWS:
        writer.put_document(document, (), None, {})
    writer.close()
    opened = IndexReader(path)
    yield opened
    opened.close()


def paths(reader: IndexReader, filters: Filters) -> set[str]:
    documents, total = documents_page(reader, filters, Order("path", False), -1, 0)
    assert total == len(documents)
    return {document.path for document in documents}


@pytest.mark.parametrize(("fields", "expected"), tables(__file__)["filters_select_documents"])
def test_filters_select_documents(reader: IndexReader, fields: dict[str, Any], expected: list[str]) -> None:
    filters = filters_of(fields)
    assert paths(reader, filters) == {*expected}
    assert paths(reader, Filters(without=(filters,))) == {row.path for row in ROWS} - {*expected}


_MARKS = st.sampled_from("'\"$.[]*?%_\\{}:")


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0") | _MARKS, max_size=12))
def test_filters_treat_any_text_as_a_value(reader: IndexReader, text: str) -> None:
    """Quotes, dots, dollars and brackets are neither SQL nor a path into JSON."""
    for filters in (
        Filters(concepts=(text,), beads=(text,)), Filters(properties=((text, "done"),)),
        Filters(properties=(("rating", text),)), Filters(properties=((text, None),)), Filters(titles=(text,)),
        Filters(files=(text,)), Filters(sessions=(text,)),
    ):  # fmt: skip
        chosen = paths(reader, filters)
        assert paths(reader, Filters(without=(filters,))) == {row.path for row in ROWS} - chosen
