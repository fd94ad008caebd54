"""Publish documents of this machine to the pool: plan, then one transaction for each batch."""

from __future__ import annotations

import platform
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from vault_index.errors import (
    BusyError,
    NotFoundError,
    PoolError,
    UsageError,
    VaultIndexError,
)
from vault_index.indexer.machine import Machine
from vault_index.indexer.publishing import row_to_publish
from vault_index.mirroring.exchange import Exchange
from vault_index.progress import CancelToken, Progress, no_progress
from vault_index.results.base import Problem
from vault_index.results.pool import PoolReport, PublishedSource
from vault_index.secrets.find import redact
from vault_index.store.cache import Cache
from vault_index.store.connection import SYNCED_AT, read_meta
from vault_index.store.publishing import (
    Indexed,
    Whole,
    has_origin,
    indexed,
    indexed_rows,
    whole_documents,
)
from vault_index.store.spaces import serving_space
from vault_index.team.address import conninfo, label
from vault_index.team.database import connect, translated
from vault_index.team.files import SHARED
from vault_index.team.mirror import Mirror
from vault_index.team.rows import put_vectors, replace_documents
from vault_index.team.shared_vectors import as_floats, space_of

if TYPE_CHECKING:
    import psycopg

    Pool = psycopg.Connection[Any]

_LOOK_SECONDS = 0.2
_BATCH_DOCUMENTS = 50
_BATCH_PATHS = 500
_BATCH_KEYS = 1000

T = TypeVar("T")


class Plan(NamedTuple):
    """The difference between a source and its documents in the pool."""

    put: tuple[int, ...]
    """Row ids."""
    remove: tuple[str, ...]
    """Paths."""
    unchanged: int


def diff(
    local: Mapping[str, tuple[int, bytes]], pool: Mapping[str, bytes], *, complete: bool
) -> Plan:
    """Compare documents by path: the row id and the version here, the version there.

    Nothing is removed while the index is not `complete`.
    """
    put = tuple(id_ for path, (id_, version) in local.items() if pool.get(path) != version)
    remove = sorted(pool.keys() - local.keys()) if complete else ()
    return Plan(put, tuple(remove), len(local) - len(put))


def publish(
    machine: Machine,
    names: Sequence[str] = (),
    *,
    dry_run: bool = False,
    take: bool = False,
    mirror_only: bool = False,
    patience: float = 0.0,
    progress: Progress = no_progress,
    cancel: CancelToken | None = None,
) -> PoolReport:
    """Publish these sources, or all that are chosen, and report the problems of each.

    Then exchange the memories of the pool, unless sources are given. Wait `patience` seconds for
    another process that publishes. Raises NotSetUpError and PoolError.
    """
    started, results = time.monotonic(), []
    address = conninfo(machine.config.pool)
    with translated(), closing(connect(address)) as pool:
        publisher = Publisher(machine, pool, progress, cancel, patience)
        for name in () if mirror_only else names or machine.config.pool.sources:
            try:
                results.append(publisher.publish(name, dry_run=dry_run, take=take))
            except PoolError:
                raise
            except VaultIndexError as error:
                problem = Problem("pool", f"{name}: {error.message}", error.hint)
                results.append(_not_published(name, problem))
        exchange, shared = Exchange(), 0
        if machine.config.pool.mirror and not (names or dry_run):
            exchange, shared = Mirror(machine, pool).run(), publisher.put_shared_vectors()
    return PoolReport(
        tuple(results),
        len(results),
        sum(one.published for one in results),
        sum(one.removed for one in results),
        sum(one.vectors for one in results) + shared,
        dry_run,
        round(time.monotonic() - started, 3),
        tuple(one.problem for one in results if one.problem) + exchange.problems,
        exchange.pulled,
        exchange.pushed,
        exchange.conflicts,
    )


def _not_published(name: str, problem: Problem) -> PublishedSource:
    return PublishedSource(name, 0, 0, 0, problem=problem)


