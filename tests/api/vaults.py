"""Indexes over vaults in temporary folders, and their rows without ids and times."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from vault_index import VaultIndex
from vault_index.config import find_home
from vault_index.config.edit import create_config
from vault_index.markdown.frontmatter import read_frontmatter
from vault_index.store.connection import load_vec0
from vault_index.store.records import CONTEXT, HEADINGS, TEXT, add_functions


def write(vault: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text(text, encoding="utf-8")


def head(file: Path) -> dict[str, Any]:
    """The frontmatter of a file."""
    return dict(read_frontmatter(file.read_text("utf-8").split("\n")).values)


@contextmanager
def opened(folder: Path, *, provider: str = "none") -> Iterator[VaultIndex]:
    """The index of `folder/vault`, with its home in `folder/home`."""
    home = find_home(folder / "home")
    (folder / "vault").mkdir(exist_ok=True)
    if not home.config_file.exists():
        create_config(home, folder / "vault", provider=provider, memory_dir=None)
    with VaultIndex.open(home) as index:
        yield index


@contextmanager
def indexed(folder: Path, notes: Mapping[str, str], *, provider: str = "none") -> Iterator[VaultIndex]:
    """The index of a vault that holds these notes."""
    with opened(folder, provider=provider) as index:
        write(folder / "vault", notes)
        index.sync()
        yield index


def paths_found(index: VaultIndex, query: str, **options: Any) -> list[str]:
    return [hit.path for hit in index.search(query, **options).results]


def rows(index_db: Path) -> dict[str, list[Any]]:
    """All rows of an index, comparable with a fresh build of the same files."""
    connection = apsw.Connection(str(index_db))
    try:
        load_vec0(connection)
        add_functions(connection)
        connection.execute("INSERT INTO chunk_fts (chunk_fts) VALUES ('integrity-check')")
        found: dict[str, list[Any]] = {
            "document": connection.execute(
                "SELECT source, path, name, uid, kind, title, content_hash, made_with, line_count, tokens, type,"
                " digest, frontmatter, title_given, name_given, archived, unreviewed"
                " FROM document ORDER BY source, path"
            ).fetchall(),
            "chunk": connection.execute(
                f"SELECT path, ordinal, start_line, end_line, {HEADINGS}, {CONTEXT}, {TEXT}, place, bytes,"
                " chunk.tokens, embed_key, terms_hash FROM chunk JOIN document ON document.id = document_id"
                " ORDER BY path, ordinal"
            ).fetchall(),
            "fault": connection.execute("SELECT * FROM fault ORDER BY source, path, line, message").fetchall(),
        }
        for table in ("tag", "alias", "link"):
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[1] != "document_id"]
            names = ", ".join(columns)
            found[table] = connection.execute(
                f"SELECT path, {names} FROM {table} JOIN document ON document.id = document_id ORDER BY path, {names}"
            ).fetchall()
        connection.execute("INSERT INTO name_fts (name_fts) VALUES ('integrity-check')")
        connection.execute("CREATE VIRTUAL TABLE temp.called USING fts5vocab (main, name_fts, instance)")
        found["name"] = connection.execute(
            "SELECT path, col, term, offset FROM called JOIN document ON document.id = doc ORDER BY 1, 2, 4"
        ).fetchall()
        found["term"] = connection.execute("SELECT stem, word, chunks FROM term ORDER BY stem, word").fetchall()
        blocks = "SELECT id FROM text_block EXCEPT SELECT block_id FROM chunk"
        assert connection.execute(blocks).fetchall() == []
        for unfinished in ("stale_name", "uncounted_chunk", "uncounted_text"):
            assert connection.execute(f"SELECT count(*) FROM {unfinished}").fetchone() == (0,)
        chunk_ids = connection.execute("SELECT id FROM chunk ORDER BY id").fetchall()
        assert connection.execute("SELECT rowid FROM chunk_fts ORDER BY rowid").fetchall() == chunk_ids
        for (space_id,) in connection.execute("SELECT id FROM vector_space ORDER BY id").fetchall():
            with_vector = connection.execute(f"SELECT rowid FROM vector_{space_id} ORDER BY rowid").fetchall()
            pending = connection.execute("SELECT chunk_id FROM pending WHERE space_id = ?", (space_id,)).fetchall()
            assert sorted(with_vector + pending) == chunk_ids
            found[f"vectors {len(found)}"] = connection.execute(
                f"SELECT path, ordinal, embedding FROM vector_{space_id} AS v JOIN chunk ON chunk.id = v.rowid"
                " JOIN document ON document.id = document_id ORDER BY path, ordinal"
            ).fetchall()
        return found
    finally:
        connection.close()


def fresh_rows(folder: Path, *, provider: str = "none") -> dict[str, list[Any]]:
    """Rows of a fresh index of the same vault, which is removed afterwards."""
    home = find_home(folder / "fresh")
    create_config(home, folder / "vault", provider=provider, memory_dir=None)
    with VaultIndex.open(home) as index:
        index.sync()
    try:
        return rows(home.index_db)
    finally:
        for path in sorted((folder / "fresh").rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
