"""Tests of the page need Chromium and Playwright (`make test-page`); without them they are skipped."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.serve.servers import Place

pytest.importorskip("playwright.sync_api", reason="the page is not tried: make test-page installs Playwright")

from tests.page_real.browser import Reader, chromium, started


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if not chromium():
        pytest.skip("the page is not tried: there is no Chromium (CHROMIUM_BIN names one)")
    with started() as made:
        yield made


@pytest.fixture(scope="module")
def module_reader(browser: Any, here: Place) -> Iterator[Reader]:
    """One for the modules whose tests share a home (`here`, of theirs)."""
    reader = Reader(browser, here, here.serve())
    yield reader
    reader.close()


@pytest.fixture
def reader(module_reader: Reader) -> Iterator[Reader]:
    """Pages of one test, after which nothing may have gone wrong in any of them."""
    module_reader.faults.clear()
    yield module_reader
    module_reader.close()
    assert module_reader.faults == []
