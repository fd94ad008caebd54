"""Memory files that agents' clients keep themselves, as a source that is only read.

Document paths are `<client>/<path in the client's folder>`, and `projects/<path>` for the files in
projects.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from vault_index.config import Config, SourceConfig
from vault_index.config.schema import AGENT_MEMORIES
from vault_index.disk import is_under, os_errors_as
from vault_index.errors import NotFoundError
from vault_index.models import DocumentRef, Fault, FileStamp, RawDocument
from vault_index.sources.files import decode, read_inside, stamp_of
from vault_index.sources.git import names_of, repository_of, worktree_of
from vault_index.sources.sessions.clients import InProjects, folders_of
from vault_index.sources.source import YET, Scan

_OF_USER = {
    "claude-code": ("CLAUDE.md", "projects/*/memory/*.md", "agent-memory/*/*.md"),
    "codex": ("AGENTS.md", "memories/*.md"),
    "gemini": ("GEMINI.md",),
}
"""Patterns of the files in a client's folder."""
_OF_PROJECT = {"CLAUDE.md": "claude-code", "AGENTS.md": "agents", "GEMINI.md": "gemini"}
"""Names of the files in the folder of a project; several clients read `AGENTS.md`."""
_MOST_BYTES = 1 << 20


class AgentMemories:
    """The memory files of all clients. They are never written, and never sent to a server."""

    shape = "1"
    remedy = f"run `vault-index config set agents.memories false` to leave out {AGENT_MEMORIES}"

    def __init__(self, config: Config) -> None:
        enabled = [name for name in _OF_USER if config.clients[name].enabled]
        self.config = SourceConfig(
            name=AGENT_MEMORIES, path=Path.home(), kind=AGENT_MEMORIES, local_only=True
        )
        self._folders = {name: folders_of(name, config.clients[name].data)[0] for name in enabled}
        cache = config.sessions_dir and config.sessions_dir / AGENT_MEMORIES / ".heads.json"
        self._in_projects = InProjects(config, tuple(_OF_PROJECT), cache)

    def __getstate__(self) -> dict[str, Any]:
        """Omit open clients from a pickle: a process that reads ahead does not scan."""
        return {key: value for key, value in vars(self).items() if key != "_in_projects"}

    def scan_places(self, places: Iterable[str]) -> Scan:
        """Scan these documents or folders; the empty path means everything."""
        wanted = {place.strip("/") for place in places}
        found = {path for path in self._paths() if any(is_under(one, path) for one in wanted)}
        refs = (self.look(path) for path in sorted(found))
        return Scan(tuple(ref for ref in refs if ref is not None))

    def _paths(self) -> Iterator[str]:
        for client, folder in self._folders.items():
            for file in (one for pattern in _OF_USER[client] for one in folder.glob(pattern)):
                yield f"{client}/{file.relative_to(folder).as_posix()}"
        seen = set[tuple[str, str]]()
        for file in self._in_projects.files(look=True):
            tree = os.path.dirname(file)
            key = repository_of(tree), file.name  # once for all clones
            if tree == worktree_of(tree) and key not in seen and not file.is_symlink():
                seen.add(key)
                yield f"projects{file}"

    def _file(self, path: str) -> Path:
        """Return the file of a document path. Raises NotFoundError for a path of another form."""
        client, _, inside = path.partition("/")
        if client == "projects" and path.rpartition("/")[2] in _OF_PROJECT:
            return Path("/", inside)
        if client in self._folders and ".." not in inside.split("/"):
            return self._folders[client] / inside
        raise NotFoundError(f"{path} is not a memory of an agent", "run: vault-index sync")

    def look(self, path: str) -> DocumentRef | None:
        """Look up one document."""
        stamp = self.stamp(path)
        return DocumentRef(AGENT_MEMORIES, path, stamp) if stamp else None

    def stamp(self, path: str) -> FileStamp | None:
        """Return the current stamp of a document; None if it is deleted or unreadable."""
        try:
            return stamp_of(self._file(path).stat())
        except (OSError, ValueError, NotFoundError):
            return None

    def read(self, ref: DocumentRef) -> RawDocument:
        """Read a document without credentials. Raises NotFoundError, VaultIndexError."""
        # Imported late, because searches read no document.
        from hashlib import sha256

        from vault_index.secrets.find import redact

        file = self._file(ref.path)
        with os_errors_as(f"cannot read {file}", "check its permissions"):
            data, status = read_inside(str(file.parent), file.name, _MOST_BYTES, outside=True)
        text, redacted = redact(decode(data)[0])
        faults = (Fault("redacted", "credentials left out", ref.path),) if redacted else ()
        seen = ref._replace(stamp=stamp_of(status))
        digest = sha256(data).digest()
        return RawDocument(seen, text, digest, faults, "memory", labels=self._labels(ref.path))

    def _labels(self, path: str) -> tuple[tuple[str, str], ...]:
        """Return the client, and the project if the file belongs to one."""
        client, _, inside = path.partition("/")
        author, project = client, ""
        if client == "projects":
            author, project = _OF_PROJECT[path.rpartition("/")[2]], _name(f"/{inside}")
        elif client == "claude-code" and inside.startswith("projects/"):
            project = self._project_in(inside.split("/")[1])
        return (("entered_by", author), *([("project", project)] if project else []))

    def _project_in(self, name: str) -> str:
        """Return the project that Claude Code keeps in a folder of this name, else the name."""
        from vault_index.sources.sessions.json_access import object_in, object_of

        folder = self._folders["claude-code"]
        files = (folder / ".claude.json", folder.with_name(".claude.json"))
        projects = (one for file in files for one in object_of(object_in(file), "projects"))
        found = (one for one in projects if re.sub("[^A-Za-z0-9]", "-", one) == name)
        return next((_name(f"{one}/") for one in found), name)

    def born(self, path: str) -> float | None:
        """Return None, because the time of the file counts."""
        return None

    def relative(self, absolute_path: str) -> str | None:
        """Return the document path of a file in the folder of a client; None for others."""
        for client, folder in self._folders.items():
            if is_under(str(folder), absolute_path) and absolute_path.endswith(".md"):
                return f"{client}/{os.path.relpath(absolute_path, folder)}"
        return None

    def stays_home(self, path: str) -> bool:
        """Return True: the files may belong to private projects."""
        return True

    def link(self, path: str) -> str:
        """Return no link."""
        return ""

    def missing(self) -> str:
        """Return why there is no file, or ""."""
        return "" if next(self._paths(), "") else f"no memories of agents {YET}"


def _name(path: str) -> str:
    """Return the name of the project of a file."""
    return next(iter(names_of(worktree_of(os.path.dirname(path)))), "")
