"""The settings as their file says them now, whatever was read of it before: what leaves is judged by them."""

from __future__ import annotations

import os
import threading

TYPE_CHECKING = False  # spares the import of what is only named here; type checkers know the name
if TYPE_CHECKING:
    from vault_index.config import Home
    from vault_index.indexer.outbound import Moment


class Moments:
    """Reads the file each time, and what it says where that is new; safe for several threads."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._known: tuple[str, Moment] | None = None

    def __call__(self) -> Moment:
        """Raises NotSetUpError, ConfigError where the settings cannot be read."""
        from vault_index.api.sources import sessions_of, vaults_of
        from vault_index.config.load import parse_config, read_text
        from vault_index.indexer.outbound import Moment

        text = read_text(self._home)
        with self._lock:
            if self._known is None or self._known[0] != text:
                config = parse_config(text, self._home, os.environ)
                vaults = vaults_of(config)
                self._known = text, Moment(config, [*vaults.values(), *sessions_of(config, vaults)])
            return self._known[1]
