"""What is told of a service."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class State:
    file: str
    installed: bool
    enabled: bool
    """Whether it starts with the next session."""
    active: str
    """`active`, `inactive`, `failed`, `activating`, … in systemd's words."""
    since: str | None = None
    pid: int | None = None
    said: str = ""
    """What the daemon tells the service manager of itself."""
    result: str = ""
    """How it ended, or goes on: `success`, `exit-code`, `watchdog`, `oom-kill`, … in systemd's words."""
    restarts: int = 0
    memory: int | None = None
    """Bytes, mapped files included."""
