"""`logs`: the daemon's log file when no service runs it."""

import json
from pathlib import Path

import pytest

from vault_index.cli import main
from vault_index.cli.service import _entry
from vault_index.times import iso_time


@pytest.fixture(autouse=True)
def no_service(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))


def test_logs_prints_the_last_lines_of_the_daemon_log(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["logs"]) == 3
    assert "vault-index watch" in capfd.readouterr().err
    (home / "daemon.log").write_text("event=one\nevent=two\nevent=three\n", "utf-8")
    assert main(["logs", "-n", "2"]) == 0
    assert capfd.readouterr().out == "event=two\nevent=three\n"


def test_logs_json_prints_one_object_per_line(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lines = [
        'time=2026-11-22T10:00:00.123 level=info event="a \\"b\\" c" count=3 path=a=b',
        "Traceback (most recent call last):",
    ]
    (home / "daemon.log").write_text("\n".join(lines) + "\n", "utf-8")
    assert main(["logs", "--json"]) == 0
    first, *others = map(json.loads, capfd.readouterr().out.splitlines())
    assert first == {
        "time": "2026-11-22T10:00:00.123", "level": "info", "event": 'a "b" c', "count": 3, "path": "a=b",
    }  # fmt: skip
    assert others == [{"event": "Traceback (most recent call last):"}]


def test_logs_reads_journal_entries_from_their_message() -> None:
    line = {"MESSAGE": "level=info event=ready", "__REALTIME_TIMESTAMP": "1795341600000000", "_PID": "7"}
    assert _entry(json.dumps(line)) == {"time": iso_time(1795341600), "level": "info", "event": "ready"}
