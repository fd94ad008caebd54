"""Record what a command does to memory files before it does it, so that `undo` can revert it."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from vault_index.errors import ConflictError, NotFoundError, StateDamagedError, VaultIndexError
from vault_index.memories.file.document import MemoryFile
from vault_index.memories.file.files import MemoryFiles
from vault_index.store.revisions import OURSELVES, REMOVED, Revision, Revisions, packed


@dataclass(slots=True, kw_only=True)
class Journal:
    """The record of the changes of one command.

    It begins with the first file that is changed. While the state database is damaged, files are
    written, but nothing is recorded.
    """

    revisions: Revisions | None
    """None in a dry run: nothing is recorded."""
    work: str
    who: str = ""
    """The caller, if known."""
    begun: int = 0
    """The number of the change; 0 before the first file is changed, and for `undo`."""

    def change(self) -> int:
        """Begin the change if needed and return its number; 0 while the state is damaged."""
        with suppress(StateDamagedError):
            if not self.begun and self.revisions is not None and self.work != "undo":
                self.begun = self.revisions.begin(self.work)
        return self.begun

    @contextmanager
    def step(
        self,
        files: MemoryFiles,
        path: str,
        data: bytes | None,
        before: MemoryFile | None = None,
        *,
        uid: str = "",
        author: str = "",
    ) -> Iterator[None]:
        """Record a step around the code that does it; delete the record if that failed.

        `path` and `data` are the path and the bytes after the step; None if the file is removed.
        `before` is the file until then, None if it is created; a new file has a `uid` and maybe an
        author. Raises ConflictError if the new path is taken.
        """
        revision = Revision(
            before.uid if before else uid,
            files.source,
            path,
            digest=REMOVED if data is None else hashlib.sha256(data).digest(),
            text=b"" if data is None else packed(data),
            who=self.who or author or OURSELVES,
            action=self.work,
            moved_from=before.path if before and before.path != path else "",
            before=before.digest if before else REMOVED,
        )
        recorded = self._put(revision, before)
        try:
            yield
        except BaseException as error:
            taken = isinstance(error, FileExistsError)
            with suppress(VaultIndexError):
                if self.revisions and (taken or digest_at(files, path) != revision.digest):
                    self.revisions.take_back(recorded)
            if taken:
                raise ConflictError(
                    f"{path} was created in the meantime", "run the same command again"
                ) from error
            raise

    def _put(self, revision: Revision, file: MemoryFile | None) -> int:
        """Record a revision of a file, after the present one; return the id of the row."""
        if self.revisions is None or not revision.uid:
            return 0
        before = None
        if file is not None:
            by = str(file.front.get("entered_by") or "")
            before = Revision(file.uid, file.source, file.path, file.digest, packed(file.data), by)
        with suppress(StateDamagedError):
            return self.revisions.put(revision._replace(change=self.change()), before)
        return 0


def digest_at(files: MemoryFiles, path: str) -> bytes:
    """Return the SHA-256 of a file, or `REMOVED` if it does not exist."""
    with suppress(NotFoundError):
        return files.read(path, any_bytes=True).digest
    return REMOVED
