"""The sessions of OpenCode as a source: each is a document that exists nowhere as a file."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from vault_index.config import OpencodeConfig, SourceConfig
from vault_index.disk import is_under, name_of, real_path, worktree_of
from vault_index.errors import NotFoundError, VaultIndexError
from vault_index.models import Asker, DocumentRef, Fault, FileStamp, RawDocument
from vault_index.sources.opencode.places import Places, data_folder, find_places
from vault_index.sources.source import YET, Scan

if TYPE_CHECKING:  # a question that is not about sessions needs none of what reads them
    from vault_index.sources.opencode.model import Listed, Message, Session
    from vault_index.sources.opencode.stores import Held, Stores

SOURCE_NAME = "opencode"
RENDERED = 3
"""Raise it when the same session would give another text than before."""

_NAMED_FAULTS = 10
_UNKNOWN = FileStamp(-1, -1, -1)  # a database that is locked: nobody knows, and so it may have changed
# Compiled when they are needed first.
_NOT_IN_NAMES = r"[\x00-\x1f/\\:#|\[\]^]"
_LINK = r"\[\[|\]\]|\|"
_ID = r"ses_\w+"


class Projects:
    """Patterns: the name of a project (`api`, `client-*`), or a folder, with everything in it (`~/clients/secret`)."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._names = [pattern for pattern in patterns if "/" not in pattern and not pattern.startswith("~")]
        given = [os.path.expanduser(pattern).rstrip("/") or "/" for pattern in patterns if pattern not in self._names]
        self._folders = list(dict.fromkeys((*given, *map(os.path.realpath, given))))

    def covers(self, project: str, *held_in: str) -> bool:
        """A project by its name, or by one of the folders its session was held in."""
        return any(fnmatchcase(project, name) for name in self._names) or any(
            is_under(pattern, folder) or fnmatchcase(folder, pattern)
            for pattern in self._folders
            for folder in held_in
            if folder
        )

    def may_cover(self, project: str) -> bool:
        """A project of which nothing but its name is known: it may be the folder of a pattern, or one in it."""
        return self.covers(project) or any(
            fnmatchcase(project, os.path.basename(folder)) or os.path.lexists(f"{folder}/{project}")
            for folder in self._folders
        )

    @property
    def by_name(self) -> bool:
        """Whether a name tells all there is to know."""
        return not self._folders


