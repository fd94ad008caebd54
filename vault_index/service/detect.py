"""Which service manager this machine has."""

import shutil
import sys

from vault_index.errors import VaultIndexError
from vault_index.service import launchd, systemd
from vault_index.service.launchd import Launchd
from vault_index.service.systemd import Systemd


def service_here(platform: str = sys.platform, *, serve: bool = False) -> Systemd | Launchd:
    """The daemon as a service, or `vault-index serve`. VaultIndexError where there is neither, with what to do then."""
    if platform == "darwin":
        return Launchd(launchd.SERVE if serve else launchd.LABEL)
    if shutil.which("systemctl"):
        return Systemd(systemd.SERVE if serve else systemd.NAME)
    raise VaultIndexError(
        "there is no systemd and no launchd here to install a service for",
        "have vault-index watch started by what this machine has instead: cron (@reboot), runit, a container",
    )
