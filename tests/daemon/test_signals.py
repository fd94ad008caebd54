"""Failures of threads reach the main thread as events, at once."""

import threading

import pytest

from tests.waiting import PATIENCE
from vault_index.daemon.signals import EventQueue


def test_event_queue_reports_a_thread_that_died_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    def die() -> None:
        raise ValueError("the text of a note")

    with EventQueue() as inbox:
        thread = threading.Thread(target=die)
        thread.start()
        thread.join()
        assert inbox.get(PATIENCE) == "renew"
    assert "thread died" in caplog.text
    assert "the text" not in str([vars(record) for record in caplog.records])
