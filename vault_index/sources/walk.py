"""Walk a vault and collect its documents; links come last, so that real paths win."""

import contextlib
import errno
import heapq
import os
import stat
from collections.abc import Iterable, Mapping
from operator import attrgetter

from vault_index.config import SourceConfig
from vault_index.disk import is_draft, is_under, path_in, real_path
from vault_index.errors import UsageError, VaultIndexError
from vault_index.models import DocumentRef, Fault
from vault_index.sources.files import (
    is_document_name,
    is_folder_name,
    is_placeholder,
    is_readable_name,
    placeholder_of,
    shown_name,
    stamp_of,
)
from vault_index.sources.ignore_files import IGNORE_FILE, LOGSEQ, Chain, RuleBook
from vault_index.sources.source import Scan

Identity = tuple[int, int]
"""Device and inode."""
Times = Mapping[str, int]
"""The modification time of each folder of a tree, in nanoseconds."""


class Walk:
    """One walk, which fills `refs`, `faults` and `unreadable` (paths)."""

    def __init__(self, source: SourceConfig, root: str, rules: RuleBook) -> None:
        self.refs: list[DocumentRef] = []
        self.faults: list[Fault] = list(rules.refresh())
        self.unreadable: list[str] = []
        self.drafts: list[str] = []
        self.links: list[tuple[str, Chain]] = []
        self._source = source
        self._root = root
        self._rules = rules
        self._ruled = not rules.silent
        self._folders: list[str] = []
        # Filled when the first link is followed.
        self._seen_folders: set[Identity] | None = None
        self._seen_files: set[Identity] | None = None

    def folder(self, prefix: str, chain: Chain) -> None:
        """Walk a folder without its links; `prefix` ends with `/`, and is empty for the root."""
        waiting = [(prefix, chain)]
        while waiting:
            prefix, chain = waiting.pop()
            try:
                self._list(prefix, chain, waiting)
            except (FileNotFoundError, NotADirectoryError, UsageError):
                continue  # deleted, or replaced by a link
            except OSError as error:
                self._folders.append(prefix)
                self._note(unreadable_fault(prefix.rstrip("/"), error))

    def follow_links(self) -> None:
        """Follow the links that `folder` found, sorted by path; each target once."""
        if not self.links:
            return
        heapq.heapify(self.links)
        self._seen_folders = set()
        for prefix in self._folders:
            with contextlib.suppress(OSError):  # deleted since
                self._seen(prefix)
        while self.links:
            path, chain = heapq.heappop(self.links)
            try:
                self._link(path, chain)
            except OSError as error:
                if error.errno == errno.ELOOP:  # a link to itself leads nowhere
                    continue
                if self._leads_out(path):
                    self._note(unreadable_fault(path, error))
                else:  # the walk of the target's folder reports the fault
                    self.unreadable.append(path)

    def result(self, place: str = "") -> Scan:
        """Return the result, or its part at one file or folder."""
        refs = sorted(self.refs, key=attrgetter("path"))
        return Scan(
            tuple(ref for ref in refs if is_under(place, ref.path)),
            tuple(fault for fault in self.faults if is_under(place, fault.path)),
            unreadable=tuple(path for path in self.unreadable if is_under(place, path)),
            drafts=tuple(f"{self._root}/{path}" for path in self.drafts if is_under(place, path)),
        )

    def _list(self, prefix: str, chain: Chain, waiting: list[tuple[str, Chain]]) -> None:
        folder = path_in(self._root, prefix, outside=self._source.follow_outside_links)
        with os.scandir(folder) as found:
            entries = list(found)
        if prefix == LOGSEQ or any(entry.name == IGNORE_FILE for entry in entries):
            chain, faults = self._rules.enter(chain, prefix)
            self.faults += faults
        self._folders.append(prefix)
        self._entries(entries, prefix, chain, waiting)

    def _entries(
        self,
        entries: list["os.DirEntry[str]"],
        prefix: str,
        chain: Chain,
        waiting: list[tuple[str, Chain]],
    ) -> None:
        for entry in entries:
            name = entry.name
            if name[0] == ".":
                self._hidden(name, prefix, chain)
                continue
            path = prefix + name
            try:
                if entry.is_symlink():
                    if is_folder_name(name) and self._readable(name, path):
                        self.links.append((path, chain))
                elif entry.is_dir(follow_symlinks=False):
                    if (
                        is_folder_name(name)
                        and self._readable(name, path)
                        and self._enters(path, chain)
                    ):
                        waiting.append((f"{path}/", chain))
                elif is_document_name(name) and self._readable(name, path):
                    self._file(path, chain, entry.stat(follow_symlinks=False))
            except FileNotFoundError:
                continue  # deleted since the listing
            except OSError as error:
                self._note(unreadable_fault(path, error))

    def _hidden(self, name: str, prefix: str, chain: Chain) -> None:
        if is_draft(name):
            self.drafts.append(prefix + name)
        document = placeholder_of(name)
        path = prefix + document
        if document and self._readable(path, path) and not self._ignored(path, chain):
            self._note(placeholder_fault(path))

    def _enters(self, path: str, chain: Chain) -> bool:
        return not self._ignored(f"{path}/", chain) and (
            self._seen_folders is None or self._seen(f"{path}/")
        )

    def _file(self, path: str, chain: Chain, status: os.stat_result) -> None:
        if self._ignored(path, chain):
            return
        if self._seen_files is not None:
            if identity_of(status) in self._seen_files:
                return
            self._seen_files.add(identity_of(status))
        found = judge(self._source, path, status)
        if isinstance(found, DocumentRef):
            self.refs.append(found)
        elif found is not None:
            self._note(found)

    def _note(self, fault: Fault) -> None:
        self.faults.append(fault)
        if fault.code in KEPT:
            self.unreadable.append(fault.path)

    def _ignored(self, path: str, chain: Chain) -> bool:
        return (self._ruled or bool(chain)) and self._rules.ignores(chain, path)

    def _readable(self, name: str, path: str) -> bool:
        if is_readable_name(name):
            return True
        self.faults.append(Fault("name", "name is not valid UTF-8; rename it", shown_name(path)))
        return False

    # --- links ------------------------------------------------------------------------------------

    def _link(self, path: str, chain: Chain) -> None:
        absolute = f"{self._root}/{path}"
        if not self._may_follow(absolute):
            return
        try:
            status = os.stat(absolute)
        except FileNotFoundError:
            if self._source.follow_outside_links and self._leads_out(path):
                raise  # perhaps an unmounted disk: keep its index
            return
        if stat.S_ISDIR(status.st_mode):
            if self._enters(path, chain):
                self._remember_files()
                self.folder(f"{path}/", chain)
                heapq.heapify(self.links)
        elif is_document_name(path.rpartition("/")[2]):
            self._remember_files()
            self._file(path, chain, status)

    def _leads_out(self, path: str) -> bool:
        return not is_under(real_path(self._root), real_path(f"{self._root}/{path}"))

    def _may_follow(self, absolute: str) -> bool:
        """Return whether to follow a link.

        A link out of the root needs `follow_outside_links`; a link to an ignored path is skipped.
        """
        real, root = real_path(absolute), real_path(self._root)
        if not is_under(root, real):
            return self._source.follow_outside_links
        inside = real[len(root) :].strip("/")
        return bool(inside) and self._rules.around(inside.split("/"), file=False) is not None

    def _seen(self, prefix: str) -> bool:
        assert self._seen_folders is not None
        identity = identity_of(os.stat(f"{self._root}/{prefix}"))
        new = identity not in self._seen_folders
        self._seen_folders.add(identity)
        return new

    def _remember_files(self) -> None:
        """Remember the files found so far, so that links add no duplicates."""
        if self._seen_files is None:
            self._seen_files = set()
            for ref in self.refs:
                with contextlib.suppress(OSError):  # deleted since
                    self._seen_files.add(identity_of(os.stat(f"{self._root}/{ref.path}")))


