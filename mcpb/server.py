"""Start the MCP server for a desktop client, after `init` if there is no configuration."""

import os
import subprocess
import sys

from vault_index.config import find_home


def main(vault: str, read_only: str) -> None:
    """Replace this process by `vault-index mcp`; `read_only` is "true" or "false"."""
    program = [sys.executable, "-m", "vault_index"]
    if not find_home().config_file.exists():
        # stdout belongs to the protocol. If `init` fails, the tools report the error.
        subprocess.run(
            [*program, "init", vault, "--no-sessions", "--no-sync", "--quiet"],
            stdout=sys.stderr,
            check=False,
        )
    os.execv(program[0], [*program, "mcp", *(["--read-only"] if read_only == "true" else [])])


if __name__ == "__main__":
    main(*sys.argv[1:])
