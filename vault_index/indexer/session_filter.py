"""Remove forgotten and deleted sessions from a scan."""

import logging
import time
from collections.abc import Collection, Set
from contextlib import suppress

from vault_index.errors import StateDamagedError
from vault_index.models import KEPT
from vault_index.sources.sessions.projects import session_in
from vault_index.sources.sessions.source import SessionSource
from vault_index.sources.source import Scan
from vault_index.store.forgotten import forgotten, put_forgotten
from vault_index.store.state import State
from vault_index.store.writer import KnownDocument

log = logging.getLogger(__name__)

_FEW = 3
"""Number of sessions that may be deleted at once, however few are left."""

Known = dict[str, KnownDocument]


def to_index(
    source: SessionSource, scan: Scan, known: Known, state: State, *, same: bool
) -> tuple[Scan, Known]:
    """Return the scan without forgotten and deleted sessions, and the known rows.

    Rows of sessions without a kept copy are marked to be read again.

    A client records a deletion by omitting the session from a list, and a lost or new list looks
    the same. So no missing session counts as deleted if the folder is not the `same` as before (a
    new machine, a moved home), if no session is left, or if more than half are missing at once.
    """
    try:
        out = forgotten(state, (session_in(ref.path) for ref in scan.refs))
    except StateDamagedError:
        return scan._replace(refs=(), unreadable=("",)), known
    if out and not scan.vanished:
        source.client.forget(out)
    refs = [ref for ref in scan.refs if session_in(ref.path) not in out]
    if scan.vanished or scan.unreadable:  # keep indexed sessions, and read only the others
        hidden: Set[str] = scan.kept & known.keys()
    else:
        alive = sum(ref.path not in scan.kept for ref in refs) if same else 0
        hidden = _delete(source, scan.kept, out, known, alive)
        # Do not index other traces of them (prompts) instead.
        put_forgotten(state, list(filter(source.session, map(session_in, hidden))))
    anew = {path: known[path]._replace(made_with="") for path in scan.unkept & known.keys()}
    refs = [ref for ref in refs if ref.path not in hidden]
    return scan._replace(refs=tuple(refs)), {**known, **anew}


def _delete(
    source: SessionSource, kept: Set[str], out: Collection[str], known: Known, alive: int
) -> set[str]:
    """Delete the expired copies of `kept`, and those that the client recorded as deleted.

    Return their paths. `out` are the forgotten sessions. `alive` is the number of sessions that the
    client has, or 0 if its list cannot be trusted.
    """
    indexed = (path for path in kept & known.keys() if session_in(path) not in out)
    gone = {path for path in indexed if known[path].stamp.ctime_ns != KEPT}
    expired = _expire(source, kept)
    return expired | _follow(source, gone) if alive and len(gone) <= max(alive, _FEW) else expired


def _follow(source: SessionSource, gone: Collection[str]) -> set[str]:
    """Remove the stored copies of sessions that their client recorded as deleted.

    Return their paths. A sub-agent session is deleted with its parent.
    """
    removed = set[str]()
    listed = {path: one for path in gone if (one := source.archive.listed(path)) is not None}
    deleted = {one.session.id: source.client.deleted(one) for one in listed.values()}
    for path, one in listed.items():
        if deleted.get(one.session.parent, deleted[one.session.id]):
            with suppress(OSError):  # the session stays searchable while the copy exists
                source.archive.remove(path)
                removed.add(path)
    if removed:
        log.info("deleted in %s, and so here: %d sessions", source.title, len(removed))
    return removed


def _expire(source: SessionSource, paths: Collection[str]) -> set[str]:
    """Delete stored copies of sessions that the client no longer has, after `keep_days`.

    Return their paths.
    """
    over = set[str]()
    until = time.time_ns() - source.keep_days * 86_400 * 10**9
    with suppress(OSError):
        for path, stamp in source.archive.all().items() if source.keep_days and paths else ():
            if path in paths and stamp.mtime_ns < until:
                source.archive.remove(path)
                over.add(path)
    if over:
        log.info(
            "kept for longer than sessions.keep_days, and deleted: %d sessions of %s",
            len(over),
            source.title,
        )
    return over
