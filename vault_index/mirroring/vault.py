"""The vault that sessions are written into: among its notes, the files in one folder are sessions."""

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
        may_be = is_under(self._folder, ref.path) and ref.path.endswith(".md")
        is_session = may_be and read_frontmatter(split_lines(raw.text)).values.get("session")
        return raw._replace(kind="session") if is_session else raw
