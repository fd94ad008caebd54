"""An index of the files in `NOTES` of the test's module, shared by its tests."""

from collections.abc import Iterator

import pytest

from tests.api.vaults import indexed
from vault_index import VaultIndex
from vault_index.store.reader import IndexReader


@pytest.fixture(scope="module")
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    """Without a model, unless the module sets `PROVIDER`."""
    provider = getattr(request.module, "PROVIDER", "none")
    with indexed(tmp_path_factory.mktemp("index"), request.module.NOTES, provider=provider) as opened_index:
        yield opened_index


@pytest.fixture(scope="module")
def reader(index: VaultIndex) -> Iterator[IndexReader]:
    opened_reader = IndexReader(index.home.index_db)
    yield opened_reader
    opened_reader.close()
