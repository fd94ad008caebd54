"""Whether the page can be tried here: the other modules need Playwright, and are passed over without it."""

import pytest


def test_there_is_a_browser_to_try_the_page_in() -> None:
    pytest.importorskip("playwright.sync_api", reason="the page is not tried: make test-page installs Playwright")
    from tests.page_real.browser import chromium

    if not chromium():
        pytest.skip("the page is not tried: there is no Chromium (CHROMIUM_BIN names one)")
