"""Write each session into a file of a vault, which is indexed instead of the session.

Users may edit the files:

- The frontmatter identifies the session, so a file may be renamed and moved within the folder. We
  rename it only once, from an untitled name to the first title, because notes link to it.
- A deleted file is not written again. If the user restores it, new turns are written again. If the
  whole folder is missing (another branch, a new vault), all files are written again.
- An edited file keeps its text, and new turns are appended. If the session no longer begins with
  the turns in the file, the file is left unchanged, and a fault reports it.
- Files of sessions that the client deletes stay.
"""

import hashlib
import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from vault_index.config import Config, SourceConfig
from vault_index.disk import is_under
from vault_index.errors import NotFoundError, UsageError, VaultIndexError
from vault_index.markdown.frontmatter import read_frontmatter
from vault_index.markdown.normalize import split_lines
from vault_index.mirroring.files import (
    UNTITLED,
    Files,
    as_note,
    free_name,
    is_earlier,
    is_untitled,
    name_of,
    session_in,
    turns_of,
)
from vault_index.models import KEPT, DocumentRef, Fault, FileStamp, Origin, RawDocument
from vault_index.progress import CancelToken, Progress
from vault_index.secrets.find import redact
from vault_index.sources.sessions.model import Session
from vault_index.sources.sessions.projects import session_in as session_of
from vault_index.sources.sessions.source import SessionSource
from vault_index.sources.source import EMPTY, Scan
from vault_index.sources.vault import VaultSource
from vault_index.store.forgotten import forgotten
from vault_index.store.records import MirroredSession
from vault_index.store.state import State

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Live:
    """The current state of a session."""

    ref: DocumentRef
    session: Session


