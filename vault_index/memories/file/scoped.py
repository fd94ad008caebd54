"""Restrict memory files to the scope of an access token."""

import secrets
from pathlib import Path

from vault_index.callers import Scope
from vault_index.disk import is_under, real_path
from vault_index.errors import ForbiddenError
from vault_index.markdown.frontmatter import project_in
from vault_index.memories.file.document import MemoryFile, read_text
from vault_index.memories.file.files import MemoryFiles, to_utf8
from vault_index.models import FileStamp


class ScopedFiles(MemoryFiles):
    """The memory files that a scoped token may read and write.

    If a scope has only some projects, memories of other projects may be in the same folder. New
    files then get a random number in their name, so that a taken name does not reveal another
    memory.
    """

    def __init__(self, root: Path, memory_dir: str, source: str, scope: Scope) -> None:
        super().__init__(root, memory_dir, source)
        self._scope = scope

    def named(self, path: str) -> str:
        """Return the path for a new file with this name."""
        return self._with_random_number(super().named(path))

    def free_path(self, folder: str, day: str, title: str) -> str:
        """Return an unused path for a new memory.

        If the scope has a folder in the memory folder, but not the memory folder itself, the path
        is in that folder.
        """
        above, own = f"{self._dir}/", self._scope.below
        inner = next((one for one in own if one.startswith(above)), "")
        if own and not above.startswith(own) and inner:
            return super().free(
                f"{inner}{super().free_path(folder, day, title).removeprefix(above)}"
            )
        return super().free_path(folder, day, title)

    def free(self, path: str) -> str:
        """Return an unused path like this one."""
        return super().free(self._with_random_number(path))

    def allow(self, path: str, text: str | bytes) -> None:
        """Raise ForbiddenError if the path or the project of the text is outside the scope."""
        self._check_path(path)
        projects = self._scope.projects
        project = project_in(read_text(to_utf8(text).decode(errors="replace")).front)
        if not self._scope.holds(self.source, path, project):
            what = f"of the project {project!r}" if project else "without a project"
            raise ForbiddenError(
                f"this token does not allow a memory {what}", f"it allows: {', '.join(projects)}"
            )

    def create(self, path: str, text: str | bytes) -> FileStamp:
        """Write a new file, if the scope allows it."""
        self.allow(path, text)
        return super().create(path, text)

    def replace(self, path: str, text: str | bytes, seen: MemoryFile) -> None:
        """Replace the text of a file, if the scope allows the new text."""
        self.allow(path, text)
        super().replace(path, text, seen)

    def _check_path(self, path: str, shown: str = "") -> None:
        """Raise ForbiddenError if the path is outside the scope, before any file is accessed."""
        anywhere = self._scope._replace(projects=())
        if not anywhere.holds(self.source, path, None):
            raise self._outside(shown or path)
        super()._check_path(path, shown)
        root, place = real_path(self._root), real_path(f"{self._root}/{path}")
        if not is_under(root, place) or not anywhere.holds(
            self.source, place[len(root) :].strip("/"), None
        ):
            raise self._outside(shown or path)

    def _outside(self, path: str) -> ForbiddenError:
        folders = ", ".join(self._scope.folders)
        return ForbiddenError(
            f"{path!r} is outside the scope of this token",
            f"memories are in {self._dir}, and the token allows {folders or self.source}",
        )

    def _with_random_number(self, path: str) -> str:
        if not self._scope.projects:
            return path
        return f"{path.removesuffix('.md')}-{secrets.randbelow(10**8):08}.md"
