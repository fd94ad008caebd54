"""`doctor` and `repair`: find problems in and around the databases, and rebuild derived data."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from vault_index.config import Home, PoolConfig
from vault_index.disk import WriteLock
from vault_index.errors import (
    BusyError,
    CacheDamagedError,
    IndexCorruptError,
    StateDamagedError,
    VaultIndexError,
)
from vault_index.health.environment import (
    clock_problems,
    leftover_problems,
    permission_problems,
    some,
    tighten,
    token_problems,
)
from vault_index.health.status import index_status
from vault_index.models import Origin
from vault_index.progress import CancelToken, Progress, no_progress
from vault_index.query.search import SearchOptions
from vault_index.query.selftest import DEPTH, self_test
from vault_index.results.base import Problem
from vault_index.results.status import DoctorReport, RecallReport
from vault_index.runtime import Runtime
from vault_index.store.cache import Cache
from vault_index.store.connection import SYNCED_AT, read_meta
from vault_index.store.document_names import document_names
from vault_index.store.documents import paths_by_shared_id, source_counts
from vault_index.store.integrity import Checkup, Comparison, cache_damage, vec0_fault
from vault_index.store.spaces import lacking_documents, serving_space
from vault_index.store.state import State, mend

_LOCK_SECONDS = 5.0
_FIX = "vault-index doctor --fix"

TO_SYNC = frozenset({"index_corrupt", "not_set_up", "behind", "leftover", "state_damaged"})
"""Codes of problems that a sync repairs, or that prevented reading."""
TO_BEGIN_ANEW = frozenset({"index_corrupt", "index_damaged", "terms", "differs"})
"""Codes of problems that new rows from the files repair."""
TO_REFILL = frozenset({"vectors"})
"""Codes of problems that new vectors from the cache repair."""


def run_doctor(runtime: Runtime, *, recall: bool, deep: bool) -> DoctorReport:
    """Return every problem.

    With `recall`, also measure how well notes are found by their names; with `deep`, also compare
    the index with a fresh one in a temporary folder.
    """
    shared, synced_at = _indexed(runtime)
    status = index_status(runtime)
    problems = list(status.problems)
    problems += [
        Problem(
            "shared_id",
            f"{len(paths)} memories have the id {uid}: {', '.join(paths)}",
            "delete the copies, or remove their line `id`; until then refer to them by path",
        )
        for uid, paths in shared.items()
    ]
    known = {problem.code for problem in problems}
    problems += [problem for problem in _outside(runtime, synced_at) if problem.code not in known]
    if not known & {"index_corrupt", "index_too_new", "not_set_up"}:
        inside = list(_inside(runtime.home))
        problems += inside
        if deep and not inside:
            problems += _deep(runtime)
    found = _recall(runtime) if recall else None
    return DoctorReport(not problems, tuple(problems), found, advice=status.embedder.advice)


def repair_index(
    runtime: Runtime, *, deep: bool, progress: Progress, cancel: CancelToken | None
) -> DoctorReport:
    """Rebuild derived data, and tighten permissions.

    If a source is missing, no index is rebuilt, because its rows would be lost.
    """
    before = run_doctor(runtime, recall=False, deep=deep).problems
    codes = {problem.code for problem in before}
    done: dict[str, str] = {}
    tighten(runtime.home)
    if "state_damaged" in codes:
        with WriteLock(runtime.home.write_lock).held("doctor", _LOCK_SECONDS):
            done["state_damaged"] = mend(runtime.home.state_db)
    if codes & TO_BEGIN_ANEW and "source_vanished" not in codes:
        runtime.write.sync(
            None, dry_run=False, embed=True, progress=progress, cancel=cancel, anew=True
        )
    elif codes & TO_SYNC:
        runtime.write.sync(None, dry_run=False, embed=True, progress=progress, cancel=cancel)
    elif codes & TO_REFILL:
        runtime.write.refill(progress=progress)
    # A sync may have repaired it.
    if "cache_damaged" in codes and (damage := _cache_damage(runtime.home)):
        with runtime.write.held("doctor"):
            done["cache_damaged"] = runtime.write.renew_cache(CacheDamagedError(damage)).message
    after = run_doctor(runtime, recall=False, deep=deep)
    fixed = [
        replace(one, message=done.get(one.code, one.message))
        for one in before
        if one not in after.problems
    ]
    return replace(after, fixed=tuple(fixed))


def _recall(runtime: Runtime) -> RecallReport:
    settings = runtime.config.search
    match: Literal["any", "all"] = "all" if settings.match == "all" else "any"
    options = SearchOptions(
        DEPTH,
        match=match,
        per_document=1,
        fuzzy=settings.fuzzy,
        threshold=settings.threshold,
        origins=lambda: (Origin(),),  # names of documents that may be sent
    )
    with runtime.pool.lend() as connections:
        reader, searcher = connections.reader, runtime.searcher(connections)
        space = serving_space(reader)
        remote = space is not None and space.space.provider != "local"
        leaving = runtime.moments().leaving(lacking_documents(reader, None)) if remote else None
        documents = document_names(reader, time.time(), leaving)
        return self_test(
            documents,
            lambda query: [
                (hit.path, *hit.also) for hit in searcher.search(query, options).results
            ],
        )


# --- problems -------------------------------------------------------------------------------------


def _indexed(runtime: Runtime) -> tuple[Mapping[str, list[str]], str | None]:
    """Return the memories that share an id, and the time of the last sync.

    Empty if the index cannot be opened.
    """
    try:
        with runtime.pool.lend() as connections:
            return paths_by_shared_id(connections.reader), read_meta(connections.reader, SYNCED_AT)
    except VaultIndexError:  # `status` reports it
        return {}, None


def _damaged_versions(home: Home) -> Iterator[Problem]:
    """Yield damage in the revisions of memories, which `status` does not check."""
    if home.state_db.exists():
        with suppress(VaultIndexError), closing(State(home.state_db)) as state:
            state.check()
            try:
                state.check(whole=True)
            except StateDamagedError as error:
                yield Problem(error.code, error.message, error.hint)


def _outside(runtime: Runtime, synced_at: str | None) -> Iterator[Problem]:
    """Yield problems outside the databases."""
    now = time.time()
    if runtime.config.embedding.provider != "none" and (fault := vec0_fault()):
        yield Problem("vec0", f"{fault}: search works by keywords only", "reinstall vault-index")
    yield from _damaged_versions(runtime.home)
    yield from permission_problems(runtime.home)
    yield from token_problems(runtime.home)
    yield from clock_problems(synced_at, now)
    yield from leftover_problems(runtime.config, now)
    if runtime.config.pool.dsn:
        yield from _pool(runtime.config.pool)


def _pool(settings: PoolConfig) -> Iterator[Problem]:
    """Yield the reason why the team's pool cannot be reached."""
    from vault_index.team.address import conninfo  # late, because psycopg is optional
    from vault_index.team.database import connect

    try:
        connect(conninfo(settings)).close()
    except VaultIndexError as error:
        yield Problem("pool", error.message, error.hint)


