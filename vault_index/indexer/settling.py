"""Which sessions of a scan are to be found: not those that were forgotten, nor those that were deleted."""

import logging
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace

from vault_index.errors import StateDamagedError
from vault_index.models import KEPT, FileStamp
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

    A deletion is judged once, by the sync that sees it: of a session that the index has from its client, and only where
    that is the `same` folder as then. In another (a new machine, a home that moved), where nothing is left, or where
    more than half went at once, nothing was deleted by anybody.
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
        rows = {path: known[path].stamp for path in scan.kept if path in known and session_in(path) not in out}
        gone = {path: stamp for path, stamp in rows.items() if stamp.ctime_ns != KEPT}
        may_be = same and there and len(gone) <= max(there, _FEW)
        hidden = _follow(source, gone if may_be else {}) | _expire(source, scan.kept)
        # What their client still has of them (prompts) is not read instead.
        put_forgotten(state, [session_in(path) for path in hidden if source.knows(session_in(path))])
        refs = [ref for ref in refs if ref.path not in hidden]
    anew = {path: row._replace(made_with="") for path, row in known.items() if path in scan.unkept}
    return scan._replace(refs=tuple(refs)), {**known, **anew}


def _follow(source: SessionSource, gone: Mapping[str, FileStamp]) -> set[str]:
    """Forget those of these sessions that their user deleted, and hold back those of which nobody can tell: the paths
    of both. They are given with the stamp they had last. A subagent's goes as the one that asked for it."""
    hidden = set[str]()
    if not gone or source.kept is None:
        return hidden
    listed = {path: one for path in gone if (one := source.kept.listed(path)) is not None}
    told = {one.session.id: source.client.deleted(replace(one, stamp=gone[path])) for path, one in listed.items()}
    for path, one in listed.items():
        verdict = told.get(one.session.parent, told[one.session.id])
        with suppress(OSError):  # it is found as long as it is there
            if verdict != "sweep":
                (source.kept.remove if verdict == "user" else source.kept.hold)(path)
                hidden.add(path)
                log.info("gone from its client, deleted by: %s session=%s", verdict, path)
    return hidden


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
