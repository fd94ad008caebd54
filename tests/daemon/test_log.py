"""The log: one line per event, without any text of notes."""

import logging
import os
import stat
import sys
from pathlib import Path

import pytest

from vault_index.daemon.log import KeyValueFormatter, RotatingFile, error_location, log_event, logging_to


def line(caplog: pytest.LogCaptureFixture, *, timed: bool = True) -> str:
    return KeyValueFormatter(timed=timed).format(caplog.records[-1])


def test_log_line_has_keys_and_values(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("vault_index.daemon.test")
    caplog.set_level(logging.INFO)
    log_event(logger, logging.INFO, "saved", paths=3, seconds=0.5, path='a "b".md', name="ü", empty="", two="a\nb")
    assert line(caplog, timed=False) == (
        r'level=info event=saved paths=3 seconds=0.5 path="a \"b\".md" name=ü empty="" two="a\nb"'
    )


def fail() -> None:
    raise ValueError("the text of a note")


def test_log_omits_the_message_of_an_exception(caplog: pytest.LogCaptureFixture) -> None:
    try:
        fail()
    except ValueError as error:
        told = error_location(error)
        logging.getLogger("vault_index.x").exception("failed")
    assert told.startswith("ValueError at test_log.py:")
    assert "test_log.py" in line(caplog)
    assert "the text" not in line(caplog) + told


def test_log_writes_to_stderr_and_to_a_private_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("vault_index.x")
    with logging_to(tmp_path / "daemon.log", "info"):
        log_event(logger, logging.INFO, "hello")
    log_event(logger, logging.INFO, "too late")
    out, err = capsys.readouterr()
    assert out == ""
    assert "event=hello" in err
    assert (tmp_path / "daemon.log").read_text("utf-8") == err
    assert stat.S_IMODE((tmp_path / "daemon.log").stat().st_mode) == 0o600


def test_log_writes_no_file_under_journald(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "journal").open("w+", encoding="utf-8") as journal:
        found = os.fstat(journal.fileno())
        monkeypatch.setattr(sys, "stderr", journal)
        monkeypatch.setenv("JOURNAL_STREAM", f"{found.st_dev}:{found.st_ino}")
        with logging_to(tmp_path / "daemon.log", "info"):
            log_event(logging.getLogger("vault_index.x"), logging.INFO, "hello")
        monkeypatch.setenv("JOURNAL_STREAM", "8:1")  # set by a parent service
        with logging_to(tmp_path / "other.log", "info"):
            log_event(logging.getLogger("vault_index.x"), logging.INFO, "hello")
        journal.seek(0)
        assert journal.readline() == "level=info event=hello\n"
    assert not (tmp_path / "daemon.log").exists()
    assert (tmp_path / "other.log").exists()


def test_log_accepts_names_that_are_not_utf_8(tmp_path: Path) -> None:
    handler = RotatingFile(tmp_path / "daemon.log")
    handler.setFormatter(KeyValueFormatter(timed=False))
    handler.emit(logging.makeLogRecord({"name": "vault_index", "msg": "not saved", "fields": {"path": "bad\udcff.md"}}))
    handler.close()
    assert r'path="bad\udcff.md"' in (tmp_path / "daemon.log").read_text("utf-8")


def test_log_rotates_and_bounds_its_file(tmp_path: Path) -> None:
    handler = RotatingFile(tmp_path / "daemon.log", most_bytes=1000)
    for number in range(600):
        handler.handle(logging.makeLogRecord({"msg": f"event {number}", "levelno": logging.INFO}))
    handler.close()
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert set(sizes) == {"daemon.log", "daemon.log.1", "daemon.log.2", "daemon.log.3"}
    assert max(sizes.values()) <= 1000
    assert "event 599" in (tmp_path / "daemon.log").read_text("utf-8")


def test_log_file_that_cannot_be_written_is_reported_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with logging_to(tmp_path / "no" / "such" / "folder.log", "info"):
        log_event(logging.getLogger("vault_index.x"), logging.INFO, "hello")
    assert capsys.readouterr().err.count("\n") == 1
