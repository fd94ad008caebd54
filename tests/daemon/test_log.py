"""The log: one line an event, and nothing of what a note says."""

import logging

import pytest

from vault_index.daemon.log import KeyValueFormatter, say, set_up, where


def line(caplog: pytest.LogCaptureFixture) -> str:
    return KeyValueFormatter().format(caplog.records[-1])


def test_a_line_has_keys_and_values(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOURNAL_STREAM", "8:1")
    logger = logging.getLogger("vault_index.daemon.test")
    caplog.set_level(logging.INFO)
    say(logger, logging.INFO, "saved", paths=3, seconds=0.5, path='a "b".md', name="ü", empty="", two="a\nb")
    assert line(caplog) == (r'level=info event=saved paths=3 seconds=0.5 path="a \"b\".md" name=ü empty="" two="a\nb"')


def test_a_line_has_the_time_and_foreign_loggers_their_name(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JOURNAL_STREAM", raising=False)
    logging.getLogger("watchdog.x").warning("two words")
    written = line(caplog)
    assert written.startswith("time=20")
    assert written.endswith('level=warning event="two words" logger=watchdog.x')


def fail() -> None:
    raise ValueError("the text of a note")


def test_an_error_is_told_without_its_message(caplog: pytest.LogCaptureFixture) -> None:
    try:
        fail()
    except ValueError as error:
        told = where(error)
        logging.getLogger("vault_index.x").exception("failed")
    assert told.startswith("ValueError at test_log.py:")
    assert "test_log.py" in line(caplog)
    assert "the text" not in line(caplog) + told


def test_what_is_below_the_level_is_not_written(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("vault_index.daemon.test")
    caplog.set_level(logging.WARNING)
    say(logger, logging.INFO, "saved")
    assert caplog.records == []


def test_set_up_writes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    levels = root.level, logging.getLogger("vault_index").level
    handler = set_up("info")
    try:
        say(logging.getLogger("vault_index.x"), logging.INFO, "hello")
    finally:
        root.removeHandler(handler)
        root.setLevel(levels[0])
        logging.getLogger("vault_index").setLevel(levels[1])
        logging.captureWarnings(False)
    out, err = capsys.readouterr()
    assert out == ""
    assert "event=hello" in err
