"""An open index of `tmp_path/vault` without a model and a daemon, and a fixed clock."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.api.vaults import opened
from vault_index import VaultIndex
from vault_index.memories import create, edit, store
from vault_index.memories.capture import capture


@pytest.fixture
def index(tmp_path: Path) -> Iterator[VaultIndex]:
    with opened(tmp_path) as opened_index:
        yield opened_index


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "vault"


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> datetime:
    """The local time at the start of the test, which memory commands use as the current time."""
    moment = datetime.now()
    for module in (create, edit, store, capture):
        monkeypatch.setattr(module, "datetime", SimpleNamespace(now=lambda: moment))
    return moment
