"""The text of documents: the answer of `get`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vault_index.models import Kind


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The text of one reference, as `get` answers."""

    id: str
    kind: Kind
    source: str
    path: str
    title: str
    lines: tuple[int, int]
    tokens: int
    content: str
    next: str | None
    """The reference to go on with when the text was cut, else null."""
    metadata: Mapping[str, Any] | None = None
    """With `full`: the record of `list`, the frontmatter, aliases and links."""


@dataclass(frozen=True, slots=True)
class Texts:
    results: tuple[DocumentText, ...]
