"""Tells systemd how the daemon is (sd_notify); does nothing when systemd did not ask."""

import os
import socket


def notify(message: str) -> None:
    """Send `READY=1`, `STATUS=…`, `STOPPING=1`, `WATCHDOG=1`, … to the socket in NOTIFY_SOCKET."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        try:
            channel.connect(address)
            channel.send(message.encode())
        except OSError:
            return  # a service manager that does not listen is no reason to stop


def watchdog_interval() -> float | None:
    """How often systemd wants WATCHDOG=1, half its limit; None when it does not want it."""
    limit = os.environ.get("WATCHDOG_USEC", "")
    if not limit.isdigit() or os.environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    return int(limit) / 2_000_000
