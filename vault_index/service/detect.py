"""Which service manager this machine has."""

import shutil
import sys
from typing import Protocol

from vault_index.errors import VaultIndexError
from vault_index.service.definition import Definition, State


class Service(Protocol):
    """What systemd and launchd are both asked."""

    def install(self, definition: Definition) -> bool: ...
    def uninstall(self) -> bool: ...
    def restart(self) -> None: ...
    def state(self) -> State: ...
    def lasts(self) -> str:
        """What to know of how long it runs; empty where it runs as long as anybody would expect."""
        ...

    def logs_command(self, lines: int, *, follow: bool) -> list[str]: ...


def service_here(platform: str = sys.platform) -> Service:
    """VaultIndexError where there is neither, with what to do then."""
    if platform == "darwin":
        from vault_index.service.launchd import Launchd

        return Launchd()
    if shutil.which("systemctl"):
        from vault_index.service.systemd import Systemd

        return Systemd()
    raise VaultIndexError(
        "there is no systemd and no launchd here to install a service for",
        "have vault-index watch started by what this machine has instead: cron (@reboot), runit, a container",
    )
