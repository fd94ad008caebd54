"""Which sessions of a scan are to be found: not those that were forgotten, nor those that were deleted."""

import logging
import time
from collections.abc import Collection
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
"""Sessions that may be deleted at once, however few are left."""

Known = dict[str, KnownDocument]


def settled(source: SessionSource, scan: Scan, known: Known, state: State, *, same: bool) -> tuple[Scan, Known]:
    """The scan without them, and what is known, of which some is to be read again.

    Only a sync that finds a session gone asks whether its client recorded a deletion. Each client does so by leaving
    the session out of a list, and a list that was lost or begun anew looks the same. So nothing was deleted where the
    folder is not the `same` as before (a new machine, a home that moved), where nothing is left, or where more than
    half is gone at once.
    """
    try:
        out = forgotten(state, (session_in(ref.path) for ref in scan.refs))
    except StateDamagedError:
        return scan._replace(refs=(), unreadable=("",)), known
    if out and not scan.vanished:
        source.client.forget(out)
    refs = [ref for ref in scan.refs if session_in(ref.path) not in out]
    if scan.vanished or scan.unreadable:  # what is indexed stays as it is, and only what is not is read
        refs = [ref for ref in refs if ref.path not in scan.kept or ref.path not in known]
    else:
        there = sum(ref.path not in scan.kept for ref in refs)
        rows = {path for path in scan.kept if path in known and session_in(path) not in out}
        gone = {path for path in rows if known[path].stamp.ctime_ns != KEPT}
        may_be = same and there and len(gone) <= max(there, _FEW)
        hidden = _expire(source, scan.kept) | (_follow(source, gone) if may_be else set())
        # What their client still has of them (prompts) is not read instead.
        put_forgotten(state, [session_in(path) for path in hidden if source.knows(session_in(path))])
        refs = [ref for ref in refs if ref.path not in hidden]
    anew = {path: row._replace(made_with="") for path, row in known.items() if path in scan.unkept}
    return scan._replace(refs=tuple(refs)), {**known, **anew}


def _follow(source: SessionSource, gone: Collection[str]) -> set[str]:
    """Remove what was kept of those of these sessions whose deletion their client recorded: their paths. The session of
    a subagent goes with the one that asked for it."""
    removed = set[str]()
    if source.kept is None:
        return removed
    listed = {path: one for path in gone if (one := source.kept.listed(path)) is not None}
    deleted = {one.session.id: source.client.deleted(one) for one in listed.values()}
    for path, one in listed.items():
        if deleted.get(one.session.parent, deleted[one.session.id]):
            with suppress(OSError):  # it is found as long as it is there
                source.kept.remove(path)
                removed.add(path)
    if removed:
        log.info("deleted in %s, and so here: %d sessions", source.title, len(removed))
    return removed


def _expire(source: SessionSource, paths: Collection[str]) -> set[str]:
    """Keep no longer what changed last longer ago than is set, of sessions that their client no longer has."""
    over = set[str]()
    until = time.time_ns() - source.keep_days * 86_400 * 10**9
    with suppress(OSError):
        for path, stamp in source.kept.all().items() if source.keep_days and paths and source.kept else ():
            if path in paths and stamp.mtime_ns < until and source.kept is not None:
                source.kept.remove(path)
                over.add(path)
    if over:
        log.info("kept for longer than sessions.keep_days, and deleted: %d sessions of %s", len(over), source.title)
    return over
