"""Each filter selects its documents, in an index of its own; `without` selects all others."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.store.rows import document_row
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
A, B, C = "80-memory/a.md", "80-memory/b.md", "80-memory/c.md"
INBOX, WAITS = "80-memory/inbox/i.md", "80-memory/inbox/waiting/w.md"
NOTE, CANVAS, PLAIN, LOGGED = "notes/Log [draft].md", "notes/log.canvas", "plain.md", "sessions/s.md"


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


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(tags=("area",)), {NOTE}),
        (Filters(tags=("are",)), set()),
        (Filters(any_tags=("x", "area")), {PLAIN, NOTE}),
        (Filters(tags=("x", "area")), set()),
        (Filters(paths=("notes",)), {NOTE, CANVAS}),
        (Filters(paths=("note",)), set()),
        (Filters(paths=("NOTES/*.md",)), {NOTE}),
        (Filters(paths=("plain",)), {PLAIN}),
        (Filters(after=10.0), {NOTE}),
        (Filters(after=5.0, before=10.0), {PLAIN}),
        (Filters(sources=("VAULT",), files=("log",)), {NOTE, CANVAS}),
        (Filters(titles=("u\u0308BER",)), {PLAIN}),
        (Filters(titles=("log",)), {NOTE, CANVAS}),
        (Filters(titles=("log*6",)), {NOTE}),
        (Filters(titles=("*[x]",)), {CANVAS}),
        (Filters(titles=("brot", "2026")), {PLAIN, NOTE}),
        (Filters(files=("*.canvas",)), {CANVAS}),
        (Filters(concepts=("wal",)), {A, B}),
        (Filters(concepts=("Rate Limits",)), {A}),
        (Filters(concepts=("rate",)), set()),
        (Filters(beads=("BD-12",)), {A}),
        (Filters(confidences=("high", "medium")), {A}),
        (Filters(sessions=("ses_47",)), {A}),
        (Filters(sessions=("5E55",)), {C, LOGGED}),
        (Filters(sessions=("s",)), {A}),
        (Filters(states=("expired",), now=100.0), {A}),
        (Filters(states=("expired",)), {A}),
        (Filters(states=("outdated",), now=100.0), {B}),
        (Filters(states=("superseded",)), {C}),
        (Filters(states=("archived",), now=100.0), {C}),
        (Filters(states=("archived",), now=99.0), set()),
        (Filters(states=("unreviewed",)), {INBOX, WAITS}),
        (Filters(kinds=("memory",), without=(Filters(states=("unreviewed", "archived")),)), {A, B}),
        (Filters(properties=(("status", "done"),)), {NOTE, CANVAS}),
        (Filters(properties=(("status", "done"), ("rating", "5"))), {NOTE}),
        (Filters(properties=(("status", "open"), ("Status", "shut"))), {CANVAS}),
        (Filters(properties=(("draft", "true"),)), {NOTE}),
        (Filters(properties=(("draft", "1"),)), set()),
        (Filters(properties=(("due", None),)), {NOTE}),
        (Filters(properties=(("author", "jane doe"),)), {CANVAS}),
        (Filters(properties=(('a"b.c$', "x"),)), {CANVAS}),
        (Filters(properties=(('a"b.c$', None),)), {CANVAS}),
        (Filters(properties=(("$.status", None),)), set()),
        (Filters(types=("Decision",), kinds=("memory",)), {A}),
        (Filters(without=(Filters(kinds=("memory",)), Filters(files=("log",)))), {PLAIN, LOGGED}),
        (Filters(kinds=("memory",), without=(Filters(states=("expired", "outdated")),)), {C, INBOX, WAITS}),
        (Filters(without=(Filters(properties=(("status", None),)), Filters(kinds=("memory",)))), {PLAIN, LOGGED}),
    ],
)
def test_filters_select_documents(reader: IndexReader, filters: Filters, expected: set[str]) -> None:
    assert paths(reader, filters) == expected
    assert paths(reader, Filters(without=(filters,))) == {row.path for row in ROWS} - expected


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