class MirroredSessions(SessionSource):
    """A source without documents: `follow` writes a client's sessions into the vault."""

    def __init__(self, config: Config, name: str, vault: VaultSource) -> None:
        super().__init__(config, name)
        self.vault = vault
        self._keep = False  # the vault keeps the sessions
        self._folder = config.sessions.mirror.strip("/")
        self._files = Files(vault, self._folder)
        self._scan = Scan(unreadable=("",))  # unknown until `follow` ran

    def follow(self, state: State, progress: Progress, cancel: CancelToken) -> list[str]:
        """Write all changes, and return the paths of changed files.

        The caller holds the writer lock.
        """
        found = super().scan_places([""])
        out = forgotten(state, (session_of(ref.path) for ref in found.refs))
        refs = tuple(ref for ref in found.refs if session_of(ref.path) not in out)
        found = found._replace(refs=refs, kept=frozenset(), unkept=frozenset())
        if (obstacle := self._obstacle(found, state)) is not None:
            self._scan = obstacle
            return []
        sessions = self._live(found.refs)
        known = self._known(state)
        names = self._names(sessions, known)
        touched: set[str] = set()
        failed = []
        for done, (one, made_of) in enumerate(
            _changed(sessions, known, names, self.shape), start=1
        ):
            if done > 1 and cancel.cancelled:
                self._scan = Scan(unreadable=("",))
                return sorted(touched)
            row = known.get(one.session.id)
            written = self._try_to_write(one, row, names)
            if isinstance(written, Fault):
                failed.append(written)
                continue
            written = written._replace(made_of=made_of)
            state.put_origins(self.vault.config.name, [(written.path, "", _origin(one))])
            state.put_mirrored(one.session.id, written)
            self.archive.remove(one.ref.path)  # written before mirroring was enabled
            known[one.session.id] = written
            touched |= {written.path, row.path if row else written.path}
            progress("text", done, len(sessions))
        mine = (row for id_, row in known.items() if id_ in sessions and row.path)
        faults = [Fault(code, message, row.path) for row in mine for code, message in row.faults]
        self._scan = found._replace(
            refs=(), faults=(*found.faults, *failed, *faults), unreadable=()
        )
        return sorted(touched)

    def _obstacle(self, found: Scan, state: State) -> Scan | None:
        """Return the scan to report if nothing can be written now, else None."""
        missing = self.vault.missing()
        if found.vanished:
            return found._replace(refs=())
        # An empty vault is normal unless we wrote files into it before.
        if missing and not (missing.endswith(EMPTY) and not state.mirrored()):
            return Scan(unreadable=("",))
        try:
            self.vault.absolute(self._folder)
        except UsageError as error:  # a link out of the vault; the vault itself is still synced
            fault = Fault("not_mirrored", error.message)
            return found._replace(refs=(), faults=(*found.faults, fault), unreadable=("",))
        return None

    def _try_to_write(
        self, one: _Live, row: MirroredSession | None, names: dict[str, str]
    ) -> MirroredSession | Fault:
        try:
            return self._write(one, row, names)
        except VaultIndexError as error:
            message = error.message
        except Exception as error:  # a defect with one session must not stop the others
            log.exception("a defect of vault-index session=%s", one.session.id)
            message = f"{one.ref.path}: a defect of vault-index: {type(error).__name__}"
        return Fault("not_mirrored", message, row.path if row else "")

    # --- as a source: the vault has the documents -------------------------------------------------

    def scan_places(self, places: Iterable[str]) -> Scan:
        """Return the faults of the last `follow`; there are no documents."""
        return self._scan

    def look(self, path: str) -> DocumentRef | None:
        """Return None: the vault has the documents."""
        return None

    def read(self, ref: DocumentRef) -> RawDocument:
        """Raise NotFoundError, which names the folder with the files."""
        raise NotFoundError(f"{ref.path} is now a file in {self._folder}", "run: vault-index sync")

    def stamp(self, path: str) -> FileStamp | None:
        """Return None: the vault has the documents."""
        return None

    # --- sessions and their files -----------------------------------------------------------------

    def _live(self, refs: Iterable[DocumentRef]) -> dict[str, _Live]:
        there = self.client.listing().sessions if self._there() else {}
        listed = (
            (ref, self.archive.listed(ref.path))
            if ref.stamp.ctime_ns == KEPT
            else (ref, there.get(session_of(ref.path)))
            for ref in refs
        )
        return {one.session.id: _Live(ref, one.session) for ref, one in listed if one is not None}

    def _known(self, state: State) -> dict[str, MirroredSession]:
        """Return the written sessions, updated for moved, deleted and restored files."""
        known, origins = state.mirrored(), state.origins()
        there = self._files.there()
        for id_, row in list(known.items()):
            if row.path and not (there and is_under(self._folder, row.path)):
                state.put_mirrored(id_, None)
                del known[id_]
        files = set(self._files.all())
        ids = self._files.of_sessions(files - {row.path for row in known.values()})
        for id_, row in known.items():
            path = row.path if row.path in files else ids.get(id_, "")
            if path != row.path:
                # A restored file may be old, so check it again.
                known[id_] = row._replace(path=path, made_of=row.made_of if row.path else "")
                moved = [
                    (path, "", one)
                    for one in origins.get((self.vault.config.name, row.path), ())
                    if path
                ]
                state.put_origins(self.vault.config.name, moved)
                state.put_mirrored(id_, known[id_])
        # `state.db` was deleted, or another machine wrote these files.
        for id_ in ids.keys() - known.keys():
            known[id_] = MirroredSession(ids[id_])
        return known

    def _names(
        self, sessions: dict[str, _Live], known: dict[str, MirroredSession]
    ) -> dict[str, str]:
        """Return the current or future file name of each session, without suffix."""
        names = {id_: Path(row.path).stem for id_, row in known.items() if row.path}
        taken = {name.lower() for name in names.values()} | {
            Path(path).stem.lower() for path in self._files.all()
        }
        for id_, one in sessions.items():
            row = known.get(id_)
            if row is not None and not (row.path and self._may_be_renamed(row, one.session)):
                continue
            names[id_] = free_name(name_of(one.session), taken - {names.get(id_, "").lower()})
            taken.add(names[id_].lower())
        return names

    def _may_be_renamed(self, row: MirroredSession, session: Session) -> bool:
        """Return whether the file has our name for an untitled session, which now has a title."""
        if is_untitled(session) or not row.written:
            return False
        untitled = (re.escape(name_of(replace(session, title=title))) for title in UNTITLED)
        return re.fullmatch(rf"({'|'.join(untitled)})( \d+)?", Path(row.path).stem) is not None

    # --- writing ----------------------------------------------------------------------------------

    def _write(
        self, one: _Live, row: MirroredSession | None, names: dict[str, str]
    ) -> MirroredSession:
        """Update the file of one session."""
        raw = super().read(one.ref)
        text = as_note(raw.text, one.session.id, names)
        turns = turns_of(text)
        faults = tuple((fault.code, fault.message) for fault in raw.faults)
        now = MirroredSession(
            "", "", _hash(text.encode()), len(turns), _hash(turns.encode()), faults
        )
        path = f"{self._folder}/{names[one.session.id]}.md"
        if row is None:
            return now._replace(path=self._files.create(path, text))
        seen = self._files.read(row.path)
        old = seen.decode("utf-8", "replace")
        # After a crash, the record of a write may be missing. If the file is shorter than its
        # record, the user shortened it.
        ours = _hash(seen) == row.written or (
            len(turns_of(old)) >= row.size and is_earlier(old, text)
        )
        if not ours:
            if not session_in(old):
                return now._replace(path=self._files.create(row.path, text))
            return self._add_to(row, now, seen, turns)
        self._files.replace(row.path, seen, text.encode())
        renamed = row.path != path and row.path.rpartition("/")[0] == self._folder
        return now._replace(path=self._files.move(row.path, path) if renamed else row.path)

    def _add_to(
        self, row: MirroredSession, now: MirroredSession, seen: bytes, turns: str
    ) -> MirroredSession:
        """Append new turns to an edited file."""
        if _hash(turns[: row.size].encode()) != row.turns:
            fault = ("mirror_edited", "both file and session changed; the file stays unchanged")
            return row._replace(written=b"", faults=(*now.faults, fault))
        new = turns[row.size :].strip("\n").encode()
        old = seen.rstrip(b"\n")
        if new and not old.endswith(new):
            self._files.replace(row.path, seen, old + b"\n\n" + new + b"\n")
        return now._replace(path=row.path, written=b"")


