"""Which documents an answer about one may name, and their order in time."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.vaults import opened, write
from vault_index.models import Filters, State
from vault_index.store.documents import documents_by_path
from vault_index.store.reader import IndexReader
from vault_index.store.related import Others, among, in_time

DAY = "---\ncreated: 2026-01-02\n{more}---\nText.\n"
NOTES = {
    "b.md": DAY.format(more=""),
    "a.md": DAY.format(more=""),
    "c.md": DAY.format(more=""),
    "80-memory/expired.md": DAY.format(more="expires: 2026-01-10\n"),
    "80-memory/superseded.md": DAY.format(more="superseded_by: other\n"),
    "80-memory/lasting.md": DAY.format(more="expires: 2026-03-01\n"),
}
NOW = 1_770_000_000.0  # in February 2026


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[IndexReader]:
    with opened(tmp_path) as index:
        write(tmp_path / "vault", NOTES)
        index.sync()
        reader = IndexReader(index.home.index_db)
        yield reader
        reader.close()


def keys(reader: IndexReader) -> dict[str, int]:
    return {path: documents_by_path(reader, path)[0].id for path in NOTES}


@pytest.mark.parametrize(
    ("states", "named"),
    [
        ((), {"a.md", "c.md", "80-memory/lasting.md"}),
        (("expired",), {"80-memory/expired.md"}),
        (("superseded",), {"80-memory/superseded.md"}),
    ],
)
def test_others_are_not_over_unless_asked_for(reader: IndexReader, states: tuple[State, ...], named: set[str]) -> None:
    ids = keys(reader)
    others = Others(ids["b.md"], Filters(states=states, now=NOW), NOW)
    assert among(reader, others, ids.values()) == {ids[path] for path in named}


def test_equal_times_are_in_the_order_of_paths(reader: IndexReader) -> None:
    ids = keys(reader)
    (anchor,) = documents_by_path(reader, "b.md")
    before, after = in_time(
        reader, Others(anchor.id, Filters(), NOW), (anchor.created, anchor.path, anchor.source), before=9, after=9
    )
    assert before == [ids["80-memory/lasting.md"], ids["a.md"]]
    assert after == [ids["c.md"]]
