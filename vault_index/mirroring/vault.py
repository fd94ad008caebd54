"""The vault that sessions are written into: among its notes, the files in one folder are sessions."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vault_index.config import OpencodeConfig, SourceConfig
from vault_index.disk import is_under
from vault_index.markdown.frontmatter import read_frontmatter
from vault_index.markdown.normalize import split_lines
from vault_index.models import DocumentRef, RawDocument
from vault_index.sources.vault import VaultSource


class VaultWithSessions(VaultSource):
    """A file in the folder is a session where its frontmatter says which; all others are notes."""

    def __init__(self, config: SourceConfig, opencode: OpencodeConfig) -> None:
        super().__init__(config)
        self._folder = opencode.mirror.strip("/")
        self.shape = self._folder

    def read(self, ref: DocumentRef) -> RawDocument:
        raw = super().read(ref)
        return replace(raw, kind="session") if self._front(ref.path, raw.text) else raw

    def _front(self, path: str, text: str) -> Mapping[str, Any]:
        """The frontmatter of a session; nothing for other files."""
        if not is_under(self._folder, path) or not path.endswith(".md"):
            return {}
        front = read_frontmatter(split_lines(text)).values
        return front if front.get("session") else {}
