"""Run the daemon and `serve` as services of the login session, under systemd or launchd."""

import shutil
import sys

from vault_index.errors import VaultIndexError
from vault_index.service import launchd, systemd
from vault_index.service.launchd import Launchd
from vault_index.service.systemd import Systemd


def service_here(platform: str = sys.platform, *, serve: bool = False) -> Systemd | Launchd:
    """Return the service of the daemon or, with `serve`, of `vault-index serve`.

    Raises VaultIndexError without systemd and launchd.
    """
    if platform == "darwin":
        return Launchd(launchd.SERVE if serve else launchd.LABEL)
    if shutil.which("systemctl"):
        return Systemd(systemd.SERVE if serve else systemd.NAME)
    raise VaultIndexError(
        "this machine has neither systemd nor launchd",
        "start vault-index watch by other means: cron (@reboot), runit, a container",
    )
