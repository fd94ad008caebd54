"""What `doctor` looks for inside the databases, and which of it is mended from the files and the cache."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from vault_index.config import Config, Home
from vault_index.errors import BusyError, IndexCorruptError, VaultIndexError
from vault_index.health.environment import clock_problem, leftover_problems, permission_problems, watch_problems
from vault_index.results import Problem
from vault_index.sources.source import Source
from vault_index.store.cache import Cache
from vault_index.store.index_diff import Comparison
from vault_index.store.integrity import Checkup, cache_damage, vec0_fault
from vault_index.store.lock import WriteLock
from vault_index.store.meta_keys import SYNCED_AT
from vault_index.store.read_pool import ReadPool

_LOCK_SECONDS = 5.0
_SHOWN = 5
_FIX = "vault-index doctor --fix"

TO_SYNC = frozenset({"index_corrupt", "not_set_up", "behind"})
"""Mended by bringing the index up to date."""
TO_BEGIN_ANEW = frozenset({"index_damaged", "terms", "differs"})
"""Mended by new rows from the files."""
TO_REFILL = frozenset({"vectors"})
"""Mended by new vectors from the cache."""


def outside_problems(home: Home, config: Config, pool: ReadPool) -> list[Problem]:
    """What is wrong around the databases."""
    now = time.time()
    fault = vec0_fault() if config.embedding.provider != "none" else ""
    vec0 = [Problem("vec0", f"{fault}: search works by keywords only", "reinstall vault-index")] if fault else []
    return [
        *vec0,
        *permission_problems(home),
        *watch_problems(config),
        *clock_problem(_synced_at(pool), now),
        *leftover_problems(config, now),
    ]


def inside_problems(home: Home) -> list[Problem]:
    """What is wrong in the databases, as far as they can be opened; that they cannot, the status says."""
    problems = []
    if home.cache_db.exists():
        problems += [_cache_damaged(home, found) for found in (_said(lambda: cache_damage(home.cache_db)),) if found]
    try:
        with _examined(home) as checkup:
            for code, look, what in (
                ("index_damaged", checkup.damage, "the index is damaged"),
                ("terms", checkup.terms, "words are not found as they should be"),
                ("vectors", checkup.vectors, "meanings are not found as they should be"),
            ):
                if found := look():
                    problems.append(Problem(code, f"{what}: {found}", f"{_FIX} makes it anew from your files"))
                    break
    except IndexCorruptError as error:
        problems.append(Problem("index_damaged", error.message, f"{_FIX} makes it anew from your files"))
    except BusyError as error:
        problems.append(Problem("busy", f"{error.message}: its inside was not looked at", "run doctor again later"))
    except VaultIndexError:
        pass
    return problems


def deep_problems(
    home: Home, config: Config, sources: Sequence[Source], build: Callable[[Home, Config], None]
) -> list[Problem]:
    """Where the index says other things than one that `build` makes anew in a temporary folder."""
    here = [source.config.name for source in sources if not source.missing()]
    try:
        with TemporaryDirectory(prefix="vault-index-doctor-") as folder:
            fresh = home._replace(data_dir=Path(folder), runtime_dir=Path(folder))
            build(fresh, replace(config, embedding=replace(config.embedding, provider="none")))
            with _examined(home) as checkup:
                return [*_rows(home, fresh, here, whole=len(here) == len(sources)), *_vectors(home, checkup)]
    except BusyError as error:
        return [Problem("busy", f"{error.message}: it was not compared", "run doctor again later")]
    except IndexCorruptError as error:
        return [Problem("index_damaged", error.message, f"{_FIX} makes it anew from your files")]


def _rows(home: Home, fresh: Home, sources: Sequence[str], *, whole: bool) -> Iterator[Problem]:
    with closing(Comparison(home.index_db, fresh.index_db, sources)) as comparison:
        behind = comparison.behind()
        differing = [place for place in comparison.differing() if place not in behind]
        words = comparison.words() if whole and not behind and not differing else []
    if behind:
        yield Problem(
            "behind",
            f"{len(behind)} documents changed since they were indexed: {_some(behind)}",
            f"vault-index sync, or {_FIX}; a daemon keeps up by itself",
        )
    if differing:
        yield Problem(
            "differs",
            f"{len(differing)} documents are indexed otherwise than a fresh build has them: {_some(differing)}",
            f"{_FIX} makes the rows anew from your files; please report it",
        )
    if words:
        yield Problem(
            "differs",
            f"the words of the index are not those of a fresh build ({', '.join(words)})",
            f"{_FIX} makes the rows anew from your files; please report it",
        )


def _vectors(home: Home, checkup: Checkup) -> Iterator[Problem]:
    """Vectors that are not those which the cache has for the same text."""
    space = checkup.serving()
    if space is None:
        return
    wrong = 0
    with closing(Cache(home.cache_db)) as cache:
        for batch in checkup.vectors_by_key():
            known = cache.embeddings(space, [key for key, _ in batch])
            wrong += sum(known.get(key, vector) != vector for key, vector in batch)
    if wrong:
        yield Problem("vectors", f"{wrong} vectors are not those of their texts", f"{_FIX} takes them from the cache")


@contextmanager
def _examined(home: Home) -> Iterator[Checkup]:
    with WriteLock(home.write_lock).held("doctor", _LOCK_SECONDS), closing(Checkup(home.index_db)) as checkup:
        yield checkup


def _cache_damaged(home: Home, found: str) -> Problem:
    return Problem(
        "cache_damaged",
        f"{home.cache_db} is damaged: {found}",
        "move it away and run `vault-index sync`: embeddings are computed again, usage and spending are forgotten",
    )


def _said(look: Callable[[], str]) -> str:
    try:
        return look()
    except VaultIndexError as error:
        return error.message


def _synced_at(pool: ReadPool) -> str | None:
    try:
        with pool.lend() as connections:
            return connections.reader.meta(SYNCED_AT)
    except VaultIndexError:
        return None


def _some(places: Sequence[tuple[str, str]]) -> str:
    shown = ", ".join(path for _, path in places[:_SHOWN])
    return f"{shown} and {len(places) - _SHOWN} more" if len(places) > _SHOWN else shown