def identity_of(status: os.stat_result) -> Identity:
    """Return device and inode."""
    return status.st_dev, status.st_ino


def judge(source: SourceConfig, path: str, status: os.stat_result) -> DocumentRef | Fault | None:
    """Classify a file that is not ignored: a document, a fault, or None (such as a pipe)."""
    if not stat.S_ISREG(status.st_mode):
        return None
    if is_placeholder(status):
        return placeholder_fault(path)
    size, limit = status.st_size, source.max_file_bytes
    if size > limit:
        return Fault("too_large", f"{size} bytes, over the source's max_file_bytes ({limit})", path)
    return DocumentRef(source.name, path, stamp_of(status))


KEPT = {
    "placeholder": "open the file once to download it",
    "unreadable": "check its permissions, and that its disk is mounted",
}
"""Fault codes of unreadable files, with hints; the index keeps the text of such a file."""


def placeholder_fault(path: str) -> Fault:
    """Return the fault of a cloud-only file, which reading would download."""
    return Fault("placeholder", "only in the cloud; the indexed text is kept", path)


def unreadable_fault(path: str, error: OSError | VaultIndexError) -> Fault:
    """Return the fault of a path that exists but cannot be read."""
    reason = error.strerror if isinstance(error, OSError) else None
    return Fault("unreadable", f"cannot be read: {reason or error}", path)


class FolderTimes:
    """Remembers folder trees. An edit of a file changes no folder; the watcher detects edits."""

    def __init__(self) -> None:
        self._kept: dict[str, Times] = {}

    def news(self, root: str) -> Times | None:
        """Return the current times of a tree, or None if it is unchanged since `keep`."""
        kept = self._kept.get(root)
        if kept and all(_time(folder) == time for folder, time in kept.items()):
            return None
        return {folder: _time(folder) for folder, _, _ in os.walk(root)}

    def keep(self, root: str, times: Times) -> None:
        """Record that the tree was indexed after it had these times."""
        self._kept[root] = times

    def wrote(self, root: str, files: Iterable[str]) -> None:
        """Record that this program wrote and indexed these files below the root."""
        folders = set(self._kept.get(root, ()))
        for file in files:
            while (file := os.path.dirname(file)).startswith(root):
                folders.add(file)
        self._kept[root] = {folder: _time(folder) for folder in folders}


def _time(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0