def _changed(
    sessions: dict[str, _Live], known: dict[str, MirroredSession], names: dict[str, str], shape: str
) -> Iterator[tuple[_Live, str]]:
    """Yield sessions to write, with a key of their content, settings and linked file names."""
    families = _families(sessions)
    for id_, one in sessions.items():
        kin = sorted(names[other] for other in families.get(id_, ()) if other in names)
        made_of, row = f"{one.ref.stamp} {shape} {kin}", known.get(id_)
        if row is None or (row.path and row.made_of != made_of):
            yield one, made_of


def _families(sessions: dict[str, _Live]) -> dict[str, list[str]]:
    """Return the parent and children of each session, to which its file links."""
    families: dict[str, list[str]] = {}
    for id_, one in sessions.items():
        if one.session.parent:
            families.setdefault(id_, []).append(one.session.parent)
            families.setdefault(one.session.parent, []).append(id_)
    return families


def _origin(live: _Live) -> Origin:
    """Return the session's origin.

    If a name contains a secret, return only the id. The session then counts as private once the
    client has deleted it.
    """
    folders = tuple(filter(None, (live.session.directory, live.session.worktree)))
    if any(redact(name)[1] for name in (live.session.project, *folders)):
        return Origin(session=live.session.id)
    return Origin((live.session.project,), folders, live.session.id, live.ref.source)


def _hash(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


class VaultWithSessions(VaultSource):
    """The vault into which sessions are written.

    A file in their folder with a session id in its frontmatter has the kind `session`.
    """

    def __init__(self, config: SourceConfig, folder: str) -> None:
        super().__init__(config)
        self._folder = folder.strip("/")
        self.shape = self._folder

    def read(self, ref: DocumentRef) -> RawDocument:
        """Read a document; a mirrored session has the kind `session`."""
        raw = super().read(ref)
        may_be = is_under(self._folder, ref.path) and ref.path.endswith(".md")
        is_session = may_be and read_frontmatter(split_lines(raw.text)).values.get("session")
        return raw._replace(kind="session") if is_session else raw
