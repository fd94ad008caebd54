"""A vault (folder of notes) as a source: finds and reads its documents."""

import contextlib
import errno
import functools
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import quote

from vault_index.config import SourceConfig
from vault_index.disk import is_under, os_errors_as, real_path
from vault_index.errors import NotFoundError, UsageError, VaultIndexError
from vault_index.models import DocumentRef, Fault, FileStamp, RawDocument
from vault_index.sources.files import (
    decode,
    is_document_name,
    is_folder_name,
    is_readable_name,
    parts_of,
    placeholder_name,
    placeholder_of,
    read_inside,
    same_name,
    shown_name,
    stamp_of,
)
from vault_index.sources.git import GitDates
from vault_index.sources.ignore_files import IGNORE_FILE, SETTINGS, RuleBook, configured_rules
from vault_index.sources.source import EMPTY, Scan
from vault_index.sources.walk import (
    KEPT,
    Identity,
    Walk,
    identity_of,
    judge,
    placeholder_fault,
    unreadable_fault,
)


class VaultSource:
    """One vault. Its only state is a cache of ignore rules and git dates."""

    def __init__(self, config: SourceConfig) -> None:
        self.config = config
        self.root = os.path.abspath(config.path)
        self._rules = RuleBook(config, self.root)
        self._dates = GitDates(self.root)
        local = config.local_only
        self._local = (
            configured_rules(local, f"sources.{config.name}.local_only")
            if isinstance(local, tuple)
            else None
        )

    shape = ""
    """Constant: no setting affects the text of notes."""

    @property
    def remedy(self) -> str:
        """The hint for a missing vault."""
        return f"mount the folder, or run `vault-index source remove {self.config.name}`"

    def scan(self, under: str = "") -> Scan:
        """Scan all documents, or those at one folder or file."""
        if under.strip("/"):
            return self.scan_places((under,))
        if reason := self.missing():
            return Scan(vanished=True, reason=reason)
        identity = _identity(self.root)
        walk = self._walk()
        # An unmount during the walk looks as if all files were deleted.
        if _identity(self.root) != identity or (not walk.refs and self.missing()):
            return Scan(vanished=True, reason=f"{self.root} disappeared during the scan")
        return walk.result()

    def scan_places(self, places: Iterable[str]) -> Scan:
        """Scan several files or folders; `vanished` only if the whole vault is missing."""
        places = {self._as_on_disk(place.strip("/")) for place in places}
        if "" in places:
            return self.scan()
        if reason := self.missing():
            return Scan(vanished=True, reason=reason)
        whole = functools.cache(self._walk)
        parts = [self._scan_place(place, whole) for place in sorted(places)]
        refs = {ref.path: ref for part in parts for ref in part.refs}
        return Scan(
            tuple(refs[path] for path in sorted(refs)),
            tuple(dict.fromkeys(fault for part in parts for fault in part.faults)),
            unreadable=tuple(dict.fromkeys(path for part in parts for path in part.unreadable)),
            drafts=tuple(dict.fromkeys(path for part in parts for path in part.drafts)),
        )

    def examine(self, path: str) -> DocumentRef | Fault | None:
        """Return a document, a fault, or None (deleted, ignored), as `scan` would.

        A fault with a code in `KEPT` means that the file is unreadable and its index must be kept.
        """
        parts = parts_of(path)
        if parts is None or not _may_be_document(parts):
            return None
        try:
            if (status := self._status(parts)) is None:
                if reason := self.missing():
                    return Fault("unreadable", f"the vault is missing: {reason}", path)
                return self._deferred(parts)
            if stat.S_ISLNK(status.st_mode):
                scan = self._walk().result(path)
                seen: tuple[DocumentRef | Fault, ...] = (*scan.refs, *scan.faults)
                return next((found for found in seen if found.path == path), None)
            self._rules.refresh()
            return (
                judge(self.config, path, status)
                if self._rules.around(parts, file=True) is not None
                else None
            )
        except OSError as error:
            return unreadable_fault(path, error)

    def look(self, path: str) -> DocumentRef | None:
        """Look up one document. Raises VaultIndexError if it exists but cannot be read."""
        found = self.examine(path)
        if isinstance(found, Fault) and found.code in KEPT:
            raise VaultIndexError(f"{path}: {found.message}", KEPT[found.code])
        return found if isinstance(found, DocumentRef) else None

    def read(self, ref: DocumentRef) -> RawDocument:
        """Read a document; `ref` of the result has the current stamp.

        Raises NotFoundError if the file is gone, VaultIndexError if it is unreadable or too large.
        """
        path = f"{self.root}/{ref.path}"
        with os_errors_as(f"cannot read {path}", "check its permissions"):
            try:
                data, status = self.read_bytes(ref.path, self.config.max_file_bytes)
            except (FileNotFoundError, NotADirectoryError) as error:
                raise NotFoundError(f"{path} is gone", "run: vault-index sync") from error
        text, bad_line = decode(data)
        message = "not valid UTF-8: invalid bytes become \N{REPLACEMENT CHARACTER}"
        faults = (Fault("encoding", message, ref.path, bad_line),) if bad_line is not None else ()
        seen = DocumentRef(self.config.name, ref.path, stamp_of(status))
        import hashlib  # 3 ms, and most commands read no file

        return RawDocument(seen, text, hashlib.sha256(data).digest(), faults, data=data)

    def read_bytes(self, path: str, limit: int) -> tuple[bytes, os.stat_result]:
        """Read a file of this vault with `read_inside`."""
        return read_inside(self.root, path, limit, outside=self.config.follow_outside_links)

    def relative(self, absolute_path: str) -> str | None:
        """Return the path inside this source, "" for the root, None if outside.

        Accepts paths below the configured root, and below its real path.
        """
        path = os.path.normpath(absolute_path)
        for root in (self.root, real_path(self.root)):
            if is_under(root, path):
                return self._as_on_disk(path[len(root) :].strip("/"))
        return None

    def absolute(self, path: str) -> Path:
        """Return the absolute path. Raises UsageError if it leaves the vault by `..` or a link."""
        if parts_of(path) is not None and self._stays_inside(path):
            return Path(f"{self.root}/{path}")
        raise UsageError(
            f"{path!r} leads out of the vault {self.root}", "give a path inside the vault"
        )

    def changes_rules(self, path: str) -> bool:
        """Return whether this path may hold ignore rules, so that its change requires a scan."""
        return path in SETTINGS or path.rpartition("/")[2] == IGNORE_FILE

    def may_hold(self, folder: str) -> bool:
        """Return whether the rules allow documents in a folder; the root is the empty path."""
        parts = folder.split("/") if folder else []
        if not all(map(is_folder_name, parts)):
            return False
        self._rules.refresh()
        try:
            return self._rules.around(parts, file=False) is not None
        except OSError:  # unreadable rules
            return True

    def holds_rules(self, folder: str) -> bool:
        """Return whether a folder may hold Obsidian settings with ignore rules."""
        return any(path.rpartition("/")[0] == folder for path in SETTINGS)

    def stays_home(self, path: str) -> bool:
        """Return whether the text of a document must not leave the machine."""
        if self.config.local_only is True or self._local is None:
            return self.config.local_only is True
        if self._local.covers(path):
            return True
        # A link must not expose a private note under another name.
        written = f"{self.root}/{path}"
        real = real_path(written)
        if real == written:
            return False
        root = real_path(self.root)
        return is_under(root, real) and self._local.covers(real[len(root) :].strip("/"))

    def stamp(self, path: str) -> FileStamp | None:
        """Return the current stamp of a document; None if deleted."""
        try:
            return stamp_of(os.stat(f"{self.root}/{path}"))
        except (OSError, ValueError):  # ValueError: a NUL or a surrogate in the name
            return None

    def born(self, path: str) -> float | None:
        """Return the time of a file's first git commit, in seconds since the epoch."""
        return self._dates.of(path)

    def link(self, path: str) -> str:
        """Return the URL that opens a document in Obsidian, which names vaults by folder."""
        vault, file = os.path.basename(self.root), path.removesuffix(".md")
        return f"obsidian://open?vault={quote(vault, safe='')}&file={quote(file, safe='')}"

    def missing(self) -> str:
        """Return why the whole vault is missing (unmounted, empty folder), or ""."""
        try:
            with os.scandir(self.root) as entries:
                # Ignore hidden names: Obsidian creates its folder even on an unmounted disk.
                there = any(entry.name[0] != "." or placeholder_of(entry.name) for entry in entries)
                return "" if there else f"{self.root} {EMPTY}"
        except FileNotFoundError:
            return f"{self.root} does not exist"
        except NotADirectoryError:
            return f"{self.root} is a file, not a folder"
        except OSError as error:
            return f"{self.root} cannot be read ({error.strerror})"

    # --- inside -----------------------------------------------------------------------------------

    def _walk(self) -> Walk:
        walk = Walk(self.config, self.root, self._rules)
        walk.folder("", ())
        walk.follow_links()
        return walk

    def _scan_place(self, place: str, whole: Callable[[], Walk]) -> Scan:
        if (parts := parts_of(place)) is None:
            raise UsageError(
                f"{place!r} is not a path in the vault {self.root}",
                "give a path relative to the vault",
            )
        try:
            if (status := self._status(parts)) is None:
                return _scan_of(self._deferred(parts))
            if not is_readable_name(place):  # not a document; only a walk reports the fault
                return Scan(faults=whole().result(shown_name(place)).faults)
            if stat.S_ISDIR(status.st_mode):
                return self._scan_folder(place, parts, whole)
        except OSError as error:
            return _scan_of(unreadable_fault(place, error))
        return (
            whole().result(place) if stat.S_ISLNK(status.st_mode) else _scan_of(self.examine(place))
        )

    def _scan_folder(self, place: str, parts: list[str], whole: Callable[[], Walk]) -> Scan:
        walk = Walk(self.config, self.root, self._rules)
        named = all(is_folder_name(part) and is_readable_name(part) for part in parts)
        chain = self._rules.around(parts, file=False) if named else None
        if chain is None:
            return Scan()
        walk.folder(f"{place}/", chain)
        # Only a whole walk knows whether another path leads to a link's target.
        return whole().result(place) if walk.links else walk.result(place)

    def _deferred(self, parts: list[str]) -> Fault | None:
        """Return the fault of a document if iCloud replaced it with a placeholder, else None."""
        *above, name = parts
        if not _may_be_document(parts) or not os.path.exists(
            "/".join((self.root, *above, placeholder_name(name)))
        ):
            return None
        return placeholder_fault("/".join(parts))

    def _as_on_disk(self, path: str) -> str:
        """Return the path with its names in the Unicode form that they have on disk."""
        if path.isascii():
            return path
        spelled = ""
        for part in path.split("/"):
            if not part.isascii():
                with contextlib.suppress(OSError):
                    part = same_name(part, os.listdir(f"{self.root}/{spelled}"))
            spelled = f"{spelled}/{part}".strip("/")
        return spelled

    def _stays_inside(self, path: str) -> bool:
        try:
            status = self._status(path.split("/"))
            free = (
                self.config.follow_outside_links
                or status is None
                or not stat.S_ISLNK(status.st_mode)
            )
            return free or is_under(real_path(self.root), real_path(f"{self.root}/{path}"))
        except OSError:
            return True  # opening the path raises the same error

    def _status(self, parts: list[str]) -> os.stat_result | None:
        """Return `lstat` of a path or of the first link on the way to it; None if missing."""
        path = self.root
        status = None
        for part in parts:
            path = f"{path}/{part}"
            try:
                status = os.lstat(path)
            except OSError as error:
                if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
                    return None
                raise
            except ValueError:  # a NUL or a surrogate in the name
                return None
            if stat.S_ISLNK(status.st_mode):
                break
        return status


def _may_be_document(parts: list[str]) -> bool:
    return (
        all(is_folder_name(part) for part in parts[:-1])
        and is_document_name(parts[-1])
        and all(is_readable_name(part) for part in parts)
    )


def _scan_of(found: DocumentRef | Fault | None) -> Scan:
    if isinstance(found, Fault):
        return Scan(faults=(found,), unreadable=(found.path,) if found.code in KEPT else ())
    return Scan(refs=(found,) if found else ())


def _identity(path: str) -> Identity | None:
    with contextlib.suppress(OSError):
        return identity_of(os.stat(path))
    return None
