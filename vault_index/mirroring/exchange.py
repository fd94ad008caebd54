"""Exchange the files of a folder with a pool or a remote, so that both hold the same.

The versions at the last exchange tell which side changed. If both did, the other side's version
stays in the folder, and the local one goes to the inbox for review. Nothing that exists only here
is deleted or overwritten without a copy.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from vault_index import disk
from vault_index.errors import ConflictError, NotFoundError, VaultIndexError
from vault_index.mirroring.files import Files
from vault_index.results.base import Problem
from vault_index.sources.vault import VaultSource
from vault_index.times import local_day

_ID = re.compile(r"\A(---\n(?:.*\n)*?)id:.*\n", re.MULTILINE)
_TRASH = ".trash"
_RECORD_SECONDS = 5.0
"""Seconds between two saves of the record; after a crash, unrecorded files are compared again."""
_LONGEST = 900.0
"""Seconds after which an exchange stops; the next one continues."""

Action = Literal["pull", "push", "remove here", "remove there", "conflict", "same", "keep"]


class Entry(NamedTuple):
    """A file on the other side."""

    path: str
    etag: str
    """Changes with the content."""
    size: int = 0
    modified: float = 0.0
    """Seconds since the epoch; 0 if unknown."""


class Remote(Protocol):
    """The other side. All methods raise VaultIndexError; paths are relative, with `/`."""

    def list(self) -> Iterable[Entry]:
        """Return all files."""

    def read(self, path: str) -> tuple[bytes, str]:
        """Return a file and its etag. Raises NotFoundError if there is none."""

    def write(self, path: str, data: bytes, if_match: str) -> str:
        """Write a file that has this etag ("": that does not exist), and return the new etag.

        Raises ConflictError for another etag.
        """

    def delete(self, path: str, if_match: str) -> None:
        """Delete a file that has this etag. Raises ConflictError for another one."""

    def close(self) -> None:
        """Close connections and processes."""
        return


class Known(NamedTuple):
    """A file after the last exchange, when both sides were equal."""

    etag: str
    digest: str
    size: int = -1
    mtime_ns: int = 0


class Exchange(NamedTuple):
    """What an exchange did, for the report."""

    pulled: int = 0
    pushed: int = 0
    conflicts: int = 0
    problems: tuple[Problem, ...] = ()


def action(base: str | None, here: str | None, there: str | None) -> Action:
    """Return what to do with a file from its versions: at the last exchange, here, there."""
    if here == there:
        return "same"
    if here == base:
        return "remove here" if there is None else "pull"
    if there == base:
        return "remove there" if here is None else "push"
    if there is None:
        return "push"
    return "pull" if here is None else "conflict"


def digest_of(data: bytes) -> str:
    """Return the digest that identifies a version here."""
    return hashlib.sha256(data).hexdigest()


class Mirror:
    """A folder of a vault with the same files as the other side. Subclasses set the rules."""

    code = "remote"
    """The code of its problems."""

    remote: Remote

    def __init__(
        self, vault: VaultSource, folder: str, inbox: str, record: Path, label: str
    ) -> None:
        self.vault = vault
        self.folder = folder
        self.files = Files(vault, folder)
        self.record = record
        self.label = label
        self._inbox = inbox
        self._done = Counter[Action]()
        self._stop = time.monotonic() + _LONGEST

    # --- rules ------------------------------------------------------------------------------------

    def paths_here(self) -> Iterator[str]:
        """Yield the paths of the files here."""
        start = len(self.place(""))
        return (path[start:] for path in self.files.all())

    def choose(self, path: str, done: Action) -> Action:
        """Return another action for a file, if a rule demands it."""
        return done

    def check(self, entry: Entry) -> None:
        """Raise VaultIndexError if a file of the other side cannot be written here."""

    def push(self, path: str, data: bytes, etag: str) -> str | None:
        """Send a local version, and return its etag; None if it has to stay here for now."""
        return self.remote.write(path, data, etag)

    def ends(self, error: VaultIndexError) -> bool:
        """Return whether an error ends the exchange."""
        return False

    # --- the exchange -----------------------------------------------------------------------------

    def place(self, path: str) -> str:
        """Return the path in the vault."""
        return f"{self.folder}/{path}" if self.folder else path

    def exchange(self, there: Mapping[str, Entry]) -> Exchange:
        """Exchange all changed files; a file that fails is tried again by the next exchange."""
        base, here = self.known(), self.here()
        one_left = len(base) == 1 and self.folder and self.files.there()
        if not here and not one_left:  # the folder was deleted or is not mounted: write it again
            base = {}
        plan = [
            (path, self.choose(path, action(*versions)))
            for path in sorted(base.keys() | here.keys() | there.keys())
            if (versions := _versions(base.get(path), here.get(path), there.get(path)))
        ]
        problems, saved = list[Problem](), time.monotonic()
        try:
            for path, done in plan:
                if time.monotonic() > self._stop:
                    message = f"the exchange took over {_LONGEST:.0f} s"
                    problems.append(Problem(self.code, message, "the next one continues"))
                    break
                was, entry, one = base.get(path), there.get(path), here.get(path)
                try:
                    known = self._carry_out(done, path, one, entry, was)
                except VaultIndexError as error:
                    if self.ends(error):
                        raise
                    message = f"{self.place(path)} was not exchanged: {error.message}"
                    problems.append(Problem(self.code, message, error.hint))
                    continue
                if known:
                    base[path] = known
                else:
                    base.pop(path, None)
                if time.monotonic() > saved + _RECORD_SECONDS:
                    self._save(base)
                    saved = time.monotonic()
        finally:
            self._save(base)
        counts = self._done
        return Exchange(counts["pull"], counts["push"], counts["conflict"], tuple(problems))

    def _carry_out(
        self,
        done: Action,
        path: str,
        here: Known | None,
        there: Entry | None,
        was: Known | None,
    ) -> Known | None:
        """Return the version that both sides have now; None if neither has the file."""
        if done == "keep":
            return was
        if done == "same":
            return here._replace(etag=there.etag) if here and there else None
        if done == "push" and here:
            return self._push(path, here, there.etag if there else "", was)
        if done == "remove there" and there:
            self.remote.delete(path, there.etag)
            return None
        if done == "remove here" and here:
            self._remove(path)
            return None
        return self._pull(there, here, was, keep=done == "conflict") if there else was

    def _push(self, path: str, here: Known, there: str, was: Known | None) -> Known | None:
        etag = self.push(path, self.files.read(self.place(path)), there)
        if etag is None:
            return was
        self._done["push"] += 1
        return here._replace(etag=etag)

    def _pull(
        self,
        there: Entry,
        here: Known | None,
        was: Known | None,
        *,
        keep: bool,
    ) -> Known | None:
        """Write the other side's version here; with `keep`, move the local one to the inbox."""
        self.check(there)
        try:
            data, etag = self.remote.read(there.path)
        except NotFoundError:  # deleted meanwhile
            return was
        if keep and here and digest_of(data) == _digest(was):  # only the etag changed there
            return self._push(there.path, here, etag, was)
        place = self.place(there.path)
        if here is None:
            self._create(place, data)
        elif here.digest != digest_of(data):
            seen = self.files.read(place)
            if keep:
                name = os.path.basename(place).removesuffix(".md")
                # Without its id, because the other version has that.
                text = _ID.sub(r"\1", seen.decode("utf-8", "replace"))
                self.files.create(f"{self._inbox}/{name} {local_day(time.time())}.md", text)
            elif digest_of(seen) != here.digest:
                raise ConflictError("it was edited meanwhile", "the next exchange compares")
            self.files.replace(place, seen, data)
        if _digest(here) != digest_of(data):
            self._done["conflict" if keep else "pull"] += 1
        if there.modified:
            with suppress(OSError, OverflowError, ValueError):
                os.utime(self.vault.absolute(place), (there.modified, there.modified))
        return Known(etag, digest_of(data), *self._stamp(there.path))

    def _create(self, place: str, data: bytes) -> None:
        root = self.vault.root
        with (
            disk.os_errors_as(f"{place} cannot be written", "remove what has its name"),
            disk.file_in(root, place, make=True) as file,
            disk.draft(os.path.dirname(file), data, within=root, lasting=False) as draft,
        ):
            disk.move_without_overwriting(draft, file, lasting=False)

    def _remove(self, path: str) -> None:
        """Move a file, which the other side deleted, to the trash of the vault."""
        place = self.place(path)
        folder, root = os.path.dirname(place), self.vault.root
        with (
            disk.os_errors_as(f"{place} cannot be moved to the trash", "check its permissions"),
            disk.folder_in(root, folder) as here,
            disk.folder_in(root, f"{_TRASH}/{folder}".rstrip("/"), make=True) as bin,
        ):
            name = os.path.basename(path)
            free = (
                f"{bin}/{name.removesuffix('.md')}{f' {number}' if number > 1 else ''}.md"
                for number in range(1, 1000)
            )
            disk.move_to_free_name(f"{here}/{name}", free)

    # --- versions ---------------------------------------------------------------------------------

    def here(self) -> dict[str, Known]:
        """Return the versions here; a file with the size and time of its last version is not read.

        Their etag is that of the last exchange.
        """
        known = self.known()
        found = {}
        for path in self.paths_here() if self.files.there() else ():
            stamp, was = self._stamp(path), known.get(path) or Known("", "")
            same = stamp == was[2:]
            digest = was.digest if same else digest_of(self.files.read(self.place(path)))
            found[path] = Known(was.etag, digest, *stamp)
        return found

    def pending(self) -> list[str]:
        """Return the files with changes that the other side does not have yet."""
        known, here = self.known(), self.here()
        return [
            path
            for path in sorted(known.keys() | here.keys())
            for was, one in [(_digest(known.get(path)), _digest(here.get(path)))]
            if here and self.choose(path, action(was, one, was)) in ("push", "remove there")
        ]

    def _stamp(self, path: str) -> tuple[int, int]:
        with suppress(OSError):
            status = os.stat(f"{self.vault.root}/{self.place(path)}")
            return status.st_size, status.st_mtime_ns
        return -1, 0

    def known(self) -> dict[str, Known]:
        """Return the versions of the last exchange; empty if there was none, or with another label.

        A lost record is no harm: equal files are recognized by their content.
        """
        label, versions = self.recorded()
        return versions if label == self.label else {}

    def recorded(self) -> tuple[str, dict[str, Known]]:
        """Return the label and the versions of the last exchange, as far as they are readable."""
        try:
            found = json.loads(self.record.read_bytes())
            return found["remote"], {path: Known(*one) for path, one in found["files"].items()}
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return "", {}

    def _save(self, versions: Mapping[str, Known]) -> None:
        if versions == self.known():
            return
        os.sync()  # the record must not know files that a power failure takes away
        text = json.dumps({"remote": self.label, "files": versions}, indent=0)
        with disk.os_errors_as(f"cannot write {self.record}", "free disk space"):
            disk.replace(str(self.record), text.encode(), mode=0o600)


def _versions(
    base: Known | None, here: Known | None, there: Entry | None
) -> tuple[str | None, str | None, str | None]:
    """Return comparable versions: a changed etag is another version than any digest."""
    same = base is not None and there is not None and base.etag == there.etag
    other = _digest(base) if same else there and f"etag {there.etag}"
    return _digest(base), _digest(here), other


def _digest(known: Known | None) -> str | None:
    return known and known.digest
