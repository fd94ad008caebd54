"""The source of one client's sessions, each rendered as a markdown document."""

from __future__ import annotations

import os
import re
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_index.config import Config, SourceConfig
from vault_index.config.schema import CLIENTS
from vault_index.disk import is_under, real_path
from vault_index.errors import NotFoundError, VaultIndexError
from vault_index.models import KEPT, DocumentRef, Fault, FileStamp, RawDocument
from vault_index.results.base import Problem
from vault_index.sources.sessions.clients import data_of, open_client
from vault_index.sources.sessions.projects import (
    Projects,
    path_of,
    redacted,
    session_in,
    with_targets,
)
from vault_index.sources.source import YET, Scan

if TYPE_CHECKING:  # imported late, because most commands read no session
    from vault_index.sources.sessions.archive import SessionArchive
    from vault_index.sources.sessions.client import Client
    from vault_index.sources.sessions.incremental import IncrementalRender
    from vault_index.sources.sessions.model import Listed, Session

RENDERED = 5
"""Version of the rendered text; raise it when the same session renders differently."""

_NAMED_FAULTS = 10
_UNKNOWN = FileStamp(-1, -1, -1)  # differs from every stamp, for a locked database
# A plain string, because most commands never compile it.
_ID = r"[A-Za-z0-9_-]+"


