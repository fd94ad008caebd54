"""Open the three databases: driver, extension, pragmas, schema version and error translation."""

import contextlib
import itertools
import json
import os
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Protocol

import apsw

from vault_index.errors import (
    BusyError,
    CacheDamagedError,
    IndexCorruptError,
    IndexTooNewError,
    IndexTooOldError,
    NotSetUpError,
    StateDamagedError,
    VaultIndexError,
)
from vault_index.markdown.normalize import project_forms
from vault_index.store import records
from vault_index.unicode import same_form

Name = Literal["index", "cache", "state"]
Begin = Callable[[apsw.Connection], object]
"""Fill a new database, in the transaction that creates its tables."""

DERIVED_VERSIONS: dict[str, int] = {"index": 12, "cache": 4}
"""Schema versions (`PRAGMA user_version`) of the derived databases.

An older file is not migrated but made again. The version of `state.db` is its number of migrations.
"""

_SQL = Path(__file__).parent / "sql"
BUSY_TIMEOUT_MS = 5000
_JOURNAL_LIMIT = 32 * 1024 * 1024
# A vec0 chunk of 1024 vectors must fit the writer's cache, or inserts of wide vectors take seven
# times as long.
_CACHE_KIB: dict[Name, int] = {"index": 32 * 1024, "cache": 4 * 1024, "state": 1024}
_MMAP_BYTES = 1 << 30
REBUILD = "run `vault-index rebuild`, which restores the index from your files"
ANY_OF = "IN (SELECT value FROM json_each(?))"
"""An IN condition for any number of values; `?` marks are limited to 32,766."""

EMBED_PROBLEM = "embed_problem"
"""Meta key of the embedding problem: code, message and hint as JSON; empty without a problem."""

KEPT_HOME = "kept_home"
"""Meta key of the number of chunks that have no vector because their text may not be sent."""

ROWS_MADE_WITH = "rows_made_with"
"""Meta key of the row version; if it differs, a sync rereads all documents and recounts words."""

SYNCED_AT = "synced_at"
"""Meta key of the time of the last sync, in seconds since the epoch."""

UNCLEAN = "unclean"
"""Meta key that is set while the file holds words of deleted documents (`IndexWriter.clean`)."""

NUMBERING = "numbering"
"""Meta key, followed by a source name: the mounts that its inode numbers belong to.

The value is empty if inode numbers are stable.
"""


