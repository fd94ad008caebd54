"""Machines of a team: each has a home with one vault, and publishes it to a pool."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

from vault_index.api import VaultIndex
from vault_index.config import find_home
from vault_index.results.pool import PoolReport, PublishedSource
from vault_index.runtime import Runtime
from vault_index.team.database import connect
from vault_index.team.publish import Publisher, publish

COMPARED = {
    "document": "source, path, uid, kind, title, line_count, tokens, created, updated, project, unreviewed,"
    " frontmatter, title_given, name_given, words, name_terms, name_weights, content_hash",
    "chunk": "ordinal, start_line, end_line, tokens, headings, text, embed_key, terms, weights",
    "tag": "tag",
    "alias": "alias, folded",
    "link": "line, target, target_name, heading, text, embed, terms",
}
"""The published columns of each table, without ids and stamps."""


class Laptop:
    """A home in `folder` with the vault `notes`, a member of the pool at `dsn`."""

    def __init__(self, folder: Path, dsn: str, settings: str = "", *, embedder: str = "none") -> None:
        self.vault = folder / "notes"
        self.vault.mkdir(parents=True)
        self.home = find_home(folder / "home")
        self.home.data_dir.mkdir(mode=0o700)
        self.dsn, self.embedder = dsn, embedder
        self.configure(settings)

    def configure(self, settings: str = "", *, vault: str = "") -> None:
        """Write the configuration: `settings` of the section `pool`, and of the vault."""
        chosen = "" if "sources = " in settings else 'sources = ["notes"]\n'
        self.home.config_file.write_text(
            f'[sources.notes]\npath = "{self.vault}"\n{vault}\n[embedding]\nprovider = "{self.embedder}"\n'
            f'[pool]\ndsn = "{self.dsn}"\nmachine = "{self.vault.parent.name}"\n{chosen}{settings}\n'
        )

    def write(self, path: str, text: str) -> None:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def sync(self) -> None:
        with VaultIndex.open(self.home) as index:
            index.sync()

    def publish(self, name: str = "notes", **options: Any) -> PublishedSource:
        """Index the files, and publish one source."""
        self.sync()
        with closing(Runtime.open(self.home)) as runtime, connect(self.dsn) as pool:
            return Publisher(runtime.machine(), pool).publish(name, **options)

    def exchange(self) -> PoolReport:
        """Index the files, publish all sources and exchange the mirrored files."""
        self.sync()
        with closing(Runtime.open(self.home)) as runtime:
            return publish(runtime.machine())

    def read(self, path: str) -> str:
        return (self.vault / path).read_text("utf-8")


def contents(dsn: str) -> Mapping[str, list[Any]]:
    """Return everything that a pool holds of its documents, in an order that does not depend on its history."""
    with psycopg.connect(dsn, options="-c search_path=pool,public") as pool:
        found: dict[str, list[Any]] = {}
        for table, columns in COMPARED.items():
            joined = "" if table == "document" else " JOIN document ON document.id = document_id"
            listed = ", ".join(f"{table}.{column}::text" for column in columns.split(", "))
            sql = f"SELECT source, path, {listed} FROM {table}{joined}"
            found[table] = sorted(pool.execute(sql).fetchall())
        found["term"] = pool.execute(
            "SELECT source, folder, project, stem, word, term.chunks FROM term JOIN zone ON zone.id = zone_id"
            " WHERE term.chunks <> 0 ORDER BY 1, 2, 3, 4, 5"
        ).fetchall()
        found["zone"] = pool.execute(
            "SELECT source, folder, project, documents, chunks FROM zone WHERE documents > 0 ORDER BY 1, 2, 3"
        ).fetchall()
        found["embedding"] = pool.execute(
            "SELECT source, folder, project, key, data::text FROM embedding JOIN zone ON zone.id = zone_id"
            " ORDER BY 1, 2, 3, 4"
        ).fetchall()
        return found


def paths(dsn: str) -> set[str]:
    """Return the paths of the documents of a pool."""
    return {row[1] for row in contents(dsn)["document"]}