class Publisher:
    """Publishes sources of one machine over one connection, in autocommit mode."""

    def __init__(
        self, machine: Machine, pool: Pool, progress: Progress = no_progress,
        cancel: CancelToken | None = None, patience: float = 0.0,
    ) -> None:  # fmt: skip
        self._machine = machine
        self._pool = pool
        self._name = machine.config.pool.machine or platform.node()
        self._patience = patience
        self._progress = progress
        self._cancel = cancel or CancelToken()

    def publish(self, name: str, *, dry_run: bool = False, take: bool = False) -> PublishedSource:
        """Make the pool hold what may leave of a source.

        A source that is missing on this machine stays in the pool unchanged. Raises UsageError if
        another machine publishes it (unless `take`), BusyError if another process does so now, and
        PoolError.
        """
        if name not in self._machine.sources:
            hint = f"its documents stay in the pool; remove them: vault-index pool leave {name}"
            raise NotFoundError(f"pool.sources names {name!r}, which is not a source", hint)
        if reason := self._machine.sources[name].missing():
            message = f"source {name!r}: {reason}"
            hint = f"its documents stay in the pool; {self._machine.sources[name].remedy}"
            return _not_published(name, Problem("source_vanished", message, hint))
        if dry_run:
            with translated():
                self._check_owner(name, take=True)
            plan = self._plan(name)
            return PublishedSource(name, len(plan.put), len(plan.remove), plan.unchanged)
        with translated(), self._owned(name, take):
            plan = self._plan(name)
            published = sum(map(self._put, self._cancellable(plan.put, _BATCH_DOCUMENTS)))
            for paths in self._cancellable(plan.remove, _BATCH_PATHS):
                replace_documents(self._pool, name, paths, ())
            changed = bool(published or plan.remove)
            lacks = changed or self._value("SELECT pending FROM source WHERE name = %s", name)
            vectors, pending = self.put_vectors(name) if lacks else (0, 0)
            if changed or vectors:
                self._note(name, pending)
        stopped = self._cancel.cancelled
        waiting = 0 if stopped else len(plan.put) - published
        return PublishedSource(
            name, published, len(plan.remove), plan.unchanged, waiting, vectors, not stopped
        )

    def _cancellable(self, items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
        for start in range(0, len(items), size):
            if self._cancel.cancelled:
                return
            yield items[start : start + size]
            self._progress("publish", min(start + size, len(items)), len(items))

    # --- ownership --------------------------------------------------------------------------------

    @contextmanager
    def _owned(self, name: str, take: bool) -> Iterator[None]:
        """Hold the lock of a source that this machine owns."""
        lock = "(hashtext('vault-index source'), hashtext(%s))"
        deadline = time.monotonic() + self._patience
        while not self._value(f"SELECT pg_try_advisory_lock{lock}", name):
            if time.monotonic() >= deadline:
                message = f"another process is publishing the source {name!r}"
                raise BusyError(message, "try again in a moment")
            time.sleep(_LOOK_SECONDS)
        try:
            self._pool.execute(
                "INSERT INTO source (name, machine) VALUES (%s, %s) ON CONFLICT DO NOTHING",
                (name, self._name),
            )
            self._check_owner(name, take)
            settings = self._machine.config.pool
            self._pool.execute(
                "UPDATE source SET machine = %(machine)s, private = %(private)s"
                " WHERE name = %(name)s AND (machine, private) <> (%(machine)s, %(private)s)",
                {
                    "name": name,
                    "machine": self._name,
                    "private": name in settings.private,
                },
            )
            yield
        finally:
            if not self._pool.closed:
                self._pool.execute(f"SELECT pg_advisory_unlock{lock}", (name,))

    def _check_owner(self, name: str, take: bool) -> None:
        found = self._pool.execute(
            "SELECT owner = current_user AND NOT shared, machine FROM source WHERE name = %s",
            (name,),
        ).fetchone()
        if found is None and not take:  # another member's, whose sources this one may not see
            found = (False, "")
        mine, machine = found or (True, "")
        if not mine:
            raise UsageError(
                f"the source {name!r} of the pool belongs to another member",
                f"rename it here: change the section [sources.{name}] of the configuration",
            )
        if machine not in ("", self._name) and not take:
            raise UsageError(
                f"the machine {machine!r} publishes the source {name!r}",
                "rename the source on this machine; or, if that machine is gone:"
                f" vault-index pool publish {name} --take",
            )

    # --- documents --------------------------------------------------------------------------------

    def _plan(self, name: str) -> Plan:
        moment = self._machine.moments()
        with self._machine.reads.lend() as connections:
            salt = connections.state.deleted()[0]
            rows = indexed_rows(connections.reader, name)
            complete = read_meta(connections.reader, SYNCED_AT) is not None
        known, kept = moment.versions.get(name, {}), dict[int, bytes]()
        local: dict[str, tuple[int, bytes]] = {}
        found: dict[int, Indexed] = {}
        for row in rows:
            key = hash(row)
            if key in known and not has_origin(row):
                local[row[1]] = row[0], kept.setdefault(key, known[key])
            elif moment.publishes(one := indexed(row, salt)):
                found[key] = one
        # Files of unchanged rows are not looked at again: after a change of ignore rules, the next
        # sync removes the rows.
        same = {one.state.id for key, one in found.items() if key in known}
        private = moment.private((one.state for one in found.values()), same)
        for key, one in found.items():
            if one.state not in private:
                local[one.state.path] = one.state.id, kept.setdefault(key, one.version)
        moment.versions[name] = kept
        there = self._pool.execute("SELECT path, version FROM document WHERE source = %s", (name,))
        return diff(local, dict(there.fetchall()), complete=complete)

    def _put(self, batch: Sequence[int]) -> int:
        """Publish documents that may leave now; return their number."""
        wholes = self._read(batch)
        rows = {one.state.id: row_to_publish(one) for one in wholes}
        # The settings and the files are checked last, right before the texts leave.
        moment = self._machine.moments()
        leaving = moment.leaving(
            one.state
            for one in wholes
            if moment.publishes(Indexed(one.state, one.row.kind, one.row.unreviewed, b""))
            and not redact(one.row.path)[1]
        )
        sent = [(rows[one.state.id], one.version) for one in wholes if one.state.id in leaving]
        if sent:
            texts = ((row.source, row.path, len(row.chunks)) for row, _ in sent)
            self._machine.declare("pool", label(self._machine.config.pool), texts)
            replace_documents(self._pool, sent[0][0].source, [row.path for row, _ in sent], sent)
        return len(sent)

    def _read(self, ids: Collection[int]) -> list[Whole]:
        with self._machine.reads.lend() as connections:
            salt = connections.state.deleted()[0]
            return whole_documents(connections.reader, ids, salt)

    def _note(self, name: str, pending: int | None) -> None:
        """Record the time of a publication, and how many chunks have no vector (None: unknown)."""
        self._pool.execute(
            "UPDATE source SET published = now(), pending = coalesce(%s, (SELECT count(*)"
            " FROM chunk JOIN zone ON zone.id = chunk.zone_id WHERE zone.source = source.name"
            " AND NOT EXISTS (SELECT FROM embedding JOIN vector_space ON vector_space.id = space_id"
            " WHERE key = embed_key AND embedding.zone_id = chunk.zone_id AND state = 'serving')))"
            " WHERE name = %s",
            (pending, name),
        )

    # --- vectors ----------------------------------------------------------------------------------

    def put_shared_vectors(self) -> int:
        """Publish the vectors of shared memories, if this member may write them."""
        writes = self._value("SELECT writes FROM member WHERE role = current_user")
        return 0 if writes is False else self.put_vectors(SHARED)[0]

    def put_vectors(self, name: str) -> tuple[int, int | None]:
        """Publish the vectors of published texts that this machine has; return their number.

        Also return how many chunks have no vector that answers queries; None: unknown.
        """
        with self._machine.reads.lend() as connections:
            row = serving_space(connections.reader)
        if row is None:
            return 0, None
        space_id, put, pending = space_of(self._pool, row.space), 0, 0
        lacking = self._pool.execute(
            "SELECT embed_key, count(*) FROM chunk JOIN zone ON zone.id = chunk.zone_id"
            " WHERE source = %s AND NOT EXISTS (SELECT FROM embedding"
            " WHERE key = embed_key AND embedding.zone_id = chunk.zone_id AND space_id = %s)"
            " GROUP BY embed_key",
            (name, space_id),
        )
        with closing(Cache(self._machine.home.cache_db)) as cache:
            while (rows := lacking.fetchmany(_BATCH_KEYS)) and not self._cancel.cancelled:
                vectors = cache.embeddings(row.space, [key for key, _ in rows])
                floats = {key: as_floats(row.space, one) for key, one in vectors.items()}
                put_vectors(self._pool, space_id, name, floats)
                put += len(vectors)
                pending += sum(chunks for key, chunks in rows if key not in vectors)
        serves = self._value("SELECT state = 'serving' FROM vector_space WHERE id = %s", space_id)
        return put, pending if serves and not self._cancel.cancelled else None

    def _value(self, sql: str, *values: object) -> Any:
        row = self._pool.execute(sql, values).fetchone()
        return row[0] if row else None
