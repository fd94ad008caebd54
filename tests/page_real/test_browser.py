"""Reports whether the page can be tested here: the other modules need Playwright, and are skipped without it."""

import pytest


def test_browser_is_available_for_the_page_tests() -> None:
    pytest.importorskip("playwright.sync_api", reason="the page is not tried: make test-page installs Playwright")
    from tests.page_real.browser import chromium

    if not chromium():
        pytest.skip("the page is not tried: there is no Chromium (CHROMIUM_BIN names one)")