class OpenCodeSource:
    """Documents are called `<project>/<session>.md`: by what never changes, so that a new title moves nothing."""

    def __init__(self, config: OpencodeConfig) -> None:
        self._setting = Path(os.path.abspath(os.path.expanduser(config.data))) if config.data else None
        self._include = frozenset(config.include)
        self._exclude = Projects(config.exclude)
        local = config.local_only if isinstance(config.local_only, tuple) else ()
        self._local = Projects(local)
        self._local_alike = Projects([_alike(pattern) for pattern in local if "/" not in pattern])
        self._found: tuple[int, Places] | None = None
        self.config = SourceConfig(
            name=SOURCE_NAME,
            path=data_folder(self._setting, os.environ),
            kind="opencode",
            local_only=config.local_only,
        )

    @cached_property
    def _stores(self) -> Stores:
        from vault_index.sources.opencode.stores import Stores

        return Stores(self._places)

    @property
    def shape(self) -> str:
        return f"{RENDERED}/{','.join(sorted(self._include))}"

    def scan_places(self, places: Iterable[str]) -> Scan:
        if reason := self.missing():
            return Scan(vanished=True, reason=reason)
        listing = self._stores.listing()
        wanted = {place.strip("/") for place in places}
        refs = [
            self._ref(held)
            for held in listing.sessions.values()
            for path in (path_of(held.listed.session),)
            # A place may be everything, a project, or one session.
            if self._wanted(held.listed) and not wanted.isdisjoint(("", path.partition("/")[0], path))
        ]
        faults = [Fault(fault.code, fault.message) for fault in listing.faults]
        return Scan(
            tuple(sorted(refs, key=lambda ref: ref.path)),
            (*faults, *_some("session", listing.problems, "")),
            # What a store holds that gives no answer nobody knows, so nothing counts as gone.
            unreadable=("",) if listing.faults else (),
            problems=listing.faults,
        )

    def look(self, path: str) -> DocumentRef | None:
        held = self._held(path)
        return self._ref(held) if held is not None else None

    def read(self, ref: DocumentRef) -> RawDocument:
        # Late: searching needs no rendering.
        from hashlib import sha256

        from vault_index.sources.opencode.entries import read_messages
        from vault_index.sources.opencode.render import beyond_copies, render

        held = self._held(ref.path)
        if held is None:
            raise NotFoundError(f"{ref.path} is gone", "run: vault-index sync")
        seen = self._ref(held)
        session, problems = held.listed.session, list[str]()
        origin = self._origin(held)
        with ExitStack() as stack:  # a cursor that is left open would go on seeing the moment it was opened at

            def messages_of(one: Held, problems: list[str]) -> Iterator[Message]:
                raw = stack.enter_context(closing(one.store.messages(one.listed.session.id, problems)))
                revert = session.revert if one is held else None
                return read_messages(raw, revert, self._include, problems)

            messages, forked_from = messages_of(held, problems), ""
            if origin is not None:
                copied, messages = beyond_copies(messages, messages_of(origin, []))
                forked_from = origin.listed.session.id if copied else ""
            done = render(session, messages, forked_from=forked_from)
        faults = list(_some("session", problems, ref.path))
        if done.redacted:
            secrets = "1 credential" if done.redacted == 1 else f"{done.redacted} credentials"
            faults.append(Fault("redacted", f"{secrets} left out", ref.path))
        return RawDocument(seen, done.text, sha256(done.text.encode()).digest(), tuple(faults), "session")

    def born(self, path: str) -> float | None:
        """Sessions say when they began."""
        return None

    def stamp(self, path: str) -> FileStamp | None:
        try:
            found = self.look(path)
        except VaultIndexError:
            return _UNKNOWN
        return found.stamp if found else None

    def relative(self, absolute_path: str) -> str | None:
        """Every file of the data folder concerns the source as a whole."""
        path = os.path.normpath(absolute_path)
        folders = {str(self.config.path), *map(str, self.watched())}
        return "" if any(is_under(real_path(folder), real_path(path)) for folder in folders) else None

    def stays_home(self, path: str) -> bool:
        if self.config.local_only is True:
            return True
        held = self._held(path) if self.config.local_only else None
        return held is not None and self._keeps(held.listed.session)

    def knows(self, session: str) -> bool:
        """Whether a session is there. VaultIndexError where that is not known."""
        return re.fullmatch(_ID, session) is not None and self._stores.session(session) is not None

    def keeps(self, origin: Asker) -> bool:
        """Whether words of these projects, folders or this session stay home. VaultIndexError where that is not known.

        A session that is gone counts as one that stays, unless its project tells. A project that is only named may be
        any that is called so, for a tag and `project:` in any case; one that is given as a folder is called as that
        folder, and as the worktree it lies in.
        """
        if self.config.local_only is True:
            return True
        given = [project for project in origin.projects if project[:1] in ("/", "~")]
        folders = _with_targets((*origin.folders, *given))
        named = _with_targets(given if origin.projects else origin.folders)
        links = [part for project in origin.projects for part in re.split(_LINK, project)]
        names = map(name_of, (*links, *named, *map(worktree_of, named)))
        projects = {*origin.projects, *filter(None, names)}
        covered = (self._local.covers(one) or self._local_alike.covers(_alike(one)) for one in projects)
        if self._local.covers("", *folders) or any(covered):
            return True
        held = self._stores.session(origin.session) if re.fullmatch(_ID, origin.session) else None
        if held is not None or folders:
            return held is not None and self._keeps(held.listed.session)
        return (
            any(map(self._local.may_cover, projects))
            or any(
                one.listed.session.project in projects and self._keeps(one.listed.session)
                for one in (self._stores.listing().sessions.values() if projects else ())
            )
            or (bool(origin.session) and not (projects and self._local.by_name))
        )

    def keeps_place(self, place: Asker) -> bool:
        """Whether what is asked in a folder stays home. Where every session does, these are the folders that sessions
        were held in: elsewhere a person asks. VaultIndexError where that is not known."""
        return (
            any(
                is_under(held_in, folder)
                for one in self._stores.listing().sessions.values()
                for held_in in (one.listed.session.directory, one.listed.session.worktree)
                if held_in not in ("", "/")
                for folder in (*place.folders, *map(os.path.realpath, place.folders))
            )
            if self.config.local_only is True
            else self.keeps(place)
        )

    def link(self, path: str) -> str:
        """Empty: OpenCode opens a session by a command, which the full record of it names."""
        return ""

    def missing(self) -> str:
        reason = f"there are no sessions of OpenCode in {self.config.path}"
        return "" if self._places() else reason if self._setting else f"{reason} {YET}"

    @property
    def remedy(self) -> str:
        return "name the folder with opencode.data, or run `vault-index config set opencode.enabled false`"

    # --- watching --------------------------------------------------------------------------------------------

    def watched(self) -> Sequence[Path]:
        databases = {path.parent for path in self._places().databases}
        return sorted(databases or {self.config.path})

    def concerns(self, name: str) -> bool:
        named = {path.name for path in self._places().databases}
        return ("opencode" in name and name.endswith((".db", ".db-wal"))) or name.removesuffix("-wal") in named

    def version(self) -> object:
        return self._stores.version()

    # --- inside ----------------------------------------------------------------------------------------------

    def _places(self) -> Places:
        """What there is; looked for again when something came into the data folder or went, as a `-wal` does."""
        try:
            changed = os.stat(self.config.path).st_mtime_ns
        except OSError:
            changed = 0
        known = self._found
        if known is None or known[0] != changed or not known[1].databases:
            self._found = known = changed, find_places(self._setting, os.environ)
        return known[1]

    def _held(self, path: str) -> Held | None:
        """The session that is called so; a path of another project is not its name."""
        name = path.rpartition("/")[2]
        held = self._stores.session(name.removesuffix(".md")) if name.endswith(".md") else None
        return held if held and self._wanted(held.listed) and path_of(held.listed.session) == path else None

    def _wanted(self, listed: Listed) -> bool:
        session = listed.session
        left_out = self._exclude.covers(session.project, session.directory, session.worktree)
        return listed.messages > 0 and not left_out

    def _ref(self, held: Held) -> DocumentRef:
        listed = held.listed
        # A fork shows what its original lacks, and so changes with it.
        origin = self._origin(held)
        other = (origin.listed.session.id, origin.listed.changed, origin.listed.messages) if origin else ()
        rest = zlib.crc32(repr((listed.parts, listed.session.title, listed.session.revert, other)).encode())
        return DocumentRef(
            SOURCE_NAME, path_of(listed.session), FileStamp(listed.messages, listed.changed * 1_000_000, rest)
        )

    def _keeps(self, session: Session) -> bool:
        folders = filter(None, (session.directory, session.worktree))
        return self._local.covers(session.project, *_with_targets(folders))

    def _origin(self, held: Held) -> Held | None:
        """What a session may have been forked from: an older one that begins with the same message."""
        session = held.listed.session
        if held.listed.first >= session.created:
            return None
        older = [
            other
            for other in self._stores.listing().began_at(held.listed.first)
            if (other.listed.session.created, other.listed.session.id) < (session.created, session.id)
            and self._wanted(other.listed)
        ]
        if len(older) < 2:
            return older[0] if older else None
        times = set(held.store.times(session.id))
        return max(older, key=lambda other: len(times.intersection(other.store.times(other.listed.session.id))))


def _with_targets(folders: Iterable[str]) -> set[str]:
    """Folders, and what they are links to. NotFoundError for what names none."""
    try:
        plain = [os.path.expanduser(folder) for folder in folders]
        return {*plain, *map(os.path.realpath, plain)}
    except ValueError as error:
        raise NotFoundError("a project is named by a folder that cannot be", "change its `project`") from error


def _alike(name: str) -> str:
    """Equal for names that one tag stands for."""
    return name.casefold().replace(" ", "-")


def path_of(session: Session) -> str:
    return f"{_folder(session.project)}/{session.id}.md"


@cache
def _folder(project: str) -> str:
    return re.sub(_NOT_IN_NAMES, "-", _redacted(project)).strip(". ") or "elsewhere"


def _redacted(text: str) -> str:
    # Late: most searches list no sessions.
    from vault_index.secrets.find import redact

    return redact(text)[0]


def _some(code: str, problems: Sequence[str], path: str) -> Iterator[Fault]:
    for problem in problems[:_NAMED_FAULTS]:
        yield Fault(code, _redacted(problem), path)
    if len(problems) > _NAMED_FAULTS:
        yield Fault(code, f"and {len(problems) - _NAMED_FAULTS} more of this kind", path)