class SessionSource:
    """The sessions of one client.

    Document paths are `<project>/<session>.md`, so that a new title does not move a document.
    """

    def __init__(self, config: Config, name: str) -> None:
        given = config.clients[name]
        self.title = CLIENTS[name]
        self.configured = name in config.configured
        """Whether the settings mention this client."""
        self._all, self._name = config, name
        self._set = bool(given.data)
        self._include = frozenset(given.include)
        self._exclude = Projects(given.exclude)
        self._local = Projects(given.local_only if isinstance(given.local_only, tuple) else ())
        self._keep = config.sessions.keep and config.sessions_dir is not None
        self.keep_days = config.sessions.keep_days
        self._folders = [
            one.parent if one.suffix == ".db" else one for one in data_of(name, config)
        ]
        self.config = SourceConfig(
            name=name,
            path=next(filter(Path.is_dir, self._folders), self._folders[0]),
            kind=name,
            local_only=given.local_only if self.configured else True,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Omit open clients from a pickle, because each process opens its own."""
        return {
            key: value
            for key, value in self.__dict__.items()
            if key not in ("client", "_incremental")
        }

    @cached_property
    def client(self) -> Client:
        """The client, opened on first use."""
        return open_client(self._name, self._all)

    @cached_property
    def archive(self) -> SessionArchive:
        """The kept copies of sessions; there are none without a data folder."""
        from vault_index.sources.sessions.archive import SessionArchive

        return SessionArchive((self._all.sessions_dir or Path(os.devnull)) / self._name)

    @cached_property
    def _incremental(self) -> IncrementalRender:
        from vault_index.sources.sessions.incremental import (
            IncrementalRender,  # late: searches do not render
        )

        return IncrementalRender(self.client, self._include)

    @property
    def shape(self) -> str:
        """Fingerprint of the renderer's version and the `include` setting."""
        return f"{RENDERED}/{','.join(sorted(self._include))}"

    def scan_places(self, places: Iterable[str]) -> Scan:
        """Return the client's sessions, and kept copies of sessions that it no longer has."""
        wanted = {place.strip("/") for place in places}
        if (
            all("/" in place for place in wanted)
            and (scan := self._scan_sessions(wanted)) is not None
        ):
            return scan
        try:
            return self._scan_all(wanted, self.archive.all())
        except OSError as error:
            message = f"cannot list kept {self.title} sessions ({error.filename}: {error.strerror})"
            fault = Problem("sessions_unreadable", message, "check the permissions of the folder")
            return Scan(faults=(Fault(fault.code, message),), unreadable=("",), problems=(fault,))

    def _scan_all(self, wanted: Collection[str], kept: dict[str, FileStamp]) -> Scan:
        from vault_index.sources.sessions.client import Listing

        reason = self.missing()
        if reason and not kept:
            return Scan(vanished=True, reason=reason)
        listing = Listing({}) if reason else self.client.listing()
        # A session may have been moved to another project: the newest copy counts.
        copies = {
            session_in(path): path for path in sorted(kept, key=lambda one: kept[one].mtime_ns)
        }
        there = listing.without_remnants(copies)
        found = [self._ref(one) for one in there.values() if self._wanted(one)]
        gone = map(copies.__getitem__, copies.keys() - there.keys())
        found += [DocumentRef(self._name, path, kept[path]) for path in gone]
        refs = sorted(self._within(wanted, found), key=lambda ref: ref.path)
        return Scan(
            tuple(refs),
            (
                *(Fault(fault.code, fault.message) for fault in listing.faults),
                *_some("session", listing.problems, ""),
            ),
            vanished=bool(reason),
            reason=reason,
            # The content of an unreadable store is unknown, so nothing counts as deleted.
            unreadable=("",) if listing.faults else (),
            problems=listing.faults,
            kept=frozenset(ref.path for ref in refs if session_in(ref.path) not in there),
            unkept=frozenset(
                ref.path for ref in refs if self._keep and _lacks_copy(ref.path, there, kept)
            ),
        )

    def _within(
        self, places: Collection[str], refs: Iterable[DocumentRef]
    ) -> Iterator[DocumentRef]:
        """Yield the sessions of these places: everything (empty), a project, or one session."""
        for ref in refs:
            inside = any(place in places for place in ("", ref.path.partition("/")[0], ref.path))
            if inside and (ref.stamp.ctime_ns != KEPT or self._wanted_still(ref.path)):
                yield ref

    def _scan_sessions(self, paths: Iterable[str]) -> Scan | None:
        """Scan only these sessions; None if the client lacks one, which requires a full scan."""
        refs, unreadable = list[DocumentRef](), list[str]()
        for path in sorted(paths):
            try:
                listed = self.client.session(session_in(path)) if self._there() else None
            except VaultIndexError:
                unreadable.append(path)
                continue
            if listed is None or listed.partial or path_of(listed.session) != path:
                return None
            refs += [self._ref(listed)] if self._wanted(listed) else []
        return Scan(tuple(refs), unreadable=tuple(unreadable))

    def look(self, path: str) -> DocumentRef | None:
        """Look up one session, or its kept copy. Raises VaultIndexError."""
        listed = self._of_client(path)
        # Every search looks at its hits, so read kept copies only if necessary.
        kept = self.archive.stamp(path) if listed is None or listed.partial else None
        if kept is not None and self._wanted_still(path):
            return DocumentRef(self._name, path, kept)
        return self._ref(listed) if listed is not None else None

    def read(self, ref: DocumentRef) -> RawDocument:
        """Render a session, or read its kept copy. Raises NotFoundError, VaultIndexError."""
        # Imported late, because searches do not render.
        from vault_index.secrets.find import redact
        from vault_index.sources.sessions.model import LeftOut

        if ref.stamp.ctime_ns == KEPT:
            stamp, text = self.archive.read(ref.path)
            text, found = redact(text)  # the rules may be newer than the copy
            return self._document(ref._replace(stamp=stamp), text, found, [])
        if (listed := self._of_client(ref.path)) is None:
            raise NotFoundError(f"{ref.path} is gone", "run: vault-index sync")
        seen = self._ref(listed)
        problems = list[str]()
        origin = self._origin(listed)
        reader = self._incremental
        done = (
            reader.render_fork(listed, origin, problems)
            if origin
            else reader.render(listed, problems)
        )
        faults = list(
            _some("session", [one for one in problems if not isinstance(one, LeftOut)], ref.path)
        )
        faults += [Fault("left_out", one, ref.path) for one in problems if isinstance(one, LeftOut)]
        return self._document(seen, done.text, done.redacted, faults)._replace(
            whole=not listed.partial
        )

    def keep(self, raw: RawDocument, text: str, updated: float) -> Sequence[Fault]:
        """Write the kept copy of a session: its indexed text, without quotes of deleted texts."""
        if not raw.whole or not (self._keep or raw.ref.stamp.ctime_ns == KEPT):
            return ()
        try:
            self.archive.put(raw.ref.path, text, updated)
        except (OSError, ValueError) as error:
            return (Fault("not_kept", f"cannot write the kept copy: {error}", raw.ref.path),)
        return ()

    def _document(
        self, seen: DocumentRef, text: str, redacted: int, faults: list[Fault]
    ) -> RawDocument:
        from hashlib import sha256

        if redacted:
            secrets = "1 credential" if redacted == 1 else f"{redacted} credentials"
            faults.append(Fault("redacted", f"{secrets} left out", seen.path))
        return RawDocument(seen, text, sha256(text.encode()).digest(), tuple(faults), "session")

    def born(self, path: str) -> float | None:
        """Return None, because the frontmatter has the time."""
        return None

    def stamp(self, path: str) -> FileStamp | None:
        """Return the current stamp of a session; `_UNKNOWN` if the client's data are unreadable."""
        try:
            found = self.look(path)
        except VaultIndexError:
            return _UNKNOWN
        return found.stamp if found else None

    def relative(self, absolute_path: str) -> str | None:
        """Return the path of the session that a file holds.

        Returns "" for another file of the client, and None outside of its folders.
        """
        path = real_path(os.path.normpath(absolute_path))
        for folder in {*map(str, self.watched()), str(self.config.path)}:
            if is_under(real := real_path(folder), path):
                held = self.client.session_of_file(f"{folder}{path.removeprefix(real)}")
                return path_of(held) if held is not None else ""
        return None

    def stays_home(self, path: str) -> bool:
        """Return whether a session must not leave the machine. Raises VaultIndexError."""
        if self.config.local_only is True:
            return True
        listed = self._listed(path) if self.config.local_only else None
        return listed is not None and self.keeps(listed.session)

    def session(self, id_: str) -> Session | None:
        """Return a session of the client, or else its kept copy. Raises VaultIndexError."""
        return listed.session if (listed := self._session(id_)) is not None else None

    def sessions(self) -> Iterator[Session]:
        """Yield the client's sessions, then the kept ones that it lacks. Raises VaultIndexError."""
        sessions = self.client.listing().sessions if self._there() else {}
        yield from (listed.session for listed in sessions.values())
        with suppress(OSError):
            for path in self.archive.all():
                if session_in(path) not in sessions and (listed := self.archive.listed(path)):
                    yield listed.session

    def was_in(self, folders: Collection[str]) -> bool:
        """Return whether a session ran in these folders or above. Raises VaultIndexError."""
        places = {
            place.rstrip("/") for one in self.sessions() for place in (one.directory, one.worktree)
        } - {""}
        above = {
            os.fspath(one) for folder in folders for one in (Path(folder), *Path(folder).parents)
        }
        # Claude Code keeps the folder of a project when it removes the old sessions.
        names = [re.sub("[^A-Za-z0-9]", "-", one) for one in above]
        left = (folder / "projects" / name for folder in self._folders for name in names)
        return not places.isdisjoint(above) or any(map(os.path.isdir, left))

    def keeps(self, session: Session) -> bool:
        """Return whether a session is private.

        If some projects are private, so is a kept copy with an unknown project folder.
        """
        from vault_index.sources.sessions.archive import has_unknown_folder

        folders = filter(None, (session.directory, session.worktree))
        return self.config.local_only is True or (
            bool(self.config.local_only)
            and (
                has_unknown_folder(session)
                or self._local.covers(session.project, *with_targets(folders))
            )
        )

    def link(self, path: str) -> str:
        """Return no link, because a command opens a session (see `resume_command`)."""
        return ""

    def missing(self) -> str:
        """Return why the client's data are missing, or ""."""
        if self._there() and self.client.present():
            return ""
        there = [*filter(Path.is_dir, self._folders)] or [self.config.path]
        reason = f"no {self.title} sessions in {' or '.join(map(str, there))}"
        return reason if self._set else f"{reason} {YET}"

    @property
    def remedy(self) -> str:
        """The hint for missing data."""
        section = f"sessions.{self._name}"
        return f"set {section}.data, or run `vault-index config set {section}.enabled false`"

    def found(self) -> tuple[int, str | None]:
        """Return the number of sessions, and the local date of the first (YYYY-MM-DD), if any."""
        sessions = self.client.listing().sessions.values() if self._there() else ()
        began = [one.session.created for one in sessions if self._wanted(one)]
        return len(began), time.strftime(
            "%Y-%m-%d", time.localtime(min(began) / 1000)
        ) if began else None

    # --- watching ---------------------------------------------------------------------------------

    def watched(self) -> Sequence[Path]:
        """Return the folders to watch; empty without a data folder."""
        return self.client.watched() if self._there() else ()

    def version(self) -> object:
        """Return a value that changes when the client may have written; None without data."""
        return self.client.version() if self._there() else None

    # --- inside -----------------------------------------------------------------------------------

    def _there(self) -> bool:
        """Return whether a data folder exists; without one, the client is not imported."""
        return any(folder.is_dir() for folder in self._folders)

    def _session(self, id_: str) -> Listed | None:
        """Return a session of the client, or else its kept copy."""
        if re.fullmatch(_ID, id_) is None:
            return None
        listed = self.client.session(id_) if self._there() else None
        if not (listed is None or listed.partial):
            return listed
        path = self.archive.find(id_)
        return (self.archive.listed(path) if path else None) or listed

    def _of_client(self, path: str) -> Listed | None:
        """Return the client's session at a document path; None if the project differs."""
        if not (self._there() and re.fullmatch(rf"{_ID}\.md", path.rpartition("/")[2])):
            return None
        listed = self.client.session(session_in(path))
        return (
            listed if listed and self._wanted(listed) and path_of(listed.session) == path else None
        )

    def _listed(self, path: str) -> Listed | None:
        """Return the session at a document path, or its kept copy."""
        listed = self._of_client(path)
        kept = self.archive.listed(path) if listed is None or listed.partial else None
        return kept if kept is not None and self._wanted(kept) else listed

    def _wanted_still(self, path: str) -> bool:
        """Return whether `exclude` allows a kept session; without patterns its file is not read."""
        listed = self.archive.listed(path) if self._exclude else None
        return listed is None or self._wanted(listed)

    def _wanted(self, listed: Listed) -> bool:
        session = listed.session
        left_out = self._exclude.covers(session.project, session.directory, session.worktree)
        return listed.messages > 0 and not left_out

    def _ref(self, listed: Listed) -> DocumentRef:
        stamp = listed.stamp
        # The text of a fork depends on its original.
        if (origin := self._origin(listed)) is not None:
            both = (stamp.ctime_ns, origin.session.id, *origin.stamp[:2])
            stamp = stamp._replace(ctime_ns=zlib.crc32(repr(both).encode()))
        return DocumentRef(self._name, path_of(listed.session), stamp)

    def _origin(self, listed: Listed) -> Listed | None:
        """Return the original of a fork: the recorded one, or the best match among older sessions.

        A match begins with the same message; the one with the most message times in common wins.
        """
        session = listed.session
        if session.forked_from:
            original = self._session(session.forked_from)
            return (
                original
                if original and self._wanted(original) and original.stamp.ctime_ns != KEPT
                else None
            )
        if listed.first >= session.created:
            return None
        older = [
            other
            for other in self.client.listing().began_at(listed.first)
            if (other.session.created, other.session.id) < (session.created, session.id)
            and self._wanted(other)
        ]
        if len(older) < 2:
            return older[0] if older else None
        times = set(self.client.times(listed))
        return max(older, key=lambda other: len(times.intersection(self.client.times(other))))


def _lacks_copy(path: str, there: dict[str, Listed], kept: dict[str, FileStamp]) -> bool:
    """Return whether a session in its client has no copy, or an empty one after a power loss."""
    listed = there.get(session_in(path))
    return listed is not None and not listed.partial and not (path in kept and kept[path].size)


def _some(code: str, problems: Sequence[str], path: str) -> Iterator[Fault]:
    for problem in problems[:_NAMED_FAULTS]:
        yield Fault(code, redacted(problem), path)
    if len(problems) > _NAMED_FAULTS:
        yield Fault(code, f"and {len(problems) - _NAMED_FAULTS} more of this kind", path)
