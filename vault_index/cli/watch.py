"""`watch`: the daemon, in the foreground."""

from typing import Any

from vault_index.cli.call import home_of
from vault_index.cli.options import Options


def run_watch(options: Options, args: dict[str, Any]) -> int:
    from vault_index.daemon.run import run

    level = "debug" if options.verbose else "warning" if options.quiet else "info"
    return run(home_of(options), log_level=level)