def _inside(home: Home) -> Iterator[Problem]:
    """Yield problems in the databases, if they can be opened; otherwise `status` reports it."""
    if (
        os.access(home.data_dir, os.W_OK)
        and home.cache_db.exists()
        and (damage := _cache_damage(home))
    ):
        yield Problem(
            "cache_damaged",
            f"{home.cache_db} is damaged: {damage}",
            f"{_FIX} sets it aside, and fills a new one from the index",
        )
    try:
        with _examined(home) as checkup:
            for code, look, what in (
                ("index_damaged", checkup.damage, "the index is damaged"),
                ("terms", checkup.terms, "the word index is inconsistent"),
                ("vectors", checkup.vectors, "the vectors are inconsistent"),
            ):
                if found := look():
                    yield Problem(code, f"{what}: {found}", f"{_FIX} rebuilds it from your files")
                    break
    except IndexCorruptError as error:
        yield Problem("index_damaged", error.message, f"{_FIX} rebuilds it from your files")
    except BusyError as error:
        yield Problem(
            "busy", f"{error.message}: the databases were not checked", "run doctor again later"
        )
    except VaultIndexError:
        pass


def _deep(runtime: Runtime) -> Iterator[Problem]:
    """Yield differences between the index and a fresh one."""
    home, config = runtime.home, runtime.config
    here = [source.config.name for source in runtime.sources if not source.missing()]
    try:
        with TemporaryDirectory(prefix="vault-index-doctor-") as folder:
            fresh = home._replace(data_dir=Path(folder), runtime_dir=Path(folder))
            without_vectors = replace(config, embedding=replace(config.embedding, provider="none"))
            with closing(Runtime(fresh, without_vectors)) as built:
                built.write.sync(None, dry_run=False, embed=False, progress=no_progress)
            with runtime.pool.lend() as connections:
                indexed = source_counts(connections.reader).keys()
            with _examined(home) as checkup:
                yield from _rows(home, fresh, here, whole=indexed <= {*here})
                yield from _vectors(home, checkup)
    except BusyError as error:
        yield Problem(
            "busy", f"{error.message}: the index was not compared", "run doctor again later"
        )
    except IndexCorruptError as error:
        yield Problem("index_damaged", error.message, f"{_FIX} rebuilds it from your files")


def _rows(home: Home, fresh: Home, sources: Sequence[str], *, whole: bool) -> Iterator[Problem]:
    with closing(Comparison(home.index_db, fresh.index_db, sources)) as comparison:
        behind = comparison.behind()
        differing = [place for place in comparison.differing() if place not in behind]
        words = comparison.words() if whole and not behind and not differing else []
    if behind:
        yield Problem(
            "behind",
            f"{len(behind)} documents changed since they were indexed: {_paths(behind)}",
            f"vault-index sync, or {_FIX}; a daemon syncs by itself",
        )
    if differing:
        yield Problem(
            "differs",
            f"{len(differing)} documents differ from a fresh index: {_paths(differing)}",
            f"{_FIX} rebuilds the rows from your files; please report this",
        )
    if words:
        yield Problem(
            "differs",
            f"the words of the index differ from a fresh index ({', '.join(words)})",
            f"{_FIX} rebuilds the rows from your files; please report this",
        )


def _vectors(home: Home, checkup: Checkup) -> Iterator[Problem]:
    """Yield a problem if vectors differ from the cache for the same text."""
    if (space := checkup.serving()) is None:
        return
    wrong = 0
    with closing(Cache(home.cache_db)) as cache:
        for batch in checkup.vectors_by_key():
            known = cache.embeddings(space, [key for key, _ in batch])
            wrong += sum(known.get(key, vector) != vector for key, vector in batch)
    if wrong:
        yield Problem(
            "vectors",
            f"{wrong} vectors do not match their texts",
            f"{_FIX} restores them from the cache",
        )


@contextmanager
def _examined(home: Home) -> Iterator[Checkup]:
    with (
        WriteLock(home.write_lock).held("doctor", _LOCK_SECONDS),
        closing(Checkup(home.index_db)) as checkup,
    ):
        yield checkup


def _paths(places: Sequence[tuple[str, str]]) -> str:
    return some([path for _, path in places])


def _cache_damage(home: Home) -> str:
    try:
        damage = cache_damage(home.cache_db)
        Cache(home.cache_db).close()  # checks its tables
    except VaultIndexError as error:
        return error.message
    return damage
