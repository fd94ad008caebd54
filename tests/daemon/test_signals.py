"""Signals and dying threads reach the main thread as words, at once."""

import os
import signal
import threading

import pytest

from tests.waiting import PATIENCE
from vault_index.daemon.signals import EventQueue


@pytest.mark.parametrize(
    ("number", "word"), [(signal.SIGTERM, "stop"), (signal.SIGINT, "stop"), (signal.SIGHUP, "reload")]
)
def test_a_signal_is_a_word(number: signal.Signals, word: str) -> None:
    before = signal.getsignal(number)
    with EventQueue() as inbox:
        os.kill(os.getpid(), number)
        assert inbox.get(PATIENCE) == word
        assert inbox.get(0) is None
    assert signal.getsignal(number) is before


def test_a_signal_wakes_who_waits() -> None:
    with EventQueue() as inbox:
        for delay in (0.0, 0.001, 0.01, 0.05):
            timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGHUP))
            timer.start()
            assert inbox.get(PATIENCE) == "reload"
            timer.join()


def test_words_of_other_threads_come_in_order() -> None:
    def say_three() -> None:
        for _ in range(3):
            inbox.put("reloaded")

    with EventQueue() as inbox:
        inbox.put("renew")
        thread = threading.Thread(target=say_three)
        thread.start()
        assert [inbox.get(PATIENCE) for _ in range(4)] == ["renew", "reloaded", "reloaded", "reloaded"]
        thread.join()


def test_a_thread_that_dies_is_told(caplog: pytest.LogCaptureFixture) -> None:
    def die() -> None:
        raise ValueError("the text of a note")

    with EventQueue() as inbox:
        thread = threading.Thread(target=die)
        thread.start()
        thread.join()
        assert inbox.get(PATIENCE) == "renew"
    assert "thread died" in caplog.text
    assert "the text" not in str([vars(record) for record in caplog.records])
