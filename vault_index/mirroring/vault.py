"""The vault that sessions are written into: among its notes, the files in one folder are sessions."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vault_index.config import OpencodeConfig, SourceConfig
from vault_index.markdown.frontmatter import read_frontmatter
from vault_index.markdown.lines import split_lines
from vault_index.models import DocumentRef, RawDocument
from vault_index.sources.opencode.projects import Projects
from vault_index.sources.vault import VaultSource
from vault_index.sources.walk import is_under


class VaultWithSessions(VaultSource):
    """A file in the folder is a session where its frontmatter says which; all others are notes."""

    def __init__(self, config: SourceConfig, opencode: OpencodeConfig) -> None:
        super().__init__(config)
        self._folder = opencode.mirror.strip("/")
        self._local_only = opencode.local_only
        self._projects = Projects(opencode.local_only if isinstance(opencode.local_only, tuple) else ())
        self.shape = f"{self._folder}/{opencode.local_only!r}"

    def read(self, ref: DocumentRef) -> RawDocument:
        raw = super().read(ref)
        return replace(raw, kind="session") if self._front(ref.path, raw.text) else raw

    def stays_home(self, path: str) -> bool:
        if super().stays_home(path):
            return True
        if not is_under(self._folder, path):
            return False
        if isinstance(self._local_only, bool):
            return self._local_only
        found = self.look(path) if self._local_only else None
        front = self._front(path, super().read(found).text) if found else {}
        return self._projects.covers(str(front.get("project")), str(front.get("directory")))

    def _front(self, path: str, text: str) -> Mapping[str, Any]:
        """The frontmatter of a session; nothing for other files."""
        if not is_under(self._folder, path) or not path.endswith(".md"):
            return {}
        front = read_frontmatter(split_lines(text)).values
        return front if front.get("session") else {}
