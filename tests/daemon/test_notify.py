"""Messages to systemd."""

import os

import pytest

from vault_index.daemon.system import notify, watchdog_interval


@pytest.mark.parametrize("address", ["", "/nonexistent/socket", "/" + "x" * 200])
def test_notify_ignores_a_missing_socket(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    notify("READY=1")


@pytest.mark.parametrize(
    ("limit", "pid", "interval"),
    [
        ("10000000", None, 5.0),
        pytest.param("10000000", os.getpid(), 5.0, id="own"),
        ("10000000", 1, None),
        ("", None, None),
        ("x", None, None),
    ],
)
def test_watchdog_interval_is_half_the_limit_for_this_process(
    monkeypatch: pytest.MonkeyPatch, limit: str, pid: int | None, interval: float | None
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", limit)
    monkeypatch.delenv("WATCHDOG_PID", raising=False)
    if pid is not None:
        monkeypatch.setenv("WATCHDOG_PID", str(pid))
    assert watchdog_interval() == interval
