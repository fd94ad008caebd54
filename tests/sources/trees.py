"""Builds vaults on disk for the tests."""

from pathlib import Path
from typing import Any

from vault_index.config import SourceConfig
from vault_index.sources.source import Scan
from vault_index.sources.vault import VaultSource


def build(root: Path, *paths: str, text: str = "x\n") -> Path:
    """A folder with these files; a path that ends with `/` is an empty folder."""
    root.mkdir(exist_ok=True)
    for path in paths:
        target = root / path
        if path.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    return root


def vault_at(root: Path, **settings: Any) -> VaultSource:
    return VaultSource(SourceConfig(name="vault", path=root, **settings))


def paths(scan: Scan) -> list[str]:
    assert not scan.vanished
    return [ref.path for ref in scan.refs]
