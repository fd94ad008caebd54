"""The memory files of a vault as a caller writes them whose token is for a part of it."""

import secrets
from pathlib import Path

from vault_index.callers import Scope
from vault_index.disk import is_under, real_path
from vault_index.errors import ForbiddenError
from vault_index.markdown.memory import project_in
from vault_index.memories.file.document import MemoryFile, read_text
from vault_index.memories.file.files import MemoryFiles, encoded


class FilesInside(MemoryFiles):
    """Nothing outside of the scope is read or written, and whatever is written stays in it. Where others' files may lie
    in the same folder, no name that is taken tells of them: new ones have a number of their own."""

    def __init__(self, root: Path, memory_dir: str, source: str, scope: Scope) -> None:
        super().__init__(root, memory_dir, source)
        self._scope = scope

    def named(self, path: str) -> str:
        return self._apart(super().named(path))

    def free_path(self, folder: str, day: str, title: str) -> str:
        """Where the memory folder is no part of the scope, but a folder of it is, in that."""
        above, own = f"{self._dir}/", self._scope.below
        inner = next((one for one in own if one.startswith(above)), "")
        if own and not above.startswith(own) and inner:
            return super().free(
                f"{inner}{super().free_path(folder, day, title).removeprefix(above)}"
            )
        return super().free_path(folder, day, title)

    def free(self, path: str) -> str:
        return super().free(self._apart(path))

    def allow(self, path: str, text: str | bytes) -> None:
        self._place(path)
        projects = self._scope.projects
        project = project_in(read_text(encoded(text).decode(errors="replace")).front)
        if not self._scope.holds(self.source, path, project):
            what = f"of the project {project!r}" if project else "of no project"
            raise ForbiddenError(
                f"a memory {what} is not for this token", f"it is for: {', '.join(projects)}"
            )

    def create(self, path: str, text: str | bytes) -> None:
        self.allow(path, text)
        super().create(path, text)

    def replace(self, path: str, text: str | bytes, seen: MemoryFile) -> None:
        self.allow(path, text)
        super().replace(path, text, seen)

    def _place(self, path: str, shown: str = "") -> None:
        """Before anything is looked at."""
        anywhere = self._scope._replace(projects=())
        if not anywhere.holds(self.source, path, None):
            raise self._outside(shown or path)
        super()._place(path, shown)
        root, place = real_path(self._root), real_path(f"{self._root}/{path}")
        if not is_under(root, place) or not anywhere.holds(
            self.source, place[len(root) :].strip("/"), None
        ):
            raise self._outside(shown or path)

    def _outside(self, path: str) -> ForbiddenError:
        folders = ", ".join(self._scope.folders)
        return ForbiddenError(
            f"{path!r} is outside of what this token is for",
            f"memories lie in {self._dir}, and the token is for {folders or self.source}",
        )

    def _apart(self, path: str) -> str:
        if not self._scope.projects:
            return path
        return f"{path.removesuffix('.md')}-{secrets.randbelow(10**8):08}.md"
