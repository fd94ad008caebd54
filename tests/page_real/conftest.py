"""Fixtures of the page's tests. They need Chromium and Playwright (`make test-page`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.world import World, opened_world

try:
    from tests.page_real.browser import DESKTOP, Reader, chromium, started, visit
    from tests.page_real.desk import Desk
except ImportError:  # test_browser.py reports it
    collect_ignore_glob = ["test_[!b]*.py"]


@pytest.fixture(scope="package")  # Playwright runs an event loop in this thread, which other tests need for theirs
def browser() -> Iterator[Any]:
    if not chromium():
        pytest.skip("the page is not tried: there is no Chromium (CHROMIUM_BIN names one)")
    with started() as made:
        yield made


@pytest.fixture(scope="module")
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A home with a daemon, whose vault holds the `NOTES` of the module: texts by path."""
    with opened_world(tmp_path_factory.mktemp("home")) as made:
        for path, text in request.module.NOTES.items():
            made.write(path, text)
        made.daemon()
        yield made


@pytest.fixture(scope="module")
def module_reader(request: pytest.FixtureRequest, browser: Any, world: World) -> Iterator[Reader]:
    """The server of a module and its `Reader`, at the time `NOW` of the module if it has one."""
    reader = Reader(browser, world, world.serve(), getattr(request.module, "NOW", None))
    yield reader
    reader.close()


@pytest.fixture
def reader(module_reader: Reader) -> Iterator[Reader]:
    """Opens pages for one test and fails it on a forbidden action of a page."""
    module_reader.faults.clear()
    yield module_reader
    module_reader.close()
    assert module_reader.faults == []


@pytest.fixture(scope="module")
def desk(world: World, module_reader: Reader) -> Desk:
    return Desk(world, module_reader.served)


@pytest.fixture(scope="module")
def shared(browser: Any, world: World, module_reader: Reader) -> Iterator[tuple[Reader, Any]]:
    reader = Reader(browser, world, module_reader.served, module_reader.now)
    yield reader, reader.open()
    reader.close()


@pytest.fixture
def page(shared: tuple[Reader, Any]) -> Iterator[Any]:
    """The search page that tests of a module share, for tests that need no page of their own."""
    reader, page = shared
    reader.faults.clear()
    page.set_viewport_size(DESKTOP)
    visit(page, "#/")
    yield page
    page.unroute_all()
    assert reader.faults == []
