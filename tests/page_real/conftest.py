"""Tests of the page need Chromium and Playwright (`make test-page`); without them they are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.serve.servers import Place

try:
    from tests.page_real.browser import DESKTOP, Reader, chromium, started, visit
except ImportError:  # test_browser.py says so
    collect_ignore_glob = ["test_[!b]*.py"]


@pytest.fixture(scope="package")  # Playwright has an event loop run in this thread, where other tests begin one
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


@pytest.fixture(scope="module")
def kept(browser: Any, here: Place, module_reader: Reader) -> Iterator[Reader]:
    reader = Reader(browser, here, module_reader.served)
    yield reader
    reader.close()


@pytest.fixture(scope="module")
def kept_page(kept: Reader) -> Any:
    return kept.open()


@pytest.fixture
def page(kept: Reader, kept_page: Any) -> Iterator[Any]:
    """One that the tests of a module share, at the search: for those to which nothing is anew."""
    kept.faults.clear()
    kept_page.set_viewport_size(DESKTOP)
    visit(kept_page, "#/")
    yield kept_page
    kept_page.unroute_all()
    assert kept.faults == []