class Statements(Protocol):
    """A database that runs statements, with the tables of an index and the parameters of SQLite."""

    def execute(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return all rows."""

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Return the first column of the first row; None without rows."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Read one state of the database over several calls."""


class Database:
    """One connection to a database; use it from one thread at a time. Translates driver errors."""

    tables: Mapping[str, str] = {"document": "document", "chunk": "chunk"}
    """Tables or views with the ids of visible documents and chunks, for `count(*)` and IN."""

    def __init__(
        self, path: Path, name: Name, *, writable: bool = False, begin: Begin | None = None
    ) -> None:
        """Open the database. Raises the errors of `connect`."""
        self.path = path
        self.connection = connect(path, name, writable=writable, begin=begin)

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def execute(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return all rows at once: an open cursor would keep the WAL from shrinking."""
        try:
            return self.connection.execute(sql, tuple(values)).fetchall()
        except _TRANSLATED as error:
            raise _translate(error, self.path) from error

    def execute_many(self, sql: str, values: Iterable[Sequence[Any]]) -> None:
        """Run a statement once for each row of values."""
        try:
            self.connection.executemany(sql, values)
        except _TRANSLATED as error:
            raise _translate(error, self.path) from error

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Return the first column of the first row; None without rows."""
        rows = self.execute(sql, values)
        return rows[0][0] if rows else None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block in a transaction, or in the one that is open.

        There are no savepoints: at each, FTS5 would write its new words to the disk.
        """
        outer = not self.connection.in_transaction
        if outer:
            self.execute("BEGIN IMMEDIATE")
        try:
            yield
            if outer:
                self.execute("COMMIT")
        except BaseException:
            # A full disk ends the transaction by itself.
            if outer and self.connection.in_transaction:
                self.connection.execute("ROLLBACK").fetchall()
            raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read one state of the database over several calls."""
        if self.connection.in_transaction:
            yield
            return
        self.execute("BEGIN")
        try:
            yield
        finally:
            self.execute("ROLLBACK")

    def checkpoint(self) -> None:
        """Shrink the WAL, as far as readers allow it."""
        self.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def shrink(self) -> None:
        """Shrink the WAL and free the page cache."""
        self.checkpoint()
        self.execute("PRAGMA shrink_memory")

    def check_tables(self, tables: Mapping[str, str]) -> None:
        """Raise the error of `damaged` if a table or column is missing.

        `tables` maps tables to columns.
        """
        try:
            for table, columns in tables.items():
                self.execute(f"SELECT {columns} FROM {table} LIMIT 0")
        except apsw.SQLError as error:
            raise damaged(self.path, str(error)) from error


_TRANSLATED = (
    apsw.CorruptError, apsw.NotADBError, apsw.BusyError, apsw.LockedError, apsw.FullError,
    apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError, apsw.PermissionsError, OSError,
)  # fmt: skip


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Translate driver exceptions into errors that name the file and the next step."""
    try:
        yield
    except _TRANSLATED as error:
        raise _translate(error, path) from error


def _translate(error: Exception, path: Path) -> VaultIndexError:
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return damaged(path, str(error))
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return BusyError(f"{path} is locked by another process", "try again in a moment")
    for place in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        if place.is_dir() and path.name != "state.db":  # `doctor --fix` moves state.db away
            return VaultIndexError(
                f"{place} is a folder", "move it away and run `vault-index sync`"
            )
    # Even a reader needs some space, for the shared-memory file.
    if isinstance(error, apsw.FullError) or not _has_space(path):
        return VaultIndexError(
            f"no space left on the disk of {path}", "free some disk space and try again"
        )
    # Without the state, sending is never safe.
    kind = StateDamagedError if path.name == "state.db" else VaultIndexError
    if not os.access(path.parent, os.W_OK):
        hint = "make it writable for this user, or choose another place with --home DIR"
        return kind(f"{path.parent} is not writable, and even a search needs that", hint)
    if kind is StateDamagedError:
        return damaged(path, str(error))
    return VaultIndexError(
        f"cannot open or write {path} ({error})", "check its permissions and the disk"
    )


def damaged(path: Path, what: str) -> VaultIndexError:
    """Return the error for a damaged database; `what` describes the damage."""
    error, hint = _DAMAGED.get(path.name, _DAMAGED["index.db"])
    return error(f"{path} is damaged ({what})", hint)


_DAMAGED: dict[str, tuple[type[VaultIndexError], str]] = {
    "index.db": (
        IndexCorruptError,
        "run `vault-index rebuild`, which restores the index from your files",
    ),
    "cache.db": (
        CacheDamagedError,
        "run `vault-index sync`, which sets it aside and refills it from the index",
    ),
    "state.db": (
        StateDamagedError,
        "run `vault-index doctor --fix`; until then no text is sent and no session is indexed",
    ),
}


def set_aside(path: Path) -> Path:
    """Rename a damaged database and its logs to a dated name, and return that name."""
    name = f"{path}.damaged-{time.strftime('%Y-%m-%d')}"
    names = (Path(f"{name}.{number}" if number > 1 else name) for number in itertools.count(1))
    kept = next(one for one in names if not os.path.lexists(one))
    if os.path.lexists(path):
        path.rename(kept)
    # An earlier call was killed at this point: the logs belong to the last file.
    elif before := all_set_aside(path):
        kept = before[-1]
    for suffix in ("-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.rename(f"{path}{suffix}", f"{kept}{suffix}")
    return kept


def all_set_aside(path: Path) -> list[Path]:
    """Return the set-aside files of a database, oldest first."""
    return sorted(
        path.parent.glob(f"{path.name}.damaged-*[0-9]"), key=lambda one: one.lstat().st_ctime_ns
    )


def _has_space(path: Path) -> bool:
    try:
        return os.statvfs(path.parent).f_bavail > 0
    except OSError:
        return True


@cache
def _vec0_path() -> str:
    # Importing sqlite_vec would import numpy; only the path of its library is needed.
    spec = find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        raise VaultIndexError("the sqlite-vec package is missing", "reinstall vault-index")
    return os.path.join(spec.submodule_search_locations[0], "vec0")


def any_of(values: Iterable[object]) -> str:
    """Return the parameter for `ANY_OF`."""
    return json.dumps(list(values))


def load_vec0(connection: apsw.Connection) -> bool:
    """Load vec0 and return whether vector search works; without it, search uses text only."""
    try:
        connection.enable_load_extension(True)
        connection.load_extension(_vec0_path())
        connection.enable_load_extension(False)
        connection.execute("SELECT vec_version()").fetchall()
    except (apsw.Error, AttributeError, VaultIndexError):
        return False
    return True


def connect(
    path: Path, name: Name, *, writable: bool, begin: Begin | None = None
) -> apsw.Connection:
    """Open `path`; if `writable`, create it, and migrate the state.

    Readers never wait for the writer. Raises NotSetUpError (no file or an older one, for a reader),
    IndexTooOldError (an older index, for a writer), CacheDamagedError (an older cache),
    IndexTooNewError, and the errors of `damaged`.
    """
    if not writable and not path.exists():
        raise NotSetUpError("there is no index yet", "run `vault-index sync`")
    with translated(path):
        if writable:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # SQLite gives -wal and -shm the permissions of the database.
            with contextlib.suppress(FileExistsError):
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        # A reader of a WAL database writes to -shm, so readers open it read-write, too. For them,
        # query_only prevents other writes.
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            connection.create_scalar_function("fold", _fold, 1, deterministic=True)
            connection.create_scalar_function(
                "names_project", _names_project, -1, deterministic=True
            )
            connection.create_scalar_function("nfc", _nfc, 1, deterministic=True)
            records.add_functions(connection)
            _prepare(connection, path, name, writable, begin)
        except BaseException:
            connection.close()
            raise
    return connection


def _names_project(*values: "apsw.SQLiteValue") -> bool:
    """Implement `names_project(text, form, ...)`: whether a text names one of these projects."""
    return values[0] is not None and not project_forms(str(values[0])).isdisjoint(
        map(str, values[1:])
    )


def _fold(*values: "apsw.SQLiteValue") -> str | None:
    """Implement `fold(text)` by `same_form`; the functions of SQLite fold only ASCII."""
    return None if values[0] is None else same_form(str(values[0]))


def _nfc(*values: "apsw.SQLiteValue") -> str | None:
    """Implement `nfc(text)`: Unicode normal form C, with the case unchanged."""
    return None if values[0] is None else unicodedata.normalize("NFC", str(values[0]))


def _prepare(
    connection: apsw.Connection, path: Path, name: Name, writable: bool, begin: Begin | None
) -> None:
    version, ours = int(connection.pragma("user_version")), _version(name)
    if version > ours:
        raise IndexTooNewError(
            f"{path} was made by a newer vault-index (schema {version}, this one knows {ours})",
            f"upgrade vault-index, or move {path} away"
            " and run `vault-index sync` with this version",
        )
    if version < ours and (not writable or (version and name != "state")):
        error = NotSetUpError if not writable else _TOO_OLD[name]
        raise error(
            f"{path} was made by an older vault-index (schema {version}, this one needs {ours})",
            f"run `vault-index sync`, which makes a new {name}.db; nothing is lost",
        )
    if writable:
        if version == 0:
            connection.pragma("page_size", 4096 if name == "state" else 16384)
        connection.pragma("journal_mode", "wal")
        connection.pragma("journal_size_limit", _JOURNAL_LIMIT)
        # Full: a power loss must not undo writes to the state.
        connection.pragma("synchronous", "full" if name == "state" else "normal")
        connection.pragma("cache_size", -_CACHE_KIB[name])
        # Overwrite deleted data with zeros. A first sync then writes 0.1 % more bytes, and many
        # deletions 4 %.
        connection.pragma("secure_delete", True)
        if version < ours:
            _migrate(connection, path, name, begin)
    else:
        connection.pragma("query_only", True)
    # With mmap, all pages that a first index touches would stay in memory.
    connection.pragma("mmap_size", 0 if writable and name == "index" else _MMAP_BYTES)


_TOO_OLD: dict[Name, type[VaultIndexError]] = {
    "index": IndexTooOldError,
    "cache": CacheDamagedError,
}


def recreate_index(connection: apsw.Connection) -> None:
    """Drop all tables and create them again, empty.

    Call it inside a transaction: readers see the old rows until its end. Tables of an extension
    that cannot be loaded stay; nothing reads them.
    """
    tables: list[tuple[str, str]] = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
    ).fetchall()  # type: ignore[assignment]
    virtual = [table for table, sql in tables if sql.startswith("CREATE VIRTUAL")]
    for table in virtual:  # first, because they drop their shadow tables
        with contextlib.suppress(apsw.SQLError):
            connection.execute(f"DROP TABLE {table}")
    for table, _ in tables:
        if not any(table.startswith(f"{one}_") for one in virtual) and not table.startswith(
            "sqlite_"
        ):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
    create_index(connection)


def create_index(connection: apsw.Connection) -> None:
    """Create the tables of an index."""
    connection.execute(_steps("index")[0]).fetchall()


def _version(name: Name) -> int:
    return DERIVED_VERSIONS.get(name) or len(_steps(name))


@cache
def _steps(name: Name) -> tuple[str, ...]:
    """Return the SQL that creates a database; for the state, its migrations."""
    return tuple(step.read_text("utf-8") for step in sorted((_SQL / name).glob("*.sql")))


def _migrate(connection: apsw.Connection, path: Path, name: Name, begin: Begin | None) -> None:
    # If two processes start at once, one creates the database, and the other finds it complete.
    connection.execute("BEGIN IMMEDIATE")
    try:
        before = int(connection.pragma("user_version"))
        for step in _steps(name)[before:]:
            connection.execute(step).fetchall()
        connection.pragma("user_version", _version(name))
        if before == 0 and begin is not None:
            begin(connection)
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:  # a full disk ends the transaction by itself
            connection.execute("ROLLBACK")
        # The tables of the file do not match its version.
        if isinstance(error, apsw.SQLError | apsw.ConstraintError):
            raise _translate(apsw.CorruptError(str(error)), path) from error
        raise


def count_rows(db: Database, what: str) -> int:
    """Return the number of rows of `document` or `chunk`."""
    return int(db.value(f"SELECT count(*) FROM {db.tables[what]}"))


def read_meta(db: Statements, key: str) -> str | None:
    """Return the value of a meta key, or None."""
    found: str | None = db.value("SELECT value FROM meta WHERE key = ?", (key,))
    return found


def write_meta(db: Database, key: str, value: str) -> None:
    """Store the value of a meta key."""
    with db.transaction():
        db.execute(
            "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE"
            " SET value = excluded.value",
            (key, value),
        )
